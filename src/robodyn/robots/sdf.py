"""SDF: what does a model or a world of Gazebo say? Joints that close loops are constraints."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.errors import nearest
from robodyn.model.joint import GROUND
from robodyn.robots.draft import JointDraft, RobotDraft
from robodyn.robots.mesh_files import MeshFiles
from robodyn.robots.sdf_frames import MODEL, Frames, mark_frame, pose_of, text_floats, text_of
from robodyn.robots.sdf_joints import JointReader
from robodyn.robots.sdf_links import LinkReader
from robodyn.robots.xml_tree import CHOICE, CONVERTED, READ, UNUSED, Element
from robodyn.spatial import Pose

KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "ball": "ball",
    "universal": "universal",
    "screw": "screw",
}
WORLD = "world"
REASONS = {
    "plugin": "plugins of Gazebo are not called",
    "sensor": "sensors are added to the machine: say blocks in the scenario's file",
    "include": "models of other files are not put in: import them by themselves",
    "physics": "belongs to Gazebo's solver; [solver] sets robodyn's",
    "self_collide": "contacts are not imported: say [contacts] in the scenario's file",
    "surface": "contacts are not imported: say [contacts] in the scenario's file",
    "allow_auto_disable": "bodies never go to sleep",
    "light": "is not drawn",
    "scene": "is not drawn",
    "gui": "is not drawn",
    "state": "the robot starts where the model stands; [initial] gives other positions",
}


def read_sdf(root: Element, meshes: MeshFiles, base: str | None, looks: str) -> RobotDraft:
    """The draft of an SDF file; what is wrong with it is noted in its flaws."""
    return _Reader(root, meshes, base, looks).read()


class _Reader:
    def __init__(self, root: Element, meshes: MeshFiles, base: str | None, looks: str) -> None:
        self.root, self.base = root, base
        self.draft = RobotDraft("robot")
        self.flaws = self.draft.flaws
        self.links = LinkReader(meshes, looks, self.flaws)
        self.joints = JointReader(self.draft)
        version = root.take("version") or "1.6"
        self.old_axes = version in ("1.0", "1.1", "1.2", "1.3", "1.4")

    def read(self) -> RobotDraft:
        world = self.root.one("world")
        top = self.root if world is None else world
        if world is not None:
            world.take("name")
            self.draft.gravity = tuple(text_floats(world, "gravity", 3, [0.0, 0.0, -9.81], self.flaws))
        self.root.mark(READ)
        models = top.all("model")
        if not models:
            self.flaws.add(self.root.place, "has no <model>", "an SDF file has one, or a <world> with some")
        else:
            named = world if world is not None and len(models) > 1 else models[0]
            self.draft.name = named.attributes.get("name") or "robot"
        for model in models:
            prefix = f"{model.attributes.get('name', '')}." if len(models) > 1 else ""
            self.model(model, prefix)
        for element in self.root.walk():
            if element.tag in REASONS and "" not in element.fates:
                element.drop(REASONS[element.tag])
        return self.draft

    def model(self, model: Element, prefix: str) -> None:
        """The links and joints of one model, with those of the models in it."""
        model.mark(READ)
        model.take("name")
        frames = Frames(self.flaws)
        links: dict[str, Element] = {}
        joints: list[tuple[str, Element]] = []
        self.collect(model, "", frames, links, joints)
        place = pose_of(model, self.flaws)[0]
        static = text_of(model, "static") in ("1", "true")
        carriers: dict[str, str] = {}
        for name, element in joints:
            child = frames.link(text_of(element, "child") or "")
            if child in links and element.attributes.get("type") in KINDS:
                carriers.setdefault(child, name)
        # Our frame of a link has its axes, and stands at the joint that carries it.
        anchors = {name: np.zeros(3) for name in links}
        anchors |= {link: (frames.pose(link).inverse() @ frames.pose(joint)).p for link, joint in carriers.items()}
        for name, element in links.items():
            self.draft.links.append(self.links.read(prefix + name, element, anchors[name]))
            if name not in carriers:
                self.stand(prefix + name, element, place @ frames.pose(name), static)
        for name, element in joints:
            self.joint(name, element, prefix, frames, links, anchors, place, name not in carriers.values())

    def collect(self, model: Element, scope: str, frames: Frames, links: dict[str, Element], joints: Any) -> None:
        """Named parts of a model and of those in it, whose names are under theirs."""
        default = scope.removesuffix(".") or MODEL
        for tag in ("link", "joint", "frame"):
            for element in model.all(tag):
                name = element.take("name")
                if not name:
                    self.flaws.add(element.place, "has no name", f'say <{tag} name="...">')
                    continue
                name = scope + name.replace("::", ".")
                if name in frames.given:
                    self.flaws.add(element.place, f"there is another part '{name}'", "give each its own name")
                    continue
                if tag == "link":
                    links[name] = element
                    frames.add(name, element, default)
                elif tag == "joint":
                    joints.append((name, element))
                    frames.add(name, element, scope + (text_of(element, "child") or ""))
                else:
                    mark_frame(element)
                    attached = element.attributes.get("attached_to", "")
                    frames.add(name, element, scope + attached if attached else default)
                    frames.attached |= {name: scope + attached} if attached else {}
        for inner in model.all("model"):
            inner.mark(READ)
            name = scope + (inner.take("name") or "model")
            frames.add(name, inner, default)
            self.collect(inner, f"{name}.", frames, links, joints)

    def stand(self, name: str, element: Element, place: Pose, static: bool) -> None:
        """A link that no joint carries stands on the ground as asked; by itself it is free, or fixed where static."""
        kind = "fixed" if static else self.base or "free"
        self.draft.bases[name] = (kind, place)
        if not static:
            kinds = " or ".join(f"'{other}'" for other in ("fixed", "free", "planar") if other != kind)
            element.mark(CHOICE, f"no joint carries it: it stands on the ground by a {kind} joint; base = {kinds}")

    def joint(
        self, name: str, element: Element, prefix: str, frames: Frames, links: dict[str, Element],
        anchors: dict[str, np.ndarray], place: Pose, closes: bool,
    ) -> None:  # fmt: skip
        element.mark(READ)
        given = element.take("type")
        ends = [frames.link(text_of(element, tag) or "") for tag in ("parent", "child")]
        if given not in KINDS:
            reason = f"'{given}' joints have no counterpart in robodyn"
            if given in ("gearbox", "revolute2"):
                element.mark(UNUSED, reason)
                element.drop(reason)
            else:
                self.flaws.add(f"{element.place}@type", f"'{given}' is unknown", nearest(str(given), KINDS))
            return
        for tag, end in zip(("parent", "child"), ends, strict=True):
            if end not in links and end != WORLD:
                self.flaws.add(element.place, f"there is no {tag} link '{end}'", nearest(end, links))
                return
        parent, child = ends
        X_parent = place.inverse() if parent == WORLD else frames.pose(parent) @ Pose.translation(anchors[parent])
        X_child = place.inverse() if child == WORLD else frames.pose(child) @ Pose.translation(anchors[child])
        bodies = [GROUND if end == WORLD else prefix + end for end in ends]
        draft = JointDraft(prefix + name, element, KINDS[given], bodies[0], bodies[1], X_parent.inverse() @ X_child)
        axis = self.axis(element, frames, name, child)
        if closes:
            self.joints.close(draft, axis, frames.pose(name), X_parent, X_child)
            return
        second = self.axis(element, frames, name, child, "axis2") if given == "universal" else None
        self.joints.fill(draft, given, axis, second)
        self.draft.joints.append(draft)

    def axis(self, element: Element, frames: Frames, name: str, child: str, tag: str = "axis") -> np.ndarray:
        """The axis of a joint in the child's frame."""
        part = element.one(tag)
        xyz = np.array(text_floats(part, "xyz", 3, [0.0, 0.0, 1.0], self.flaws))
        size = float(np.linalg.norm(xyz))
        if size < 1e-9:
            self.flaws.add(element.place, "the axis must not be zero")
            return np.array([0.0, 0.0, 1.0])
        source = None if part is None else part.one("xyz")
        within = "" if source is None else source.take("expressed_in") or ""
        if self.old_axes or text_of(part, "use_parent_model_frame") in ("1", "true"):
            within = MODEL
        if source is not None:
            source.mark(CONVERTED, "axis / |axis| in the child's frame")
        R = frames.pose(within or name).R
        return frames.pose(child).R.T @ R @ (xyz / size)
