"""Stepped run: how does a run go on from step to step, with other numbers in each, as a controller outside has it?

Numbers act from the beginning of a step to its end. Sampled blocks whose tick falls on the end of a step have seen
those of that step: what is set there reaches them at their next tick, as a command that arrives just after a sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robodyn.engine import Recording as EngineRecording
from robodyn.engine import ResumableRun, Status
from robodyn.engine.pack import Pack, has_ended
from robodyn.errors import FlawList
from robodyn.model import Recording, Solver
from robodyn.results import Outcome
from robodyn.simulation.compiled import CompiledSystem
from robodyn.simulation.outcomes import describe_failure, describe_outcome
from robodyn.simulation.passed_limits import check_start_limits
from robodyn.simulation.prepared import PreparedRuns
from robodyn.simulation.problem import deciding_numbers
from robodyn.simulation.python_calls import PythonCalls
from robodyn.simulation.starting import Start, change_start, find_start


class SteppedRun:
    """Runs of a compiled system, one after the other, each in steps; nothing is recorded.

    Args:
        changing: tunable numbers that are set at each step.
    """

    def __init__(self, compiled: CompiledSystem, changing: Sequence[str], solver: Solver | None = None) -> None:
        system, self.compiled, self.solver = compiled.system, compiled, solver or compiled.solver
        self._check(changing)
        self.duration = system.scenario.duration
        self.runs = PreparedRuns(compiled, self.solver, Recording(), 0.0, self.duration)
        self.runs.recording = EngineRecording(kind="none")
        self.place = {number.name: k for k, number in enumerate(system.parameters)}
        self.changing = np.array([self.place[name] for name in changing], int)
        self.outputs = compiled.module.kernels["outputs"]
        self.limited = bool(system.scenario.machine.mechanism and system.scenario.machine.mechanism.limited_joints)
        self.given = find_start(compiled, compiled.parameter_values({}))

    def _check(self, changing: Sequence[str]) -> None:
        flaws, deciding = FlawList(), deciding_numbers(self.compiled.system)
        for name in changing:
            if name in deciding:
                what = "decides when references jump or how long signals are delayed, which is settled before a run"
                flaws.add(name, what, "set another number, such as that of a constant_reference")
        flaws.raise_if_any(f"steps of '{self.compiled.system.scenario.name}'")

    def begin(self, parameters: Mapping[str, float], initial: Mapping[str, float]) -> None:
        """Start anew with some numbers and start values changed; what is due at the start happens.

        Raises:
            ModelError: where a description refuses them.
        """
        compiled = self.compiled
        self.values = compiled.parameter_values(dict(parameters))
        if parameters:
            compiled.check_numbers(parameters)
        numbers = {**compiled.described_numbers, **parameters}
        start = self._find_start(initial, numbers)
        p = compiled.module.prepare(self.values)
        self.calls = PythonCalls(compiled, p)
        integration = self.runs.begin(self.runs.set_up(p, numbers, start), p, start)
        integration.call_back(self.calls.run_task, self.calls.run_action, None)
        self.run = ResumableRun.of(integration)
        self.run.go_on(0.0)

    def _find_start(self, initial: Mapping[str, float], numbers: dict[str, float]) -> Start:
        system, start = self.compiled.system, self.given
        if system.scenario.initialisation != "given":
            start = find_start(self.compiled, self.values)
        if initial:
            start = change_start(system, start, initial, self.values)
        if self.limited:
            check_start_limits(
                system, dict(zip((s.name for s in system.states), start.x.tolist(), strict=True)), numbers
            )
        return start

    @property
    def time(self) -> float:
        return self.run.time

    def read(self) -> np.ndarray:
        """The recorded signals at the present time, in the order of `compiled.recorded`."""
        run = self.run
        return self.outputs(np.array([run.time]), run.x, run.d, run.m, self.calls.p)

    def advance(self, t_end: float, numbers: Sequence[float]) -> Outcome | None:
        """Go on with these numbers, in the order of `changing`; how the run ended, where it did before t_end."""
        self.change(numbers)
        try:
            self.run.go_on(t_end)
        except Exception as error:  # noqa: BLE001  a Python block or action may raise anything
            return describe_failure(self.run.finish(Status.FAILED), self.calls.running, error)
        return self.outcome()

    def change(self, numbers: Sequence[float]) -> None:
        """Set the numbers that change."""
        self.values[self.changing] = numbers
        self.calls.p = self.compiled.module.prepare(self.values)
        self.run.change(self.calls.p)

    def outcome(self) -> Outcome | None:
        """How the run ended, where it did before the time that it was to reach."""
        status = self.run.status
        if status is Status.FINISHED:
            return None
        return describe_outcome(self.compiled, self.solver, self.run.finish(status))


def advance_together(pack: Pack, runs: Sequence[SteppedRun], ends: Sequence[float]) -> None:
    """Carry several runs of a system, whose numbers are set, to their times in lanes: see `robodyn.simulation.pool`."""
    for run, t_end in zip(runs, ends, strict=True):
        run.run.open(t_end)
    integrations = [run.run.integration for run in runs]
    for integration, reason in zip(integrations, pack.advance(integrations), strict=True):
        if not has_ended(reason):
            integration.loop()
