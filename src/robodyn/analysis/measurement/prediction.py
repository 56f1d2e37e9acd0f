"""Prediction errors: how far is a run from measured signals, in their units and per cent of their own motion?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.results import Run


@dataclass(frozen=True)
class SignalError:
    """Simulated minus measured.

    Attributes:
        percent: rms by the measured signal's own deviation; bias: mean; largest: of its size, at a time [s].
    """

    name: str
    unit: str
    rows: int
    rms: float
    percent: float
    bias: float
    largest: float
    at_time: float


def compare_signals(run: Run, data: Run) -> tuple[SignalError, ...]:
    """Errors of every signal that both have, at the times of the data up to the end of the run; nan is no sample."""
    found = []
    rows = data.time <= run.time[-1]
    for name in (name for name in data.names if name in run):
        measured = data[name].values[rows]
        apart = run[name](data.time[rows]) - measured
        there = np.isfinite(apart)
        if not there.any():
            continue
        rms = float(np.sqrt(np.mean(apart[there] ** 2)))
        worst = int(np.nanargmax(np.abs(apart)))
        spread = max(float(np.nanstd(measured)), 1e-300)
        numbers = (rms, 100 * rms / spread, float(np.mean(apart[there])), float(abs(apart[worst])))
        found.append(SignalError(name, run[name].unit, int(there.sum()), *numbers, float(data.time[rows][worst])))
    return tuple(found)
