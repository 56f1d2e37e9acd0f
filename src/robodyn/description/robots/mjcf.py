"""MJCF: what does a model of MuJoCo say? Bodies and joints as MuJoCo's own compiler makes them, by their elements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base.spatial import Pose, from_quaternion
from robodyn.description.model import Load, Point
from robodyn.description.model.joint import GROUND
from robodyn.description.model.numbers import as_floats
from robodyn.description.robots.draft import LinkDraft, RobotDraft, rotated_inertia
from robodyn.description.robots.mesh_files import MeshFiles
from robodyn.description.robots.mjcf_account import account
from robodyn.description.robots.mjcf_joints import JointReader
from robodyn.description.robots.mjcf_parts import PartReader
from robodyn.description.robots.mjcf_source import bodies_of, compile_model, load_includes, members, parts_of
from robodyn.description.robots.names import usable_name
from robodyn.description.robots.shapes import colour_of, distinct, make_look
from robodyn.description.robots.xml_tree import CHOICE, CONVERTED, UNUSED, Element

SHAPES = {2: "sphere", 3: "capsule", 5: "cylinder", 6: "box", 7: "mesh"}
"""Types of geoms that can be drawn."""
HIDDEN = 3
"""First group of geoms that MuJoCo's viewers do not show unasked: by custom those for contacts."""


def read_mjcf(root: Element, file: Path, meshes: MeshFiles) -> RobotDraft:
    """The draft of an MJCF file.

    Raises:
        Unreadable, OSError: where it cannot be read, or MuJoCo refuses it.
    """
    load_includes(root, file, meshes)
    reader = MjcfReader(root, compile_model(file, root), meshes)
    draft = reader.read()
    account(root)
    return draft


