"""Knots of a nominal motion: at which instants is it taken? Evenly in time, and where it breaks."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from robodyn.base.errors import Flaw, ModelError

BESIDE = 1e-10
"""Part of the duration beside a break at which the motion before and after it is taken."""


def place_knots(duration: float, points: int, breaks: Iterable[float]) -> tuple[np.ndarray, np.ndarray]:
    """Instants of a nominal motion, and which of them are breaks.

    `points` equal pieces of the duration; the knot nearest to each break is moved onto it, so that no piece has a kink
    inside.
    """
    if not isinstance(points, int) or points < 1:
        raise ModelError([Flaw("points", f"must be a whole number of at least 1, is {points!r}")])
    knots = np.linspace(0.0, duration, points + 1)
    inside = sorted({float(time) for time in breaks if 0 < time < duration})
    if len(inside) > points - 1:
        what = f"{points} are too few for a motion that breaks at {len(inside)} instants"
        raise ModelError([Flaw("points", what, f"take at least {len(inside) + 1}")])
    free = np.ones(points + 1, bool)
    free[[0, -1]] = False
    for time in inside:
        nearest = int(np.argmin(np.where(free, np.abs(knots - time), np.inf)))
        knots[nearest], free[nearest] = time, False
    order = np.argsort(knots, kind="stable")
    return knots[order], ~free[order]


def evaluation_times(knots: np.ndarray, breaks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times of all points, a break twice; and the instants where they are evaluated, a little before and after it."""
    beside = BESIDE * (knots[-1] - knots[0])
    times, instants = [knots[0]], [knots[0] + beside]
    for knot, broken in zip(knots[1:-1], breaks[1:-1], strict=True):
        times += [knot, knot] if broken else [knot]
        instants += [knot - beside, knot + beside] if broken else [knot]
    return np.array([*times, knots[-1]]), np.array([*instants, knots[-1] - beside])
