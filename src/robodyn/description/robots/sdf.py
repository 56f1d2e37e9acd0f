"""SDF: what does a model or a world of Gazebo say? Joints that close loops are constraints."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from robodyn.base.errors import nearest
from robodyn.base.spatial import Pose
from robodyn.base.untrusted import Unreadable
from robodyn.description.model.joint import GROUND
from robodyn.description.robots.draft import JointDraft, RobotDraft
from robodyn.description.robots.mesh_files import MeshFiles
from robodyn.description.robots.sdf_frames import (
    MODEL,
    WORLD,
    Frames,
    mark_frame,
    pose_of,
    scoped,
    text_floats,
    text_of,
)
from robodyn.description.robots.sdf_joints import JointReader
from robodyn.description.robots.sdf_links import LinkReader
from robodyn.description.robots.xml_tree import CHOICE, CONVERTED, READ, UNUSED, Element

KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "ball": "ball",
    "universal": "universal",
    "screw": "screw",
}
MOST_PARTS = 6000
"""Of one file, this project's own choice."""
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


def read_sdf(root: Element, meshes: MeshFiles, base: str | None) -> RobotDraft:
    """The draft of an SDF file; what is wrong with it is noted in its flaws."""
    return _Reader(root, meshes, base).read()


@dataclass(frozen=True)
class _Joint:
    """A joint of a model, its ends by their names in it."""

    name: str
    element: Element
    scope: str
    parent: str
    child: str


@dataclass
class _Model:
    """What there is in a model; our frames of its links stand at anchors, seen in SDF's."""

    prefix: str
    place: Pose
    frames: Frames
    links: dict[str, Element] = field(default_factory=dict)
    joints: list[_Joint] = field(default_factory=list)
    anchors: dict[str, np.ndarray] = field(default_factory=dict)

    def pose(self, link: str) -> Pose:
        """Of our frame of a link, in the model."""
        return self.frames.pose(link) @ Pose.translation(self.anchors[link])


