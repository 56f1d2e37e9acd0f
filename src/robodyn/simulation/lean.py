"""Lean runs: how does one compiled system run many times with little beside the engine?

What a run's numbers do not change is made once: native code, start values, checks of the parts that hold the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.engine import Trajectory
from robodyn.errors import ModelError
from robodyn.model import Recording, Solver
from robodyn.results import Outcome, OutcomeKind
from robodyn.results.signal import Floats
from robodyn.simulation.alike import AlikeRuns
from robodyn.simulation.certificate import certify, check_rows, describe_action, judge
from robodyn.simulation.columns import Columns
from robodyn.simulation.compiled import CompiledSystem
from robodyn.simulation.outcomes import describe_failure, describe_outcome
from robodyn.simulation.passed_limits import check_start_limits
from robodyn.simulation.pool import Completed, Inputs, RunPool
from robodyn.simulation.prepared import prepare_runs
from robodyn.simulation.python_calls import calls_python
from robodyn.simulation.starting import Start, change_start, find_start

Changed = tuple[Mapping[str, float], Mapping[str, float]]
"""Inputs and start values of a run that differ from the described ones."""


@dataclass(frozen=True, eq=False)
class Ended:
    """How a run ended; its trajectory, where it began at all; names of the checks it violates."""

    outcome: Outcome
    trajectory: Trajectory | None = None
    violated: tuple[str, ...] = ()


class LeanRuns:
    """Runs of a compiled system with other inputs and start values.

    Attributes:
        times: at which runs are recorded, where these are the same for all of them.
        unchecked: numbers that each run has to check; None: all.
    """

    def __init__(self, compiled: CompiledSystem, solver: Solver, recording: Recording | None, duration: float) -> None:
        # Sampled blocks keep steps short; elsewhere there are rows within them, as in a single run.
        recording = recording or Recording(refine=1 if compiled.system.discrete.tasks else None)
        choice = recording.rate, recording.times, recording.refine
        self.rows_chosen = solver.adaptive and choice == (None, None, None)
        self.compiled, self.solver = compiled, solver
        self.runs = prepare_runs(compiled, solver, recording, 0.0, duration)
        self.values = compiled.parameter_values({})
        self.place = {number.name: k for k, number in enumerate(compiled.system.parameters)}
        mechanism = compiled.system.scenario.machine.mechanism
        self.limits = {
            f"{j.name}.{field}" for j in (mechanism.limited_joints if mechanism else ()) for field in j.limits
        }
        self.unchecked: list[str] | None = None
        self.given: Start | None = None
        if compiled.system.scenario.initialisation == "given":
            self.given = find_start(compiled, self.values)
        self.checked_start: Start | None = None

    @property
    def times(self) -> Floats | None:
        return self.runs.recording.times

    def run(
        self, changes: Mapping[str, float], starts: Mapping[str, float], is_stopped: Callable[[], bool] | None = None
    ) -> Ended:
        """A run with some inputs and start values changed; a refused number is the run's outcome."""
        return self.run_slice(self.make_pool(), [(changes, starts)], is_stopped)[0]

    def make_pool(self) -> RunPool:
        """What carries out runs, for one thread."""
        return RunPool(self.runs, probes=self.rows_chosen)

    def run_slice(
        self, pool: RunPool, changed: Sequence[Changed], is_stopped: Callable[[], bool] | None = None
    ) -> list[Ended]:
        """Some runs, each with its inputs and start values."""
        prepared = [self._prepare(*each) for each in changed]
        inputs = [each for each in prepared if isinstance(each, Inputs)]
        completed = zip(inputs, pool.carry_out(inputs, is_stopped), strict=True)
        ended = iter([self.judge(each.start, done) for each, done in completed])
        return [next(ended) if isinstance(each, Inputs) else each for each in prepared]

    def _prepare(self, changes: Mapping[str, float], starts: Mapping[str, float]) -> Inputs | Ended:
        try:
            if unchecked := changes if self.unchecked is None else {name: changes[name] for name in self.unchecked}:
                self.compiled.check_numbers(unchecked)
            values, numbers = self._change(changes), self.compiled.described_numbers
            # Few numbers decide more than the values of parameters.
            if not changes.keys().isdisjoint(self.limits | self.runs.deciding):
                numbers = {**numbers, **changes}
            return Inputs(values, numbers, self._find_start(starts, values, numbers))
        except ModelError as error:
            return refuse(error)

    def judge(self, start: Start, completed: Completed) -> Ended:
        """How a run ended that began there."""
        compiled, solver, (trajectory, failed) = self.compiled, self.solver, completed
        if failed:
            return _judge(compiled, solver, trajectory, start, describe_failure(trajectory, *failed), False)
        outcome = describe_outcome(compiled, solver, trajectory)
        return _judge(compiled, solver, trajectory, start, outcome, self.rows_chosen)

    def make_alike(self, columns: Columns, measures: Sequence[tuple[str, int]]) -> AlikeRuns | None:
        """What carries out runs of one thread that differ in parameters alone; None where these differ in more.

        Args:
            measures: kind and column of the recorded signals.
        """
        decisive = self.limits | self.runs.deciding
        others = self.unchecked or columns.initial or self.runs.free or calls_python(self.compiled.system)
        if others or self.given is None or self.unchecked is None or not decisive.isdisjoint(columns.parameters):
            return None
        try:
            start = self._find_start({}, self.values, self.compiled.described_numbers)
        except ModelError:
            return None
        return AlikeRuns(self.runs, start, self.values, measures, self.rows_chosen)

    def screen(self, columns: Mapping[str, Floats]) -> None:
        """Check the numbers of all runs at once as far as that can be, and leave the others to each run."""
        checks = self.compiled.checks
        self.unchecked = [name for name in columns if name not in checks.place] + checks.screen(columns)

    def _change(self, changes: Mapping[str, float]) -> np.ndarray:
        values = self.values.copy()
        for name, value in changes.items():
            values[self.place[name]] = value
        return values

    def _find_start(self, starts: Mapping[str, float], values: np.ndarray, numbers: Mapping[str, float]) -> Start:
        system = self.compiled.system
        start = find_start(self.compiled, values) if self.given is None else self.given
        if starts:
            start = change_start(system, start, starts, values)
        if self.limits and (start is not self.checked_start or numbers is not self.compiled.described_numbers):
            states = dict(zip((state.name for state in system.states), start.x.tolist(), strict=True))
            check_start_limits(system, states, numbers)
            self.checked_start = start if numbers is self.compiled.described_numbers else None
        return start


def refuse(error: ModelError) -> Ended:
    """The end of a run whose numbers no description accepts: before it began, and why."""
    return Ended(Outcome(OutcomeKind.FAILED, "; ".join(str(flaw) for flaw in error.flaws), 0.0))


def _judge(
    compiled: CompiledSystem,
    solver: Solver,
    trajectory: Trajectory,
    start: Start,
    outcome: Outcome,
    rows_chosen: bool,
) -> Ended:
    system, passed = compiled.system, trajectory.at_time - start.time
    unbalanced = describe_action(system, trajectory) if trajectory.events else ""
    certificate = certify(compiled, solver, trajectory, passed, unbalanced)
    certificate = check_rows(certificate, compiled, trajectory, True) if rows_chosen else certificate
    return Ended(judge(outcome, certificate), trajectory, tuple(check.name for check in certificate.violated))
