"""Robots as machines: what does a robot file say, and how does that become bodies, joints, points and constraints?"""

from __future__ import annotations

import fnmatch
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from robodyn.base import Array, FlawList, ModelError, frozen, nearest
from robodyn.base.spatial import Pose, about_axis
from robodyn.description.model import (
    Block,
    Body,
    Constraint,
    Delay,
    Distance,
    FormulaSignal,
    Joint,
    LinearCombination,
    LinearConstraint,
    Load,
    Look,
    Machine,
    Mechanism,
    Mimic,
    Point,
    Scenario,
)
from robodyn.description.model.joint import GROUND, SINGLE
from robodyn.description.model.numbers import NAME, as_floats

from .xml_tree import CHOICE, CONVERTED, BalanceSheet, XmlElement

# --------------------------------------------------------------------------------------------------
# Robot drafts: what does a robot file say, before it is a machine? Links, joints, what belongs to them, and names.


@dataclass(eq=False)
class LinkDraft:
    """A link: its inertia is about its centre of mass, in its own axes.

    Attributes:
        inertial: element that says the inertia.
    """

    name: str
    element: XmlElement
    mass: float = 0.0
    com: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    looks: list[Look] = field(default_factory=list)
    inertial: XmlElement | None = None


@frozen
class MimicDraft:
    """A joint that follows another: `position = ratio * leader + offset`."""

    leader: str
    ratio: float
    offset: float
    element: XmlElement


@dataclass(eq=False)
class JointDraft:
    """A joint, with further fields of the description under their names."""

    name: str
    element: XmlElement
    kind: str
    parent: str
    child: str
    place: Pose
    fields: dict[str, Any] = field(default_factory=dict)
    mimic: MimicDraft | None = None

    @property
    def axis(self) -> Array:
        return np.array(self.fields.get("axis", (0.0, 0.0, 1.0)))

    def fix(self) -> None:
        """It moves no more."""
        self.kind, self.fields, self.mimic = "fixed", {}, None


@dataclass(eq=False)
class RobotDraft:
    """All that a file says of a robot.

    Attributes:
        bases: how links that no joint carries stand on the ground, by name: kind of joint and place.
        stands_as_asked: whether one of them is the caller's choice.
        points, constraints, blocks, loads, coordinates, delays, signals: parts that the file says itself.
        initial: positions at the start, by signal name.
    """

    name: str
    links: list[LinkDraft] = field(default_factory=list)
    joints: list[JointDraft] = field(default_factory=list)
    bases: dict[str, tuple[str, Pose]] = field(default_factory=dict)
    stands_as_asked: bool = False
    gravity: tuple[float, ...] = (0.0, 0.0, -9.81)
    points: list[Point] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)
    coordinates: list[LinearCombination | Distance] = field(default_factory=list)
    delays: list[Delay] = field(default_factory=list)
    signals: list[FormulaSignal] = field(default_factory=list)
    initial: dict[str, float] = field(default_factory=dict)
    flaws: FlawList = field(default_factory=FlawList)

    @property
    def part_names(self) -> list[str]:
        """Names of the parts that the file says itself, joints aside."""
        groups = (self.points, self.constraints, self.blocks, self.loads, self.coordinates, self.delays)
        return [part.name for group in groups for part in group]


def rotated_inertia(R: Array, inertia: Array) -> Array:
    """`R I R^T`, symmetric to the last bit."""
    rotated = R @ inertia @ R.T
    return 0.5 * (rotated + rotated.T)


TAKEN = ("time", "energy", "constraints", "constraint_method", GROUND)
"""Names that every machine has for itself."""


def usable_name(name: str, suffix: str) -> str:
    """A name as near as can be to a given one: letters, digits, _ and -, not one that every machine has."""
    if not NAME.fullmatch(name):
        name = re.sub(r"[^\w\-]", "_", name)
        name = name if NAME.fullmatch(name) else f"_{name}"
    return f"{name}_{suffix}" if name in TAKEN else name


