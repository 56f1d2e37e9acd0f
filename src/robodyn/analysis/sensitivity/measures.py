"""Measures of a signal: its last value, its extremes, its root mean square, its step response, as one number."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from robodyn.analysis.sensitivity.ranking import Measure
from robodyn.analysis.step_response import measure_step
from robodyn.base.errors import refuse_word
from robodyn.computation.engine.slices import take_measure
from robodyn.computation.results import Run
from robodyn.computation.results.signal import Signal

MEASURES: Mapping[str, Callable[[Signal, float], float]] = {
    "final": lambda signal, at: signal.final,
    "max": lambda signal, at: find_extreme(signal, 1.0),
    "min": lambda signal, at: find_extreme(signal, -1.0),
    "rms": lambda signal, at: take_measure("rms", signal.time, signal.values),
    "peak_time": lambda signal, at: measure_step(signal, at).first_peak,
    "oscillation_time": lambda signal, at: measure_step(signal, at).oscillation_time,
    "overshoot": lambda signal, at: measure_step(signal, at).overshoot,
}
"""Name -> number of a signal that answers a step at a time."""
UNITS = {"peak_time": "s", "oscillation_time": "s", "overshoot": ""}


def find_extreme(signal: Signal, sign: float) -> float:
    """The largest (sign 1) or smallest (sign -1) value of a signal as it is interpolated, beside its extreme sample."""
    from scipy.optimize import minimize_scalar

    k = int(np.nanargmax(sign * signal.values))
    best = float(signal.values[k])
    times = signal.time[max(k - 1, 0) : k + 2]
    if signal.kind == "held" or times[-1] == times[0]:
        return best
    width = float(times[-1] - times[0])
    settings = {"bounds": (float(times[0]), float(times[-1])), "method": "bounded", "options": {"xatol": 1e-6 * width}}
    found = minimize_scalar(lambda t: -sign * signal(float(t)), **settings)
    return sign * max(sign * best, -float(found.fun))


def measure_signal(signal: str, measure: str, at: float = 0.0) -> Measure:
    """A measure of a run: that number of that signal.

    Args:
        at: time of the step [s].
    """
    refuse_word("measure", measure, MEASURES)
    take = MEASURES[measure]

    def read(run: Run) -> float:
        return take(run[signal], at)

    return read


def unit_of_measure(unit: str, measure: str) -> str:
    """Unit of a measure of a signal in a unit."""
    return UNITS.get(measure, unit)