class MjcfReader:
    """Reads a compiled model.

    Attributes:
        anchors: of bodies: where our frame stands in MuJoCo's.
        bodies, joints: our names by MuJoCo's numbers.
    """

    def __init__(self, root: Element, model: Any, meshes: MeshFiles) -> None:
        self.root, self.model, self.meshes = root, model, meshes
        self.draft = RobotDraft(root.attributes.get("model", "") or "robot")
        self.names: list[str] = []
        self.bodies = {0: GROUND}
        self.anchors = {0: np.zeros(3)}
        self.joints: dict[int, str] = {}
        self.elements = self._find_elements()

    def read(self) -> RobotDraft:
        import mujoco

        disabled = self.model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
        self.draft.gravity = (0.0, 0.0, 0.0) if disabled else as_floats(self.model.opt.gravity)
        for body in range(1, self.model.nbody):
            self.read_body(body)
        self.read_sites()
        PartReader(self).read()
        if self.model.nflex:
            what = f"{self.model.nflex} deformable parts are loose masses: their elastic forces are not used"
            self.elements[0].mark(CHOICE, f"{what}; [bodies.NAME.beam] and its like describe flexible bodies")
        return self.draft

    def name(self, kind: str, number: int) -> str:
        """A part's name in the file; parts without one have their kind's and number."""
        model = self.model
        parts = {"body": model.body, "joint": model.joint, "geom": model.geom, "site": model.site}
        parts |= {"tendon": model.tendon, "equality": model.equality, "actuator": model.actuator}
        return parts[kind](number).name or f"{kind}_{number}"

    def own_name(self, wanted: str) -> str:
        """A name that no joint, point, block or constraint has yet."""
        self.names.append(distinct(usable_name(wanted, "part"), self.names))
        return self.names[-1]

    def _find_elements(self) -> dict[int, Element]:
        """Elements of bodies; those that the compiler made of others have that of the world."""
        world = next((element for element in members(self.root) if element.tag == "worldbody"), self.root)
        worlds = [element for element in members(self.root) if element.tag == "worldbody"]
        found = [body for each in worlds for body in bodies_of(each)]
        if len(found) == self.model.nbody - 1:
            return {0: world, **dict(enumerate(found, 1))}
        named = {body.attributes.get("name"): body for body in found}
        return {0: world} | {k: named.get(self.name("body", k), world) for k in range(1, self.model.nbody)}

    def part_element(self, body: int, tags: tuple[str, ...], index: int) -> Element:
        """The element of a body's own part, by its place among those of its kind."""
        parts = list(parts_of(self.elements[body], tags))
        return parts[index] if index < len(parts) else self.elements[body]

    def read_body(self, body: int) -> None:
        model, element = self.model, self.elements[body]
        wanted = self.name("body", body)
        name = distinct(usable_name(wanted, "body"), [link.name for link in self.draft.links])
        if name != wanted:
            element.mark(CONVERTED, f"the name is written '{name}'", "name")
        self.bodies[body] = name
        parent = int(model.body_parentid[body])
        place = Pose.translation(-self.anchors[parent]) @ _pose(model.body_pos[body], model.body_quat[body])
        chain = JointReader(self, body).read(self.bodies[parent], place)
        self.draft.links += chain.frames
        self.draft.joints += chain.joints
        self.anchors[body] = chain.anchor
        R = from_quaternion(*map(float, model.body_iquat[body]))
        link = LinkDraft(
            name, element, float(model.body_mass[body]), np.array(model.body_ipos[body]) - chain.anchor,
            rotated_inertia(R, np.diag(model.body_inertia[body])), inertial=element,
        )  # fmt: skip
        self.read_looks(body, link)
        self.draft.links.append(link)
        if model.body_gravcomp[body] and int(model.body_weldid[body]) == 0:
            element.mark(UNUSED, "a force on a body that is fixed to the world moves nothing", "gravcomp")
        elif model.body_gravcomp[body] and link.mass:
            point = Point(self.own_name(f"{name}_com"), name, as_floats(link.com))
            force = -model.body_gravcomp[body] * link.mass * np.array(self.draft.gravity)
            self.draft.points.append(point)
            self.draft.loads.append(Load(self.own_name(f"{name}_gravcomp"), point.name, as_floats(force)))

    def read_looks(self, body: int, link: LinkDraft) -> None:
        model, first = self.model, int(self.model.body_geomadr[body])
        for k in range(int(model.body_geomnum[body])):
            geom = first + k
            kind = SHAPES.get(int(model.geom_type[geom]))
            element = self.part_element(body, ("geom",), k)
            if kind is None:
                element.mark(CONVERTED, "counts for the inertia alone: this shape cannot be drawn")
                continue
            name = distinct(usable_name(self.name("geom", geom), "look"), [look.name for look in link.looks])
            place = Pose.translation(-self.anchors[body]) @ _pose(model.geom_pos[geom], model.geom_quat[geom])
            material = int(model.geom_matid[geom])
            rgba = model.geom_rgba[geom] if material < 0 else model.mat_rgba[material]
            sizes = self.sizes(kind, geom) | {"collision": bool(model.geom_group[geom] >= HIDDEN)}
            if kind == "mesh":
                mesh = int(model.geom_dataid[geom])
                # MuJoCo puts a mesh into its centre of mass and principal axes; the file has it in its own frame.
                place = place @ _pose(model.mesh_pos[mesh], model.mesh_quat[mesh]).inverse()
            look = make_look(kind, name, place, colour_of(list(map(float, rgba))), self.meshes, sizes)
            if isinstance(look, str):
                element.mark(CONVERTED, f"counts for inertia at most: {look}")
            else:
                link.looks.append(look)

    def sizes(self, kind: str, geom: int) -> dict[str, Any]:
        a, b, c = (float(size) for size in self.model.geom_size[geom])
        if kind == "box":
            return {"size": (2 * a, 2 * b, 2 * c)}
        if kind in ("capsule", "cylinder"):
            return {"radius": a, "length": 2 * b}
        if kind == "sphere":
            return {"radius": a}
        mesh = int(self.model.geom_dataid[geom])
        start = int(self.model.mesh_pathadr[mesh])
        path = self.model.paths[start:].split(b"\0", 1)[0].decode(errors="replace") if start >= 0 else ""
        found = self.meshes.file.parent / path
        return {"file": str(found), "scale": as_floats(self.model.mesh_scale[mesh])}

    def read_sites(self) -> None:
        for site in range(self.model.nsite):
            body = int(self.model.site_bodyid[site])
            place = np.array(self.model.site_pos[site]) - self.anchors[body]
            name = self.own_name(self.name("site", site))
            self.draft.points.append(Point(name, self.bodies[body], as_floats(place)))


def _pose(p: Any, quaternion: Any) -> Pose:
    return Pose(from_quaternion(*map(float, quaternion)), np.array(p, float))
