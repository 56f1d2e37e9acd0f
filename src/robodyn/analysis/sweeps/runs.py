"""Runs of a sweep: how are they simulated, in full or near the nominal motion, and what is kept of each?"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from robodyn.base import Array, ModelError, bisect, refuse
from robodyn.computation.assembly import System, assemble
from robodyn.computation.perturbation import Perturbed
from robodyn.computation.results.signal import Kind, Signal
from robodyn.computation.simulation import CompiledSystem, compile_system
from robodyn.computation.simulation.batch import (
    BatchResult,
    BatchRunner,
    RunChanges,
    Worker,
    find_runner,
    refusal_result,
)
from robodyn.computation.simulation.many import split_starts
from robodyn.description.model import Recording, Scenario

from .folder import SweepRow

if TYPE_CHECKING:
    from .plan import SweepPlan

SAME_PLACE = 1e-9
"""Part of a grid's length by which a run may end before it and still reach it: rounding."""
HALVINGS = 50
"""From the distance of two rows to the rounding of their times."""

Simulate = Callable[[Mapping[str, float]], BatchResult]
"""Numbers that differ from the plan's scenario -> the run with them."""
Prepare = Callable[["SweepPlan"], Simulate]
"""A way to simulate: makes ready what all runs of a plan share, in each process that simulates some."""
Adapt = Callable[[Mapping[str, float]], CompiledSystem]
"""Native code for a run with some inputs changed."""


class Nonlinear:
    """Simulates the runs of a plan by its full equations, in several threads at once.

    Native code is kept for one set of structural numbers, its runner for one duration.

    Attributes:
        columns: values of the varied numbers in all runs, where they are to be checked at once.
    """

    columns: Mapping[str, Array] | None = None

    def __init__(self, plan: SweepPlan) -> None:
        self.plan = plan
        self._code: tuple[Mapping[str, float], tuple[Adapt, CompiledSystem] | ModelError] | None = None
        self._runner: tuple[BatchRunner, list[str] | None] | None = None
        self._lock = threading.Lock()
        if not plan.structural:
            with suppress(ModelError):  # said by each run
                self._find_code({})

    def __call__(self, changes: Mapping[str, float]) -> BatchResult:
        try:
            runner, unchecked, changed = self.find_runner(changes)
        except ModelError as error:
            return refusal_result(error)
        return Worker(runner).run([changed], unchecked)[0]

    def find_runner(self, changes: Mapping[str, float]) -> tuple[BatchRunner, list[str] | None, RunChanges]:
        """Find the runner of a run, which of its inputs are to be checked, and these with its start values.

        Raises:
            ModelError: where a number is refused that decides what carries it out.
        """
        plan = self.plan
        structural = {name: changes[name] for name in plan.structural if name in changes}
        free, starts = split_starts({name: value for name, value in changes.items() if name not in structural})
        # One thread at a time makes code and runner; while numbers of structure and duration stay, both do.
        with self._lock:
            adapt, described = self._find_code(structural)
            duration = free.get("duration", described.system.scenario.duration)
            if not duration > 0:
                refuse("duration", f"must be positive, is {duration:g} s")
            inputs = {name: value for name, value in free.items() if name in described.system.places}
            compiled, last = adapt(inputs), self._runner
            if last is None or last[0].compiled is not compiled or last[0].duration != duration:
                recording = None if plan.rate is None else Recording(rate=plan.rate)
                runner = find_runner(compiled, described.solver, recording, 0.0, duration)
                # Inputs that each run has to check; None: all.
                unchecked = None
                if self.columns is not None:
                    places = compiled.system.places
                    unchecked = runner.screen({name: v for name, v in self.columns.items() if name in places})
                last = self._runner = runner, unchecked
            return *last, (inputs, starts)

    def _find_code(self, structural: Mapping[str, float]) -> tuple[Adapt, CompiledSystem]:
        """Native code for these numbers, that of the last run where they are the same; and as they are described."""
        if self._code is None or self._code[0] != structural:
            plan = self.plan
            code: tuple[Adapt, CompiledSystem] | ModelError
            try:
                scenario = replace(plan.scenario.with_numbers(structural), recording=Recording())
                if "duration" in plan.names and "duration" not in structural:
                    # Times of jumps are needed as far as the longest run goes.
                    scenario = replace(scenario, duration=plan.longest)
                adapt = self.compile(scenario if structural else plan.system.lasting(scenario))
                code = adapt, adapt({})
            except ModelError as error:
                code = error
            self._code = structural, code
        code = self._code[1]
        if isinstance(code, ModelError):
            raise code
        return code

    def compile(self, what: System | Scenario) -> Adapt:
        """Native code of a scenario: that of the full equations serves all runs."""
        system = what if isinstance(what, System) else assemble(what, signals=self.plan.signals)
        compiled = compile_system(system, system.scenario.solver, signals=self.plan.signals)
        return lambda inputs: compiled


class NearNominal(Nonlinear):
    """Simulates the runs of a plan with mechanics linearised along the nominal motion, everything else in full."""

    def compile(self, what: System | Scenario) -> Adapt:
        """Native code near the nominal motion, which is another one where it depends on the inputs."""
        scenario = what.scenario if isinstance(what, System) else what
        return Perturbed(what, solver=scenario.solver, signals=self.plan.signals).compiled


