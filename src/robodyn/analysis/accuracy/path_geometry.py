"""Geometry of a commanded path: which block says how far a tool is from it, where are its places and corners?

The commanded orientation is where nominal kinematics put the tool with the joints at their references.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from robodyn.base.errors import Flaw, ModelError, nearest
from robodyn.computation.assembly import System
from robodyn.computation.results.signal import Floats
from robodyn.computation.results.table import Curves
from robodyn.description.model import Scenario
from robodyn.description.paths import PathReference, SerialArm, build_arm
from robodyn.description.paths.deviation import PathDeviation
from robodyn.description.paths.joint_path import make_table
from robodyn.description.paths.timed_reference import TimedReference

PARTS = ("along", "horizontal", "vertical")
STRAIGHT = 1e-9
LEAST_TURN = np.radians(1.0)


@dataclass(frozen=True)
class Corner:
    """Where two straight parts of a path would meet: place (3,), directions before and behind, how far they reach."""

    place: Floats
    before: Floats
    after: Floats
    reach: float


@dataclass(frozen=True)
class Followed:
    """Signals of a tool that follows a path, and the path's corners.

    Attributes:
        deviation: along, horizontal, vertical; way: commanded way along the path; tool: x, y, z.
        path: the law that knows the path's places, where there is one; turned: how the tool should be turned.
    """

    deviation: tuple[str, str, str]
    way: str
    tool: tuple[str, str, str]
    corners: tuple[Corner, ...] = ()
    path: PathDeviation | None = None
    turned: Turned | None = None

    @property
    def signals(self) -> tuple[str, ...]:
        return (*self.deviation, self.way, *self.tool, *(self.turned.signals if self.turned else ()))

    def place(self, way: float) -> Floats | None:
        """Commanded place (3,) after a way [m], where it is known."""
        if self.path is None:
            return None
        table = make_table(self.path.knots, self.path.place, self.path.tangent, self.path.bend)
        return np.asarray(table.at(way)[0][0])


def find_followed(system: System, name: str) -> Followed:
    """What a block that measures deviations from a path reads and says; a scenario without one is a ModelError."""
    blocks = {block.name: block for block in system.scenario.machine.blocks}
    block = blocks.get(name)
    have = [one for one in blocks if all(f"{one}.{part}" in system.signal_names for part in PARTS)]
    if block is None or name not in have:
        what = f"there is no path that a tool follows: no block '{name}' with outputs {', '.join(PARTS)}"
        remedy = nearest(name, have) if have else (
            "rd.move(scenario, along=..., tool=...) makes it; or add law = \"line_deviation\" with the tool's position"
        )  # fmt: skip
        raise ModelError([Flaw("path", what, remedy)], f"sheet of '{system.scenario.name}'")
    inputs = {key: str(value) for key, value in block.inputs.items()}
    way = inputs.get("s") or inputs.get("way") or ""
    tool = tuple(inputs.get(key, "") for key in "xyz")
    missing = [signal for signal in (way, *tool) if signal not in system.signal_names]
    if missing:
        what = f"reads no signals of the tool's place and its way: {', '.join(missing)}"
        raise ModelError([Flaw(f"blocks.{name}", what)], f"sheet of '{system.scenario.name}'")
    deviation = (f"{name}.along", f"{name}.horizontal", f"{name}.vertical")
    law = block.law if isinstance(block.law, PathDeviation) else None
    corners = find_corners(law) if law else ()
    turned = find_turned(system.scenario, tool[0].removesuffix(".position.x"), way)
    return Followed(deviation, way, (tool[0], tool[1], tool[2]), corners, law, turned)


def find_corners(law: PathDeviation) -> tuple[Corner, ...]:
    """Corners between straight parts that follow each other, with what rounds them between: others are rests."""
    knots, place, tangent, bend = (np.array(rows) for rows in (law.knots, law.place, law.tangent, law.bend))
    straight = np.linalg.norm(bend, axis=1) < STRAIGHT
    pieces = _pieces(knots, straight, tangent)
    found = []
    for (a, b), (c, d) in zip(pieces[:-1], pieces[1:], strict=True):
        u, w = tangent[b], tangent[c]
        if np.arccos(np.clip(u @ w, -1, 1)) < LEAST_TURN or knots[b] == knots[c]:
            continue
        # The point of both lines nearest to each other: [u, -w] [s, t] = q - p.
        s, t = np.linalg.lstsq(np.column_stack([u, -w]), place[c] - place[b], rcond=None)[0]
        corner = (place[b] + s * u + place[c] + t * w) / 2
        reach = min(np.linalg.norm(corner - place[a]), np.linalg.norm(place[d] - corner))
        found.append(Corner(corner, u, w, float(reach)))
    return tuple(found)


def _pieces(knots: Floats, straight: Floats, tangent: Floats) -> list[tuple[int, int]]:
    """First and last row of every straight part."""
    found: list[tuple[int, int]] = []
    for k in np.flatnonzero(straight):
        joined = found and found[-1][1] == k - 1 and np.allclose(tangent[k], tangent[k - 1], atol=1e-9)
        found = [*found[:-1], (found[-1][0], int(k))] if joined else [*found, (int(k), int(k))]
    return [(a, b) for a, b in found if knots[b] > knots[a]]


@dataclass(frozen=True)
class Turned:
    """Signals of an attained orientation (quaternion w, x, y, z), and references of the joints of the tool's arm."""

    attained: tuple[str, ...]
    references: tuple[str, ...]
    arm: SerialArm

    @property
    def signals(self) -> tuple[str, ...]:
        return (*self.attained, *self.references)


def find_turned(scenario: Scenario, point: str, way: str) -> Turned | None:
    """What says how a tool is turned; None where its joints follow no path of theirs.

    Args:
        way: output of the block that gives the joints' references.
    """
    mechanism = scenario.machine.mechanism
    bodies = {one.name: one.body for one in mechanism.points} if mechanism else {}
    block = next((one for one in scenario.machine.blocks if way == f"{one.name}.s"), None)
    law = block.law if block else None
    if mechanism is None or point not in bodies or not isinstance(law, (PathReference, TimedReference)):
        return None
    assert block is not None
    joints = law.joints
    arm = build_arm(mechanism, point)
    if set(arm.joints) != set(joints):
        return None
    attained = tuple(f"{bodies[point]}.orientation.{part}" for part in "wxyz")
    return Turned(attained, tuple(f"{block.name}.position{1 + joints.index(name)}" for name in arm.joints), arm)


def measure_turns(curves: Curves, turned: Turned) -> Floats:
    """Rotation vectors [rad], world axes, from the commanded orientation to the attained one, (n, m, 3)."""
    w, *xyz = (curves.values[name] for name in turned.attained)
    attained = Rotation.from_quat(np.stack([*xyz, w], axis=-1).reshape(-1, 4))
    q = np.stack([curves.values[name] for name in turned.references], axis=-1)
    commanded = Rotation.from_matrix(turned.arm.place(q.reshape(-1, q.shape[-1])).R)
    return np.asarray((attained * commanded.inv()).as_rotvec()).reshape(*w.shape, 3)
