"""Moves: references of a robot from here to there, or along a path."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.base import Array, FlawList, frozen
from robodyn.description.laws.speed_profile import plan_phases, s_curve_times, travel
from robodyn.description.model import Block, Joint, Machine, Mechanism, Scenario
from robodyn.description.model.joint import SINGLE
from robodyn.description.model.kinds import Bounds
from robodyn.description.model.numbers import check_finite
from robodyn.description.paths import (
    CartesianPath,
    JointPath,
    build_arm,
    path_block,
    plan_path,
    straight_line,
    waypoints,
)
from robodyn.description.paths.deviation import deviation_blocks

from .efforts import check_efforts

# --------------------------------------------------------------------------------------------------
# References of a move in a scenario: which blocks give them, and who reads them instead of the old ones?


def with_references(
    scenario: Scenario, blocks: Sequence[Block], duration: float, plan: JointPath | None = None
) -> Scenario:
    """The scenario with the references of a move, lasting at least until it is over.

    Joints' own references (`elbow.reference`) are replaced by those of the same name, or by a path's.
    """
    new = {block.name for block in blocks}
    moved = {f"{name}.reference" for name in plan.joints} if plan is not None else set()
    kept = [block for block in scenario.machine.blocks if block.name not in new | moved]
    renamed = {}
    for k, name in enumerate(plan.joints if plan is not None else (), start=1):
        for quantity in ("position", "velocity", "acceleration"):
            renamed[f"{name}.reference.{quantity}"] = f"{blocks[0].name}.{quantity}{k}"

    def rename(to: str, name: str) -> str:
        return renamed.get(name, name) if to == "signal" else name

    machine = scenario.machine.replaced(blocks=(*blocks, *(block.renamed(rename) for block in kept)))
    nominal = {joint: renamed.get(signal, signal) for joint, signal in scenario.nominal.items()}
    return scenario.replaced(machine=machine, nominal=nominal, duration=max(scenario.duration, duration))


def check_read(flaws: FlawList, scenario: Scenario, joints: Sequence[str]) -> None:
    """Joints whose references nothing reads would not move."""
    blocks = scenario.machine.blocks
    read = {name for block in blocks for _, to, name in block.references() if to == "signal"}
    for joint in joints:
        if f"{joint}.reference.position" not in read:
            what = f"nothing follows '{joint}.reference.position'"
            flaws.add(f"joints.{joint}", what, "dress the robot first; one that follows a path already has no others")


def encoders_of(machine: Machine, joints: Sequence[str]) -> tuple[str, ...]:
    """Signals of the joints' encoders; none where not every joint has one."""
    encoders = [f"{joint}.encoder" for joint in joints]
    known = {block.name for block in machine.blocks}
    return tuple(f"{encoder}.measured" for encoder in encoders) if known >= set(encoders) else ()


# --------------------------------------------------------------------------------------------------
# Test poses of ISO 9283: which five poses in a cube does a tool visit, one after the other?
#
# P1 is the middle of the cube, P2 to P5 lie on the diagonals of an inclined plane through two of its opposite edges, a
# tenth of a diagonal from the corners.


SHARE = 0.8
"""Distance of a pose from the middle, by half the diagonal."""
PLANES = {"x+": (0, 1), "x-": (0, -1), "y+": (1, 1), "y-": (1, -1)}
"""Along which axis the plane is inclined, and whether it rises or falls."""


def cube_path(what: Machine | Scenario, side: float, tool: str | None = None, plane: str = "x+") -> CartesianPath:
    """From where a tool stands, P1, to P2, P3, P4, P5 and back, with a rest at each.

    The tool's orientation is kept where there are six joints.

    Args:
        side: of the cube [m], its edges along the world's axes, the tool in its middle.
        plane: "x+" rises along x, "x-" falls along it, "y+" and "y-" along y.
    """
    flaws = FlawList()
    flaws.add_unless_positive(side=side)
    if plane not in PLANES:
        flaws.add("plane", f"is '{plane}'", f"one of {', '.join(PLANES)}")
    flaws.raise_if_any("cube")
    placed, rotation = stand_of(what, tool)
    axis, sign = PLANES[plane]
    round_about = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)], float)
    offsets = np.zeros((4, 3))
    offsets[:, axis], offsets[:, 1 - axis], offsets[:, 2] = *round_about.T, sign * round_about[:, 0]
    return waypoints([placed, *(placed + SHARE * side / 2 * offsets), placed], None, rotation)


