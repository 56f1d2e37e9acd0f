"""Ways to simulate the runs of a sweep: which native code do they share, in full or near the nominal motion?"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from robodyn.analysis.sensitivity.parameters import INITIAL
from robodyn.analysis.sweeps.track import Track
from robodyn.assembly import System, assemble
from robodyn.errors import Flaw, ModelError
from robodyn.model import Recording, Scenario
from robodyn.perturbation import Perturbed
from robodyn.results import OutcomeKind
from robodyn.results.signal import Floats
from robodyn.simulation import CompiledSystem, compile_system
from robodyn.simulation.lane_choice import LaneChoice
from robodyn.simulation.lean import Changed, Ended, LeanRuns, refuse
from robodyn.simulation.pool import RunPool

if TYPE_CHECKING:
    from robodyn.analysis.sweeps.plan import SweepPlan


class _Own(threading.local):
    """What one thread carries out runs with."""

    lean: LeanRuns | None = None
    pool: RunPool
    choice: LaneChoice


class LeanSystem:
    """A scenario in native code, for runs with other inputs, start values and durations, in several threads at once."""

    def __init__(self, system: System | Scenario, signals: tuple[str, ...], rate: float | None) -> None:
        scenario = system.scenario if isinstance(system, System) else system
        self.solver = scenario.solver
        self.recording = None if rate is None else Recording(rate=rate)
        self.compiled = self.compile(system, signals)
        self.inputs = {number.name for number in self.compiled.system.parameters}
        self.columns = [info.name for info in self.compiled.recorded]
        self.lean: tuple[CompiledSystem, float, LeanRuns] | None = None
        self.lock, self.own = threading.Lock(), _Own()

    def compile(self, what: System | Scenario, signals: tuple[str, ...]) -> CompiledSystem:
        """Native code of the scenario."""
        system = what if isinstance(what, System) else assemble(what, signals=signals)
        return compile_system(system, self.solver, signals=signals)

    def adapt(self, changes: Mapping[str, float]) -> CompiledSystem:
        """Native code for a run with some inputs changed; that of the full equations serves all."""
        return self.compiled

    def run(
        self,
        every: Sequence[Mapping[str, float]],
        columns: Mapping[str, Floats] | None = None,
        is_stopped: Callable[[], bool] | None = None,
    ) -> list[Track]:
        """Runs with some inputs, start values and the duration changed; a refused number is a run's outcome.

        Args:
            columns: values of the inputs in all runs to come, which are then checked at once as far as that can be.
        """
        prepared = [self._prepare(changes, columns) for changes in every]
        found: list[Track] = []
        for lean, same in groupby(prepared, key=lambda one: one[0]):
            changed = [one[1] for one in same]
            if isinstance(lean, Track):
                found += [lean] * len(changed)
                continue
            begun, (pool, choice) = time.thread_time(), self._pool(lean)
            found += [self._track(ended) for ended in lean.run_slice(pool, changed, is_stopped)]
            choice.note(pool, (time.thread_time() - begun) / len(changed))
        return found

    def choose(self, left: int, threads: int) -> int:
        """How many runs this thread had best be given at once, and whether they are carried out in lanes."""
        lean = self.lean[2] if self.lean else None
        if lean is None:
            return 1
        pool, choice = self._pool(lean)
        return choice.choose(pool, left, threads)

    def _pool(self, lean: LeanRuns) -> tuple[RunPool, LaneChoice]:
        """What carries out runs in this thread, and how."""
        own = self.own
        if own.lean is not lean:
            own.lean, own.pool = lean, lean.make_pool()
            own.choice = LaneChoice(lean.compiled, self.solver, None)
        return own.pool, own.choice

    def _prepare(
        self, changes: Mapping[str, float], columns: Mapping[str, Floats] | None
    ) -> tuple[LeanRuns | Track, Changed]:
        """What carries out a run, or why none does; its inputs and start values."""
        inputs = {name: value for name, value in changes.items() if name in self.inputs}
        starts = {name.removeprefix(INITIAL): value for name, value in changes.items() if name.startswith(INITIAL)}
        try:
            duration = self._check_duration(changes)
            with self.lock:
                return self._share(self.adapt(inputs), duration, columns), (inputs, starts)
        except ModelError as error:
            return self._track(refuse(error)), (inputs, starts)

    def _share(self, compiled: CompiledSystem, duration: float, columns: Mapping[str, Floats] | None) -> LeanRuns:
        """What runs of this duration share, as long as they follow each other."""
        kept = self.lean
        if kept is None or kept[0] is not compiled or kept[1] != duration:
            kept = self.lean = compiled, duration, LeanRuns(compiled, self.solver, self.recording, duration)
            if columns is not None:
                kept[2].screen({name: values for name, values in columns.items() if name in self.inputs})
        return kept[2]

    def _track(self, ended: Ended) -> Track:
        trajectory, outcome = ended.trajectory, ended.outcome
        if outcome.kind is OutcomeKind.INTERRUPTED:
            raise KeyboardInterrupt
        if trajectory is None:
            return Track(np.zeros(0), {}, outcome)
        columns = np.ascontiguousarray(trajectory.y.T)
        return Track(trajectory.time, dict(zip(self.columns, columns, strict=True)), outcome, trajectory.knots)

    def _check_duration(self, changes: Mapping[str, float]) -> float:
        """The run's duration [s]."""
        duration = changes.get("duration", self.compiled.system.scenario.duration)
        if not duration > 0:
            raise ModelError([Flaw("duration", f"must be positive, is {duration:g} s")])
        return duration


