"""Lean runs: how does one compiled system run many times with little beside the engine?

What a run's numbers do not change is made once: native code, start values, checks of the parts that hold the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from robodyn.engine import BrokenRun, Trajectory
from robodyn.errors import ModelError
from robodyn.model import Recording, Solver
from robodyn.results import Certificate, Outcome, OutcomeKind
from robodyn.results.signal import Floats
from robodyn.simulation.certificate import certify, check_between, describe_action, find_values, judge
from robodyn.simulation.compiled import CompiledSystem
from robodyn.simulation.outcomes import describe_failure, describe_outcome
from robodyn.simulation.passed_limits import check_start_limits
from robodyn.simulation.prepared import PreparedRuns, prepare_runs
from robodyn.simulation.python_calls import PythonCalls
from robodyn.simulation.starting import Start, change_start, find_start


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
        self.limited = bool(mechanism and mechanism.limited_joints)
        self.unchecked: list[str] | None = None
        self.given: Start | None = None
        if compiled.system.scenario.initialisation == "given":
            self.given = find_start(compiled, self.values)

    @property
    def times(self) -> Floats | None:
        return self.runs.recording.times

    def run(
        self, changes: Mapping[str, float], starts: Mapping[str, float], is_stopped: Callable[[], bool] | None = None
    ) -> Ended:
        """A run with some inputs and start values changed; a refused number is the run's outcome."""
        try:
            if unchecked := changes if self.unchecked is None else {name: changes[name] for name in self.unchecked}:
                self.compiled.check_numbers(unchecked)
            values = self._change(changes)
            numbers = {**self.compiled.described_numbers, **changes}
            start = self._find_start(starts, values, numbers)
        except ModelError as error:
            return refuse(error)
        return run_lean(self.runs, values, numbers, start, self.rows_chosen, is_stopped)

    def screen(self, columns: Mapping[str, Floats]) -> None:
        """Check the numbers of all runs at once as far as that can be, and leave the others to each run."""
        checks = self.compiled.checks
        self.unchecked = [name for name in columns if name not in checks.place] + checks.screen(columns)

    def _change(self, changes: Mapping[str, float]) -> np.ndarray:
        values = self.values.copy()
        for name, value in changes.items():
            values[self.place[name]] = value
        return values

    def _find_start(self, starts: Mapping[str, float], values: np.ndarray, numbers: dict[str, float]) -> Start:
        system = self.compiled.system
        start = find_start(self.compiled, values) if self.given is None else self.given
        if starts:
            start = change_start(system, start, starts, values)
        if self.limited:
            states = dict(zip((state.name for state in system.states), start.x.tolist(), strict=True))
            check_start_limits(system, states, numbers)
        return start


def refuse(error: ModelError) -> Ended:
    """The end of a run whose numbers no description accepts: before it began, and why."""
    return Ended(Outcome(OutcomeKind.FAILED, "; ".join(str(flaw) for flaw in error.flaws), 0.0))


def run_lean(
    runs: PreparedRuns,
    values: np.ndarray,
    numbers: dict[str, float],
    start: Start,
    rows_chosen: bool,
    is_stopped: Callable[[], bool] | None = None,
) -> Ended:
    """Carry out a run and judge it, without the words that a `Run` has."""
    compiled, solver = runs.compiled, runs.solver
    calls = PythonCalls(compiled, compiled.module.prepare(values))
    run = runs.begin(runs.set_up(calls.p, numbers, start), calls.p, start)
    run.call_back(calls.run_task, calls.run_action, _stop(is_stopped) if is_stopped else None)
    try:
        trajectory = run.complete(probes=rows_chosen)
    except BrokenRun as broken:
        outcome = describe_failure(broken.trajectory, calls.running, broken.cause)
        return _judge(compiled, solver, broken.trajectory, start, outcome, rows_chosen=False)
    outcome = describe_outcome(compiled, solver, trajectory)
    return _judge(compiled, solver, trajectory, start, outcome, rows_chosen)


def _stop(is_stopped: Callable[[], bool]) -> Callable[[float, float, int], None]:
    """Threads are never interrupted themselves: they look whether the one that is, was."""

    def look(time: float, step: float, steps: int) -> None:
        if is_stopped():
            raise KeyboardInterrupt

    return look


def _judge(
    compiled: CompiledSystem, solver: Solver, trajectory: Trajectory, start: Start, outcome: Outcome, rows_chosen: bool
) -> Ended:
    system, passed = compiled.system, trajectory.at_time - start.time
    between = check_between(compiled, trajectory, outcome) if rows_chosen else []
    unbalanced = describe_action(system, trajectory) if trajectory.events else ""
    if len(trajectory.time):
        found = find_values(system, solver, trajectory, passed, unbalanced)
        if all(value <= limit for _, value, limit, *_ in found) and all(check.ok for check in between):
            return Ended(outcome, trajectory)
    certificate = certify(system, solver, trajectory, passed, unbalanced)
    certificate = Certificate((*certificate.checks, *between), certificate.unchecked)
    return Ended(judge(outcome, certificate), trajectory, tuple(check.name for check in certificate.violated))