class _Reader:
    def __init__(self, root: Element, meshes: MeshFiles, base: str | None) -> None:
        self.root, self.base = root, base
        self.draft = RobotDraft("robot")
        self.flaws = self.draft.flaws
        self.links = LinkReader(meshes, self.flaws)
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
        count = sum(element.tag in ("link", "joint", "frame") for element in self.root.walk())
        if count > MOST_PARTS:
            raise Unreadable(f"has {count} links, joints and frames, at most {MOST_PARTS} are read")
        for model in models:
            prefix = f"{model.attributes.get('name', '')}." if len(models) > 1 else ""
            self.model(model, prefix)
        for element in self.root.walk():
            if element.tag in REASONS and "" not in element.fates:
                element.drop(REASONS[element.tag])
        return self.draft

    def model(self, element: Element, prefix: str) -> None:
        """The links and joints of one model, with those of the models in it."""
        element.mark(READ)
        element.take("name")
        model = _Model(prefix, pose_of(element, self.flaws)[0], Frames(self.flaws))
        self.collect(element, "", model)
        static = text_of(element, "static") in ("1", "true")
        carriers: dict[str, str] = {}
        for joint in model.joints:
            if joint.child in model.links and joint.element.attributes.get("type") in KINDS:
                carriers.setdefault(joint.child, joint.name)
        # Our frame of a link has its axes, and stands at the joint that carries it.
        model.anchors = {name: np.zeros(3) for name in model.links}
        for link, carrier in carriers.items():
            model.anchors[link] = (model.frames.pose(link).inverse() @ model.frames.pose(carrier)).p
        for name, link_element in model.links.items():
            self.draft.links.append(self.links.read(prefix + name, link_element, model.anchors[name]))
            if name not in carriers:
                self.stand(prefix + name, link_element, model.place @ model.frames.pose(name), static)
        for joint in model.joints:
            self.joint(joint, model, joint.name not in carriers.values())

    def collect(self, element: Element, scope: str, model: _Model) -> None:
        """Named parts of a model and of those in it, whose names are under theirs."""
        for tag in ("link", "joint", "frame"):
            for part in element.all(tag):
                given = part.take("name")
                if not given:
                    self.flaws.add(part.place, "has no name", f'say <{tag} name="...">')
                    continue
                name = scoped(scope, given)
                if name in model.frames.given:
                    self.flaws.add(part.place, f"there is another part '{name}'", "give each its own name")
                elif tag == "link":
                    model.links[name] = part
                    model.frames.add(name, part, scope)
                elif tag == "joint":
                    ends = [scoped(scope, text_of(part, end) or "") for end in ("parent", "child")]
                    model.joints.append(_Joint(name, part, scope, ends[0], ends[1]))
                    model.frames.add(name, part, scope, ends[1])
                else:
                    mark_frame(part)
                    attached = scoped(scope, part.attributes.get("attached_to", ""))
                    model.frames.add(name, part, scope, attached)
                    model.frames.attached |= {name: attached} if part.attributes.get("attached_to") else {}
        for inner in element.all("model"):
            inner.mark(READ)
            name = scoped(scope, inner.take("name") or "model")
            model.frames.add(name, inner, scope)
            self.collect(inner, f"{name}.", model)
        model.joints = [
            replace(joint, parent=model.frames.link(joint.parent), child=model.frames.link(joint.child))
            for joint in model.joints
        ]

    def stand(self, name: str, element: Element, place: Pose, static: bool) -> None:
        """A link that no joint carries stands on the ground as asked; by itself it is free, or fixed where static."""
        kind = "fixed" if static else self.base or "free"
        self.draft.bases[name] = (kind, place)
        if not static:
            self.draft.stands_as_asked = True
            kinds = " or ".join(f"'{other}'" for other in ("fixed", "free", "planar") if other != kind)
            element.mark(CHOICE, f"no joint carries it: it stands on the ground by a {kind} joint; base = {kinds}")

    def joint(self, joint: _Joint, model: _Model, closes: bool) -> None:
        element, frames = joint.element, model.frames
        element.mark(READ)
        given = element.take("type")
        if given == "gearbox":
            reason = "gearbox joints have no counterpart in robodyn; [constraints] can couple two joints"
            element.mark(UNUSED, reason)
            element.drop(reason)
            return
        if given not in KINDS:
            remedy = "say two revolute joints" if given == "revolute2" else nearest(str(given), KINDS)
            self.flaws.add(f"{element.place}@type", f"'{given}' is unknown", remedy)
            return
        for tag, end in (("parent", joint.parent), ("child", joint.child)):
            if end not in model.links and (end != WORLD or tag == "child"):
                self.flaws.add(element.place, f"there is no {tag} link '{end}'", nearest(end, model.links))
                return
        X_child = model.pose(joint.child)
        X_parent = model.place.inverse() if joint.parent == WORLD else model.pose(joint.parent)
        parent = GROUND if joint.parent == WORLD else model.prefix + joint.parent
        child, place = model.prefix + joint.child, X_parent.inverse() @ X_child
        draft = JointDraft(model.prefix + joint.name, element, KINDS[given], parent, child, place)
        axis = self.axis(joint, frames, "axis")
        if closes:
            self.joints.close(draft, axis, frames.pose(joint.name), X_parent, X_child)
            return
        second = self.axis(joint, frames, "axis2") if given == "universal" else None
        self.joints.fill(draft, given, axis, second)
        self.draft.joints.append(draft)

    def axis(self, joint: _Joint, frames: Frames, tag: str) -> np.ndarray:
        """An axis of a joint in the child's frame."""
        part = joint.element.one(tag)
        xyz = np.array(text_floats(part, "xyz", 3, [0.0, 0.0, 1.0], self.flaws))
        size = float(np.linalg.norm(xyz))
        if size < 1e-9:
            self.flaws.add(joint.element.place, "the axis must not be zero")
            return np.array([0.0, 0.0, 1.0])
        source = None if part is None else part.one("xyz")
        within = joint.name
        if source is not None:
            source.mark(CONVERTED, "axis / |axis| in the child's frame")
            # The outermost model's own frame has the name "": it must not be taken for none.
            named = source.take("expressed_in")
            within = scoped(joint.scope, named) if named else joint.name
        if self.old_axes or text_of(part, "use_parent_model_frame") in ("1", "true"):
            within = scoped(joint.scope, MODEL)
        return frames.pose(joint.child).R.T @ frames.pose(within).R @ (xyz / size)