def distinct(name: str, taken: Sequence[str]) -> str:
    """A name that is not taken yet: with a number behind it where it is."""
    number, fresh = 2, name
    while fresh in taken:
        fresh, number = f"{name}_{number}", number + 1
    return fresh


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """A name for a part that the file does not name itself."""
    return distinct(usable_name(wanted, "point"), [*taken])


# --------------------------------------------------------------------------------------------------
# Robots as machines: how does the draft of a robot become bodies, joints, points and constraints?


MOST_LINKS = 2000
"""Of one robot, this project's own choice: larger trees take hours to assemble."""
DURATION = 1.0
"""Simulated time [s] of a robot that is run as it is."""


@frozen
class Robot:
    """A robot that was read from a file.

    Attributes:
        initial: start positions by signal name, where they are not 0; sheet: what became of the file.
        assembled: whether its scenario closes loops that are open there.
    """

    machine: Machine
    sheet: BalanceSheet
    initial: dict[str, float]
    assembled: bool = False

    def scenario(self, duration: float = DURATION) -> Scenario:
        """The scenario of the robot without drives."""
        title = f"{self.machine.name}, left to itself"
        start: dict[str, Any] = {"initialisation": "assembled", "keep": ()} if self.assembled else {}
        return Scenario(self.machine.name, self.machine, duration, self.initial, title=title, **start)


def build_machine(
    draft: RobotDraft, keep_massless: bool, lock: Mapping[str, float | None]
) -> tuple[Machine, dict[str, float]]:
    """The machine of a draft and its start positions.

    Args:
        lock: patterns of joints that are fixed -> position [rad or m]; None for that of the start.

    Raises:
        ModelError: with every problem of the file, each with its line.
    """
    # A file that is too large, or of which nothing is left, is refused by itself.
    if len(draft.links) > MOST_LINKS:
        what = f"has {len(draft.links)} links, at most {MOST_LINKS} are read"
        draft.flaws.add("", what, "split it into several robots")
        draft.flaws.raise_if_any()
    if not draft.links and not draft.flaws.found:
        draft.flaws.add("", "has no links of its own", "import the files that it names separately")

    # Names that a machine may have, the tree with its base, and joints that the caller locks.
    settle_names(draft)
    joints = [*_base_joints(draft), *order_joints(draft)]
    _lock_joints(draft, joints, lock)
    bodies = [_body(link, draft.flaws) for link in draft.links]
    if draft.flaws.found:
        # What cannot be put together is still looked at joint by joint: every problem at once.
        for joint in draft.joints:
            _joint(joint, draft.flaws)
        draft.flaws.raise_if_any()

    # What could move without bound is fixed, what follows nothing moves by itself.
    if not keep_massless:
        for joint in find_massless(draft.links, joints):
            what = f"'{joint.name}' moves nothing that has inertia: it is fixed; keep_massless = true lets it move"
            joint.element.mark(CHOICE, what, "type" if "type" in joint.element.attributes else "")
            joint.fix()
    # Leaders are other joints of one position; who follows none moves by itself.
    single = {joint.name for joint in joints if joint.kind in SINGLE}
    for joint in joints:
        if joint.mimic is not None and joint.mimic.leader not in single - {joint.name}:
            what = f"there is no other joint '{joint.mimic.leader}' that moves along one axis"
            joint.mimic.element.mark(CHOICE, f"{what}: '{joint.name}' moves by itself; [constraints] can couple it")
            joint.mimic = None
    moving = [_joint(joint, draft.flaws) for joint in joints]
    draft.flaws.raise_if_any()

    # The machine: parts that the file says itself, and those that it implies.
    points = [*draft.points, *_tip_points(draft, joints)]
    mechanism = Mechanism(
        draft.name, tuple(filter(None, bodies)), tuple(filter(None, moving)), tuple(points), draft.gravity
    )
    taken = [*(joint.name for joint in joints), *draft.part_names, *(point.name for point in points)]
    machine = Machine(
        draft.name,
        mechanism,
        blocks=tuple(draft.blocks),
        loads=tuple(draft.loads),
        coordinates=tuple(draft.coordinates),
        delays=tuple(draft.delays),
        signals=tuple(draft.signals),
        constraints=(*draft.constraints, *_hold_still(joints, taken)),
    )
    # Zero where the limits allow it, else between them; joints that follow others start as these say.
    start = {joint.name: _start(joint) for joint in joints if joint.kind in SINGLE and joint.mimic is None}
    start |= {joint.name: joint.mimic.offset for joint in joints if joint.mimic is not None and not joint.mimic.ratio}
    return machine, {f"{name}.position": value for name, value in start.items() if value} | draft.initial


