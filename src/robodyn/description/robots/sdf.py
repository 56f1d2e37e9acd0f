"""SDF: frames, links, joints, inertias, looks."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import radians
from typing import Any
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from robodyn.base import Array, FlawList, Unreadable, frozen, nearest
from robodyn.base.spatial import Pose, quaternion_from_matrix
from robodyn.description.model import GROUND, Block, Body, Joint, Look, LoopJoint, Point, as_floats

from .building import JointDraft, LinkDraft, MimicDraft, RobotDraft, distinct, usable_name
from .links import COLOUR, LIMITS, LinkReader, MeshFiles, colour_of, rgb_of, rotation_of
from .writing import PLACE, LinkWriter, address_of_file, is_identity, number_text
from .writing import pose_of as place_of
from .xml_tree import CHOICE, CONVERTED, READ, UNUSED, XmlElement, read_floats

# --------------------------------------------------------------------------------------------------
# Frames of SDF: where do links, joints and frames of a model stand, each given relative to another?


ROTATION = "R = Rz(yaw) Ry(pitch) Rx(roll), p [m]"
ROTATION_FORMATS = ("euler_rpy", "quat_xyzw")
MODEL, WORLD = "__model__", "world"


def scoped(scope: str, name: str) -> str:
    """The name of a part of a model within another one; a model by itself is its frame, "" the outermost."""
    if name == WORLD or not name:
        return name
    return scope.removesuffix(".") if name == MODEL else scope + name.replace("::", ".")


def text_floats(element: XmlElement | None, tag: str, default: tuple[float, ...], flaws: FlawList) -> list[float]:
    """As many numbers of a child's text as the default has; it where there are none or wrong ones, which is noted."""
    child = None if element is None else element.one(tag)
    if child is None:
        return list(default)
    try:
        return read_floats(child.text, len(default))
    except ValueError as error:
        flaws.add(child.place, str(error))
        return list(default)


def text_of(element: XmlElement | None, tag: str) -> str | None:
    child = None if element is None else element.one(tag)
    return None if child is None else child.text.strip()


def is_true(text: str | None, default: bool, place: str, flaws: FlawList) -> bool:
    """A word of SDF for yes or no; the default where there is none or a wrong one, which is noted."""
    answers = {"true": True, "1": True, "false": False, "0": False, "": default}
    word = (text or "").strip().lower()
    if word not in answers:
        flaws.add(place, f"'{word[:80]}' is neither true nor false", "say true or false")
    return answers.get(word, default)


def pose_of(element: XmlElement, flaws: FlawList) -> tuple[Pose, str]:
    """The <pose> of an element, and the name of the frame that it is given in, "" by default."""
    child = element.one("pose")
    if child is None or not child.text.strip():
        return Pose.identity(), "" if child is None else child.take("relative_to") or child.take("frame") or ""
    child.mark(CONVERTED, ROTATION)
    relative = child.take("relative_to") or child.take("frame") or ""
    form = child.take("rotation_format") or "euler_rpy"
    quaternion = form == "quat_xyzw"
    degrees = is_true(child.take("degrees"), False, f"{child.place}@degrees", flaws)
    if form not in ROTATION_FORMATS:
        flaws.add(f"{child.place}@rotation_format", f"'{form}' is unknown", f"known: {', '.join(ROTATION_FORMATS)}")
        return Pose.identity(), relative
    if degrees and quaternion:
        flaws.add(f"{child.place}@degrees", "a quaternion has none", "leave it out")
    try:
        numbers = read_floats(child.text, 7 if quaternion else 6)
        turn = numbers[3:]
        if degrees:
            turn = [radians(angle) for angle in turn]
        return Pose(rotation_of(turn), np.array(numbers[:3])), relative
    except ValueError as error:
        flaws.add(child.place, str(error))
        return Pose.identity(), relative


