"""Does a unit compute what the simulation computes? The same run by both, with the same communication points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.assembly import System
from robodyn.codegen.model import Model
from robodyn.engine import Recording, Trajectory, integrate
from robodyn.engine.trajectory import Status
from robodyn.fmi.unit import FmuUnit
from robodyn.simulation.compiled import CompiledSystem
from robodyn.simulation.problem import build_problem

INTERVALS = 50
"""Communication steps of a check."""
SAME_TIME = 1e-14
"""Part of the duration within which an event and a communication point are one instant to the record."""
TOLERANCE = 1e-9
"""Part of a signal's largest magnitude, or of 1 where that is smaller, by which a unit may differ: what other
rounding does to a run, not other mathematics."""


@dataclass(frozen=True)
class Agreement:
    """How far a unit is from the simulation.

    Attributes:
        error: largest difference of a signal, as part of its largest magnitude or of 1; signal, time: where.
        ends: whether both ended alike.
    """

    error: float
    signal: str
    time: float
    ends: bool

    @property
    def good(self) -> bool:
        """Whether the unit may be given away."""
        return self.ends and self.error <= TOLERANCE


def compare_unit(path: str | Path, model: Model, compiled: CompiledSystem) -> Agreement:
    """Run a unit and the simulation it was made from over the scenario's duration."""
    times = choose_times(model.system)
    expected = _simulate(model, compiled, times)
    with FmuUnit(path, stop=times[-1]) as unit:
        found, ended = _run_unit(unit, times)
    order = [info.name for info in compiled.recorded]
    columns = [order.index(name) for name in unit.outputs]
    n = min(len(found), int(np.searchsorted(expected.time, times[: len(found)], side="right").max(initial=0)))
    ends = ended == (expected.status != Status.FINISHED)
    clear = _is_clear(times[:n], [time for time, _ in expected.events])
    a, b = expected.y[:n][clear][:, columns], found[:n][clear]
    return measure_difference(a, b, list(unit.outputs), times[:n][clear], ends)


def _is_clear(times: np.ndarray, events: list[float]) -> np.ndarray:
    """Which communication points no event coincides with: which side of it a row shows is a matter of rounding."""
    distance = np.abs(np.subtract.outer(times, events)).min(axis=1, initial=np.inf)
    return np.asarray(distance > SAME_TIME * times[-1]) if len(times) else np.zeros(0, bool)


def measure_difference(a: np.ndarray, b: np.ndarray, names: Sequence[str], times: np.ndarray, ends: bool) -> Agreement:
    """How far two tables of signals are apart, rows of times and columns of names."""
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        scale = np.maximum(np.max(np.abs(a), axis=0, initial=0.0), 1.0)
        errors = np.where(same, 0.0, np.abs(a - b) / scale)
    errors = np.where(np.isnan(errors), np.inf, errors)
    row, column = np.unravel_index(np.argmax(errors), errors.shape) if errors.size else (0, 0)
    worst = float(errors[row, column]) if errors.size else 0.0
    return Agreement(worst, names[int(column)] if errors.size else "", float(times[row]), ends)


def choose_times(system: System) -> np.ndarray:
    """Communication points over the duration: at ticks, where there are any, since other points would cut steps."""
    duration, base = system.scenario.duration, system.base_period
    if base is None:
        return np.linspace(0.0, duration, INTERVALS + 1)
    every = max(1, round(duration / INTERVALS / base))
    count = max(1, int(duration / (every * base)))
    return np.array([float(k * every * base) for k in range(count + 1)])


def _simulate(model: Model, compiled: CompiledSystem, times: np.ndarray) -> Trajectory:
    """The native run, which ends a step at each communication point as the unit does."""
    system = compiled.system
    numbers: dict[str, Any] = {name: number.value for name, number in system.numbers.items()}
    p = compiled.module.prepare(compiled.parameter_values({}))
    problem = build_problem(compiled, p, numbers, model.start)
    breaks = np.unique(np.concatenate([problem.breaks, times[1:]]))
    recording = Recording(kind="times", times=times)
    start = model.start
    return integrate(problem._replace(breaks=breaks), model.solver, times[0], times[-1], start.x, start.m, p, recording)


def _run_unit(unit: FmuUnit, times: np.ndarray) -> tuple[np.ndarray, bool]:
    """Outputs at the communication points, and whether the unit ended before the last."""
    unit.start(float(times[0]))
    rows = [list(unit.read().values())]
    for before, after in pairwise(times.tolist()):
        if unit.advance(before, _step_between(before, after)) is not None:
            return np.array(rows), True
        rows.append(list(unit.read().values()))
    return np.array(rows), False


def _step_between(before: float, after: float) -> float:
    """The step with which `before + step` is `after` to the last digit."""
    step = after - before
    near = (step, np.nextafter(step, np.inf), np.nextafter(step, -np.inf))
    return next((float(h) for h in near if before + h == after), step)
