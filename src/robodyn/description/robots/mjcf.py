"""MJCF: bodies, joints, actuators and equalities as MuJoCo reads them."""

from __future__ import annotations

import re
import struct
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base import Array, FlawList, Unreadable
from robodyn.base.spatial import Pose, from_quaternion
from robodyn.description.laws.drives import REFERENCE
from robodyn.description.model import (
    GROUND,
    Block,
    Delay,
    Distance,
    FormulaSignal,
    LinearCombination,
    LinearConstraint,
    Load,
    LoopJoint,
    Point,
    Rod,
    as_floats,
)

from .building import (
    JointDraft,
    LinkDraft,
    RobotDraft,
    distinct,
    rotated_inertia,
    usable_name,
)
from .links import MeshFiles, colour_of, make_look
from .xml_tree import CHOICE, CONVERTED, READ, UNUSED, XmlElement, load_xml, xml_text

# --------------------------------------------------------------------------------------------------
# MJCF sources: which elements do a file and those it includes hold, and what does MuJoCo's compiler make of them?


MOST_FILES = 50
MOST_REFUSED = 10
"""Problems of MuJoCo's compiler that are looked for."""
REFUSED = "MuJoCo's compiler refuses it: "
MASSES = ("body_mass", "body_inertia", "body_ipos", "body_iquat")
STAND_INS = (".obj", ".stl")
FACES = ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))
FOLDERS = ("meshdir", "texturedir", "assetdir")
TRANSPARENT = ("include", "mujocoinclude", "mujoco")
"""Elements whose children count as those of the element around them."""


def load_includes(root: XmlElement, file: Path, folders: MeshFiles) -> None:
    """Put the elements of included files below their <include>; files outside of the robot's folder are refused.

    Raises:
        ModelError: with all files that are missing or may not be read.
        Unreadable, OSError: for a file that cannot be read.
    """
    waiting, count, flaws = [(root, file)], 0, FlawList()
    while waiting:
        top, source = waiting.pop()
        for element in [element for element in top.walk() if element.tag == "include"]:
            name = element.take("file", READ, "its elements stand in its place")
            count += 1
            if count > MOST_FILES:
                raise Unreadable(f"includes more than {MOST_FILES} files, or itself (line {element.line})")
            target = _find_include(name or "", source, file, folders, element, flaws)
            if target is None:
                continue
            inner = load_xml(target)
            inner.parent = element
            inner.mark(READ)
            element.children.append(inner)
            waiting.append((inner, target))
    # Meshes and other files of a model stand in the robot's folder, or in one that is allowed.
    elements = list(root.walk())
    places = {"", *(element.attributes.get(key, "") for element in elements for key in FOLDERS)}
    for element in elements:
        for key, value in element.attributes.items():
            if not key.startswith("file") or element.tag == "include" or "\0" in value:
                continue
            for folder in places:
                target = (file.parent / folder / value).resolve()
                if target.is_file() and not folders.allows(target):
                    what = f"'{value}' lies outside of the robot's folder"
                    flaws.add(f"{element.place}@{key}", what, "allow its folder with `search`")
    flaws.raise_if_any()


def _find_include(
    name: str, source: Path, file: Path, folders: MeshFiles, element: XmlElement, flaws: FlawList
) -> Path | None:
    """An included file: from the folder of the whole model, as MuJoCo does, or of the one that includes it."""
    for folder in (file.parent, source.parent):
        target = (folder / name).resolve()
        if name and "\0" not in name and target.is_file():
            if folders.allows(target):
                return target
            flaws.add(element.place, f"includes '{name}' from outside of the robot's folder", "allow it with `search`")
            return None
    flaws.add(element.place, f"includes '{name[:200]}', which is not a file", "put it there")
    return None


def compile_model(file: Path, root: XmlElement) -> Any:
    """The model that MuJoCo's own compiler makes of a file.

    Args:
        root: its elements: a mesh that is missing, and from which nothing but looks is made, is replaced.

    Raises:
        ModelError: with all that MuJoCo refuses.
        Unreadable: where it is not installed.
    """
    try:
        import mujoco
    except ImportError as error:
        raise Unreadable("is MJCF, which needs MuJoCo: pip install 'robodyn[mujoco]'") from error
    missing = find_missing(root, file)

    def compiled(size: float, text: str = "") -> Any:
        # A text stands in place of the file of its name.
        given = stand_ins(missing, size) | ({str(file): text.encode()} if text else {})
        return mujoco.MjModel.from_xml_path(str(file), given)

    previous = mujoco.get_mju_user_warning()
    # By itself MuJoCo prints what it warns of, and writes it to a file in the current folder.
    mujoco.set_mju_user_warning(lambda text: warnings.warn(f"MuJoCo: {text}", stacklevel=2))
    try:
        # Two sizes of what replaces meshes: where masses are the same, the meshes are looks alone.
        models = [compiled(size) for size in ((1.0, 0.5) if missing else (1.0,))]
    except (ValueError, RuntimeError, MemoryError, mujoco.FatalError) as error:
        find_refused(str(error), root, compiled).raise_if_any()
        raise Unreadable(f"{REFUSED}{str(error).strip()}") from error
    finally:
        mujoco.set_mju_user_warning(previous)
    switch_off(models[0])
    if any(np.any(getattr(models[0], table) != getattr(models[-1], table)) for table in MASSES):
        lines = ", ".join(f"'{name}' (line {line})" for name, line in missing.items())
        raise Unreadable(f"makes inertias of meshes that are not there: {lines}; put them there")
    return models[0]


def switch_off(model: Any) -> None:
    """Take out of a model what its <flag> disables; actuators that are disabled stay, for the reader to tell."""
    import mujoco

    tables = {
        "SPRING": ("jnt_stiffness", "jnt_stiffnesspoly", "tendon_stiffness", "tendon_stiffnesspoly"),
        "DAMPER": ("dof_damping", "dof_dampingpoly", "tendon_damping", "tendon_dampingpoly"),
        "FRICTIONLOSS": ("dof_frictionloss", "tendon_frictionloss"),
        "LIMIT": ("jnt_limited", "tendon_limited"),
        "EQUALITY": ("eq_active0",),
        "CLAMPCTRL": ("actuator_ctrllimited",),
    }
    for flag, names in tables.items():
        bit = mujoco.mjtDisableBit.__members__.get(f"mjDSBL_{flag}", 0)
        if flag in ("FRICTIONLOSS", "LIMIT", "EQUALITY"):
            bit |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        for name in names if model.opt.disableflags & bit else ():
            if name in dir(model):
                getattr(model, name)[:] = 0


