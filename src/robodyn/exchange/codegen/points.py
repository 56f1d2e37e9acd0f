"""Communication points: what does a model give there, natively and as exported code?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.computation.assembly import System
from robodyn.computation.engine import Recording, Trajectory, integrate
from robodyn.computation.engine.trajectory import Status
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.computation.simulation.problem import build_problem
from robodyn.exchange.codegen.comparison import Agreement, compare_rows
from robodyn.exchange.codegen.model import Model

INTERVALS = 50
"""Communication steps of a check."""
SAME_TIME = 1e-14
"""Part of the duration within which an event and a communication point are one instant to the record."""


@dataclass(frozen=True)
class Points:
    """A native run with the names of its columns."""

    trajectory: Trajectory
    names: tuple[str, ...]


def choose_times(system: System) -> np.ndarray:
    """Communication points over the duration: at ticks, where there are any, since other points would cut steps."""
    duration, base = system.scenario.duration, system.discrete.base_period
    if base is None:
        return np.linspace(0.0, duration, INTERVALS + 1)
    every = max(1, round(duration / INTERVALS / base))
    count = max(1, int(duration / (every * base)))
    return np.array([float(k * every * base) for k in range(count + 1)])


def simulate_points(model: Model, compiled: CompiledSystem, times: np.ndarray) -> Points:
    """The native run, which ends a step at each communication point as exported code does."""
    system = compiled.system
    numbers: dict[str, Any] = {name: number.value for name, number in system.numbers.items()}
    p = compiled.module.prepare(compiled.parameter_values({}))
    problem = build_problem(compiled, p, numbers, model.start)
    problem = problem.replaced(breaks=np.unique(np.concatenate([problem.breaks, times[1:]])))
    recording, start = Recording(kind="times", times=times), model.start
    done = integrate(problem, model.solver, times[0], times[-1], start.x, start.m, p, recording)
    return Points(done, tuple(info.name for info in compiled.recorded))


def compare_points(
    expected: Points, found: np.ndarray, names: Sequence[str], times: np.ndarray, ended: bool
) -> Agreement:
    """Rows of some signals at the communication points that were reached; ended: whether there are more of them."""
    done = expected.trajectory
    columns = [expected.names.index(name) for name in names]
    n = min(len(found), int(np.searchsorted(done.time, times[: len(found)], side="right").max(initial=0)))
    ends = ended == (done.status != Status.FINISHED)
    clear = _is_clear(times[:n], [time for time, _ in done.events])
    return compare_rows(done.y[:n][clear][:, columns], found[:n][clear], names, times[:n][clear], ends)


def _is_clear(times: np.ndarray, events: list[float]) -> np.ndarray:
    """Which communication points no event coincides with: which side of it a row shows is a matter of rounding."""
    distance = np.abs(np.subtract.outer(times, events)).min(axis=1, initial=np.inf)
    return np.asarray(distance > SAME_TIME * times[-1]) if len(times) else np.zeros(0, bool)
