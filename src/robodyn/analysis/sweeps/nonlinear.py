"""Sweeps of the non-linear system: which native code do the runs of a plan share, and what is a run of it?"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from robodyn.analysis.sweeps.numbers import INITIAL
from robodyn.analysis.sweeps.track import Simulate, Track
from robodyn.assembly import assemble
from robodyn.errors import Flaw, ModelError
from robodyn.model import Recording, Scenario
from robodyn.results import OutcomeKind
from robodyn.simulation import CompiledSystem, compile_system
from robodyn.simulation.lean import Ended, LeanRuns, refuse

if TYPE_CHECKING:
    from robodyn.analysis.sweeps.plan import SweepPlan


class LeanSystem:
    """A scenario in native code, for runs with other inputs, start values and durations, in several threads at once."""

    def __init__(self, scenario: Scenario, signals: tuple[str, ...], rate: float | None) -> None:
        self.solver = scenario.solver
        self.recording = None if rate is None else Recording(rate=rate)
        self.compiled = self.compile(scenario, signals)
        self.inputs = {number.name for number in self.compiled.system.parameters}
        self.columns = [info.name for info in self.compiled.recorded]
        self.lean: tuple[CompiledSystem, float, LeanRuns] | None = None
        self.lock = threading.Lock()

    def compile(self, scenario: Scenario, signals: tuple[str, ...]) -> CompiledSystem:
        """Native code of the scenario."""
        return compile_system(assemble(scenario, signals=signals), self.solver, signals=signals)

    def adapt(self, changes: Mapping[str, float]) -> CompiledSystem:
        """Native code for a run with some inputs changed; that of the full equations serves all."""
        return self.compiled

    def run(self, changes: Mapping[str, float], is_stopped: Callable[[], bool] | None = None) -> Track:
        """A run with some inputs, start values and the duration changed; a refused number is the run's outcome."""
        inputs = {name: value for name, value in changes.items() if name in self.inputs}
        starts = {name.removeprefix(INITIAL): value for name, value in changes.items() if name.startswith(INITIAL)}
        try:
            duration = self._check_duration(changes)
            with self.lock:
                lean = self._prepare(self.adapt(inputs), duration)
        except ModelError as error:
            return self._track(refuse(error))
        return self._track(lean.run(inputs, starts, is_stopped))

    def _prepare(self, compiled: CompiledSystem, duration: float) -> LeanRuns:
        """What runs of this duration share, as long as they follow each other."""
        kept = self.lean
        if kept is None or kept[0] is not compiled or kept[1] != duration:
            kept = self.lean = compiled, duration, LeanRuns(compiled, self.solver, self.recording, duration)
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
    """Simulates the runs of a plan, in several threads at once; native code is kept for one set of structural numbers.

    Attributes:
        is_stopped: asked during runs, which end as interrupted where it says so.
    """

    kind = LeanSystem
    is_stopped: Callable[[], bool] | None = None

    def __init__(self, plan: SweepPlan) -> None:
        self.plan = plan
        self._key: tuple[float, ...] | None = None
        self._ready: LeanSystem | Track | None = None
        self._lock = threading.Lock()
        if not plan.structural:
            self._system({})

    def __call__(self, changes: Mapping[str, float]) -> Track:
        system = self._system({name: changes[name] for name in self.plan.structural if name in changes})
        if isinstance(system, Track):
            return system
        changes = {name: value for name, value in changes.items() if name not in self.plan.structural}
        return system.run(changes, self.is_stopped)

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
        return self.kind(scenario, plan.signals, plan.rate)


def prepare_nonlinear(plan: SweepPlan) -> Simulate:
    """The full equations of the scenario, by its own solver."""
    return Nonlinear(plan)
