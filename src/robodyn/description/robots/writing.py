"""Machines as robot files: what can URDF, SDF or MJCF hold of a machine, and what not?

A writer builds the file of parts it knows, and marks each of them; what is left unmarked has no place in the format.
What would move otherwise without it (loops, joints of other kinds, flexible bodies) is refused, not left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from robodyn.base import Array, FlawList, frozen, nearest, refuse
from robodyn.base.spatial import Pose
from robodyn.description.model import Body, Description, Joint, LinearConstraint, Machine, Mechanism, Point, Scenario
from robodyn.description.model.body import FlexibleBody, Look, MeshLook, tensor_of
from robodyn.description.model.joint import GROUND, SINGLE, Freedom

from .building import distinct, usable_name
from .links import INERTIA
from .xml_tree import (
    CHOICE,
    CONVERTED,
    READ,
    BalanceSheet,
    XmlElement,
    make_balance_sheet,
)

UNLIMITED = 1e30
"""Stands for a limit that there is not, where a format wants a number."""
PLACE = ("parent", "child", "origin", "rotation", "axis", "second_axis")
"""Fields of a joint that say its place and axes."""
SIMULATED = [
    "duration", "solver", "recording", "title", "path_limit", "initialisation", "constraint_method", "keep", "nominal",
]  # fmt: skip
"""Fields of a scenario that are about its simulation, not about the robot."""
LOSSES = {
    "viscous_friction": {"damping": "viscous"},
    "damper": {"damping": "damping"},
    "coulomb_friction": {"damping": "viscous", "friction": "coulomb"},
    "stick_friction": {"damping": "viscous", "friction": "coulomb"},
    "stribeck_friction": {"damping": "viscous", "friction": "coulomb"},
    "lugre_friction": {"damping": "viscous", "friction": "coulomb"},
}
"""Laws of friction -> which of their parameters are damping and dry friction, all that the formats have of it."""


@frozen
class WrittenRobot:
    """A robot file as text, and the balance sheet of what the machine says."""

    text: str
    sheet: BalanceSheet


@frozen
class JointEffects:
    """The forces on a joint beside drives: `-damping v - friction sign(v) - stiffness (q - rest)`."""

    damping: float
    friction: float
    stiffness: float
    rest: float


def number_text(value: Any) -> str:
    """Numbers that are read back to the last bit, with blanks between them."""
    return " ".join(repr(float(part) + 0.0).removesuffix(".0") for part in np.ravel(value))


def pose_of(part: Joint | Look) -> Pose:
    """Where a joint or look stands in its parent."""
    return Pose(np.array(part.rotation, float), np.array(part.origin, float))


def address_of_file(file: str) -> str:
    """A mesh file as URDF and SDF name it: an absolute path by its address, a relative one as it is."""
    return Path(file).as_uri() if Path(file).is_absolute() else file


def is_identity(pose: Pose) -> bool:
    return not np.any(pose.p) and np.array_equal(pose.R, np.eye(3))


class RobotWriter(ABC):
    """Writes a scenario's machine; the classes of the formats say how.

    Args:
        path: of the file, from which meshes are named.
        without: patterns of constraints, joints' mimics and coordinates that are left out.

    Attributes:
        account: every part and field of the scenario as an element, for the balance sheet.
    """

    FORMAT = ""
    KINDS: Mapping[str, str] = {}
    """Kinds of joints that the format has -> its words for them."""
    MESHES: tuple[str, ...] = ()
    INSTEAD = ""
    """A remedy: another format, which holds what this one does not."""

    def __init__(self, scenario: Scenario, path: Path, without: Sequence[str] = ()) -> None:
        self.scenario, self.path = scenario, path.resolve()
        self.machine: Machine = scenario.machine
        self.flaws = FlawList()
        self.account = describe_parts(scenario)
        if self.machine.mechanism is None:
            refuse("machine", "has no bodies", "a robot file describes a mechanism", scenario.name)
        self.mechanism: Mechanism = self.machine.mechanism
        self.joints: tuple[Joint, ...] = self.mechanism.ordered_joints
        self.leaves = {body.name for body in self.mechanism.bodies} - {joint.parent for joint in self.joints}
        self.taken: list[str] = []
        self._leave_out(without)

    def write(self) -> WrittenRobot:
        """The file and its balance sheet.

        Raises:
            ModelError: with everything that moves and that the format cannot hold.
        """
        self._check()
        self.flaws.raise_if_any(f"{self.FORMAT} of '{self.machine.name}'")
        root = self.build()
        self.flaws.raise_if_any(f"{self.FORMAT} of '{self.machine.name}'")
        ElementTree.indent(root)
        text = f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, "unicode")}\n'
        self.account.mark(READ, "", "", "name")
        self.account.drop(f"{self.FORMAT} has no place for it")
        return WrittenRobot(text, make_balance_sheet(self.account, f"{self.machine.name} as {self.FORMAT}"))

    @abstractmethod
    def build(self) -> Element:
        """The root element of the file; parts that are in it are marked in the account."""

    # ----------------------------------------------------------------------------------------------
    # The account.

    def part(self, tag: str, name: str) -> XmlElement:
        """The element of a part."""
        return next(part for part in self.account.all(tag) if part.attributes.get("name") == name)

    def say(self, tag: str, name: str, *fields: str, note: str = "", column: str = "") -> None:
        """Fields of a part are in the file; by default the part itself, its name and its kind."""
        part = self.part(tag, name)
        part.mark(column or (CONVERTED if note else READ), note, *(fields or ("",)))
        part.fates.setdefault("", (READ, ""))
        for key in ("name", "kind"):
            if key in part.attributes:
                part.fates.setdefault(key, (READ, ""))

    def say_all(self, tag: str, name: str, note: str) -> None:
        """A part with all that it says is in the file."""
        for element in self.part(tag, name).walk():
            element.mark(CONVERTED if note else READ, note, "", *element.attributes)

    # ----------------------------------------------------------------------------------------------
    # What cannot be held, and what is left out as asked.

    def _leave_out(self, patterns: Sequence[str]) -> None:
        names = [part.name for part in (*self.machine.constraints, *self.machine.coordinates)]
        names += [joint.name for joint in self.joints if joint.mimic is not None]
        self.left_out = {name for name in names for pattern in patterns if fnmatchcase(name, pattern)}
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in names):
                known = nearest(pattern, names) if names else "there are none"
                self.flaws.add(f"without.{pattern}", "fits no constraint, coordinate or mimic", known)
        for tag in ("constraint", "coordinate"):
            for part in self.account.all(tag):
                if part.attributes.get("name") in self.left_out:
                    part.mark(CHOICE, "left out as asked: the file moves without it")
        for joint in self.joints:
            if joint.mimic is not None and joint.name in self.left_out:
                mimic = self.part("joint", joint.name).one("mimic")
                assert mimic is not None
                mimic.mark(CHOICE, "left out as asked: the joint moves by itself")

    @property
    def constraints(self) -> list[Any]:
        """Constraints that are to be written; of joints that follow others too."""
        return [part for part in self.machine.constraints if part.name not in self.left_out]

    def _check(self) -> None:
        remedy = f"{self.INSTEAD}, or leave it out with --without" if self.INSTEAD else "leave it out with --without"
        for body in self.mechanism.bodies:
            if isinstance(body, FlexibleBody):
                what = f"is flexible: {self.FORMAT} has rigid bodies only"
                self.flaws.add(f"bodies.{body.name}", what, "describe it as rigid, or export a scenario: --to fmu")
        for joint in self.joints:
            if not self.holds(joint):
                what = f"{self.FORMAT} has no joint of kind '{joint.kind}' here"
                self.flaws.add(f"joints.{joint.name}", what, self.INSTEAD or "describe it by other joints")
        for constraint in self.constraints:
            if reason := self.refusal(constraint):
                self.flaws.add(f"constraints.{constraint.name}", f"{self.FORMAT} cannot hold it: {reason}", remedy)

    def holds(self, joint: Joint) -> bool:
        """Whether the joint, or a chain of elementary ones in its place, can be written."""
        return joint.kind in self.KINDS or all(freedom.is_single for freedom in joint.freedoms)

    @abstractmethod
    def refusal(self, constraint: Any) -> str:
        """Why a constraint cannot be written, "" where it can."""

    # ----------------------------------------------------------------------------------------------
    # What is written, in words that all formats share.

    def point(self, name: str) -> Point:
        """A point by its name."""
        return next(point for point in self.mechanism.points if point.name == name)

    def zero_poses(self) -> dict[str, Pose]:
        """Where bodies stand where all positions are 0."""
        poses = {GROUND: Pose.identity()}
        for joint in self.joints:
            poses[joint.child] = poses[joint.parent] @ self.zero_pose(joint)
        return poses

    def zero_pose(self, joint: Joint) -> Pose:
        """Where a joint's child stands in its parent where the file's positions are 0."""
        return pose_of(joint)

    def own_name(self, wanted: str) -> str:
        """A name that nothing in the file has yet."""
        self.taken.append(distinct(usable_name(wanted, "part"), self.taken))
        return self.taken[-1]

    def effects(self, on: str) -> JointEffects:
        """Damping, dry friction and springs that act on a joint or coordinate, summed; their fields are marked."""
        damping = friction = stiffness = pull = 0.0
        joint = next((joint for joint in self.joints if joint.name == on), None)
        if joint is not None:
            damping, friction = joint.damping or 0.0, joint.friction or 0.0
            self.say("joint", on, "damping", "friction")
        for block in self.machine.blocks:
            law = block.law if isinstance(block.law, str) else ""
            if block.on != on:
                continue
            if law in LOSSES:
                words = LOSSES[law]
                damping += block.parameters[words["damping"]]
                friction += block.parameters[words["friction"]] if "friction" in words else 0.0
                self._say_block(block, words, f"damping and dry friction of '{on}'")
            elif law == "spring" and self.has_springs:
                # -F0 - k (s - s0) = -k (s - (s0 - F0 / k)); a force alone has no place at rest.
                k = block.parameters["stiffness"]
                if not k and block.parameters["preload"]:
                    continue
                stiffness += k
                pull += k * block.parameters["rest"] - block.parameters["preload"]
                damping += block.parameters["damping"]
                words = {key: key for key in ("stiffness", "rest", "damping", "preload")}
                self._say_block(block, words, f"spring and damping of '{on}'")
        return JointEffects(damping, friction, stiffness, pull / stiffness if stiffness else 0.0)

    has_springs = True

    def _say_block(self, block: Any, words: Mapping[str, str], note: str) -> None:
        self.say("block", block.name, "name", "law", "on", note=note)
        self.part("block", block.name).mark(CONVERTED, note)
        parameters = self.part("block", block.name).one("parameters")
        if parameters is not None:
            parameters.mark(CONVERTED, note, "", *words.values())

    def couplings(self) -> Iterator[tuple[str, str, str, float, float, bool]]:
        """Joints that follow others, by mimics and linear constraints: `q = ratio * leader + offset`.

        Yields:
            name of the coupling, the joint, its leader or "", ratio, offset and whether it holds at the start.
        """
        for joint in self.joints:
            if joint.mimic is not None and joint.name not in self.left_out:
                self.say_mimic(joint)
                yield f"{joint.name}_mimic", joint.name, joint.mimic.joint, joint.mimic.ratio, joint.mimic.offset, True
        for part in self.constraints:
            if isinstance(part, LinearConstraint) and self.is_coupling(part):
                (follower, a), *rest = part.of.items()
                leader, b = rest[0] if rest else ("", 0.0)
                yield part.name, follower, leader, -b / a, part.offset / a, part.active
                self.say_all("constraint", part.name, "position = ratio * position of the leader + offset")

    def say_mimic(self, joint: Joint) -> None:
        mimic = self.part("joint", joint.name).one("mimic")
        if mimic is not None:
            mimic.mark(READ, "", "", *mimic.attributes)

    def is_coupling(self, part: LinearConstraint) -> bool:
        """Whether it is between two joints along or about an axis, or holds one."""
        single = {joint.name for joint in self.joints if joint.kind in SINGLE}
        return set(part.of) <= single and len(part.of) <= 2

    def points(self) -> list[Any]:
        """Points that are to be written: those at the origin of a link at the end of a tree are implied."""
        written = []
        for point in self.mechanism.points:
            implied = point.name == point.body and point.body in self.leaves and not any(point.origin)
            if implied:
                self.say_all("point", point.name, "the origin of a link at the end of the tree")
            else:
                written.append(point)
        return written

    def mesh_name(self, look: MeshLook) -> str | None:
        """How the file names a mesh: from its own folder where it lies in it, else by its full path; None if at all."""
        file = Path(look.file)
        if file.suffix.lower() not in self.MESHES:
            return None
        inside = file.resolve().is_relative_to(self.path.parent)
        return file.resolve().relative_to(self.path.parent).as_posix() if inside else str(file)


def describe_parts(scenario: Scenario) -> XmlElement:
    """A scenario as elements: one for each part, its fields as attributes, those at their defaults left out."""
    root = XmlElement("robot", {"name": scenario.name}, 0)
    machine = scenario.machine
    for owner in (machine.mechanism, machine, scenario):
        if owner is not None:
            _fill(root, owner, ("name", "mechanism", "machine", *SIMULATED))
    return root


def _fill(element: XmlElement, part: Description, hidden: Sequence[str] = ()) -> None:
    for field, value in part.stated().items():
        if field in hidden or value is None:
            continue
        several = value if isinstance(value, tuple) else (value,)
        if all(isinstance(one, Description) for one in several):
            for one in several:
                _fill(XmlElement(one.NOUN if value is several else field, {}, 0, element), one)
        elif isinstance(value, Mapping):
            XmlElement(field, {str(key): _plain(entry) for key, entry in value.items()}, 0, element)
        else:
            element.attributes[field] = _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(_plain(entry) for entry in value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


# --------------------------------------------------------------------------------------------------
# Links of URDF and SDF: the two differ in where numbers and poses stand, as for their readers.


SIZES = {"box": ("size",), "cylinder": ("radius", "length"), "capsule": ("radius", "length"), "sphere": ("radius",)}


class LinkWriter(RobotWriter):
    """Writes what links and joints of URDF and SDF have alike.

    Attributes:
        links: names of links by those of bodies, and of the ground.
    """

    links: dict[str, str]
    followers: dict[str, tuple[str, float, float]]
    massive = False
    """Whether links of which a file says nothing have a mass."""

    @abstractmethod
    def put(self, element: Element, key: str, text: str) -> None:
        """A value of an element, as attribute or as text of a child."""

    @abstractmethod
    def place(self, element: Element, pose: Pose) -> None:
        """Where an element stands, left out where that is where it would stand anyway."""

    @abstractmethod
    def put_mesh(self, shape: Element, file: str) -> None:
        """The file of a mesh."""

    @abstractmethod
    def put_colour(self, visual: Element, look: Look) -> None:
        """The colour of a look."""

    def put_link(self, root: Element, body: Body) -> Element:
        name = self.links[body.name]
        link = SubElement(root, "link", name=name)
        self.say("body", body.name, note="" if name == body.name else f"the name is written '{name}'")
        self.stand(link, body)
        if body.mass or any(body.inertia) or self.massive:
            self.put_inertial(link, body.mass, Pose.translation(np.array(body.com)), tensor_of(body.inertia))
            self.say("body", body.name, "mass", "com", "inertia", "physical")
        for look in body.looks:
            self.put_look(link, body, look)
        return link

    def put_frame(self, link: Element, joint: str) -> None:
        """Write the contents of a massless link that is there for the next joint."""

    def stand(self, link: Element, body: Body) -> None:
        """Where a link stands, in formats in which not its joint alone says it."""

    def put_inertial(self, link: Element, mass: float, place: Pose, inertia: Array) -> None:
        inertial = SubElement(link, "inertial")
        self.place(inertial, place)
        self.put_mass(inertial, mass)
        tensor = SubElement(inertial, "inertia")
        for key, (row, column) in INERTIA.items():
            self.put(tensor, key, number_text(inertia[row, column]))

    @abstractmethod
    def put_mass(self, inertial: Element, mass: float) -> None:
        """The mass of a link."""

    def put_look(self, link: Element, body: Body, look: Look) -> None:
        account = next(e for e in self.part("body", body.name).all("look") if e.attributes["name"] == look.name)
        file = self.mesh_name(look) if isinstance(look, MeshLook) else ""
        if file is None:
            account.drop(f"{self.FORMAT} files have meshes of {', '.join(self.MESHES)}")
            return
        visual = SubElement(link, "collision" if look.collision else "visual", name=look.name)
        self.place(visual, pose_of(look))
        kind = look.kind
        shape = SubElement(SubElement(visual, "geometry"), kind)
        if isinstance(look, MeshLook):
            self.put_mesh(shape, str(file))
            if look.scale != (1.0, 1.0, 1.0):
                self.put(shape, "scale", number_text(look.scale))
        else:
            for key in SIZES[kind]:
                self.put(shape, key, number_text(getattr(look, key)))
        if look.colour and not look.collision:
            self.put_colour(visual, look)
        for key in ("", *account.attributes):
            if key != "colour" or not look.collision:
                account.mark(READ, "", key)

    def refusal(self, constraint: Any) -> str:
        if isinstance(constraint, LinearConstraint):
            return "" if self.is_coupling(constraint) else "a joint follows one other at most"
        return self.refusal_of_loop(constraint)

    @abstractmethod
    def refusal_of_loop(self, constraint: Any) -> str:
        """Why a constraint other than between positions cannot be written, "" where it can."""

    def put_effects(self, element: Element, joint: Joint) -> Element | None:
        """Losses and springs of a joint, and whom it follows: the element that says the latter."""
        effects = self.effects(joint.name)
        values = {"damping": effects.damping, "friction": effects.friction}
        values |= {"spring_reference": effects.rest, "spring_stiffness": effects.stiffness}
        if any(values.values()):
            dynamics = SubElement(element, "dynamics")
            for key, value in values.items():
                if value:
                    self.put(dynamics, key, number_text(value))
        if joint.name not in self.followers:
            return None
        leader, ratio, offset = self.followers[joint.name]
        mimic = SubElement(element, "mimic", joint=leader)
        self.put(mimic, "multiplier", number_text(ratio))
        self.put(mimic, "offset", number_text(offset))
        return mimic

    def find_followers(self) -> dict[str, tuple[str, float, float]]:
        """Leader, ratio and offset of joints that follow; who stands still follows any other joint by nothing."""
        found: dict[str, tuple[str, float, float]] = {}
        single = [joint.name for joint in self.joints if joint.kind in SINGLE]
        for name, follower, leader, ratio, offset, active in self.couplings():
            others = [other for other in single if other != follower]
            if follower in found or not active or not others:
                what = "holds from an event on only" if not active else "a joint follows one other at most"
                self.flaws.add(f"constraints.{name}", f"{self.FORMAT} cannot hold it: {what}", self.INSTEAD)
                continue
            found[follower] = (leader, ratio, offset) if leader else (others[0], 0.0, offset)
        return found

    @abstractmethod
    def put_bare_joint(self, root: Element, name: str, kind: str, parent: str, child: str, place: Pose) -> Element:
        """A joint of which only its ends and its place are said."""

    def put_chain(self, root: Element, joint: Joint) -> list[tuple[Freedom, Element]]:
        """Elementary joints with massless links between them, in place of one that the format does not have."""
        parent, place = joint.parent, pose_of(joint)
        links = []
        for number, freedom in enumerate(joint.freedoms, 1):
            name = self.own_name(freedom.name.replace(".", "_"))
            last = number == len(joint.freedoms)
            child = joint.child if last else self.own_name(f"{name}_frame")
            element = self.put_bare_joint(root, name, freedom.kind, parent, child, place)
            self.put(SubElement(element, "axis"), "xyz", number_text(freedom.axis))
            if not last:
                self.put_frame(SubElement(root, "link", name=child), name)
            links.append((freedom, element))
            parent, place = child, Pose.identity()
        what = " and ".join(f"'{element.attrib['name']}'" for _, element in links)
        self.say("joint", joint.name, note=f"elementary joints {what} in its place")
        return links


def export_robot(scenario: Scenario, path: str | Path, to: str, without: Sequence[str] = ()) -> WrittenRobot:
    """Write a scenario's machine as a robot file, with the balance sheet of what the format cannot hold.

    Args:
        path: where it will be written: meshes are named from there. to: "urdf", "sdf" or "mjcf".
        without: patterns of constraints, coordinates and followers that are left out.

    Raises:
        ModelError: with every joint, body and constraint that moves and that the format cannot hold.
    """
    from .mjcf_writing import MjcfWriter
    from .sdf import SdfWriter
    from .urdf import UrdfWriter

    writers: dict[str, type[RobotWriter]] = {"urdf": UrdfWriter, "sdf": SdfWriter, "mjcf": MjcfWriter}
    return writers[to](scenario, Path(path), without).write()