def find_refused(message: str, root: XmlElement, compiled: Callable[[float, str], Any]) -> FlawList:
    """All that MuJoCo's compiler refuses: it stops at the first problem, whose element is left out to see the next.

    What follows from an element that is left out, in those around it or by its name, is no problem of the file's own.
    """
    import mujoco

    flaws, left_out, around, names = FlawList(), list[XmlElement](), set[int](), set[str]()
    while message and len(left_out) < MOST_REFUSED:
        # It names a line, and the tag in one way or another.
        line = re.search(r"line (\d+)", message)
        there = [one for one in root.walk() if line and str(one.line) == line[1] and one not in left_out]
        if not there:
            break
        words = re.findall(r"\w+", message)
        element = next((one for one in there if one.tag in words), there[0])
        if id(element) not in around and not any(f"'{name}'" in message for name in names):
            flaws.add(element.place, f"{REFUSED}{message.partition('Element')[0].strip()}")
        left_out.append(element)
        for inner in element.walk():
            names |= {value for key, value in inner.attributes.items() if key in ("name", "class")}
        while element.parent is not None:
            element = element.parent
            around.add(id(element))
        try:
            compiled(1.0, xml_text(root, left_out))
            message = ""
        except (ValueError, RuntimeError, MemoryError, mujoco.FatalError) as error:
            message = str(error)
    return flaws


def find_missing(root: XmlElement, file: Path) -> dict[str, int]:
    """Files of meshes that are not there, with their lines."""
    elements = list(root.walk())
    inner = {"", *(element.attributes.get(key, "") for element in elements for key in FOLDERS)}
    given = {
        element.attributes["file"]: element.line
        for element in elements
        if element.tag == "mesh" and Path(element.attributes.get("file", "")).suffix.lower() in STAND_INS
    }
    there = {name for name in given if any((file.parent / folder / name).is_file() for folder in inner)}
    return {name: line for name, line in given.items() if name not in there}


def stand_ins(missing: Mapping[str, int], size: float) -> dict[str, bytes]:
    """A tetrahedron in place of each mesh."""
    corners = np.vstack([np.zeros(3), size * np.eye(3)])
    obj = "".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "".join(
        f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in FACES
    )
    stl = bytes(80) + struct.pack("<I", len(FACES))
    for face in FACES:
        stl += struct.pack("<12fH", 0, 0, 0, *corners[list(face)].ravel(), 0)
    contents = {".obj": obj.encode(), ".stl": stl}
    return {Path(name).name: contents[Path(name).suffix.lower()] for name in missing}


def row_of(model: Any, table: str, number: int) -> Any:
    """A row of a table of the model, 0 where this version of MuJoCo does not have it."""
    rows = getattr(model, table, None)
    return np.zeros(1) if rows is None else np.asarray(rows[number])


def members(element: XmlElement) -> Iterator[XmlElement]:
    """Children of an element, those of included files among them."""
    for child in element.children:
        if child.tag in TRANSPARENT:
            yield from members(child)
        else:
            yield child


def sections(root: XmlElement, tag: str) -> list[XmlElement]:
    """All members of the sections of a tag, in the order of the file."""
    return [member for section in members(root) if section.tag == tag for member in members(section)]


def bodies_of(element: XmlElement) -> Iterator[XmlElement]:
    """Bodies below an element in MuJoCo's order, depth first; frames are transparent."""
    for child in members(element):
        if child.tag == "body":
            yield child
            yield from bodies_of(child)
        elif child.tag == "frame":
            yield from bodies_of(child)


def parts_of(body: XmlElement, tags: tuple[str, ...]) -> Iterator[XmlElement]:
    """Joints, geoms or sites of a body itself."""
    for child in members(body):
        if child.tag in tags:
            yield child
        elif child.tag == "frame":
            yield from parts_of(child, tags)


# --------------------------------------------------------------------------------------------------
# Account of MJCF: what becomes of the elements and attributes of a model, by their tags?