class Frames:
    """The named frames of one model, seen from it.

    Attributes:
        attached: parts that frames are fixed to; known: poses that have been found.
    """

    def __init__(self, flaws: FlawList) -> None:
        self.flaws = flaws
        self.given: dict[str, tuple[Pose, str, XmlElement]] = {}
        self.attached: dict[str, str] = {}
        self.known: dict[str, Pose] = {}

    def add(self, name: str, element: XmlElement, scope: str, default: str = "") -> None:
        """A frame of a model within the outermost one; by default it is given in that model's own frame."""
        pose, relative = pose_of(element, self.flaws)
        within = scoped(scope, relative) if relative else default or scoped(scope, MODEL)
        self.given.setdefault(name, (pose, within, element))

    def pose(self, name: str) -> Pose:
        """A frame's pose in the model."""
        waiting: list[str] = []
        while name and name not in self.known:
            if name not in self.given or name in waiting:
                what = "is given relative to itself" if name in waiting else "there is no such frame"
                remedy = "break the loop of relative_to" if name in waiting else nearest(name, self.given)
                place = self.given[waiting[-1]][2].place if waiting else "model"
                self.flaws.add(place, f"'{name}': {what}", remedy)
                self.known[name] = Pose.identity()
                break
            waiting.append(name)
            name = self.given[name][1]
        outer = self.known[name] if name else Pose.identity()
        for inner in reversed(waiting):
            outer = self.known.setdefault(inner, outer @ self.given[inner][0])
        return outer

    def link(self, name: str) -> str:
        """The link that a name means: itself, or what a frame is attached to."""
        for _ in range(len(self.attached) + 1):
            if name not in self.attached:
                break
            name = self.attached[name]
        return name


# --------------------------------------------------------------------------------------------------
# Links of SDF: which inertia and looks do they have, in a frame that stands at their joint?


class SdfLinks(LinkReader):
    """Links of SDF; numbers are texts of elements."""

    def numbers(self, element: XmlElement | None, key: str, default: tuple[float, ...]) -> list[float]:
        return text_floats(element, key, default, self.flaws)

    def pose(self, element: XmlElement) -> Pose:
        pose, relative = pose_of(element, self.flaws)
        return self.frame_in_link(relative) @ pose if relative else pose

    def mesh_file(self, shape: XmlElement) -> str:
        uri = shape.one("uri")
        if uri is None:
            return ""
        uri.mark(CONVERTED, "the file's full path")
        return uri.text.strip()

    def read(self, name: str, element: XmlElement, anchor: Array, frame_in_link: Callable[[str], Pose]) -> LinkDraft:
        """A link.

        Args:
            anchor: where our frame stands in the file's.
            frame_in_link: where a frame of the model stands in the file's.
        """
        element.mark(READ)
        self.frame_in_link = frame_in_link
        link, frame = LinkDraft(name, element), Pose.translation(-anchor)
        inertial = element.one("inertial")
        if inertial is None:
            what = "has no <inertial>: taken as massless, where Gazebo takes 1 kg and 1 kg m^2"
            element.mark(CHOICE, f"{what}; give it in `bodies.{name}`")
        else:
            tensor, default = inertial.one("inertia"), 1.0
            owners = {"mass": inertial, "ixx": tensor, "iyy": tensor, "izz": tensor}
            lacking = [key for key, owner in owners.items() if owner is None or not owner.all(key)]
            if is_true(inertial.take("auto"), False, f"{inertial.place}@auto", self.flaws):
                default = 0.0
                what = "Gazebo computes mass and inertia from collisions, robodyn does not: given ones count, else 0"
                inertial.mark(CHOICE, f"{what}; give them in `bodies.{name}`", "auto")
            elif lacking:
                inertial.mark(CHOICE, f"{' and '.join(lacking)} taken as 1 [kg, kg m^2], SDF's own default")
            place = frame @ self.pose(inertial)
            link.mass = self.numbers(inertial, "mass", (default,))[0]
            link.inertial = tensor or inertial
            self.read_inertia(link, tensor, place, "I = R I_file R^T [kg m^2], R of <pose>", default)
        for shape in [*element.all("visual"), *element.all("collision")]:
            self.read_look(link, shape, frame)
        if not is_true(text_of(element, "gravity"), True, f"{element.place}/gravity", self.flaws):
            element.all("gravity")[0].mark(UNUSED, "gravity acts on all bodies; a load can hold this one")
        return link

    def colour(self, shape: XmlElement) -> str | None:
        material = shape.one("material")
        for tag in ("diffuse", "ambient"):
            child = None if material is None else material.one(tag)
            if child is not None:
                child.mark(CONVERTED, COLOUR)
                parts = child.text.split()
                try:
                    return colour_of([float(part) for part in parts[:3]]) if len(parts) >= 3 else None
                except (ValueError, OverflowError):
                    self.flaws.add(child.place, f"'{child.text.strip()[:80]}' is not a colour")
        return None