class Nonlinear:
    """Simulates the runs of a plan by its full equations, in several threads at once.

    Native code is kept for one set of structural numbers.

    Attributes:
        columns: values of the varied numbers in all runs, where they are to be checked at once.
        is_stopped: asked during runs, which end as interrupted where it says so.
    """

    kind = LeanSystem
    columns: Mapping[str, Floats] | None = None
    is_stopped: Callable[[], bool] | None = None

    def __init__(self, plan: SweepPlan) -> None:
        self.plan = plan
        self._key: tuple[float, ...] | None = None
        self._ready: LeanSystem | Track | None = None
        self._lock = threading.Lock()
        if not plan.structural:
            self._system({})

    def __call__(self, changes: Mapping[str, float]) -> Track:
        return self.run([changes])[0]

    def run(self, every: Sequence[Mapping[str, float]]) -> list[Track]:
        """Runs that share their structural numbers."""
        system = self._system({name: every[0][name] for name in self.plan.structural if name in every[0]})
        if isinstance(system, Track):
            return [system] * len(every)
        free = [{name: one[name] for name in one if name not in self.plan.structural} for one in every]
        return system.run(free, self.columns, self.is_stopped)

    def choose(self, left: int, threads: int) -> int:
        """How many of the runs that are left a thread had best be given at once."""
        return self._ready.choose(left, threads) if isinstance(self._ready, LeanSystem) and self._is_uniform else 1

    @cached_property
    def _is_uniform(self) -> bool:
        """Whether all runs share native code and duration."""
        return not self.plan.structural and "duration" not in self.plan.names

    def _system(self, structural: Mapping[str, float]) -> LeanSystem | Track:
        """Native code for these numbers, or the track that says why there is none."""
        key = tuple(structural.values())
        with self._lock:
            if self._ready is None or key != self._key:
                self._key = key
                try:
                    self._ready = self._build(structural)
                except ModelError as error:
                    self._ready = Track(np.zeros(0), {}, refuse(error).outcome)
            return self._ready

    def _build(self, structural: Mapping[str, float]) -> LeanSystem:
        plan = self.plan
        scenario = dataclasses.replace(plan.scenario.with_numbers(structural), recording=Recording())
        if "duration" in plan.names and "duration" not in structural:
            # Times of jumps are needed as far as the longest run goes.
            scenario = dataclasses.replace(scenario, duration=plan.longest)
        return self.kind(scenario if structural else plan.system.lasting(scenario), plan.signals, plan.rate)


class NearSystem(LeanSystem):
    """A scenario near its nominal motion in native code."""

    def compile(self, what: System | Scenario, signals: tuple[str, ...]) -> CompiledSystem:
        self.near = Perturbed(what, solver=self.solver, signals=signals)
        return self.near.compiled({})

    def adapt(self, changes: Mapping[str, float]) -> CompiledSystem:
        """The nominal motion with these numbers, where it depends on them."""
        return self.near.compiled(changes)


class NearNominal(Nonlinear):
    """Simulates the runs of a plan with mechanics linearised along the nominal motion, everything else in full."""

    kind = NearSystem