def _base_joints(draft: RobotDraft) -> list[JointDraft]:
    """Joints between the ground and the links that no joint of the file carries."""
    links = {link.name: link for link in draft.links}
    taken = [joint.name for joint in draft.joints]
    return [
        JointDraft(free_name(f"{name}_base", taken), links[name].element, kind, GROUND, name, place)
        for name, (kind, place) in draft.bases.items()
    ]


def _lock_joints(draft: RobotDraft, joints: Sequence[JointDraft], lock: Mapping[str, float | None]) -> None:
    """Fix joints where they start or at given positions, and with them those that follow them; drives on them go."""
    single = {joint.name: joint for joint in joints if joint.kind in SINGLE}
    places: dict[str, float] = {}
    for pattern, position in lock.items():
        names = fnmatch.filter(single, pattern)
        if not names:
            draft.flaws.add(f"lock.{pattern}", "fits no joint with one position", nearest(pattern, single))
        for name in names:
            start = draft.initial.get(f"{name}.position", _start(single[name]))
            places[name] = start if position is None else float(position)
    followers = [joint for joint in single.values() if joint.mimic is not None]
    # As often as there are followers: one may follow another.
    for joint in followers * len(followers):
        if joint.mimic is not None and joint.mimic.leader in places:
            places[joint.name] = joint.mimic.ratio * places[joint.mimic.leader] + joint.mimic.offset
    for name, q in places.items():
        joint = single[name]
        ends = [joint.fields.get(key) for key in ("lower_limit", "upper_limit")]
        if not (ends[0] is None or ends[0] <= q) or not (ends[1] is None or q <= ends[1]):
            draft.flaws.add(f"lock.{name}", f"is {q:g}, its limits are {ends[0]} and {ends[1]}", "stay within them")
        rotates = joint.kind != "prismatic"
        slide = joint.fields.get("pitch", 0.0) * q if rotates else q
        motion = Pose.translation(slide * joint.axis)
        joint.place = joint.place @ (motion @ Pose.rotation(about_axis(joint.axis, q)) if rotates else motion)
        joint.element.mark(CHOICE, f"'{name}' is locked at {q:g} {'rad' if rotates else 'm'}")
        joint.fix()
        draft.initial.pop(f"{name}.position", None)
    draft.blocks = [block for block in draft.blocks if block.on not in places]


def _body(link: LinkDraft, flaws: FlawList) -> Body | None:
    """A body; an inertia that none can have is kept as it is."""
    numbers = (link.name, link.mass, as_floats(link.com), as_floats(link.inertia))
    inertial = link.inertial or link.element
    if not link.mass and np.any(link.inertia):
        what = "has inertia without mass, which no real body has; taken as published"
        inertial.mark(CHOICE, f"{what}; give `bodies.{link.name}.mass` to change it")
    try:
        return Body(*numbers, looks=tuple(link.looks))
    except ModelError as error:
        if all(flaw.path == "inertia" for flaw in error.flaws):
            with suppress(ModelError):
                body = Body(*numbers, physical=False, looks=tuple(link.looks))
                what = f"no real body can have it, it {error.flaws[0].what}; taken as published, `physical = false`"
                inertial.mark(CHOICE, f"{what}; give `bodies.{link.name}.inertia` to change it")
                return body
        _report(flaws, inertial, error)
        return None