@cache
def fates_by_tag() -> tuple[dict[str, tuple[str, str]], dict[str, dict[str, tuple[str, str]]]]:
    """The contents of `mjcf_account.toml`: column and note of whole elements, and of attributes, by their tags."""
    text = files("robodyn.description.robots").joinpath("mjcf_account.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    whole = {tag: (row["column"], row["note"]) for row in tables["elements"] for tag in row["tags"].split()}
    attributes: dict[str, dict[str, tuple[str, str]]] = {}
    for row in tables["attributes"]:
        for tag in row["tags"].split():
            fate = row["column"], row.get("note", "")
            attributes.setdefault(tag, {}).update(dict.fromkeys(row["keys"].split(), fate))
    return whole, attributes


def account(root: XmlElement) -> None:
    """Put every element and attribute into its column, by its tag; parts that could not be used are marked before."""
    whole, attributes = fates_by_tag()
    for element in root.walk():
        # Joints of tendons and equalities are others than those of bodies.
        parent = element.parent
        while parent is not None and parent.tag in TRANSPARENT:
            parent = parent.parent
        tags = [f"{parent.tag}/{element.tag}" if parent is not None else "", element.tag]
        for tag in tags:
            if tag in whole:
                column, note = whole[tag]
                element.drop(note, column)
        fates = next((attributes[tag] for tag in tags if tag in attributes), None)
        if fates is None:
            continue
        unused = element.fates.setdefault("", (READ, ""))
        for key in element.attributes:
            fate = unused if unused[0] == UNUSED else fates.get(key, fates.get("*"))
            if fate is not None:
                element.fates.setdefault(key, fate)


# --------------------------------------------------------------------------------------------------
# MJCF: what does a model of MuJoCo say? Bodies and joints as MuJoCo's own compiler makes them, by their elements.


SHAPES = {2: "sphere", 3: "capsule", 5: "cylinder", 6: "box", 7: "mesh"}
"""Types of geoms that can be drawn."""
HIDDEN = 3
"""First group of geoms that MuJoCo's viewers do not show unasked: by custom those for contacts."""
FREE, BALL, SLIDE, HINGE = range(4)
JOINT, SITE = 1, 3
"""Types of what a tendon goes along."""
KINDS = {FREE: "free", BALL: "ball", SLIDE: "prismatic", HINGE: "revolute"}
LOST = "is not used: only joints along or about one axis have it in robodyn"
CURVED = "with a nonlinear part, which is not used; a law of your own can have it"
EXACT = "held exactly, where MuJoCo's constraint gives way a little"
COMMAND = "`{name}_command.constant` is its command, {value:g}: name a signal in its place to control it"
POSITION, RATE, FORWARD, VOLTAGE = 1, 2, 4, 8
"""Bits of MuJoCo's words for the inputs of an actuator: setpoints, a torque beside the controller's, a voltage."""
FILTERS, INTEGRATOR = ("FILTER", "FILTEREXACT"), "INTEGRATOR"
CELSIUS = 273.15
"""0 deg C [K]."""
STATES = "has a state of its own (dyntype), for which robodyn has no law"


def read_mjcf(root: XmlElement, file: Path, meshes: MeshFiles) -> RobotDraft:
    """The draft of an MJCF file.

    Raises:
        Unreadable, OSError: where it cannot be read, or MuJoCo refuses it.
    """
    load_includes(root, file, meshes)
    flaws = FlawList()
    for element in root.walk():
        for key, value in element.attributes.items():
            # MuJoCo takes no number for a number.
            if key != "name" and "nan" in value.lower().split():
                flaws.add(f"{element.place}@{key}", f"'{value[:80]}' is not a finite number")
    flaws.raise_if_any()
    reader = MjcfReader(root, compile_model(file, root), meshes)
    draft = reader.read()
    account(root)
    return draft


class MjcfReader:
    """Reads a compiled model.

    Attributes:
        anchors: of bodies: where our frame stands in MuJoCo's.
        bodies, joints, coordinates, sites: our names by MuJoCo's numbers.
    """

    def __init__(self, root: XmlElement, model: Any, meshes: MeshFiles) -> None:
        self.root, self.model, self.meshes = root, model, meshes
        self.draft = RobotDraft(root.attributes.get("model", "") or "robot")
        self.names: list[str] = []
        self.bodies = {0: GROUND}
        self.anchors = {0: np.zeros(3)}
        self.joints: dict[int, str] = {}
        self.coordinates: dict[int, str] = {}
        self.sites: dict[int, str] = {}
        self.elements = self._find_elements()

    def read(self) -> RobotDraft:
        import mujoco

        bits = mujoco.mjtDisableBit
        disabled = self.model.opt.disableflags & bits.mjDSBL_GRAVITY
        self.draft.gravity = (0.0, 0.0, 0.0) if disabled else as_floats(self.model.opt.gravity)
        for body in range(1, self.model.nbody):
            self.read_body(body)
        for site in range(self.model.nsite):
            body = int(self.model.site_bodyid[site])
            self.sites[site] = self.point(self.name("site", site), body, np.array(self.model.site_pos[site]))
        self.read_parts()
        touchable = self.model.geom_contype | self.model.geom_conaffinity
        bits = mujoco.mjtDisableBit
        off = self.model.opt.disableflags & (bits.mjDSBL_CONTACT | bits.mjDSBL_CONSTRAINT)
        if not off and self.model.nbody > 1 and np.any(touchable[self.model.geom_bodyid == 0]):
            self.root.mark(CHOICE, "nothing stops a body at the world's shapes: say [contacts] in the scenario's file")
        if self.model.nflex:
            what = f"{self.model.nflex} deformable parts are loose masses: their elastic forces are not used"
            self.elements[0].mark(CHOICE, f"{what}; [bodies.NAME.beam] and its like describe flexible bodies")
        return self.draft

    def name(self, kind: str, number: int) -> str:
        """A part's name in the file; parts without one have their kind's and number."""
        return getattr(self.model, kind)(number).name or f"{kind}_{number}"

    def own_name(self, wanted: str) -> str:
        """A name that no joint, point, block or constraint has yet."""
        self.names.append(distinct(usable_name(wanted, "part"), self.names))
        return self.names[-1]

    def _find_elements(self) -> dict[int, XmlElement]:
        """Elements of bodies; those that the compiler made of others have that of the world."""
        worlds = [element for element in members(self.root) if element.tag == "worldbody"]
        world = worlds[0] if worlds else self.root
        bodies = [body for each in worlds for body in bodies_of(each)]
        if len(bodies) == self.model.nbody - 1:
            return {0: world, **dict(enumerate(bodies, 1))}
        named = {body.attributes.get("name"): body for body in bodies}
        return {0: world} | {k: named.get(self.name("body", k), world) for k in range(1, self.model.nbody)}

    def part_element(self, body: int, tags: tuple[str, ...], index: int) -> XmlElement:
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
        anchor = self.anchors[body] = self.read_joints(body, self.bodies[parent], place)
        R = from_quaternion(*map(float, model.body_iquat[body]))
        link = LinkDraft(
            name, element, float(model.body_mass[body]), np.array(model.body_ipos[body]) - anchor,
            rotated_inertia(R, np.diag(model.body_inertia[body])), inertial=element,
        )  # fmt: skip
        self.read_looks(body, link)
        self.draft.links.append(link)
        if model.body_gravcomp[body] and int(model.body_weldid[body]) == 0:
            element.mark(UNUSED, "a force on a body that is fixed to the world moves nothing", "gravcomp")
        elif model.body_gravcomp[body] < 0.0:
            self.draft.flaws.add(f"{element.place}@gravcomp", "must not be negative", "0 is the whole weight")
        elif model.body_gravcomp[body] and link.mass:
            com = self.point(f"{name}_com", body, np.array(model.body_ipos[body]))
            force = -model.body_gravcomp[body] * link.mass * np.array(self.draft.gravity)
            self.draft.loads.append(Load(self.own_name(f"{name}_gravcomp"), com, as_floats(force)))

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
        mesh_file = self.meshes.file.parent / path
        return {"file": str(mesh_file), "scale": as_floats(self.model.mesh_scale[mesh])}

    # ----------------------------------------------------------------------------------------------
    # Joints: which chain carries a body? MuJoCo allows several between two bodies, each with an anchor.

    def read_joints(self, body: int, parent: str, place: Pose) -> Array:
        """The joints from a parent's frame to the body, which stands at a place in it; returned: the last one's anchor.

            X_parent_body = X_place  T(a_1) J_1 T(-a_1)  T(a_2) J_2 T(-a_2) ...

        with anchors a_k in the body's frame; ours stands at the last of them. Between two joints is a massless frame.
        """
        model, name = self.model, self.bodies[body]
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        if not count:
            mount = JointDraft(self.own_name(f"{name}_mount"), self.elements[body], "fixed", parent, name, place)
            self.draft.joints.append(mount)
        before = np.zeros(3)
        for number in range(first, first + count):
            kind = int(model.jnt_type[number])
            anchor = before if kind in (FREE, SLIDE) else np.array(model.jnt_pos[number])
            element = self.part_element(body, ("joint", "freejoint"), number - first)
            joint = self.joints[number] = self.own_name(self.name("joint", number))
            last = number == first + count - 1
            child = name if last else f"{joint}_frame"
            here = place @ Pose.translation(anchor - before)
            draft = JointDraft(joint, element, KINDS[kind], parent, child, here)
            if kind == FREE:
                self.release(draft, number)
            self.fill(draft, number, kind)
            self.draft.joints.append(draft)
            before = anchor
            if not last:
                self.draft.links.append(LinkDraft(child, element))
                parent, place = child, Pose.identity()
        return before

    def release(self, draft: JointDraft, number: int) -> None:
        """A free joint's positions are MuJoCo's own: place and orientation in the world."""
        draft.place = Pose.identity()
        start = self.model.qpos0[int(self.model.jnt_qposadr[number]) :][:7]
        names = [f"{draft.name}.{axis}.position" for axis in "xyz"]
        names += [f"{draft.name}.orientation.{part}" for part in "wxyz"]
        rest = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
        values = dict(zip(names, map(float, start), strict=True))
        if [*values.values()] != rest:
            self.draft.initial |= values

    def fill(self, draft: JointDraft, number: int, kind: int) -> None:
        """Limits, losses, rotor and spring of a joint."""
        model, dof = self.model, int(self.model.jnt_dofadr[number])
        for name, table, at in (("damping", "dof_dampingpoly", dof), ("stiffness", "jnt_stiffnesspoly", number)):
            if np.any(row_of(model, table, at)):
                draft.element.mark(CHOICE, f"{name} {CURVED}")
        damping, friction, armature = (
            float(table[dof]) for table in (model.dof_damping, model.dof_frictionloss, model.dof_armature)
        )
        stiffness = float(model.jnt_stiffness[number])
        if kind in (FREE, BALL):
            lost = {"damping": damping, "frictionloss": friction, "armature": armature, "stiffness": stiffness}
            lost |= {"range": float(model.jnt_limited[number])}
            keys = [key for key, value in lost.items() if value]
            for key in keys:
                if key in draft.element.attributes:
                    draft.element.mark(UNUSED, f"{key} {LOST}", key)
            others = [key for key in keys if key not in draft.element.attributes]
            if others:
                draft.element.mark(CHOICE, f"{', '.join(others)} of its defaults {LOST}")
            return
        zero = self.zero(number)
        draft.fields["axis"] = as_floats(np.array(model.jnt_axis[number]))
        given = {"damping": damping, "friction": friction, "armature": armature}
        draft.fields |= {key: value for key, value in given.items() if value}
        if model.jnt_limited[number]:
            lower, upper = (float(end) - zero for end in model.jnt_range[number])
            draft.fields |= {"lower_limit": lower, "upper_limit": upper}
        if model.jnt_actfrclimited[number]:
            draft.fields |= effort_limit(draft.element, model.jnt_actfrcrange[number], "actuatorfrcrange")
        self.yields(draft.element, row_of(model, "jnt_springyield", number), stiffness)
        rest = float(model.qpos_spring[int(model.jnt_qposadr[number])]) - zero
        self.add_spring(draft.name, draft.element, stiffness=stiffness, rest=rest)

    def add_spring(self, on: str, element: XmlElement, **numbers: float) -> None:
        """A spring on a joint or coordinate; MuJoCo takes negative ones too."""
        for key in {"stiffness", "damping"} & numbers.keys():
            if numbers[key] < 0.0:
                self.draft.flaws.add(element.place, f"{key}: must not be negative, is {numbers[key]:g}")
                return
        if numbers["stiffness"] or numbers.get("damping"):
            values = {key: value for key, value in numbers.items() if value}
            spring = Block(self.own_name(f"{on}_spring"), "spring", on, parameters={"stiffness": 0.0} | values)
            self.draft.blocks.append(spring)

    def yields(self, element: XmlElement, limit: Any, stiffness: float) -> None:
        """Note a spring that yields: robodyn's stays elastic."""
        if np.any(limit) and stiffness:
            key = "springyield" if "springyield" in element.attributes else ""
            element.mark(
                CHOICE, f"its spring yields from {float(np.max(limit)):g} on: taken as elastic there, too", key
            )

    # ----------------------------------------------------------------------------------------------
    # Equalities and tendons: which constraints and coordinates are they?

    def read_parts(self) -> None:
        """Read the parts beside the tree of bodies."""
        self.each("tendon", self.model.ntendon, self.tendon)
        self.each("equality", self.model.neq, self.equality)
        self.each("actuator", len(self.model.actuator_gear), self.actuator)

    def each(self, section: str, count: int, read: Any) -> None:
        """Read parts in order, each with its element; a reason that comes back says why it is not used."""
        elements = sections(self.root, section)
        for k in range(count):
            element = elements[k] if len(elements) == count else self.root
            reason = read(k, element)
            if reason and len(elements) == count:
                element.mark(UNUSED, reason)
                element.drop(reason)
            elif reason:
                self.elements[0].mark(CHOICE, f"{section} {k} is not used: {reason}")

    def single(self, number: int) -> str | None:
        """The name of a joint along or about one axis; None for others."""
        return None if int(self.model.jnt_type[number]) in (FREE, BALL) else self.joints[number]

    def zero(self, number: int) -> float:
        return float(self.model.qpos0[int(self.model.jnt_qposadr[number])])

    def wraps(self, tendon: int) -> range:
        """Numbers of what a tendon goes along."""
        first = int(self.model.tendon_adr[tendon])
        return range(first, first + int(self.model.tendon_num[tendon]))

    def tendon_zero(self, tendon: int) -> float:
        """MuJoCo's length of a sum of joints where ours is 0."""
        weights, joints = self.model.wrap_prm, self.model.wrap_objid
        return sum(float(weights[w]) * self.zero(int(joints[w])) for w in self.wraps(tendon))

    def tendon(self, k: int, element: XmlElement) -> str:
        model, wraps = self.model, self.wraps(k)
        kinds_of_wraps = [int(model.wrap_type[w]) for w in wraps]
        if kinds_of_wraps == [SITE, SITE]:
            return self.strut(k, element)
        if any(kind != JOINT for kind in kinds_of_wraps):
            return "tendons round bodies, pulleys or more than two sites have no coordinate in robodyn"
        joints = [int(model.wrap_objid[w]) for w in wraps]
        names = [self.single(number) for number in joints]
        kinds = {int(model.jnt_type[number]) for number in joints}
        if None in names or len(kinds) != 1 or len(set(names)) < len(names):
            return "sums only single-axis joints of one kind, each once"
        weights = {str(name): float(model.wrap_prm[w]) for name, w in zip(names, wraps, strict=True)}
        name = self.own_name(self.name("tendon", k))
        inertia, zero = float(row_of(model, "tendon_armature", k).flat[0]), self.tendon_zero(k)
        self.draft.coordinates.append(LinearCombination(name, weights, inertia, self.stroke(k, zero)))
        self.coordinates[k] = name
        element.mark(CONVERTED, "a coordinate: the weighted sum of positions")
        self.tendon_forces(k, name, element, zero)
        return ""

    def stroke(self, k: int, zero: float) -> tuple[float, float] | None:
        """The range of a tendon, None without; zero: MuJoCo's length where ours is 0."""
        if not self.model.tendon_limited[k]:
            return None
        lower, upper = map(float, self.model.tendon_range[k])
        return lower - zero, upper - zero

    def strut(self, k: int, element: XmlElement) -> str:
        """A tendon between two sites: their distance."""
        start, end = (self.sites[int(self.model.wrap_objid[w])] for w in self.wraps(k))
        name = self.own_name(self.name("tendon", k))
        self.draft.coordinates.append(Distance(name, start, end, self.stroke(k, 0.0)))
        if np.any(row_of(self.model, "tendon_armature", k)):
            element.mark(UNUSED, "only joints and sums of them have rotors in robodyn", "armature")
        self.coordinates[k] = name
        element.mark(CONVERTED, "a coordinate: the distance of two points")
        self.tendon_forces(k, name, element, 0.0)
        return ""

    def tendon_forces(self, k: int, name: str, element: XmlElement, zero: float) -> None:
        """Spring and damper of a tendon; zero: MuJoCo's length where ours is 0."""
        model = self.model
        if model.tendon_frictionloss[k]:
            element.mark(CHOICE, "its friction is not used: `blocks` with a law of friction on it give one")
        stiffness, damping = float(model.tendon_stiffness[k]), float(model.tendon_damping[k])
        curved = [key for key in ("stiffness", "damping") if np.any(row_of(model, f"tendon_{key}poly", k))]
        if curved:
            element.mark(CHOICE, f"{' and '.join(curved)} {CURVED}")
        self.yields(element, row_of(model, "tendon_springyield", k), stiffness)
        low, high = map(float, model.tendon_lengthspring[k])
        if low != high and stiffness:
            element.mark(CHOICE, f"its spring is slack from {low:g} to {high:g}: taken at rest at the middle")
        self.add_spring(name, element, stiffness=stiffness, damping=damping, rest=0.5 * (low + high) - zero)

    def equality(self, k: int, element: XmlElement) -> str:
        import mujoco

        kind, data = int(self.model.eq_type[k]), np.array(self.model.eq_data[k])
        active, types = bool(self.model.eq_active0[k]), mujoco.mjtEq
        name = self.name("equality", k)
        first, second = int(self.model.eq_obj1id[k]), int(self.model.eq_obj2id[k])
        if kind == types.mjEQ_JOINT:
            follower, leader = (None if number < 0 else self.single(number) for number in (first, second))
            return self.couple(name, (follower, leader), second, data, active, element)
        if kind == types.mjEQ_TENDON:
            # Lengths count from those of the model as it stands, which are 0 of sums of joints.
            names = [None if number < 0 else self.coordinates.get(number) for number in (first, second)]
            struts = {part.name: part for part in self.draft.coordinates if isinstance(part, Distance)}
            if names[0] in struts and second < 0:
                strut = struts[names[0]]
                length = float(self.model.tendon_length0[first]) + float(data[0])
                self.draft.constraints.append(Rod(self.own_name(name), strut.start, strut.end, length, active))
                element.mark(CONVERTED, f"a rod between two points, {EXACT}")
                return ""
            if struts.keys() & set(names):
                return "couples distances, which count from zero in robodyn"
            return self.couple(name, (names[0], names[1]), second, data, active, element)
        if kind not in (types.mjEQ_CONNECT, types.mjEQ_WELD):
            return "only connect, weld, joint and tendon equalities have a constraint in robodyn"
        if self.model.eq_objtype[k] == mujoco.mjtObj.mjOBJ_SITE:
            places = [(int(self.model.site_bodyid[s]), np.array(self.model.site_pos[s])) for s in (first, second)]
            turns = [from_quaternion(*map(float, self.model.site_quat[s])) for s in (first, second)]
            rotation = turns[0] @ turns[1].T
        else:
            swapped = (data[3:6], data[0:3]) if kind == types.mjEQ_WELD else (data[0:3], data[3:6])
            places = [(first, swapped[0]), (second, swapped[1])]
            rotation = from_quaternion(*data[6:10]) if kind == types.mjEQ_WELD else np.eye(3)
        a, b = (self.point(f"{name}_{end}", *place) for end, place in zip("ab", places, strict=True))
        own = self.own_name(name)
        loop = LoopJoint(own, a, b, "spherical", active=active)
        if kind == types.mjEQ_WELD:
            loop = LoopJoint(own, a, b, "fixed", rotation=as_floats(rotation), active=active)
        self.draft.constraints.append(loop)
        element.mark(CONVERTED, f"a {loop.kind} loop joint, {EXACT}")
        return ""

    def point(self, name: str, body: int, place: Array) -> str:
        point = Point(self.own_name(name), self.bodies[body], as_floats(place - self.anchors[body]))
        self.draft.points.append(point)
        return point.name

    def couple(
        self, name: str, ends: tuple[str | None, str | None], second: int, data: Array, active: bool,
        element: XmlElement,
    ) -> str:  # fmt: skip
        """A follower, a joint or tendon, by its leader; second: MuJoCo's number of it, negative where there is none."""
        follower, leader = ends
        if follower is None or (second >= 0 and leader is None):
            return "couples joints that do not move along one axis, or tendons that are not used"
        if np.any(data[2:5]) and leader is not None:
            return "only the linear part of a polynomial has a constraint in a file; a function of your own can have it"
        of = {follower: 1.0} | ({leader: -float(data[1])} if leader is not None and data[1] else {})
        self.draft.constraints.append(LinearConstraint(self.own_name(name), of, float(data[0]), active))
        element.mark(CONVERTED, f"s_1 = c_0 + c_1 s_2, {EXACT}")
        return ""

    # ----------------------------------------------------------------------------------------------
    # Actuators: which joint or coordinate does one act on, and can it be a drive there?

    def actuator(self, k: int, element: XmlElement) -> str:
        """Read one actuator; all reasons why it is not used, where there are any."""
        import mujoco

        model = self.model
        off = model.opt.disableactuator >> int(model.actuator_group[k]) & 1
        if off or model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_ACTUATION:
            return "is disabled in the file's <option>"
        gain = mujoco.mjtGain(int(model.actuator_gaintype[k])).name.removeprefix("mjGAIN_")
        bias = mujoco.mjtBias(int(model.actuator_biastype[k])).name.removeprefix("mjBIAS_")
        dynamics = mujoco.mjtDyn(int(model.actuator_dyntype[k])).name.removeprefix("mjDYN_")
        reasons = []
        if dynamics not in (*FILTERS, INTEGRATOR, "NONE", "PID", "DCMOTOR"):
            reasons.append(STATES)
        if gain not in ("FIXED", "PID", "DCMOTOR") or bias not in ("NONE", "AFFINE", "DCMOTOR"):
            reasons.append("its gain is not constant, or its bias not affine")
        if np.any(row_of(model, "actuator_dampingpoly", k)):
            reasons.append("has nonlinear damping of its own")
        on, shift = self.target(k)
        if on is None:
            reasons.append("acts neither on a single-axis joint nor on a sum of them")
        if reasons:
            return "; ".join(reasons)
        assert on is not None
        reason = self.carry(k, on)
        if not reason:
            ActuatorReader(self, k, element, on, shift).read(gain, dynamics)
        return reason

    def carry(self, k: int, on: str) -> str:
        """Put the actuator's own rotor and damping on its joint: gear^2 times them."""
        gear = float(self.model.actuator_gear[k][0])
        for key in ("armature", "damping"):
            value = float(row_of(self.model, f"actuator_{key}", k).flat[0])
            joint = next((joint for joint in self.draft.joints if joint.name == on), None)
            if value and joint is None:
                return f"has {key} of its own on a sum of joints"
            if value and joint is not None:
                joint.fields[key] = joint.fields.get(key, 0.0) + gear * gear * value
        return ""

    def target(self, k: int) -> tuple[str | None, float]:
        """The joint or coordinate that an actuator acts on, and MuJoCo's length of it where ours is 0, without gear."""
        import mujoco

        kind, number = int(self.model.actuator_trntype[k]), int(self.model.actuator_trnid[k][0])
        if kind in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT):
            return self.single(number), self.zero(number)
        if kind == mujoco.mjtTrn.mjTRN_TENDON and number in self.coordinates:
            name = self.coordinates[number]
            straight = any(part.name == name and isinstance(part, Distance) for part in self.draft.coordinates)
            return name, 0.0 if straight else self.tendon_zero(number)
        return None, 0.0

    def units(self, on: str) -> tuple[str, str]:
        """Units of the force on a joint or coordinate, and of its position."""
        joints = {joint.name: joint.kind for joint in self.draft.joints}
        for coordinate in self.draft.coordinates:
            if coordinate.name == on:
                on = next(iter(coordinate.of)) if isinstance(coordinate, LinearCombination) else ""
        return ("N", "m") if joints.get(on, "prismatic") == "prismatic" else ("N m", "rad")


