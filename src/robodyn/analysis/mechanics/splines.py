"""Spline motion: how do coordinates and joints move along cubic splines through given positions?

Positions of all coordinates (cylinders' lengths) at some times are joined by cubic splines, at rest at both ends and
continuous to the second derivative; joint positions, speeds and accelerations follow from the exact gradients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.analysis.mechanics.kinetics import Kinetics, start_positions
from robodyn.analysis.mechanics.reach import check_reach, solve_positions
from robodyn.assembly import System
from robodyn.errors import FlawList
from robodyn.laws.references import spline_coefficients


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