def _joint(joint: JointDraft, flaws: FlawList) -> Joint | None:
    follows = joint.mimic
    try:
        mimic = Mimic(follows.leader, follows.ratio, follows.offset) if follows and follows.ratio else None
        return Joint(
            joint.name, joint.kind, joint.parent, joint.child, as_floats(joint.place.p), as_floats(joint.place.R),
            mimic=mimic, **joint.fields,
        )  # fmt: skip
    except ModelError as error:
        _report(flaws, joint.element, error)
        return None


def _report(flaws: FlawList, element: XmlElement, error: ModelError) -> None:
    for flaw in error.flaws:
        flaws.add(f"{element.place}: {flaw.path}", flaw.what, flaw.remedy)


def _tip_points(draft: RobotDraft, joints: Sequence[JointDraft]) -> list[Point]:
    """A point at the origin of every link that carries no other: tools, sensors, feet."""
    parents = {joint.parent for joint in joints}
    taken = [*(joint.name for joint in joints), *draft.part_names]
    points: list[Point] = []
    for link in draft.links:
        if link.name not in parents:
            points.append(Point(free_name(link.name, [*taken, *(point.name for point in points)]), link.name))
    return points


def _hold_still(joints: Sequence[JointDraft], taken: Sequence[str]) -> list[LinearConstraint]:
    """Constraints of joints that follow another one by a ratio of 0: they stand where their offset says."""
    constraints: list[LinearConstraint] = []
    for joint in joints:
        if joint.mimic is not None and not joint.mimic.ratio:
            name = free_name(f"{joint.name}_mimic", [*taken, *(constraint.name for constraint in constraints)])
            constraints.append(LinearConstraint(name, {joint.name: 1.0}, joint.mimic.offset))
    return constraints


def _start(joint: JointDraft) -> float:
    lower, upper = joint.fields.get("lower_limit"), joint.fields.get("upper_limit")
    if (lower is None or lower <= 0.0) and (upper is None or upper >= 0.0):
        return 0.0
    ends = [end for end in (lower, upper) if end is not None]
    return float(sum(ends)) / len(ends)


# --------------------------------------------------------------------------------------------------
# Names: which name of the project's does each link and joint have?


def settle_names(draft: RobotDraft) -> None:
    """Give links and joints names that a machine may have, everywhere where they are named."""
    draft.name = usable_name(draft.name, "robot")
    links = _rename(draft.flaws, draft.links, "link")
    joints = _rename(draft.flaws, draft.joints, "joint")
    for joint in draft.joints:
        joint.parent, joint.child = links.get(joint.parent, joint.parent), links.get(joint.child, joint.child)
        if joint.mimic is not None:
            leader = joints.get(joint.mimic.leader, joint.mimic.leader)
            joint.mimic = replace(joint.mimic, leader=leader)
    draft.bases = {links.get(name, name): base for name, base in draft.bases.items()}


def _rename(flaws: FlawList, parts: Sequence[LinkDraft] | Sequence[JointDraft], noun: str) -> dict[str, str]:
    """New names of parts by their old ones; two of one name are refused."""
    new: dict[str, str] = {}
    usable = [part.name for part in parts if usable_name(part.name, noun) == part.name]
    for part in parts:
        if part.name in new or usable.count(part.name) > 1:
            if part.name in new:
                flaws.add(part.element.place, f"there is another {noun} '{part.name}'", "give each its own name")
            new[part.name] = part.name
            continue
        fresh = usable_name(part.name, noun)
        if fresh != part.name:
            fresh = distinct(fresh, [*usable, *new.values()])
            part.element.mark(CONVERTED, f"the name is written '{fresh}'", "name")
        new[part.name] = fresh
    for part in parts:
        part.name = new[part.name]
    return new


# --------------------------------------------------------------------------------------------------
# Trees: does every link hang on one joint, and all of them together? What does not is reported by line.


