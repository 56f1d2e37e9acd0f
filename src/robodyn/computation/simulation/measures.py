"""Measures of a run: its largest deviation, root mean square or last value, as one number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from robodyn.base.errors import FlawList, nearest
from robodyn.computation.assembly import System
from robodyn.computation.engine.slices import MEASURES, take_measure
from robodyn.computation.results.signal import Floats

ERRORS = ("deviation", "error")
"""Beginnings of the names of signals that are measured by default."""


@dataclass(frozen=True)
class Measure:
    """A number of one signal: `peak:deviation.horizontal`."""

    kind: str
    signal: str
    unit: str

    @property
    def name(self) -> str:
        return f"{self.kind}:{self.signal}"

    def take(self, time: Floats, y: Floats) -> float:
        return take_measure(self.kind, time, y)


def find_measures(flaws: FlawList, texts: Sequence[str], system: System) -> list[Measure]:
    """The measures that texts `kind:signal` ask for, signals also by patterns; the usual ones where there are none."""
    units = {info.name: info.unit for info in system.signals}
    found: dict[str, Measure] = {}
    for text in texts or default_measures(system):
        kind, colon, pattern = text.partition(":")
        signals = [name for name in units if name == pattern or fnmatchcase(name, pattern)]
        if not colon:
            flaws.add(f"measure {text}", "must be written as kind:signal", f"for example peak:{text}")
        elif kind not in MEASURES:
            flaws.add(f"measure {text}", f"'{kind}' is no kind of measure", nearest(kind, MEASURES))
        elif not signals:
            flaws.add(f"measure {text}", f"there is no signal '{pattern}'", nearest(pattern, units))
        else:
            measures = [Measure(kind, name, "s" if kind == "time_of_peak" else units[name]) for name in signals]
            found |= {measure.name: measure for measure in measures}
    return list(found.values())


def default_measures(system: System) -> list[str]:
    """Peak and rms of every signal that begins with deviation or error, else where the joints (or all states) end."""
    errors = [name for name in system.signal_names if name.startswith(ERRORS)]
    if errors:
        return [f"{kind}:{name}" for name in errors for kind in ("peak", "rms")]
    states = system.states[: system.n_q] or system.states
    return [f"final:{state.name}" for state in states if state.name in system.signal_names]
