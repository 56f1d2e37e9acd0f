"""Robots as machines: how does the draft of a robot become bodies, joints, points and constraints?"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robodyn.base.errors import FlawList, ModelError, nearest
from robodyn.base.spatial import Pose, about_axis
from robodyn.description.model import Body, Joint, LinearConstraint, Machine, Mechanism, Mimic, Point, Scenario
from robodyn.description.model.joint import GROUND, SINGLE
from robodyn.description.model.numbers import as_floats
from robodyn.description.robots.balance_sheet import BalanceSheet
from robodyn.description.robots.draft import JointDraft, LinkDraft, RobotDraft
from robodyn.description.robots.massless import find_massless
from robodyn.description.robots.names import free_name, settle_names
from robodyn.description.robots.topology import order_joints
from robodyn.description.robots.xml_tree import CHOICE

MOST_LINKS = 2000
"""Of one robot, this project's own choice: larger trees take hours to assemble."""
DURATION = 1.0
"""Simulated time [s] of a robot that is run as it is."""


@dataclass(frozen=True)
class Robot:
    """A robot that was read from a file.

    Attributes:
        initial: start positions by signal name, where they are not 0; sheet: what became of the file.
        assembled: whether its scenario closes loops that are open there.
    """

    machine: Machine
    sheet: BalanceSheet
    initial: dict[str, float] = field(default_factory=dict)
    assembled: bool = False

    def scenario(self, duration: float = DURATION) -> Scenario:
        """The robot left to itself."""
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
    if len(draft.links) > MOST_LINKS:
        what = f"has {len(draft.links)} links, at most {MOST_LINKS} are read"
        draft.flaws.add("", what, "split it into several robots")
        draft.flaws.raise_if_any()
    if not draft.links and not draft.flaws.found:
        draft.flaws.add("", "has no links of its own", "import the files that it names by themselves")
    settle_names(draft)
    joints = [*_base_joints(draft), *order_joints(draft)]
    _lock_joints(draft, joints, lock)
    bodies = [_body(link, draft.flaws) for link in draft.links]
    if draft.flaws.found:
        # What cannot be put together is still looked at joint by joint: every problem at once.
        for joint in draft.joints:
            _joint(joint, draft.flaws)
        draft.flaws.raise_if_any()
    if not keep_massless:
        _fix_massless(find_massless(draft.links, joints))
    _check_mimics(joints)
    made = [_joint(joint, draft.flaws) for joint in joints]
    draft.flaws.raise_if_any()
    points = [*draft.points, *_tip_points(draft, joints)]
    mechanism = Mechanism(
        draft.name, tuple(filter(None, bodies)), tuple(filter(None, made)), tuple(points), draft.gravity
    )
    taken = [*(joint.name for joint in joints), *draft.part_names, *(point.name for point in points)]
    machine = Machine(
        draft.name,
        mechanism,
        blocks=tuple(draft.blocks),
        loads=tuple(draft.loads),
        coordinates=tuple(draft.coordinates),
        constraints=(*draft.constraints, *_hold_still(joints, taken)),
    )
    return machine, _start_positions(joints) | draft.initial


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
    for pattern, given in lock.items():
        names = fnmatch.filter(single, pattern)
        if not names:
            draft.flaws.add(f"lock.{pattern}", "fits no joint with one position", nearest(pattern, single))
        for name in names:
            start = draft.initial.get(f"{name}.position", _start(single[name]))
            places[name] = start if given is None else float(given)
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
        turned = joint.kind != "prismatic"
        slide = joint.fields.get("pitch", 0.0) * q if turned else q
        motion = Pose.translation(slide * joint.axis)
        joint.place = joint.place @ (motion @ Pose.rotation(about_axis(joint.axis, q)) if turned else motion)
        joint.element.mark(CHOICE, f"'{name}' is locked at {q:g} {'rad' if turned else 'm'}")
        joint.kind, joint.fields, joint.mimic = "fixed", {}, None
        draft.initial.pop(f"{name}.position", None)
    draft.blocks = [block for block in draft.blocks if block.on not in places]