# --------------------------------------------------------------------------------------------------
# Actuators of MJCF: which drives are they? Motors, position and velocity servos, DC motors with their circuit.


class ActuatorReader:
    """Reads one actuator as blocks.

    Attributes:
        on: the joint or coordinate that it acts on; shift: MuJoCo's length of that where ours is 0, without gear.
        gains, bias, dynamics: its parameters in MuJoCo's order; spec: bits of its inputs.
        force, position: units on the joint's side.
        limit: of its force on the joint, gear times that of its own; nothing without one.
    """

    def __init__(self, reader: MjcfReader, k: int, element: XmlElement, on: str, shift: float) -> None:
        model = reader.model
        self.reader, self.model, self.k, self.element, self.on, self.shift = reader, model, k, element, on, shift
        self.name = reader.own_name(reader.name("actuator", k))
        self.gear = float(model.actuator_gear[k][0])
        tables = (model.actuator_gainprm, model.actuator_biasprm, model.actuator_dynprm)
        self.gains, self.bias, self.dynamics = (table[k].tolist() for table in tables)
        self.spec = int(row_of(model, "actuator_ctrlspec", k).flat[0])
        self.force, self.position = reader.units(on)
        self.limit: dict[str, float] = {}
        if model.actuator_forcelimited[k]:
            ends = sorted(self.gear * float(end) for end in model.actuator_forcerange[k])
            self.limit = {"limit": effort_limit(element, ends, "forcerange")["effort_limit"]}

    def read(self, gain: str, activation: str) -> None:
        """Its blocks, by MuJoCo's words for what its gain and its state are."""
        self.activation = activation
        if gain == "DCMOTOR":
            self.motor()
        elif gain == "PID":
            imax, slewmax = self.dynamics[:2]
            loop = self.controller((-self.bias[1], self.gains[0], -self.bias[2]), (slewmax, imax))
            self.add("", "torque_source", self.on, inputs={"command": loop})
        else:
            self.servo()

    def own_name(self, suffix: str) -> str:
        """A name of its own, of what it is for."""
        return self.reader.own_name(f"{self.name}_{suffix}")

    def add(self, suffix: str, law: str, on: str | None = None, **words: Any) -> str:
        """Add a block; its name, which is the actuator's own where no suffix is given."""
        name = self.own_name(suffix) if suffix else self.name
        self.reader.draft.blocks.append(Block(name, law, on, **words))
        return name

    def add_constant(self, suffix: str, value: float, unit: str) -> str:
        """A constant; its signal."""
        return f"{self.add(suffix, 'constant_reference', parameters={'constant': value}, unit=unit)}.value"

    def add_command(self, word: str, scale: float, offset: float, unit: str, entry: int = 0) -> str:
        """A constant command of `scale u + offset`, behind the actuator's delay and filter; its signal.

        Args:
            word: what it commands, "" where there is one command alone; entry: of several inputs.
        """
        model, k, prefix = self.model, self.k, f"{word}_" if word else ""
        # u is 0, or the nearest that the actuator allows.
        number = k if model.nu == len(model.actuator_gear) else int(model.actuator_ctrladr[k]) + entry
        low, high = map(float, model.actuator_ctrlrange[number])
        u = min(max(0.0, low), high) if model.actuator_ctrllimited[number] else 0.0
        integrates = self.activation == INTEGRATOR
        value = scale * u if integrates else scale * u + offset
        signal = self.add_constant(f"{prefix}command", value, f"{unit}/s" if integrates else unit)
        self.element.mark(CHOICE, COMMAND.format(name=signal.removesuffix("_command.value"), value=value))
        if late := float(row_of(model, "actuator_delay", k).flat[0]):
            delay = self.own_name(f"{prefix}delay")
            self.reader.draft.delays.append(Delay(delay, signal, late, 0.0 if integrates else offset))
            signal = f"{delay}.output"
        if self.activation in FILTERS:
            part = self.add(
                f"{prefix}filter", "low_pass", inputs={"value": signal}, states={"filtered": offset}, unit=unit,
                parameters={"time_constant": self.dynamics[0]},
            )  # fmt: skip
        elif integrates:
            ends: dict[str, float] = {}
            if model.actuator_actlimited[k]:
                lower, upper = sorted(scale * float(end) + offset for end in model.actuator_actrange[k])
                ends = {"lower": lower, "upper": upper}
            part = self.add(
                f"{prefix}integral", "limited_integrator", inputs={"rate": signal}, states={"value": offset},
                unit=unit, parameters=ends,
            )  # fmt: skip
        else:
            return signal
        return f"{part}.output"

    def controller(self, gains: tuple[float, float, float], limits: tuple[float, float]) -> str:
        """A PID loop by the inputs of an actuator's signature, on the joint's side; the signal of its torque.

        tau = g (kp (u_pos - g l) + ki x_I + kd (u_vel - g v) + u_ff);   inputs that there are not are 0
        """
        gear, on = self.gear, self.on
        proportional, integral, derivative = (gear * gear * value for value in gains)
        entries = [bit for bit in (POSITION, RATE, FORWARD) if self.spec & bit]
        inputs = {"position": f"{on}.position", "velocity": f"{on}.velocity"}
        words = {
            POSITION: ("target", 1 / gear, -self.shift, self.position),
            RATE: ("target_velocity", 1 / gear, 0.0, f"{self.position}/s"),
            FORWARD: ("feed_forward", gear, 0.0, self.force),
        }
        for entry, bit in enumerate(entries):
            inputs[words[bit][0]] = self.add_command(*words[bit], entry)
        if POSITION not in entries:
            inputs["target"] = self.add_constant("target", -self.shift, self.position)
        slewmax, imax = limits
        lost = {"slewmax": slewmax, "imax": imax}
        if any(lost.values()):
            what = " and ".join(f"{key} {value:g}" for key, value in lost.items() if value)
            note = f"{what} not used: an s_curve_reference bounds rates, the integral stops at the limit"
            self.element.mark(CHOICE, note)
        values = {"proportional": proportional, "derivative": derivative, **self.limit}
        law = "pid_control" if integral or {"target_velocity", "feed_forward"} & inputs.keys() else "pd_control"
        values |= {"integral": integral} if law == "pid_control" else {}
        return f"{self.add('loop', law, inputs=inputs, parameters=values, unit=self.force)}.command"

    def motor(self) -> None:
        """A DC motor: `torque = g K i`, `L i_dot + R i = u - K g v`, with what MuJoCo's has beside its circuit.

        Under its controller the voltage makes up for the induced one: the current follows tau / (g K) with a lag L / R,
        as far as the voltage goes.
        """
        gear, gains, dynamics, on = self.gear, self.gains, self.dynamics, self.on
        R, K, lag = gains[0], gains[1], dynamics[0]
        heated = ""
        if self.spec & (POSITION | RATE | FORWARD):
            if self.spec & VOLTAGE:
                self.element.mark(CHOICE, "its input of voltage beside the controller's is not used")
            loop = self.controller((gains[4], gains[5], gains[6]), (dynamics[7], dynamics[8]))
            heated = self.driven(loop, (R, K * gear, lag), gains[7])
        elif lag:
            circuit = {"resistance": R, "inductance": R * lag, "torque_constant": K, "gear": gear}
            if self.limit:
                circuit["current_limit"] = self.limit["limit"] / abs(K * gear)
                self.element.mark(CHOICE, "the limit of its torque is one of its current")
            self.add("", "dc_motor", on, inputs={"voltage": self.add_voltage()}, parameters=circuit)
            heated = f"{self.name}.current"
        elif self.limit and K:
            numbers, units = {"back_emf": K * gear, "ohms": R}, {"back_emf": f"V s/{self.position}", "ohms": "ohm"}
            formula = f"({self.add_voltage()} - back_emf * {on}.velocity) / ohms"
            current = self.own_name("current")
            self.reader.draft.signals.append(FormulaSignal(current, formula, "A", numbers, units))
            values = {"torque_constant": K, "gear": gear, "current_limit": self.limit["limit"] / abs(K * gear)}
            self.add("", "current_source", on, inputs={"current_command": current}, parameters=values)
            heated = f"{self.name}.current"
        elif K:
            self.push((gear * K / R if self.spec == VOLTAGE else 0.0, 0.0), gear**2 * K**2 / R, {})
        if dynamics[1]:
            self.element.mark(CHOICE, f"its limit of the current's rate, {dynamics[1]:g} A/s, is not used")
        self.cogging()
        self.bristles()
        self.heat(heated)

    def add_voltage(self) -> str:
        """The voltage that is commanded, 0 of a motor whose ends are connected."""
        return self.add_command("", 1.0, 0.0, "V") if self.spec == VOLTAGE else self.add_constant("voltage", 0.0, "V")

    def driven(self, torque: str, circuit: tuple[float, float, float], voltage: float) -> str:
        """A motor whose driver makes a torque of its circuit; the signal of its current."""
        R, K, lag = circuit
        gain = self.add("current_command", "amplifier", inputs={"value": torque}, parameters={"gain": 1 / K}, unit="A")
        current = f"{gain}.output"
        if voltage:
            inputs = {"value": current, "velocity": f"{self.on}.velocity"}
            inputs["voltage"] = self.add_constant("supply", voltage, "V")
            driver = self.add("driver", "inverter", inputs=inputs, parameters={"resistance": R, "torque_constant": K})
            current = f"{driver}.output"
        law, values = "current_source", {"torque_constant": K}
        if lag:
            law, values = "current_lag", {"torque_constant": K, "time_constant": lag}
        self.add("", law, self.on, inputs={"current_command": current}, parameters=values)
        return f"{self.name}.current"

    def cogging(self) -> None:
        """g A sin(n g (s + s_0) + phi), which is -|g A| sin(|n g| s + phase) of a phase that takes up the signs."""
        amplitude, order, phase = self.bias[:3]
        if not amplitude or not order:
            return
        size, rate = self.gear * amplitude, order * self.gear
        phase += rate * self.shift
        if rate < 0.0:
            size, rate, phase = -size, -rate, -phase
        values = {"amplitude": abs(size), "order": rate, "phase": phase + (np.pi if size > 0.0 else 0.0)}
        self.add("cogging", "cogging_torque", self.on, parameters=values)

    def bristles(self) -> None:
        """LuGre friction on the joint's side: bristles bend by 1 / g as far, forces are g times as large."""
        gear, (c0, c1) = self.gear, self.dynamics[5:7]
        coulomb, static, stribeck = self.bias[3:6]
        if not c0:
            return
        values = {"stiffness": gear * gear * c0, "damping": gear * gear * c1, "viscous": 0.0}
        values |= {"coulomb": abs(gear) * coulomb, "static": abs(gear) * static}
        values |= {"stribeck_velocity": stribeck / abs(gear)}
        self.add("friction", "lugre_friction", self.on, parameters=values)

    def heat(self, current: str) -> None:
        """A winding that warms up: `tau T_dot = R_th R (1 + a (T - T_0)) i^2 - (T - T_a)`, its housing kept at T_a."""
        R, slope, reference = self.gains[0], self.gains[2], self.gains[3] + CELSIUS
        thermal, capacity, ambient = self.dynamics[2], self.dynamics[3], self.dynamics[4] + CELSIUS
        if not capacity:
            return
        tau = thermal * capacity
        if not thermal or not current:
            note = "its heat is not used: it takes a thermal resistance, and inductance or a controller"
            self.element.mark(CHOICE, note)
            return
        # The same line of resistance over temperature, from the law's own reference of 25 deg C.
        there = 1.0 + slope * (REFERENCE - reference)
        values = {"resistance": R * there, "copper": slope / there, "magnet": 0.0, "ambient": ambient}
        values |= {"winding_resistance": thermal, "winding_time": tau}
        values |= {"housing_resistance": 1e-9 * thermal, "housing_time": tau}
        states = {"winding": ambient, "housing": ambient}
        heat = self.add("heat", "motor_heat", inputs={"current": current}, parameters=values, states=states)
        note = f"`{heat}.winding` is its winding's temperature; that a warm winding takes less current is not used"
        self.element.mark(CHOICE, note)

    def servo(self) -> None:
        """An actuator with constant gain and affine bias.

        torque = g (gain u + b_0) + g^2 (b_1 (s + q_ref) + b_2 v) = P (target - s) - D v
        """
        gear, on = self.gear, self.on
        P, D = -gear * gear * self.bias[1], -gear * gear * self.bias[2]
        scale, offset = gear * self.gains[0], gear * self.bias[0]
        if not P:
            self.push((scale, offset), D, self.limit)
            return
        target = self.add_command("", scale / P, offset / P - self.shift, self.position)
        inputs = {"target": target, "position": f"{on}.position", "velocity": f"{on}.velocity"}
        values = {"proportional": P, "derivative": D, **self.limit}
        loop = self.add("loop", "pd_control", inputs=inputs, parameters=values, unit=self.force)
        self.add("", "torque_source", on, inputs={"command": f"{loop}.command"})

    def push(self, line: tuple[float, float], D: float, limit: dict[str, float]) -> None:
        """A torque that is commanded, a line of the command, with a damper beside it."""
        if any(line):
            most = {"torque_limit": limit["limit"]} if limit else {}
            command = self.add_command("", *line, self.force)
            self.add("", "torque_source", self.on, inputs={"command": command}, parameters=most)
        if D:
            self.add("damping", "damper", self.on, parameters={"damping": D})


def effort_limit(element: XmlElement, ends: Any, key: str) -> dict[str, float]:
    """The largest effort either way; of two different ones the larger."""
    lower, upper = map(float, ends)
    if -lower != upper:
        element.mark(CHOICE, f"{lower:g} to {upper:g} is not symmetric: the larger one limits both directions", key)
    return {"effort_limit": max(abs(lower), abs(upper))}


def _pose(p: Any, quaternion: Any) -> Pose:
    return Pose(from_quaternion(*map(float, quaternion)), np.array(p, float))