def order_joints(draft: RobotDraft) -> list[JointDraft]:
    """Joints, those to the ground first, parents before children; flaws are noted where there is no such order."""
    flaws, links = draft.flaws, {link.name: link for link in draft.links}
    before = len(flaws.found)
    known = {*links, GROUND}
    for joint in draft.joints:
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in known:
                flaws.add(joint.element.place, f"there is no {role} link '{name}'", nearest(name, known))
        if joint.parent == joint.child:
            flaws.add(joint.element.place, f"joins '{joint.child}' to itself", "name another parent")
    carriers = Counter(joint.child for joint in draft.joints)
    for joint in draft.joints:
        if carriers[joint.child] > 1:
            what = f"'{joint.child}' is the child of {carriers[joint.child]} joints"
            flaws.add(joint.element.place, what, "a tree allows one; a loop is closed by a constraint, in TOML")
    flawed = len(flaws.found) > before
    ordered, reached = [], {GROUND, *draft.bases}
    waiting = list(draft.joints)
    while fitting := [joint for joint in waiting if joint.parent in reached]:
        ordered += fitting
        reached |= {joint.child for joint in fitting}
        waiting = [joint for joint in waiting if joint not in fitting]
    for name, link in links.items():
        cyclic = carriers[name] > 0
        # What hangs on a joint that is wrong itself is not wrong too.
        if name not in reached and not (cyclic and flawed):
            what = "is part of a loop of joints, or carried by one" if cyclic else "is connected to nothing"
            remedy = "one link of a tree has no joint above it" if cyclic else "add a joint with it as child"
            flaws.add(link.element.place, what, remedy)
    return ordered


# --------------------------------------------------------------------------------------------------
# Massless moving links: which joints move nothing that has inertia? They could accelerate without bound.


NOTHING = 1e-20
"""Inertia [kg m^2 or kg] that is none but for rounding."""


def find_massless(links: Sequence[LinkDraft], joints: Sequence[JointDraft]) -> list[JointDraft]:
    """Joints along or about whose axis nothing that they carry has inertia, from the tips of the tree on.

    Args:
        joints: parents before children.
    """
    # From the tips to the root each joint hands what it carries to the link that carries it.
    poses = _place_links(joints)
    carried: dict[str, list[LinkDraft]] = {link.name: [link] for link in links}
    massless = []
    for joint in reversed(joints):
        if joint.kind != "fixed" and not _has_inertia(joint, carried[joint.child], poses):
            massless.append(joint)
        if joint.parent != GROUND:
            carried[joint.parent] += carried[joint.child]
    return massless[::-1]


def _place_links(joints: Sequence[JointDraft]) -> dict[str, Pose]:
    """Where links are at positions that are nothing special, so that no axis meets a centre of mass by coincidence."""
    poses = {GROUND: Pose.identity()}
    for k, joint in enumerate(joints):
        here = poses[joint.parent] @ joint.place
        if joint.kind != "fixed":
            here = here @ Pose.rotation(about_axis(joint.axis, 0.3 + 0.37 * (k % 11)))
        poses[joint.child] = here
    return poses


def _has_inertia(joint: JointDraft, carried: Sequence[LinkDraft], poses: dict[str, Pose]) -> bool:
    if joint.fields.get("armature", 0.0) > 0.0:
        return True
    if joint.kind not in SINGLE or joint.kind == "prismatic":
        return any(link.mass > NOTHING for link in carried)
    # Moment of inertia about the axis: k^T I k + m |k x (c - p)|^2.
    pose = poses[joint.child]
    axis, total = pose.R @ joint.axis, 0.0
    for link in carried:
        R = poses[link.name].R
        arm = np.cross(axis, poses[link.name].apply(link.com) - pose.p)
        total += axis @ (R @ link.inertia @ R.T) @ axis + link.mass * float(arm @ arm)
        if total > NOTHING:
            return True
    return False