# --------------------------------------------------------------------------------------------------
# Moves of a robot: which references bring joints or a tool somewhere, and can the robot do it?
#
# In joint space all joints go along one straight line, q = q0 + sigma(t) (q1 - q0), with one S-curve sigma: they start
# and end together, and none exceeds its share of speed, acceleration and jerk. Along a path of the tool joints follow
# by inverse kinematics. Both are checked before anything runs: reach, limits, singularities, speeds, and efforts by
#
#     tau = M(q) a + c(q, v)


RISE, JERK_TIME = 0.25, 0.1
"""Times [s] to top speed where there is no acceleration limit, and to top acceleration: this project's choice."""
SAMPLES, SETTLING = 401, 0.2
"""Times at which efforts are checked; time that a scenario goes on after a move [s]."""
NAME, SIX = "move", 6


@frozen
class JointPeaks:
    """Largest speed, acceleration and effort of a joint, in rad or m, N m or N."""

    speed: float
    acceleration: float
    effort: float


@frozen(eq=False)
class Move:
    """A planned move.

    Attributes:
        joints: that move; duration: at which it ends [s]; time: of samples (k,), with position, velocity, acceleration
            and effort of the joints there, (k, n).
        blocks: its references, and deviations from its path; scenario: with them, where a scenario was given.
        path: of the joints, for a move of the tool.
    """

    JSON = """
    duration: [s]
    joints = peaks
    """
    joints: tuple[str, ...]
    duration: float
    time: Array
    position: Array
    velocity: Array
    acceleration: Array
    effort: Array
    blocks: tuple[Block, ...]
    scenario: Scenario | None = None
    path: JointPath | None = None

    @property
    def peaks(self) -> dict[str, JointPeaks]:
        """Largest values of each joint."""
        columns = (np.abs(values).max(axis=0).tolist() for values in (self.velocity, self.acceleration, self.effort))
        return {name: JointPeaks(*row) for name, *row in zip(self.joints, *columns, strict=True)}

    def __repr__(self) -> str:
        return f"<Move of {', '.join(self.joints)}: ends at {self.duration:.4g} s>"


def move(
    what: Machine | Scenario,
    to: Mapping[str, float] | None = None,
    *,
    along: CartesianPath | None = None,
    tool: str | None = None,
    speed: float = 0.5,
    acceleration: float | None = None,
    jerk: float | None = None,
    pause: float | None = None,
    start: Mapping[str, float] | None = None,
    begin: float = 0.0,
    **choice: Any,
) -> Move:
    """Plan a move of joints to positions, or of a tool along a path.

    Args:
        what: a machine; or a scenario of a dressed one, whose references are then replaced.
        to: positions of joints [rad or m]; joints not named stay.
        along: path of the tool instead (`straight_line`, `arc_through`, `waypoints` ... of `description.paths`).
        tool: point that follows it; may be left out where there is only one.
        speed: of a move of joints its share of their speed limits, at most 1; along a path in m/s.
        acceleration, jerk: along a path [m/s^2, m/s^3]; by default top speed in 0.25 s, and 0.1 s to full acceleration.
        pause: at each rest of a path [s], 0 by default.
        start: positions of joints it starts from; those of the scenario's references, or 0, by default.
        begin: when it starts [s].
        choice: `free`, `prefer`, `branch`, `singular`, `spacing` of `plan_path`.

    Raises:
        ModelError: with everything that hinders it, each with its place along the way.
    """
    machine = what.machine if isinstance(what, Scenario) else what
    flaws = FlawList()
    _check_call(flaws, machine, to, along, tool, {"acceleration": acceleration, "jerk": jerk, "pause": pause} | choice)
    Bounds(positive=True).check(flaws, "speed", speed, "")
    Bounds(non_negative=True).check(flaws, "begin", begin, "s")
    flaws.raise_if_any("move")
    places = start_of(flaws, what, machine.any_mechanism, start or {})
    if to is not None:
        return _move_joints(flaws, what, machine, to, places, speed, begin)
    assert along is not None
    top = speed / RISE if acceleration is None else acceleration
    profile = {"speed": speed, "acceleration": top, "jerk": top / JERK_TIME if jerk is None else jerk}
    timing = {"begin": begin} | ({"pause": pause or 0.0} if along.stops else {})
    point = tool or machine.any_mechanism.points[0].name
    return _move_tool(flaws, what, machine, point, along, places, profile, timing, choice)


