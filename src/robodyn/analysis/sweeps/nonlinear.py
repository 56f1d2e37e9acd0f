"""Sweeps of the non-linear system: how does one compiled system run many times with little beside the engine?

What a run's numbers do not change is made once: native code, start values, checks of the parts that hold the numbers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.analysis.sweeps.checking import Checks
from robodyn.analysis.sweeps.numbers import INITIAL
from robodyn.analysis.sweeps.track import Simulate, Track
from robodyn.assembly import assemble
from robodyn.engine import BrokenRun, Trajectory, integrate
from robodyn.errors import Flaw, ModelError
from robodyn.model import Recording, Scenario
from robodyn.results import Outcome, OutcomeKind
from robodyn.simulation import CompiledSystem, compile_system
from robodyn.simulation.certificate import certify, describe_action, judge
from robodyn.simulation.outcomes import describe_failure, describe_outcome
from robodyn.simulation.problem import build_problem
from robodyn.simulation.python_calls import PythonCalls
from robodyn.simulation.settings import engine_recording
from robodyn.simulation.starting import Start, check_ranges, find_start

if TYPE_CHECKING:
    from robodyn.analysis.sweeps.plan import SweepPlan


class LeanSystem:
    """A scenario in native code, for runs with other inputs, start values and durations."""

    def __init__(self, scenario: Scenario, signals: tuple[str, ...], rate: float | None) -> None:
        self.solver = scenario.solver
        self.compiled = self.compile(scenario, signals)
        system = self.compiled.system
        # Sampled blocks keep steps short; elsewhere there are rows within them, as in a single run.
        self.recording = Recording(rate=rate, refine=1 if system.discrete.tasks and rate is None else None)
        self.place = {number.name: k for k, number in enumerate(system.parameters)}
        self.values = self.compiled.parameter_values({})
        self.numbers: dict[str, Any] = {name: number.value for name, number in system.numbers.items()}
        self.states = {state.name: k for k, state in enumerate(system.states)}
        self.checks = Checks(scenario)
        self.given = find_start(self.compiled, self.values) if scenario.initialisation == "given" else None

    def compile(self, scenario: Scenario, signals: tuple[str, ...]) -> CompiledSystem:
        """Native code of the scenario."""
        return compile_system(assemble(scenario), self.solver, signals=signals)

    def adapt(self, changes: Mapping[str, float]) -> None:
        """Make ready for a run with some inputs changed; the full equations need nothing."""

    def run(self, changes: Mapping[str, float]) -> Track:
        """A run with some inputs, start values and the duration changed; a refused number is the run's outcome."""
        try:
            duration = self._check(changes)
            self.adapt({name: value for name, value in changes.items() if name in self.place})
            values = self.values.copy()
            for name in changes.keys() & self.place.keys():
                values[self.place[name]] = changes[name]
            start = self._find_start(changes, values)
        except ModelError as error:
            return refuse(error)
        calls = PythonCalls(self.compiled, self.compiled.module.prepare(values))
        problem = build_problem(self.compiled, calls.p, self.numbers | dict(changes), start)
        recording = engine_recording(self.recording, self.solver, start.time, duration)
        end = start.time + duration
        callbacks: dict[str, Any] = {"python_task": calls.run_task, "python_action": calls.run_action}
        try:
            trajectory = integrate(
                problem, self.solver, start.time, end, start.x, start.m, calls.p, recording, **callbacks
            )
        except BrokenRun as broken:
            return self._track(broken.trajectory, describe_failure(broken.trajectory, calls.running, broken.cause))
        system = self.compiled.system
        passed = trajectory.at_time - start.time
        certificate = certify(system, self.solver, trajectory, passed, describe_action(system, trajectory))
        return self._track(trajectory, judge(describe_outcome(self.compiled, self.solver, trajectory), certificate))

    def _track(self, trajectory: Trajectory, outcome: Outcome) -> Track:
        if outcome.kind is OutcomeKind.INTERRUPTED:
            raise KeyboardInterrupt
        names = (info.name for info in self.compiled.recorded)
        columns = np.ascontiguousarray(trajectory.y.T)
        return Track(trajectory.time, dict(zip(names, columns, strict=True)), outcome, trajectory.knots)

    def _check(self, changes: Mapping[str, float]) -> float:
        """Let the descriptions that hold changed numbers check them; the run's duration [s]."""
        self.checks(changes)
        duration = changes.get("duration", self.compiled.system.scenario.duration)
        if not duration > 0:
            raise ModelError([Flaw("duration", f"must be positive, is {duration:g} s")])
        return duration

    def _find_start(self, changes: Mapping[str, float], values: np.ndarray) -> Start:
        if self.given is None:
            return find_start(self.compiled, values)
        starts = {name.removeprefix(INITIAL): value for name, value in changes.items() if name.startswith(INITIAL)}
        if not starts:
            return self.given
        x, m = self.given.x.copy(), self.given.m.copy()
        for name in starts.keys() & self.states.keys():
            x[self.states[name]] = starts[name]
        for k, info in enumerate(self.compiled.system.memory):
            # Samples under way when the run starts hold the same value as the output they will become.
            output = info.name.partition(".pending.")[0]
            m[k] = starts.get(output, m[k])
        check_ranges(self.compiled.system, x, values)
        return Start(self.given.time, x, m)


def refuse(error: ModelError) -> Track:
    """The track of a run whose numbers no description accepts: nothing, and why."""
    sentence = "; ".join(str(flaw) for flaw in error.flaws)
    return Track(np.zeros(0), {}, Outcome(OutcomeKind.FAILED, sentence, 0.0))


class Nonlinear:
    """Simulates the runs of a plan; native code is kept for one set of structural numbers at a time."""

    kind = LeanSystem

    def __init__(self, plan: SweepPlan) -> None:
        self.plan = plan
        self._key: tuple[float, ...] | None = None
        self._ready: LeanSystem | Track | None = None
        if not plan.structural:
            self._system({})

    def __call__(self, changes: Mapping[str, float]) -> Track:
        system = self._system({name: changes[name] for name in self.plan.structural if name in changes})
        if isinstance(system, Track):
            return system
        return system.run({name: value for name, value in changes.items() if name not in self.plan.structural})

    def _system(self, structural: Mapping[str, float]) -> LeanSystem | Track:
        """Native code for these numbers, or the track that says why there is none."""
        key = tuple(structural.values())
        if self._ready is None or key != self._key:
            self._key = key
            try:
                self._ready = self._build(structural)
            except ModelError as error:
                self._ready = refuse(error)
        return self._ready

    def _build(self, structural: Mapping[str, float]) -> LeanSystem:
        plan = self.plan
        scenario = dataclasses.replace(plan.scenario.with_numbers(structural), recording=Recording())
        if "duration" in plan.names and "duration" not in structural:
            # Times of jumps are needed as far as the longest run goes.
            scenario = dataclasses.replace(scenario, duration=plan.longest)
        return self.kind(scenario, plan.signals, plan.rate)

    def __getstate__(self) -> dict[str, Any]:
        """Native code stays in the process it was made in."""
        return self.__dict__ | {"_key": None, "_ready": None}


def prepare_nonlinear(plan: SweepPlan) -> Simulate:
    """The full equations of the scenario, by its own solver."""
    return Nonlinear(plan)
