"""Stepped run: how does a run go on from step to step, with other numbers in each, as a controller outside has it?

Numbers act from the beginning of a step to its end. Sampled blocks whose tick falls on the end of a step have seen
those of that step: what is set there reaches them at their next tick, as a command that arrives just after a sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robodyn.base.errors import FlawList
from robodyn.computation.engine import EngineRecording, ResumableRun, Status
from robodyn.computation.engine.pack import Pack, has_ended
from robodyn.computation.results import Outcome
from robodyn.computation.simulation.batch import BatchRunner
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.computation.simulation.outcomes import describe_failure, describe_outcome
from robodyn.description.model import Solver


class SteppedRun:
    """Runs of a compiled system, one after the other, each in steps; nothing is recorded.

    Args:
        changing: tunable numbers that are set at each step.
    """

    def __init__(self, compiled: CompiledSystem, changing: Sequence[str], solver: Solver | None = None) -> None:
        scenario, self.compiled, self.solver = compiled.system.scenario, compiled, solver or compiled.solver
        self.duration = scenario.duration
        self.runner = BatchRunner(compiled, self.solver, EngineRecording(kind="none"), 0.0, self.duration)
        flaws = FlawList()
        for name in changing:
            if name in self.runner.deciding:
                what = "decides when references jump or how long signals are delayed, which is settled before a run"
                flaws.add(name, what, "set another number, such as that of a constant_reference")
        flaws.raise_if_any(f"steps of '{scenario.name}'")
        self.changing = np.array([compiled.system.places[name] for name in changing], int)
        self.outputs = compiled.module.kernels["outputs"]

    def begin(self, parameters: Mapping[str, float], initial: Mapping[str, float]) -> None:
        """Start anew with some numbers and start values changed; what is due at the start happens.

        Raises:
            ModelError: where a description refuses them.
        """
        inputs = self.runner.read(parameters, initial)
        self.values = inputs.values
        integration, self.calls = self.runner.begin(inputs)
        integration.call_back(self.calls.run_task, self.calls.run_action, None)
        self.run = ResumableRun(integration)
        self.run.go_on(0.0)

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
    """Carry several runs of a system, whose numbers are set, to their times in lanes."""
    for run, t_end in zip(runs, ends, strict=True):
        run.run.open(t_end)
    integrations = [run.run.integration for run in runs]
    for integration, reason in zip(integrations, pack.advance(integrations), strict=True):
        if not has_ended(reason):
            integration.loop()