class SweepJob:
    """The runs of a plan in one process, whoever hands them out.

    Attributes:
        parallel: what simulates them where several may be under way at once, in threads and lanes; a user's function,
            and laws in Python, may keep something between calls.
    """

    def __init__(self, plan: SweepPlan, prepare: Prepare) -> None:
        self.plan, self.simulate = plan, prepare(plan)
        self.parallel: Nonlinear | None = None
        if isinstance(self.simulate, Nonlinear):
            self.simulate.columns = {name: plan.inputs[:, k] for k, name in enumerate(plan.names)}
            self.parallel = None if plan.in_python else self.simulate
        # All runs share native code and duration.
        self.is_uniform = not plan.structural and "duration" not in plan.names
        self.simulating, self.keeping = threading.Lock(), threading.Lock()


class SweepWorker:
    """One thread's runs of a job.

    Args:
        keep: called with what is kept of each run, by one thread at a time.
    """

    def __init__(
        self, job: SweepJob, keep: Callable[[SweepRow], None], is_stopped: Callable[[], bool] | None = None
    ) -> None:
        self.job, self.keep, self.is_stopped = job, keep, is_stopped
        self._worker: Worker | None = None

    def choose(self, left: int, threads: int) -> int:
        return self._worker.choose(left, threads) if self._worker and self.job.is_uniform else 1

    def work(self, numbers: Sequence[int]) -> None:
        job, changes = self.job, [self.job.plan.changes(number) for number in numbers]
        if job.parallel is not None:
            start_time = time.perf_counter()
            results = self._run(job.parallel, changes)
        else:
            with job.simulating:
                start_time = time.perf_counter()
                results = [job.simulate(one) for one in changes]
        elapsed = (time.perf_counter() - start_time) / len(results)
        rows = [keep_run(job.plan, *one, elapsed) for one in zip(numbers, results, strict=True)]
        with job.keeping:
            for row in rows:
                self.keep(row)

    def _run(self, simulate: Nonlinear, changes: Sequence[Mapping[str, float]]) -> list[BatchResult]:
        """Runs one after the other; those that share a runner, at once."""

        def find(one: Mapping[str, float]) -> tuple[BatchRunner | ModelError, list[str] | None, RunChanges]:
            try:
                return simulate.find_runner(one)
            except ModelError as error:
                return error, None, ({}, {})

        results: list[BatchResult] = []
        for runner, group in groupby([find(one) for one in changes], key=lambda one: one[0]):
            some = list(group)
            if isinstance(runner, ModelError):
                results += [refusal_result(runner)] * len(some)
                continue
            if self._worker is None or self._worker.runner is not runner:
                self._worker = Worker(runner, None, self.is_stopped)
            results += self._worker.run([changed for *_, changed in some], some[0][1])
        return results

    def release(self) -> None:
        """Runs of a sweep keep no memory of their own."""


def keep_run(plan: SweepPlan, number: int, result: BatchResult, wall_time: float) -> SweepRow:
    """Reduce a run to its measures and curves; no numbers where it could not be carried through."""
    outcome, nothing = result.outcome, np.full(len(plan.places), np.nan)
    measures, curves = (float("nan"),) * len(plan.measures), dict.fromkeys(plan.keep, nothing)
    if outcome.carried_through and len(result.time):
        measures = tuple(m.take(result.time, result.signals[m.signal]) for m in plan.measures)
        places, signals = np.array(plan.places), {name: _signal(plan, result, name) for name in plan.keep}
        if plan.along:
            curves = resample_along(_signal(plan, result, plan.along), signals, places)
        else:
            curves = {name: resample(signal, places) for name, signal in signals.items()}
    return SweepRow(number, outcome.kind.name.lower(), outcome.sentence, outcome.time, wall_time, measures, curves)


def _signal(plan: SweepPlan, result: BatchResult, name: str) -> Signal:
    kind: Kind = "held" if name in plan.held else "continuous"
    return Signal(name, "", result.time, result.signals[name], kind, knots=result.knots)


def resample(signal: Signal, places: Array) -> Array:
    """Values at given times, the right ones of a jump, nan outside the record."""
    first, last = signal.time[0], signal.time[-1]
    return np.where(_within(places, first, last), signal(np.clip(places, first, last)), np.nan)


def resample_along(way: Signal, signals: Mapping[str, Signal], places: Array) -> dict[str, Array]:
    """Values of signals where another one first reaches given places; nan where it never does."""
    reached = np.maximum.accumulate(way.values)
    there, sought = _within(places, way.values[0], reached[-1]), np.minimum(places, reached[-1])
    row = np.searchsorted(reached, sought)
    # Below its places before, the signal reaches them between two rows.
    _, times = bisect(lambda t: way(t) >= sought, way.time[np.maximum(row - 1, 0)], way.time[row], HALVINGS)
    return {name: np.where(there, signal(times), np.nan) for name, signal in signals.items()}


def _within(places: Array, first: float, last: float) -> Array:
    slack = SAME_PLACE * (places[-1] - places[0] if len(places) > 1 else 1.0)
    return (places >= first - slack) & (places <= last + slack)