# --------------------------------------------------------------------------------------------------
# Joints of SDF: which limits, losses, springs and leaders do they have, and which of them close loops?


LOOPS = {"fixed": "fixed", "ball": "spherical", "revolute": "revolute", "prismatic": "prismatic"}
"""Joints that can close a loop, and what they are called there."""
UNLIMITED = 1e16
"""SDF's own word for no limit."""


class JointReader:
    """Reads what joints have beside their place."""

    def __init__(self, draft: RobotDraft, links: SdfLinks) -> None:
        self.draft, self.flaws, self.links = draft, draft.flaws, links

    def own_name(self, wanted: str, noun: str) -> str:
        """A name that no part of the machine has yet."""
        return distinct(usable_name(wanted, noun), self.draft.part_names)

    def fill(self, draft: JointDraft, given: str, axis: Array, second: Array | None) -> None:
        """Axis, limits, losses, spring and leader of a joint."""
        part = draft.element.one("axis")
        if draft.kind in ("fixed", "ball") or part is None:
            return
        draft.fields["axis"] = as_floats(axis)
        if draft.kind == "universal":
            draft.fields["second_axis"] = as_floats(second)
            for inner in [*part.children, *(child for axis in draft.element.all("axis2") for child in axis.children)]:
                if inner.tag in ("limit", "dynamics"):
                    inner.drop("only joints along or about one axis have it in robodyn")
            return
        if draft.kind == "screw":
            pitch = text_floats(draft.element, "screw_thread_pitch", (0.0,), self.flaws)[0] / (2.0 * np.pi)
            for child in draft.element.all("screw_thread_pitch")[:1]:
                child.mark(CONVERTED, "m of a turn / (2 pi rad)")
            turns = text_floats(draft.element, "thread_pitch", (0.0,), self.flaws)[0]
            if turns and not pitch:
                pitch = -1.0 / turns
                draft.element.all("thread_pitch")[0].mark(CONVERTED, "-1 / it [m/rad], as before version 1.10")
            draft.fields["pitch"] = pitch
        self.limits(draft, part.one("limit"), given)
        dynamics = part.one("dynamics")
        self.links.read_losses(draft, dynamics)
        stiffness = text_floats(dynamics, "spring_stiffness", (0.0,), self.flaws)[0]
        rest = text_floats(dynamics, "spring_reference", (0.0,), self.flaws)[0]
        if stiffness < 0.0:
            self.flaws.add(part.place, f"has a spring_stiffness of {stiffness:g}", "it must not be negative")
        elif stiffness:
            name, on = self.own_name(f"{draft.name}_spring", "block"), usable_name(draft.name, "joint")
            self.draft.blocks.append(Block(name, "spring", on, parameters={"stiffness": stiffness, "rest": rest}))
        self.mimic(draft, part)

    def limits(self, draft: JointDraft, element: XmlElement | None, given: str) -> None:
        if element is None:
            return
        bounds = {}
        for key, limit in LIMITS.items():
            child = element.one(key)
            text = "" if child is None else child.text.strip().lower()
            if child is None or "inf" in text:
                continue
            value = text_floats(element, key, (UNLIMITED,), self.flaws)[0]
            if abs(value) >= UNLIMITED or (key in ("velocity", "effort") and value < 0.0):
                child.mark(CONVERTED, "no limit")
            elif value == 0.0 and key in ("velocity", "effort"):
                child.mark(CHOICE, f"0 would allow no motion: taken as no limit; `{limit}` gives one")
            elif given == "continuous" and key in ("lower", "upper"):
                child.mark(UNUSED, "a continuous joint has no limits of position")
            else:
                bounds[limit] = value
        lower, upper = bounds.get("lower_limit"), bounds.get("upper_limit")
        if lower is not None and upper is not None and lower >= upper:
            element.mark(CHOICE, f"{lower:g} to {upper:g} leaves no room: taken as no limits")
            bounds = {key: value for key, value in bounds.items() if key not in ("lower_limit", "upper_limit")}
        draft.fields |= bounds

    def mimic(self, draft: JointDraft, part: XmlElement) -> None:
        element = part.one("mimic")
        leader = None if element is None else element.take("joint")
        if element is None or not leader:
            return
        ratio = text_floats(element, "multiplier", (1.0,), self.flaws)[0]
        offset = text_floats(element, "offset", (0.0,), self.flaws)[0]
        reference = text_floats(element, "reference", (0.0,), self.flaws)[0]
        element.mark(CONVERTED, "`mimic`: position = multiplier (position of the joint - reference) + offset")
        # Names in a model are those of parts beside the joint.
        scope = draft.name.removesuffix(draft.element.attributes["name"])
        draft.mimic = MimicDraft(scope + leader, ratio, offset - ratio * reference, element)

    def close(self, draft: JointDraft, axis: Array, X_joint: Pose, X_parent: Pose, X_child: Pose) -> None:
        """A joint whose child hangs on another one already: a constraint between two points.

        Args:
            X_joint, X_parent, X_child: poses in the model where nothing has moved; axis: in the child's frame.
        """
        if draft.kind not in LOOPS:
            remedy = f"known: {', '.join(LOOPS)}"
            self.flaws.add(draft.element.place, f"a {draft.kind} joint cannot close a loop", remedy)
            return
        names = []
        for end, body, X in (("a", draft.parent, X_parent), ("b", draft.child, X_child)):
            names.append(self.own_name(f"{draft.name}_{end}", "point"))
            on = body if body == GROUND else usable_name(body, "link")
            self.draft.points.append(Point(names[-1], on, as_floats(X.inverse().apply(X_joint.p))))
        R = X_parent.R.T @ X_child.R
        words: dict[str, Any] = {"kind": LOOPS[draft.kind]}
        words |= {"axis": as_floats(R @ axis)} if draft.kind in ("revolute", "prismatic") else {}
        words |= {"second_axis": as_floats(axis)} if draft.kind == "revolute" else {}
        words |= {"rotation": as_floats(R)} if draft.kind in ("prismatic", "fixed") else {}
        name = self.own_name(draft.name, "joint")
        self.draft.constraints.append(LoopJoint(name, names[0], names[1], **words))
        draft.element.mark(CONVERTED, f"closes a loop: a {words['kind']} constraint between two points")
        for part in draft.element.all("axis"):
            for tag in ("limit", "dynamics"):
                for inner in part.all(tag):
                    inner.drop("a constraint that closes a loop has neither limits nor losses")


