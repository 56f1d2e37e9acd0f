"""Measures of a run: its largest deviation, root mean square or last value, as one number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from robodyn.assembly import System
from robodyn.errors import FlawList, nearest
from robodyn.results.signal import Floats

ERRORS = ("deviation", "error")
"""Beginnings of the names of signals that are measured by default."""


def root_mean_square(time: Floats, y: Floats) -> float:
    """sqrt(integral y^2 dt / T), exact for values joined by straight lines; jumps are two rows at one time."""
    span = time[-1] - time[0]
    left, right = y[:-1], y[1:]
    squares = left * (left + right) + right * right
    # Sums, not products of vectors: libraries for these share long ones among threads, a run has one core.
    return float(np.sqrt(np.sum(np.diff(time) * squares) / (3 * span))) if span > 0 else float(abs(y[-1]))


def mean_over_time(time: Floats, y: Floats) -> float:
    """integral y dt / T by the trapezoidal rule."""
    span = time[-1] - time[0]
    return float(np.sum(np.diff(time) * (y[:-1] + y[1:])) / (2 * span)) if span > 0 else float(y[-1])


KINDS: Mapping[str, Callable[[Floats, Floats], float]] = {
    "max": lambda time, y: float(np.abs(y).max()),
    "rms": root_mean_square,
    "mean": mean_over_time,
    "final": lambda time, y: float(y[-1]),
    "largest": lambda time, y: float(y.max()),
    "smallest": lambda time, y: float(y.min()),
    "max_time": lambda time, y: float(time[np.argmax(np.abs(y))]),
}
"""Name -> number of a signal's rows (time, values); max is that of the absolute value, max_time when it is reached."""


@dataclass(frozen=True)
class Measure:
    """A number of one signal: `max:deviation.horizontal`."""

    kind: str
    signal: str
    unit: str

    @property
    def name(self) -> str:
        return f"{self.kind}:{self.signal}"

    def take(self, time: Floats, y: Floats) -> float:
        # Sums over a column of a matrix are rounded in another order: the same numbers give the same bits.
        return KINDS[self.kind](time, np.ascontiguousarray(y))


def find_measures(flaws: FlawList, texts: Sequence[str], system: System) -> list[Measure]:
    """The measures that texts `kind:signal` ask for, signals also by patterns; the usual ones where there are none."""
    units = {info.name: info.unit for info in system.signals}
    found: dict[str, Measure] = {}
    for text in texts or default_measures(system):
        kind, colon, pattern = text.partition(":")
        signals = [name for name in units if name == pattern or fnmatchcase(name, pattern)]
        if not colon:
            flaws.add(f"measure {text}", "must be written as kind:signal", f"for example max:{text}")
        elif kind not in KINDS:
            flaws.add(f"measure {text}", f"'{kind}' is no kind of measure", nearest(kind, KINDS))
        elif not signals:
            flaws.add(f"measure {text}", f"there is no signal '{pattern}'", nearest(pattern, units))
        else:
            measures = [Measure(kind, name, "s" if kind == "max_time" else units[name]) for name in signals]
            found |= {measure.name: measure for measure in measures}
    return list(found.values())


def default_measures(system: System) -> list[str]:
    """max and rms of every signal that begins with deviation or error, else where the joints (or all states) end."""
    errors = [name for name in system.signal_names if name.startswith(ERRORS)]
    if errors:
        return [f"{kind}:{name}" for name in errors for kind in ("max", "rms")]
    states = system.states[: system.n_q] or system.states
    return [f"final:{state.name}" for state in states if state.name in system.signal_names]