def _fix_massless(massless: Sequence[JointDraft]) -> None:
    for joint in massless:
        what = f"'{joint.name}' moves nothing that has inertia: it is fixed; keep_massless = true lets it move"
        key = "type" if "type" in joint.element.attributes else ""
        joint.element.mark(CHOICE, what, key)
        joint.kind, joint.fields, joint.mimic = "fixed", {}, None


def _check_mimics(joints: Sequence[JointDraft]) -> None:
    """Leaders are other joints of one position; who follows none moves by itself."""
    single = {joint.name for joint in joints if joint.kind in SINGLE}
    for joint in joints:
        if joint.mimic is not None and joint.mimic.leader not in single - {joint.name}:
            what = f"there is no other joint '{joint.mimic.leader}' that moves along one axis"
            joint.mimic.element.mark(CHOICE, f"{what}: '{joint.name}' moves by itself; [constraints] can couple it")
            joint.mimic = None


def _body(link: LinkDraft, flaws: FlawList) -> Body | None:
    """A body; an inertia that none can have is kept as it is."""
    numbers = (link.name, link.mass, as_floats(link.com), as_floats(link.inertia))
    inertial = link.inertial or link.element
    if not link.mass and np.any(link.inertia):
        what = "has inertia without a mass, as no real body has; taken as published"
        inertial.mark(CHOICE, f"{what}; give `bodies.{link.name}.mass` to change it")
    try:
        return Body(*numbers, looks=tuple(link.looks))
    except ModelError as error:
        if all(flaw.path == "inertia" for flaw in error.flaws):
            try:
                made = Body(*numbers, physical=False, looks=tuple(link.looks))
            except ModelError:
                pass
            else:
                what = f"no real body can have it, it {error.flaws[0].what}; taken as published, `physical = false`"
                inertial.mark(CHOICE, f"{what}; give `bodies.{link.name}.inertia` to change it")
                return made
        for flaw in error.flaws:
            flaws.add(f"{inertial.place}: {flaw.path}", flaw.what, flaw.remedy)
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
        for flaw in error.flaws:
            flaws.add(f"{joint.element.place}: {flaw.path}", flaw.what, flaw.remedy)
        return None


def _tip_points(draft: RobotDraft, joints: Sequence[JointDraft]) -> list[Point]:
    """A point at the origin of every link that carries no other: tools, sensors, feet."""
    parents = {joint.parent for joint in joints}
    taken = [*(joint.name for joint in joints), *draft.part_names]
    found: list[Point] = []
    for link in draft.links:
        if link.name not in parents:
            found.append(Point(free_name(link.name, [*taken, *(point.name for point in found)]), link.name))
    return found


def _hold_still(joints: Sequence[JointDraft], taken: Sequence[str]) -> list[LinearConstraint]:
    """Constraints of joints that follow another one by a ratio of 0: they stand where their offset says."""
    found: list[LinearConstraint] = []
    for joint in joints:
        if joint.mimic is not None and not joint.mimic.ratio:
            name = free_name(f"{joint.name}_mimic", [*taken, *(constraint.name for constraint in found)])
            found.append(LinearConstraint(name, {joint.name: 1.0}, joint.mimic.offset))
    return found


def _start_positions(joints: Sequence[JointDraft]) -> dict[str, float]:
    """Zero where the limits allow it, else between them; joints that follow others start as these say."""
    start = {joint.name: _start(joint) for joint in joints if joint.kind in SINGLE and joint.mimic is None}
    start |= {joint.name: joint.mimic.offset for joint in joints if joint.mimic is not None and not joint.mimic.ratio}
    return {f"{name}.position": value for name, value in start.items() if value}


def _start(joint: JointDraft) -> float:
    lower, upper = joint.fields.get("lower_limit"), joint.fields.get("upper_limit")
    if (lower is None or lower <= 0.0) and (upper is None or upper >= 0.0):
        return 0.0
    ends = [end for end in (lower, upper) if end is not None]
    return float(sum(ends)) / len(ends)