# --------------------------------------------------------------------------------------------------
# SDF: what does a model or a world of Gazebo say? Joints that close loops are constraints.


KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "ball": "ball",
    "universal": "universal",
    "screw": "screw",
}
NEWEST = "1.12"
"""Version of SDF whose words are known."""
MOST_PARTS = 6000
"""Of one file, this project's own choice."""
REASONS = {
    "plugin": "plugins of Gazebo are not called",
    "sensor": "sensors belong to the machine: describe them as blocks in the scenario file",
    "include": "models of other files are not included: import them separately",
    "physics": "belongs to Gazebo's solver; [solver] sets robodyn's",
    "self_collide": "contacts are not imported: describe them in [contacts] of the scenario file",
    "surface": "contacts are not imported: describe them in [contacts] of the scenario file",
    "allow_auto_disable": "bodies never go to sleep",
    "light": "is not drawn",
    "scene": "is not drawn",
    "gui": "is not drawn",
    "fluid_added_mass": "forces of a fluid around the bodies are left out",
    "state": "the robot starts where the model stands; [initial] gives other positions",
}


def read_sdf(root: XmlElement, meshes: MeshFiles, base: str | None) -> RobotDraft:
    """The draft of an SDF file; what is wrong with it is noted in its flaws."""
    return SdfReader(root, meshes, base).read()


@frozen
class _Joint:
    """A joint of a model, its ends by their names in it."""

    name: str
    element: XmlElement
    scope: str
    parent: str
    child: str


@dataclass
class _Model:
    """The parts of a model; our frames of its links stand at anchors, seen in SDF's."""

    prefix: str
    place: Pose
    frames: Frames
    links: dict[str, XmlElement] = field(default_factory=dict)
    joints: list[_Joint] = field(default_factory=list)
    anchors: dict[str, Array] = field(default_factory=dict)

    def pose(self, link: str) -> Pose:
        """The pose of our frame of a link, in the model."""
        return self.frames.pose(link) @ Pose.translation(self.anchors[link])


