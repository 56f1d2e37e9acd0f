"""Spline motion: how do coordinates and joints move along cubic splines through given positions?

Positions of all coordinates (cylinders' lengths) at some times are joined by cubic splines, at rest at both ends and
continuous to the second derivative; joint positions, speeds and accelerations follow from the exact gradients.

Joint positions solve s(q) = target by Newton's method with the exact ds/dq, followed from a known position in steps
that never cross a dead centre: the mechanism stays assembled as it is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.analysis.mechanics.kinetics import CoordinateMap, Kinetics, start_positions
from robodyn.base.errors import Flaw, FlawList, ModelError
from robodyn.computation.assembly import System
from robodyn.description.laws.references import spline_coefficients
from robodyn.description.model import TriangleLength


@dataclass(frozen=True, eq=False)
class SampledMotion:
    """A motion of some joints or coordinates at sampled times.

    Attributes:
        time: [s], (n_time,); position, velocity, acceleration: (n_time, n) in the order of names.
    """

    names: tuple[str, ...]
    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


def spline_motion(times: Sequence[float], points: Mapping[str, Sequence[float]], at: Any) -> SampledMotion:
    """Cubic splines through points at given times, sampled at others.

    Args:
        times: of the points [s], increasing.
        points: name -> position at each of these times.
        at: times to sample at [s], within the former.

    Raises:
        ModelError: with all that is wrong with times and points.
    """
    knots, instants = np.asarray(times, float), np.atleast_1d(np.asarray(at, float))
    _check_points(knots, points, instants)
    samples = [_sample(knots, spline_coefficients(knots, values), instants) for values in points.values()]
    position, velocity, acceleration = np.moveaxis(np.array(samples), 0, -1)

    return SampledMotion(tuple(points), instants, position, velocity, acceleration)


def joint_motion(system: System, motion: SampledMotion, guess: Any = None) -> SampledMotion:
    """The joints' motion that moves the coordinates as given.

        s(q) = s,  G v = s',  G a = s'' - v^T K v    with G = ds/dq, K its derivative

    Args:
        motion: of as many coordinates as there are joints (a joint is a coordinate too).
        guess: joint positions near the first, (n,); the scenario's start by default.

    Raises:
        ModelError: for unknown coordinates and positions out of reach: which one, which position, its range.
    """
    kinetics = Kinetics(system, motion.names)
    flaws = FlawList()
    check_reach(flaws, system, motion.names, motion.position)
    flaws.raise_if_any("motion")
    q = solve_positions(kinetics, motion.position, start_positions(system) if guess is None else guess)
    maps = [kinetics.invertible_map_at(row) for row in q]
    rates = [
        here.joint_rates(velocity, acceleration)
        for here, velocity, acceleration in zip(maps, motion.velocity, motion.acceleration, strict=True)
    ]

    return SampledMotion(
        kinetics.joints, motion.time, q, np.array([v for v, _ in rates]), np.array([a for _, a in rates])
    )


def _sample(knots: np.ndarray, c: np.ndarray, instants: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position, velocity and acceleration of cubic pieces (4, n_pieces) at some instants."""
    piece = np.clip(np.searchsorted(knots, instants, side="right") - 1, 0, len(knots) - 2)
    s = instants - knots[piece]
    c0, c1, c2, c3 = c[:, piece]

    return c0 + s * (c1 + s * (c2 + s * c3)), c1 + s * (2 * c2 + s * 3 * c3), 2 * c2 + 6 * c3 * s


def _check_points(knots: np.ndarray, points: Mapping[str, Sequence[float]], instants: np.ndarray) -> None:
    flaws = FlawList()
    if knots.ndim != 1 or knots.size < 2 or not np.all(np.diff(knots) > 0):
        flaws.add("times", "must increase and be two at least", f"given: {knots.tolist()}")
    if not points:
        flaws.add("points", "there are none", "name -> positions")
    for name, values in points.items():
        if len(values) != knots.size:
            flaws.add(f"points.{name}", f"has {len(values)} positions for {knots.size} times")
        elif not np.all(np.isfinite(np.asarray(values, float))):
            flaws.add(f"points.{name}", "must be finite numbers")
    if not flaws.found and not np.all((knots[0] <= instants) & (instants <= knots[-1])):
        what = f"{instants.min():g} to {instants.max():g} s goes beyond the points"
        flaws.add("at", what, f"they go from {knots[0]:g} to {knots[-1]:g} s")
    flaws.raise_if_any("spline")


