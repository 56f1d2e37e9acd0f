"""Verification of exported code: does it compute, at communication points, what the simulation computes?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.base import Array, frozen, refuse
from robodyn.computation.assembly import System
from robodyn.computation.engine import EngineRecording, Trajectory, integrate
from robodyn.computation.engine.trajectory import Status
from robodyn.computation.results import Run
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.computation.simulation.problem import build_problem

from .model import ExportedModel

TOLERANCE = 1e-9
"""Part of a signal's largest magnitude, or of 1 where that is smaller, by which exported code may differ: what other
rounding does to a run, not other mathematics."""
SPREAD = 10.0
"""How many times as far as native runs of two roundings lie apart: this project's own choice."""


@frozen
class Agreement:
    """How far exported code is from the simulation.

    Attributes:
        error: largest difference of a signal, as part of its largest magnitude or of 1; signal, time: where.
        ends: whether both ended alike.
        equal: whether all numbers are the same to the last bit.
        rounding: how far native runs of two roundings lie apart, where that was looked at: adaptive methods choose
            other steps, samples of a coarse sensor fall on the other side.
    """

    error: float
    signal: str
    time: float
    ends: bool
    equal: bool
    rounding: float = 0.0

    @property
    def allowed(self) -> float:
        """The largest error of code that may be given away."""
        return max(TOLERANCE, SPREAD * self.rounding)

    @property
    def good(self) -> bool:
        """Whether the code may be given away."""
        return self.ends and self.error <= self.allowed


def compare_rows(expected: Array, values: Array, names: Sequence[str], times: Array, ends: bool) -> Agreement:
    """The largest difference in rows of the same signals at the same times.

    Args:
        ends: whether both ended alike, as far as rows do not show.
    """
    same = (expected == values) | (np.isnan(expected) & np.isnan(values))
    with np.errstate(invalid="ignore"):
        scale = np.maximum(np.max(np.abs(expected), axis=0, initial=0.0), 1.0)
        errors = np.where(same, 0.0, np.abs(expected - values) / scale)
    errors = np.where(np.isnan(errors), np.inf, errors)
    if not errors.size:
        return Agreement(0.0, "", float(times[0]) if len(times) else 0.0, ends, ends)
    row, column = map(int, np.unravel_index(np.argmax(errors), errors.shape))
    # A zero's sign is a bit too.
    bits = bool(np.all(same & ((np.signbit(expected) == np.signbit(values)) | np.isnan(expected))))
    return Agreement(float(errors[row, column]), names[column], float(times[row]), ends, ends and bits)


OTHER_END = "has other rows or events than the simulation, or another end"


def require_agreement(
    agreement: Agreement, model: ExportedModel, noun: str = "code", other_end: str = OTHER_END
) -> Agreement:
    """Refuse exported code that does not give the simulation's numbers.

    Args:
        noun: what the code is called; other_end: what is said of it where it ends differently.
    """
    if agreement.good:
        return agreement
    what = other_end
    if agreement.ends:
        what = f"differs from the simulation by {agreement.error:.3g} in '{agreement.signal}' at {agreement.time:g} s"
    remedy = f"allowed is {agreement.allowed:.2g}: a chaotic motion, or a step at the edge of stability?"
    refuse("", f"the {noun} {what}", remedy, f"{noun} of '{model.system.scenario.name}'")


def compare_run(run: Run, numbers: Array, events: str, *, ok: bool) -> Agreement:
    """A whole run against rows [time, outputs] and against lines TIME,EVENT.

    Args:
        ok: whether the exported run was carried through.
    """
    names = ["time", *(info.name for info in run.infos)]
    rows, expected = numbers.reshape(-1, len(names)), np.column_stack([run.time, run.values])
    noted = [line.split(",", 1) for line in events.splitlines()]
    alike = len(rows) == len(expected) and [name for _, name in noted] == [event.name for event in run.events]
    n = min(len(rows), len(expected))
    by_rows = compare_rows(expected[:n], rows[:n], names, run.time[:n], alike and ok == run.outcome.carried_through)
    if not alike:
        return by_rows
    times, at = np.array([event.time for event in run.events]), np.array([float(time) for time, _ in noted])
    by_events = compare_rows(times[:, None], at[:, None], ["events"], times, by_rows.ends)
    return max(by_rows, by_events, key=lambda agreement: (agreement.error, not agreement.equal))


INTERVALS = 50
"""Communication steps of a check."""
SAME_TIME = 1e-14
"""Part of the duration within which an event and a communication point are one instant to the record."""


@frozen
class Points:
    """A native run with the names of its columns."""

    trajectory: Trajectory
    names: tuple[str, ...]


def choose_times(system: System) -> Array:
    """Communication points over the duration: at ticks, where there are any, since other points would cut steps."""
    duration, base = system.scenario.duration, system.discrete.base_period
    if base is None:
        return np.linspace(0.0, duration, INTERVALS + 1)
    every = max(1, round(duration / INTERVALS / base))
    count = max(1, int(duration / (every * base)))
    return np.array([float(k * every * base) for k in range(count + 1)])


def simulate_points(model: ExportedModel, compiled: CompiledSystem, times: Array) -> Points:
    """The native run, which ends a step at each communication point as exported code does."""
    system = compiled.system
    p = compiled.module.prepare(system.described_values)
    problem = build_problem(compiled, p, system.number_values, model.start)
    problem = problem.replaced(breaks=np.unique(np.concatenate([problem.breaks, times[1:]])))
    recording, start = EngineRecording(kind="times", times=times), model.start
    trajectory = integrate(problem, model.solver, times[0], times[-1], start.x, start.m, p, recording)
    return Points(trajectory, tuple(info.name for info in compiled.recorded))


def compare_points(expected: Points, values: Array, names: Sequence[str], times: Array, ended: bool) -> Agreement:
    """Rows of some signals at the communication points that were reached; ended: whether there are more of them."""
    trajectory = expected.trajectory
    columns = [expected.names.index(name) for name in names]
    n = min(len(values), int(np.searchsorted(trajectory.time, times[: len(values)], side="right").max(initial=0)))
    ends = ended == (trajectory.status != Status.FINISHED)
    clear = _is_clear(times[:n], [time for time, _ in trajectory.events])
    return compare_rows(trajectory.y[:n][clear][:, columns], values[:n][clear], names, times[:n][clear], ends)


def _is_clear(times: Array, events: list[float]) -> Array:
    """Which communication points no event coincides with: which side of it a row shows is a matter of rounding."""
    distance = np.abs(np.subtract.outer(times, events)).min(axis=1, initial=np.inf)
    return np.asarray(distance > SAME_TIME * times[-1]) if len(times) else np.zeros(0, bool)