def _check_call(flaws: FlawList, machine: Machine, to: Any, along: Any, tool: Any, of_paths: Mapping[str, Any]) -> None:
    if machine.mechanism is None:
        flaws.add("machine", "has no mechanism", "give it bodies and joints")
        return
    if (to is None) == (along is None):
        flaws.add("to", "and along: give one of them", "positions of joints, or a path of the tool")
    given = [key for key, value in {"tool": tool, **of_paths}.items() if value is not None]
    for key in given if along is None else ():
        flaws.add(key, "has no effect on a move of joints", "leave it out")
    points = [point.name for point in machine.mechanism.points]
    if isinstance(along, CartesianPath) and not along.stops and of_paths.get("pause") is not None:
        flaws.add("pause", "has no effect on a path without rests", "leave it out, or give waypoints no radius")
    if along is not None and tool is None and len(points) != 1:
        flaws.add("tool", f"is missing: there are {len(points)} points", f"name one of {', '.join(points) or 'none'}")


def start_of(
    flaws: FlawList, what: Machine | Scenario, mechanism: Mechanism, given: Mapping[str, float]
) -> dict[str, float]:
    """Positions of all joints with one: as given, where references hold them, as the scenario starts, or 0."""
    joints = [joint.name for joint in mechanism.joints if joint.kind in SINGLE]
    flaws.add_unknown(given, joints, "there is no such joint", "start")
    places = dict.fromkeys(joints, 0.0)
    if isinstance(what, Scenario):
        places |= {name: float(what.initial.get(f"{name}.position", 0.0)) for name in joints}
        for block in what.machine.blocks:
            name = block.name.removesuffix(".reference")
            if name in places and name != block.name and "target" in block.parameters:
                places[name] = float(block.parameters["target"])
    return places | {name: float(value) for name, value in given.items() if name in places}


def _move_joints(
    flaws: FlawList,
    what: Machine | Scenario,
    machine: Machine,
    to: Mapping[str, float],
    places: Mapping[str, float],
    speed: float,
    begin: float,
) -> Move:
    own = {joint.name: joint for joint in machine.any_mechanism.joints if joint.kind in SINGLE}
    flaws.add_unknown(to, own, "there is no such joint with one position", "to")
    for name, value in to.items():
        if name in own and check_finite(flaws, f"to.{name}", value):
            _check_ends(flaws, own[name], places[name], value)
    if speed > 1:
        flaws.add("speed", f"is {speed:g} of the joints' limits", "at most 1")
    if isinstance(what, Scenario):
        check_read(flaws, what, [name for name in to if name in own])
    flaws.raise_if_any("move")
    ways = {name: float(to[name]) - places[name] for name in to}
    moving = [own[name] for name, way in ways.items() if way]
    top = _shared_limits(moving, ways, speed)
    t_jerk, t_even, t_cruise = s_curve_times(1.0, *top)
    duration = begin + (float(4 * t_jerk + 2 * t_even + t_cruise) if moving else 0.0)
    time = np.linspace(begin, duration, SAMPLES)
    names = tuple(to)
    # The joints' motion along their line, q0 + sigma (q1 - q0).
    s, rate, change, _ = (column[:, None] for column in travel(time, plan_phases(1.0, *top, begin)))
    first, way = np.array([places[name] for name in names]), np.array([ways[name] for name in names])
    motion = first + s * way, rate * way, change * way
    effort = check_efforts(flaws, machine, names, places, time, *motion, place=lambda k: f"{time[k]:.3g} s")
    flaws.raise_if_any("move")
    blocks = tuple(_reference(own[name], places[name], ways[name], top, begin) for name in names)
    scenario = with_references(what, blocks, duration + SETTLING) if isinstance(what, Scenario) else None
    return Move(names, duration, time, *motion, effort, blocks, scenario)


def _check_ends(flaws: FlawList, joint: Joint, start: float, end: float) -> None:
    """On a straight line a joint is furthest at its ends."""
    for word, value in (("starts", start), ("ends", end)):
        for bound, sign in ((joint.lower_limit, -1), (joint.upper_limit, 1)):
            if bound is not None and sign * (value - bound) > 0:
                flaws.add(f"to.{joint.name}", f"{word} at {value:.4g}, its limit is {bound:.4g}", "stay within it")
    if joint.speed_limit is None and start != end:
        flaws.add(f"joints.{joint.name}", "has no speed limit to take a share of", "give the joint speed_limit")


