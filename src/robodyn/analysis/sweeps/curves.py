"""Resampled curves: how do signals of many runs come onto one grid?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robodyn.results.signal import Floats, Signal

SAME_PLACE = 1e-9
"""Part of a grid's length by which a run may end before it and still reach it: rounding."""
HALVINGS = 50
"""From the distance of two rows to the rounding of their times."""


def resample(signal: Signal, places: Floats) -> Floats:
    """Values at given times, the right ones of a jump, nan outside the record."""
    first, last = signal.time[0], signal.time[-1]
    return np.where(_within(places, first, last), signal(np.clip(places, first, last)), np.nan)


def resample_along(way: Signal, signals: Mapping[str, Signal], places: Floats) -> dict[str, Floats]:
    """Values of signals where another one first reaches given places; nan where it never does."""
    reached = np.maximum.accumulate(way.values)
    there, sought = _within(places, way.values[0], reached[-1]), np.minimum(places, reached[-1])
    row = np.searchsorted(reached, sought)
    times = _crossings(way, way.time[np.maximum(row - 1, 0)], way.time[row], sought)
    return {name: np.where(there, signal(times), np.nan) for name, signal in signals.items()}


def _crossings(way: Signal, before: Floats, after: Floats, places: Floats) -> Floats:
    """Times between two others at which a signal that is below places before reaches them, by halving."""
    for _ in range(HALVINGS):
        middle = (before + after) / 2
        below = way(middle) < places
        before, after = np.where(below, middle, before), np.where(below, after, middle)
    return after


def _within(places: Floats, first: float, last: float) -> np.ndarray:
    slack = SAME_PLACE * (places[-1] - places[0] if len(places) > 1 else 1.0)
    return (places >= first - slack) & (places <= last + slack)
