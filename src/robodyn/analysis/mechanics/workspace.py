"""Workspace boundary: which region can a point reach when coordinates run along the ends of their ranges?

Two coordinates at their ends bound a region in the plane (r, z) through the vertical axis: r = sqrt(x^2 + y^2). Its
boundary is four trajectories; on each, one of the two runs through its range while the other stays at an end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from robodyn.analysis.mechanics.kinetics import Kinetics, joint_names, start_positions
from robodyn.analysis.mechanics.splines import coordinate_limits, solve_positions
from robodyn.base.errors import FlawList
from robodyn.computation.assembly import System
from robodyn.description.model.numbers import XYZ

Ranges = Mapping[str, tuple[float, float]]


@dataclass(frozen=True, eq=False)
class WorkspaceBoundary:
    """Four trajectories around the region a point can reach, each sampled.

    Attributes:
        point: its name; moved: the two coordinates that run; names: all coordinates, in the order of `coordinates`.
        coordinates: (4, n_samples, n); q: joint positions, (4, n_samples, n).
        r, z: distance from the vertical axis and height of the point [m], (4, n_samples).
    """

    point: str
    moved: tuple[str, str]
    names: tuple[str, ...]
    coordinates: np.ndarray
    q: np.ndarray
    r: np.ndarray
    z: np.ndarray


def workspace_boundary(
    system: System,
    point: str,
    moved: tuple[str, str],
    *,
    others: tuple[str, ...] | None = None,
    ranges: Ranges | None = None,
    n_samples: int = 25,
) -> WorkspaceBoundary:
    """Boundary of a point's region, the other coordinates held where they start.

    Args:
        point: a named point of the mechanism.
        moved: the two coordinates that run along the ends of their ranges, the first one first.
        others: the coordinates held, so that there is one for each joint; by default the machine's other ones, and
            joints that none of them moves with.
        ranges: (lower, upper) of coordinates whose description has none, or instead of it.

    Raises:
        ModelError: for unknown names, coordinates without a range, and ends out of reach.
    """
    if n_samples < 2:
        raise ValueError(f"n_samples must be 2 at least, is {n_samples}")
    limits = _find_limits(system, point, moved, ranges or {})
    held_ones = _other_coordinates(system, moved) if others is None else others
    names = (*moved, *held_ones)
    kinetics = Kinetics(system, names)
    begin = start_positions(system)
    held = kinetics.map_at(begin).position[2:]
    pairs = _run_around(limits, n_samples)
    targets = np.concatenate([pairs, np.broadcast_to(held, (*pairs.shape[:2], held.size))], axis=-1)
    q = solve_positions(kinetics, targets.reshape(-1, len(names)), begin).reshape(targets.shape)
    x, y, z = np.moveaxis(_positions(system, point, q), -1, 0)

    return WorkspaceBoundary(point, moved, names, targets, q, np.hypot(x, y), z)


def _other_coordinates(system: System, moved: tuple[str, str]) -> tuple[str, ...]:
    """The machine's coordinates that do not run, and the joints that no coordinate moves with."""
    described = [c.name for c in system.scenario.machine.coordinates if c.name not in moved]
    positions = ca.vertcat(*(system.motion.coordinates[name] for name in (*moved, *described)))
    touched = ca.which_depends(positions, system.q, 1, False)
    free = [joint for joint, used in zip(joint_names(system), touched, strict=True) if not used]

    return (*described, *free)


def _run_around(limits: list[tuple[float, float]], n_samples: int) -> np.ndarray:
    """Corner to corner around the rectangle of two ranges, (4, n_samples, 2)."""
    (a, b), (c, d) = limits
    corners = np.array([(a, c), (b, c), (b, d), (a, d), (a, c)])
    part = np.linspace(0.0, 1.0, n_samples)[:, None]

    return np.array([begin + part * (end - begin) for begin, end in zip(corners, corners[1:], strict=False)])


def _find_limits(system: System, point: str, moved: tuple[str, str], ranges: Ranges) -> list[tuple[float, float]]:
    flaws = FlawList()
    joint_names(system)
    mechanism = system.scenario.machine.mechanism
    points = [known.name for known in mechanism.points] if mechanism else []
    flaws.add_unknown([point], points, "there is no such point", "points")
    known = system.motion.coordinates
    flaws.add_unknown((*moved, *ranges), known, "there is no such joint or coordinate", "coordinates")
    for name in set(ranges) - set(moved):
        flaws.add(f"ranges.{name}", "has no effect: it does not run", f"those that run: {', '.join(moved)}")
    limits = []
    for name in moved:
        found = ranges.get(name) or coordinate_limits(system, name)
        if found is None:
            flaws.add(f"ranges.{name}", "is missing: its description has no range", "give (lower, upper)")
        else:
            limits.append((float(found[0]), float(found[1])))
    flaws.raise_if_any("workspace")

    return limits


def _positions(system: System, point: str, q: np.ndarray) -> np.ndarray:
    """World position of a point at many joint positions, (..., 3) [m]."""
    names = system.signal_names
    rows = [names.index(f"{point}.position.{axis}") for axis in XYZ]
    expression = ca.vertcat(*(system.expressions.outputs[row] for row in rows))
    place = ca.Function("place", [system.q, system.symbols.p], [expression])
    parameters = [number.value for number in system.parameters]
    flat = np.array([np.array(place(row, parameters)).ravel() for row in q.reshape(-1, q.shape[-1])])

    return flat.reshape(*q.shape[:-1], 3)