class SdfReader:
    def __init__(self, root: XmlElement, meshes: MeshFiles, base: str | None) -> None:
        self.root, self.base = root, base
        self.draft = RobotDraft("robot")
        self.flaws = self.draft.flaws
        self.links = SdfLinks(meshes, self.flaws)
        self.joints = JointReader(self.draft, self.links)
        version = root.take("version") or "1.6"
        if not re.fullmatch(r"1\.\d+", version):
            self.flaws.add(f"{root.place}@version", f"'{version}' is unknown", f"known: 1.0 to {NEWEST}")
        self.old_axes = version in ("1.0", "1.1", "1.2", "1.3", "1.4")

    def read(self) -> RobotDraft:
        world = self.root.one("world")
        top = self.root if world is None else world
        if world is not None:
            world.take("name")
            self.draft.gravity = tuple(text_floats(world, "gravity", (0.0, 0.0, -9.81), self.flaws))
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
        for joint in top.all("joint"):
            self.flaws.add(joint.place, "joins models of a world", "put their links into one model, the joint there")
        # Frames of a world, and its models, which can stand in each other.
        frames = Frames(self.flaws)
        frames.known[WORLD] = Pose.identity()
        for part in [*top.all("frame"), *models]:
            part.mark(READ)
            frames.add(part.take("name") or "", part, "", part.take("attached_to") or "")
        for model in models:
            name = model.attributes.get("name", "")
            place = self.model(model, f"{name}." if len(models) > 1 else "", frames.pose(name))
            frames.known[name] = place
        for element in self.root.walk():
            if element.tag in REASONS and "" not in element.fates:
                element.drop(REASONS[element.tag])
        return self.draft

    def model(self, element: XmlElement, prefix: str, place: Pose) -> Pose:
        """The links and joints of one model, with those of the models in it; where it stands.

        Args:
            place: of the model's own frame, or of the one of its frames that it is placed by.
        """
        model, before = _Model(prefix, place, Frames(self.flaws)), len(self.draft.joints)
        self.collect(element, "", model)
        if by := element.take("placement_frame", CONVERTED, "X = X_<pose> X_frame^-1"):
            model.place = place @ model.frames.pose(scoped("", by)).inverse()
        static = is_true(text_of(element, "static"), False, f"{element.place}/static", self.flaws)
        carriers: dict[str, str] = {}
        for joint in model.joints:
            if joint.child in model.links and joint.element.attributes.get("type") in KINDS:
                carriers.setdefault(joint.child, joint.name)
        # Our frame of a link has its axes, and stands at the joint that carries it.
        model.anchors = {name: np.zeros(3) for name in model.links}
        for link, carrier in carriers.items():
            model.anchors[link] = (model.frames.pose(link).inverse() @ model.frames.pose(carrier)).p
        for name, link_element in model.links.items():

            def frame_in_link(frame: str, link: str = name) -> Pose:
                scope = link[: link.rfind(".") + 1]
                return model.frames.pose(link).inverse() @ model.frames.pose(scoped(scope, frame))

            self.draft.links.append(self.links.read(prefix + name, link_element, model.anchors[name], frame_in_link))
            if name not in carriers:
                self.stand(prefix + name, link_element, model.place @ model.frames.pose(name), static)
        for joint in model.joints:
            self.joint(joint, model, joint.name not in carriers.values())
        # All of a static model stands still, whatever its joints are.
        for draft in self.draft.joints[before:] if static else ():
            draft.element.mark(CHOICE, "its model is static: it does not move", "type")
            draft.fix()
        return model.place

    def collect(self, element: XmlElement, scope: str, model: _Model) -> None:
        """Named parts of a model and of those in it, whose names are under theirs."""
        for tag in ("link", "joint", "frame"):
            for part in element.all(tag):
                given = part.take("name")
                if not given:
                    self.flaws.add(part.place, "has no name", f'write <{tag} name="...">')
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
                    part.mark(READ)
                    part.take("name")
                    part.take("attached_to")
                    attached = scoped(scope, part.attributes.get("attached_to", ""))
                    model.frames.add(name, part, scope, attached)
                    model.frames.attached |= {name: attached} if part.attributes.get("attached_to") else {}
        for inner in element.all("model"):
            inner.mark(READ)
            name = scoped(scope, inner.take("name") or "model")
            if inner.take("placement_frame"):
                self.flaws.add(inner.place, "has a placement_frame within another model", "give its own pose")
            model.frames.add(name, inner, scope)
            self.collect(inner, f"{name}.", model)
        model.joints = [
            replace(joint, parent=model.frames.link(joint.parent), child=model.frames.link(joint.child))
            for joint in model.joints
        ]

    def stand(self, name: str, element: XmlElement, place: Pose, static: bool) -> None:
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
            remedy = "use two revolute joints" if given == "revolute2" else nearest(str(given), KINDS)
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

    def axis(self, joint: _Joint, frames: Frames, tag: str) -> Array:
        """An axis of a joint in the child's frame."""
        part = joint.element.one(tag)
        xyz = np.array(text_floats(part, "xyz", (0.0, 0.0, 1.0), self.flaws))
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
        place = f"{joint.element.place}/{tag}/use_parent_model_frame"
        if self.old_axes or is_true(text_of(part, "use_parent_model_frame"), False, place, self.flaws):
            within = scoped(joint.scope, MODEL)
        return frames.pose(joint.child).R.T @ frames.pose(within).R @ (xyz / size)