CONVERGED = 1e-12
"""Error of a coordinate that is rounding alone, beside its own size or 1."""

SMALLEST_STEP = 1e-7
"""Part of the way to the target below which the mechanism is at its dead centre."""


def coordinate_limits(system: System, name: str) -> tuple[float, float] | None:
    """Lower and upper end of a coordinate: its range, or what the sides of its triangle allow; None without any."""
    described = {coordinate.name: coordinate for coordinate in system.scenario.machine.coordinates}
    coordinate = described.get(name)
    if coordinate is None:
        return None

    return coordinate.range or (coordinate.reach if isinstance(coordinate, TriangleLength) else None)


def check_reach(flaws: FlawList, system: System, names: Sequence[str], positions: np.ndarray) -> None:
    """Each coordinate stays within its limits, as far as they are known; positions (n_time, n)."""
    for name, column in zip(names, positions.T, strict=True):
        limits = coordinate_limits(system, name)
        if limits is None:
            continue
        worst = max(column, key=lambda s: max(limits[0] - s, s - limits[1]))
        if not limits[0] <= worst <= limits[1]:
            what = f"{worst:.6g} is out of reach"
            flaws.add(f"coordinates.{name}", what, f"its range is {limits[0]:.6g} to {limits[1]:.6g}")


def solve_positions(kinetics: Kinetics, targets: Iterable[np.ndarray], guess: np.ndarray) -> np.ndarray:
    """Joint positions for each target position of the coordinates in turn, (n_targets, n).

    Args:
        targets: positions of the coordinates of `kinetics`, (n,) each.
        guess: joint positions to begin from; each next search begins at the solution before.

    Raises:
        ModelError: naming the coordinate that cannot reach its target, and how far it gets.
    """
    found = []
    q = np.asarray(guess, float)
    for target in targets:
        q = _follow(kinetics, np.asarray(target, float), q)
        found.append(q)

    return np.array(found)


def _follow(kinetics: Kinetics, target: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Joint positions at the target, followed along the straight line from the position at q."""
    begin = kinetics.invertible_map_at(q)
    done, step = 0.0, 1.0
    while done < 1.0:
        step = min(step, 1.0 - done)
        aim = target if done + step == 1.0 else begin.position + (done + step) * (target - begin.position)
        tried = _newton(kinetics, aim, q, np.sign(np.linalg.det(begin.gradient)))
        if tried is None:
            step *= 0.5
        else:
            q, done, step = tried, done + step, 2.0 * step
        if step < SMALLEST_STEP:
            raise _unreachable(kinetics, target, kinetics.map_at(q))

    return q


def _newton(kinetics: Kinetics, aim: np.ndarray, q: np.ndarray, side: float) -> np.ndarray | None:
    """Joint positions at the aim; None where the iteration does not settle or leaves this side of a dead centre."""
    for _ in range(12):
        here = kinetics.map_at(q)
        if not (np.all(np.isfinite(here.gradient)) and np.sign(np.linalg.det(here.gradient)) == side):
            return None
        error = aim - here.position
        if np.all(np.abs(error) <= CONVERGED * np.maximum(1.0, np.abs(aim))):
            return q
        q = q + np.linalg.solve(here.gradient, error)

    return None


def _unreachable(kinetics: Kinetics, target: np.ndarray, last: CoordinateMap) -> ModelError:
    """At a dead centre one combination of coordinates cannot move; the largest in it is the cause."""
    stuck = np.linalg.svd(last.gradient)[0][:, -1]
    k = int(np.argmax(np.abs(stuck)))
    what = f"{target[k]:.6g} is out of reach"
    remedy = f"on the way there from the start it gets to {last.position[k]:.6g}, a dead centre"

    return ModelError([Flaw(f"coordinates.{kinetics.names[k]}", what, remedy)])
