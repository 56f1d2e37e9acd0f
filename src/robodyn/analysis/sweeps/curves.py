"""How do signals of many runs come onto one grid, and which band do they fill?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.results.signal import Floats

PERCENTILES = (5.0, 25.0, 50.0, 75.0, 95.0)
SAME_PLACE = 1e-9
"""Part of a grid's length by which a run may end before it and still reach it: rounding."""


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


def resample(time: Floats, y: Floats, places: Floats, held: bool = False) -> Floats:
    """Values at given times, the right ones of a jump, nan after the end.

    Args:
        held: whether the signal keeps its value between rows.
    """
    row = np.clip(np.searchsorted(time, places, side="right") - 1, 0, len(time) - 1)
    following = np.minimum(row + 1, len(time) - 1)
    step = time[following] - time[row]
    share = np.where(step > 0, (places - time[row]) / np.where(step > 0, step, 1.0), 0.0)
    values = y[row] if held else (1 - share) * y[row] + share * y[following]
    return np.where(_within(places, time[0], time[-1]), values, np.nan)


def resample_along(way: Floats, signals: Mapping[str, Floats], places: Floats) -> dict[str, Floats]:
    """Values of signals where another one first reaches given places; nan where it never does.

    Args:
        way: the other signal; rows in which it goes no further are left out.
    """
    reached = np.maximum.accumulate(way)
    ahead = np.flatnonzero(np.concatenate([[True], way[1:] > reached[:-1]]))
    there, ways = _within(places, way[0], reached[-1]), way[ahead]
    return {name: np.where(there, np.interp(places, ways, y[ahead]), np.nan) for name, y in signals.items()}


def _within(places: Floats, first: float, last: float) -> np.ndarray:
    slack = SAME_PLACE * (places[-1] - places[0] if len(places) > 1 else 1.0)
    return (places >= first - slack) & (places <= last + slack)