# --------------------------------------------------------------------------------------------------
# Writing SDF: a link's frame is where ours is, its joint's frame is the same where nothing has moved.


VERSION = "1.11"
"""The first with mimic joints; quaternions came before."""
NEAR = 1e-9
"""Distance [m] and difference of axes of a loop that is closed."""


class SdfWriter(LinkWriter):
    """Writes SDF."""

    FORMAT = "SDF"
    KINDS = {kind: kind for kind in ("revolute", "prismatic", "fixed", "ball", "universal", "screw")}
    MESHES = (".stl", ".dae", ".obj", ".glb", ".gltf")
    INSTEAD = "MJCF holds more constraints: --to mjcf"
    massive = True

    def put(self, element: Element, key: str, text: str) -> None:
        SubElement(element, key).text = text

    def put_mass(self, inertial: Element, mass: float) -> None:
        self.put(inertial, "mass", number_text(mass))

    def place(self, element: Element, pose: Pose, **relative: str) -> None:
        if relative or not is_identity(pose):
            w, x, y, z = quaternion_from_matrix(pose.R)
            child = SubElement(element, "pose", {**relative, "rotation_format": "quat_xyzw"})
            child.text = number_text([*pose.p, x, y, z, w])

    def put_mesh(self, shape: Element, file: str) -> None:
        self.put(shape, "uri", address_of_file(file))

    def put_colour(self, visual: Element, look: Look) -> None:
        material = SubElement(visual, "material")
        for key in ("ambient", "diffuse"):
            self.put(material, key, number_text([*rgb_of(str(look.colour)), 1.0]))

    def holds(self, joint: Joint) -> bool:
        return super().holds(joint) or (joint.kind == "free" and joint.parent == GROUND)

    def refusal_of_loop(self, constraint: Any) -> str:
        if not isinstance(constraint, LoopJoint):
            return "its loops are closed by joints"
        if constraint.kind not in LOOPS.values():
            return f"no joint closes a loop as '{constraint.kind}'"
        if not constraint.active:
            return "its joints always hold"
        return (
            ""
            if self.closes(constraint)
            else "SDF takes loops as closed where all positions are 0, where this one is open"
        )

    def closes(self, loop: LoopJoint) -> bool:
        """Whether it is closed where all positions are 0, and its bodies are turned as it says."""
        poses = self.zero_poses()
        first, second = (self.point(name) for name in (loop.first, loop.second))
        A, B = poses[first.body], poses[second.body]
        gap = A.R.T @ (B.apply(np.array(second.origin)) - A.apply(np.array(first.origin)))
        R, axis = A.R.T @ B.R, np.array(loop.axis)
        if loop.kind == "prismatic":
            gap -= axis * (axis @ gap)
        turned = 0.0
        if loop.kind in ("fixed", "prismatic"):
            turned = np.abs(R - np.array(loop.rotation)).max()
        elif loop.kind == "revolute":
            turned = np.abs(axis - R @ np.array(loop.second_axis)).max()
        return bool(np.abs(gap).max() < NEAR and turned < NEAR)

    def build(self) -> Element:
        root = Element("sdf", version=VERSION)
        default = tuple(self.mechanism.gravity) == (0.0, 0.0, -9.81)
        world = root if default else SubElement(root, "world", name=self.own_name(f"{self.machine.name}_world"))
        if not default:
            self.put(world, "gravity", number_text(self.mechanism.gravity))
        note = "that of the world it is put in, by custom" if default else ""
        self.account.mark(CONVERTED if note else READ, note, "gravity")
        model = self.model = SubElement(world, "model", name=self.machine.name)
        self.carriers = {joint.child: joint for joint in self.joints}
        # Links, joints and frames of a model share one name space; robodyn's bodies and joints do not.
        self.taken += [joint.name for joint in self.joints]
        self.links = {GROUND: WORLD} | {
            body.name: self.own_name(f"{body.name}_link" if body.name in (WORLD, *self.taken) else body.name)
            for body in self.mechanism.bodies
        }
        for body in self.mechanism.bodies:
            self.put_link(model, body)
        self.followers = self.find_followers()
        for joint in self.joints:
            if joint.kind in self.KINDS:
                self.put_joint(model, joint)
        for loop in self.constraints:
            if isinstance(loop, LoopJoint):
                self.put_loop(model, loop)
        for point in self.points():
            frame = SubElement(model, "frame", name=self.own_name(point.name))
            if point.body != GROUND:
                frame.set("attached_to", self.links[point.body])
            self.place(frame, Pose.translation(np.array(point.origin)))
            self.say_all("point", point.name, "a frame of its link")
        return root

    def stand(self, link: Element, body: Body) -> None:
        """A link is where the joint that carries it has its frame; one that none carries is free."""
        carrier = self.carriers[body.name]
        self.say("joint", carrier.name, *PLACE, "pitch")
        if carrier.kind == "free":
            self.say("joint", carrier.name, note="a link that no joint carries is free")
            self.place(link, place_of(carrier))
            return
        name = carrier.name
        if carrier.kind not in self.KINDS:
            _, last = self.put_chain(self.model, carrier)[-1]
            name = last.attrib["name"]
        self.place(link, Pose.identity(), relative_to=name)

    def put_joint(self, model: Element, joint: Joint) -> None:
        place, kind = place_of(joint), joint.kind
        element = self.put_bare_joint(model, joint.name, kind, joint.parent, joint.child, place)
        self.say("joint", joint.name)
        if kind in ("fixed", "ball"):
            return
        first, second = joint.freedoms if kind == "universal" else (joint.freedoms[0], None)
        axis = SubElement(element, "axis")
        self.put(axis, "xyz", number_text(first.axis))
        if second is not None:
            self.put(SubElement(element, "axis2"), "xyz", number_text(second.axis))
            return
        if kind == "screw":
            self.put(element, "screw_thread_pitch", number_text(2.0 * np.pi * joint.pitch))
        if joint.limits:
            limit = SubElement(axis, "limit")
            for key, field in LIMITS.items():
                if getattr(joint, field) is not None:
                    self.put(limit, key, number_text(getattr(joint, field)))
                    self.say("joint", joint.name, field)
        mimic = self.put_effects(axis, joint)
        if mimic is not None:
            self.put(mimic, "reference", "0.0")

    def put_bare_joint(self, model: Element, name: str, kind: str, parent: str, child: str, place: Pose) -> Element:
        joint = SubElement(model, "joint", name=name, type=kind)
        for key, end in (("parent", parent), ("child", child)):
            self.put(joint, key, self.links.get(end, end))
        self.place(joint, place, relative_to=MODEL if parent == GROUND else self.links.get(parent, parent))
        return joint

    def put_frame(self, link: Element, joint: str) -> None:
        self.place(link, Pose.identity(), relative_to=joint)
        self.put_inertial(link, 0.0, Pose.identity(), np.zeros((3, 3)))

    def put_loop(self, model: Element, loop: LoopJoint) -> None:
        """A joint whose child another joint carries already."""
        first, second = (self.point(name) for name in (loop.first, loop.second))
        words = {ours: theirs for theirs, ours in LOOPS.items()}
        element = SubElement(model, "joint", name=self.own_name(loop.name), type=words[loop.kind])
        self.put(element, "parent", self.links[first.body])
        self.put(element, "child", self.links[second.body])
        self.place(element, Pose.translation(np.array(second.origin)), relative_to=self.links[second.body])
        if loop.kind == "revolute":
            self.put(SubElement(element, "axis"), "xyz", number_text(loop.second_axis))
        elif loop.kind == "prismatic":
            self.put(SubElement(element, "axis"), "xyz", number_text(np.array(loop.rotation).T @ np.array(loop.axis)))
        self.say_all("constraint", loop.name, "a joint whose child another one carries")
