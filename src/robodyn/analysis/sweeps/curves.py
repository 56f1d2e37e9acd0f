"""Resampled curves: how do signals of many runs come onto one grid, and which band do they fill?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.results.signal import Floats, Signal

PERCENTILES = (5.0, 25.0, 50.0, 75.0, 95.0)
SAME_PLACE = 1e-9
"""Part of a grid's length by which a run may end before it and still reach it: rounding."""
HALVINGS = 50
"""From the distance of two rows to the rounding of their times."""


@dataclass(frozen=True, eq=False)
class Curves:
    """Signals of all runs at common places.

    Attributes:
        along: "time" or the signal the places are values of; unit: of the places.
        places: (n_points,).
        values: signal -> (n_runs, n_points), nan where a run has no value.
        units: signal -> unit.
    """

    along: str
    unit: str
    places: Floats
    values: Mapping[str, Floats]
    units: Mapping[str, str]

    def band(self, signal: str, percentiles: Sequence[float] = PERCENTILES) -> Floats:
        """Percentiles of a signal over the runs at each place, (n_percentiles, n_points); nan where no run has one."""
        values = self.values[signal]
        found = np.full((len(percentiles), len(self.places)), np.nan)
        there = np.any(np.isfinite(values), axis=0)
        if there.any():
            found[:, there] = np.nanpercentile(values[:, there], percentiles, axis=0)
        return found


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
