"""Workspace of closed loops: where can a point of the mechanism go, and how well conditioned is it there?

A grid is filled from the start posture outwards: each place is tried from neighbours that have been reached. What is
reached without passing a singular posture belongs to the same working mode.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.analysis.mechanics.parallel_kinematics import ParallelKinematics, Posture
from robodyn.base.errors import FlawList
from robodyn.base.waiting import told_if_slow


@dataclass(frozen=True, eq=False)
class WorkspaceMap:
    """A point's reach on a grid; arrays have one dimension for each axis, nan where it is out of reach.

    Attributes:
        axes: name of each axis; values: grid along each [m].
        reachable: whether the point can be there, in the working mode of the start.
        condition: of the robot Jacobian; input, output: 0 at a singular posture, see `Singularity`.
        actuated: motor positions, with one more dimension of the motors.
    """

    point: str
    motors: tuple[str, ...]
    axes: tuple[str, ...]
    values: tuple[np.ndarray, ...]
    reachable: np.ndarray
    condition: np.ndarray
    input: np.ndarray
    output: np.ndarray
    actuated: np.ndarray

    @property
    def share(self) -> float:
        """Part of the grid that can be reached."""
        return float(np.mean(self.reachable))


@told_if_slow("mapping the workspace")
def map_workspace(
    kinematics: ParallelKinematics,
    grid: Mapping[str, Sequence[float]],
    *,
    start: Posture | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
) -> WorkspaceMap:
    """Reach and condition of the kinematics' point on a grid of its positions.

    Args:
        grid: values along each of the kinematics' axes [m]; one value alone makes a plane or a line.
        start: posture to begin from; by default that of the scenario's start values.
        limits: (lower, upper) of motor positions that bound what can be reached.
    """
    bounds = _find_bounds(kinematics, grid, limits or {})
    values = tuple(np.asarray(grid[axis], float) for axis in kinematics.axes)
    begin = start or kinematics.forward(kinematics.at(kinematics.start).s)
    found = dict(_fill(kinematics, values, begin, bounds))
    shape = tuple(len(column) for column in values)
    measures = np.full((*shape, 3), np.nan)
    actuated = np.full((*shape, len(kinematics.actuated)), np.nan)
    for place, posture in found.items():
        here = kinematics.singularity(posture)
        measures[place] = here.condition, here.input, here.output
        actuated[place] = posture.actuated
    names = kinematics.point, kinematics.actuated, kinematics.axes
    condition, edge, held = np.moveaxis(measures, -1, 0)
    return WorkspaceMap(*names, values, ~np.isnan(held), condition, edge, held, actuated)


def _find_bounds(
    kinematics: ParallelKinematics, grid: Mapping[str, Sequence[float]], limits: Mapping[str, tuple[float, float]]
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper motor positions, infinite where none are given."""
    flaws = FlawList()
    flaws.add_unknown(grid, kinematics.axes, "is no axis of the kinematics", "grid")
    for axis in kinematics.axes:
        if not len(grid.get(axis, ())):
            flaws.add(f"grid.{axis}", "is missing", "give at least one value")
    flaws.add_unknown(limits, kinematics.actuated, "is not actuated", "limits")
    for name, (lower, upper) in limits.items():
        if not lower < upper:
            flaws.add(f"limits.{name}", f"must go from lower to upper, are {lower:g} to {upper:g}")
    flaws.raise_if_any(f"workspace of '{kinematics.point}'")
    pairs = np.array([limits.get(name, (-np.inf, np.inf)) for name in kinematics.actuated])
    return pairs[:, 0], pairs[:, 1]


def _fill(
    kinematics: ParallelKinematics,
    values: tuple[np.ndarray, ...],
    begin: Posture,
    bounds: tuple[np.ndarray, np.ndarray],
) -> Iterator[tuple[tuple[int, ...], Posture]]:
    """Places of the grid and their postures, from the place nearest to the start outwards."""
    mode = kinematics.orientation(begin.q)
    here = begin.points[kinematics.point][["xyz".index(axis) for axis in kinematics.axes]]
    nearest_place = tuple(int(np.argmin(np.abs(column - c))) for column, c in zip(values, here, strict=True))
    waiting, reached = deque([(nearest_place, begin.q)]), set()
    while waiting:
        place, guess = waiting.popleft()
        if place in reached:
            continue
        posture = kinematics.inverse([column[k] for column, k in zip(values, place, strict=True)], guess)
        inside = np.all((posture.actuated >= bounds[0]) & (posture.actuated <= bounds[1]))
        if not (posture.solved and inside and kinematics.orientation(posture.q) == mode):
            continue
        reached.add(place)
        yield place, posture
        waiting.extend((beside, posture.q) for beside in _neighbours(place, values) if beside not in reached)


def _neighbours(place: tuple[int, ...], values: tuple[np.ndarray, ...]) -> Iterator[tuple[int, ...]]:
    for axis, column in enumerate(values):
        for k in (place[axis] - 1, place[axis] + 1):
            if 0 <= k < len(column):
                yield (*place[:axis], k, *place[axis + 1 :])