def _shared_limits(joints: Sequence[Joint], ways: Mapping[str, float], share: float) -> tuple[float, float, float]:
    """Speed, acceleration and jerk of sigma, from 0 to 1, with which no joint exceeds its own."""
    if not joints:
        return 1.0, 1.0, 1.0
    speeds = {joint.name: share * (joint.speed_limit or math.inf) for joint in joints}
    tops = {joint.name: joint.acceleration_limit or speeds[joint.name] / share / RISE for joint in joints}
    far = {joint.name: abs(ways[joint.name]) for joint in joints}
    acceleration = min(tops[name] / way for name, way in far.items())
    return min(speeds[name] / way for name, way in far.items()), acceleration, acceleration / JERK_TIME


def _reference(joint: Joint, start: float, way: float, top: tuple[float, float, float], begin: float) -> Block:
    size = abs(way) or 1.0
    limits = dict(zip(("speed", "top_acceleration", "top_jerk"), (size * value for value in top), strict=True))
    numbers = {"target": start + way, "start": start, "begin": begin} | limits
    return Block(f"{joint.name}.reference", "s_curve_reference", parameters=numbers, unit=joint.unit)


def _move_tool(
    flaws: FlawList,
    what: Machine | Scenario,
    machine: Machine,
    tool: str,
    along: CartesianPath,
    places: Mapping[str, float],
    profile: Mapping[str, Any],
    timing: Mapping[str, float],
    choice: Mapping[str, Any],
) -> Move:
    plan = plan_from(flaws, what, tool, along, places, **profile, **choice)
    units = dict(zip(plan.joints, plan.units, strict=True))
    gaps = {name: plan.position[0, k] - places[name] for k, name in enumerate(plan.joints) if name in places}
    for name, gap in gaps.items() if isinstance(what, Scenario) else ():
        if abs(gap) > 1e-9:
            away = f"stands {abs(gap):.3g} {units[name]} from where the path begins"
            flaws.add(f"joints.{name}", away, f"move it to {places[name] + gap:.9g} first, or dress it with that start")
    duration = plan.duration(**profile, **timing)
    time = np.linspace(timing["begin"], duration, SAMPLES * (1 + len(plan.rests)))
    motion = plan.motion(time, **profile, **timing)
    ways = travel(time, plan.phases(**profile, **timing))[0]
    effort = check_efforts(
        flaws, machine, plan.joints, places, time, *motion, place=lambda k: f"{1e3 * ways[k]:.1f} mm"
    )
    flaws.raise_if_any(f"path of '{tool}'")
    measured = encoders_of(machine, plan.joints)
    deviations = deviation_blocks(machine.any_mechanism, NAME, tool, along, measured)
    blocks = (path_block(NAME, plan, **profile, **timing), *deviations)
    scenario = with_references(what, blocks, duration + SETTLING, plan) if isinstance(what, Scenario) else None
    return Move(plan.joints, duration, time, *motion, effort, blocks, scenario, plan)


def line_from(what: Machine | Scenario, by: Sequence[float], tool: str | None = None) -> CartesianPath:
    """Straight from where a tool stands to a place further [m, world], its orientation kept where there are six joints.

    Args:
        tool: point that moves; may be left out where there is only one.
    """
    place, rotation = stand_of(what, tool)
    return straight_line(place, place + np.asarray(by, float), rotation)


def stand_of(what: Machine | Scenario, tool: str | None = None) -> tuple[Array, Array | None]:
    """Where a tool stands [m, world], and how it is turned where there are six joints."""
    machine = what.machine if isinstance(what, Scenario) else what
    flaws = FlawList()
    _check_call(flaws, machine, None, "path", tool, {})
    flaws.raise_if_any("path")
    point = tool or machine.any_mechanism.points[0].name
    arm, places = build_arm(machine.any_mechanism, point), start_of(flaws, what, machine.any_mechanism, {})
    placed = arm.place([places[name] for name in arm.joints])
    return placed.p, placed.R if arm.n >= SIX else None


def plan_from(
    flaws: FlawList,
    what: Machine | Scenario,
    tool: str,
    along: CartesianPath,
    places: Mapping[str, float],
    **settings: Any,
) -> JointPath:
    """The joints' path along one of the tool, from the branch nearest to where they stand unless one is named."""
    mechanism = what.machine.any_mechanism if isinstance(what, Scenario) else what.any_mechanism
    near = {name: places.get(name, 0.0) for name in build_arm(mechanism, tool).joints}
    plan = plan_path(mechanism, tool, along, near=None if "branch" in settings else near, **settings)
    if isinstance(what, Scenario):
        check_read(flaws, what, plan.joints)
    return plan
