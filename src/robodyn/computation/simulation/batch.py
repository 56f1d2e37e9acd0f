"""Batch runner: how does one compiled system run, once or many times, with little beside the engine?

A run is read (the descriptions check its numbers, its start is found), begun in the memory of an earlier one, advanced
by the engine and judged. What its numbers do not change is made once. `simulate` is a batch of one run, `simulate_many`
one of columns, a sweep one of a plan; an environment begins its runs here and advances them step by step.

Threads share a batch, since the engine runs without the interpreter's lock. Where native code of several lanes is
there, the runs of a slice are advanced at once, each in a lane: see `engine/lanes.c`. Each run is computed by itself:
its results are the same to the last bit in any thread, in a lane or alone.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import field
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

import numpy as np

from robodyn.base import Array, ModelError, frozen
from robodyn.computation.assembly import System
from robodyn.computation.assembly.declarations import PythonCall
from robodyn.computation.engine import BrokenRun, EngineRecording, Integration, Setup, Status, Trajectory, set_up
from robodyn.computation.engine.pack import Pack, describe_missing_lanes, has_ended, lanes_are_there
from robodyn.computation.engine.slices import Slice
from robodyn.computation.native.propagation import propagation_addresses
from robodyn.computation.results import Outcome, OutcomeKind, Run
from robodyn.computation.results.signal import Booleans
from robodyn.description.model import Recording, Solver

from .certificate import (
    BETWEEN_LIMIT,
    BETWEEN_SHARE,
    MOST_LONG_STEPS,
    certify,
    check_rows,
    check_start_limits,
    describe_action,
    judge,
    plan_checks,
    row_reading,
)
from .compiled import CompiledSystem
from .outcomes import describe_failure, describe_outcome
from .problem import (
    build_problem,
    check_extent,
    deciding_numbers,
    engine_recording,
    parameter_tables,
)
from .propagators import MarchTables, make_tables
from .starting import Start, change_start, find_start

# --------------------------------------------------------------------------------------------------
# Callbacks: how are laws and actions called that are plain Python, not native code?


def calls_python(system: System) -> bool:
    """Whether runs call functions that are no native code: these may keep something between calls."""
    return any(task.call for task in system.discrete.tasks) or any(guard.call for guard in system.discrete.guards)


class PythonCalls:
    """The Python tasks and actions of one run: arguments evaluated natively, results written back by name.

    Attributes:
        p: parameters of the run; running: name of the task or event called last.
    """

    def __init__(self, compiled: CompiledSystem, p: Array) -> None:
        self.compiled = compiled
        self.p = p
        self.running = ""

    @cached_property
    def _memory(self) -> list[str]:
        return [info.name for info in self.compiled.system.memory]

    def run_task(self, k: int, t: float, x: Array, d: Array, m: Array) -> Array:
        """New memory after task k."""
        task = self.compiled.system.discrete.tasks[k]
        self.running = task.name
        assert task.call is not None
        return _written(np.array(m), self._memory, self._call(task.call, t, x, d, m))

    def run_action(self, k: int, t: float, x: Array, d: Array, m: Array) -> tuple[Array, Array]:
        """New states and memory after the action of guard k."""
        guard = self.compiled.system.discrete.guards[k]
        self.running = guard.name
        assert guard.call is not None
        names, results = [*self.compiled.system.state_names, *self._memory], self._call(guard.call, t, x, d, m)
        both = _written(np.concatenate([x, m]), names, results)
        return both[: len(x)], both[len(x) :]

    def _call(self, call: PythonCall, t: float, x: Array, d: Array, m: Array) -> dict[str, float]:
        inputs = self.compiled.module.kernels[call.inputs]
        column = iter(inputs(np.array([t]), x, d, m, self.p).tolist())
        arguments = {
            name: next(column) if size is None else tuple(next(column) for _ in range(size))
            for name, size in call.shapes.items()
        }
        returned = call.function(**arguments)
        single = next(iter(call.targets)) if len(call.targets) == 1 else "force"
        results = {single: returned} if isinstance(returned, (int, float)) else returned
        if not isinstance(results, Mapping):
            raise TypeError(f"must return a dictionary of numbers, returned {returned!r}")
        unknown = [name for name in results if name not in call.targets]
        if unknown:
            raise ValueError(f"returned {', '.join(unknown)}; known: {', '.join(call.targets)}")
        return {call.targets[name]: _number(name, value) for name, value in results.items()}


def _written(column: Array, names: list[str], results: dict[str, float]) -> Array:
    for name, value in results.items():
        column[names.index(name)] = value
    return column


def _number(name: str, value: object) -> float:
    """Texts that look like numbers, and arrays, are no numbers."""
    if isinstance(value, bool | int | float | np.number | np.bool_):
        return float(value)
    raise TypeError(f"must return a number for {name}, returned {value!r}")


LARGE, MOST_IDLE = 2**20, 128
"""Numbers in the record of a run whose memory is not kept for another, and how many such runs there may be; own
choices."""
MOST_RUNNERS = 8
"""Solvers, recordings and durations for which one compiled system keeps its runner; own choice."""
WORTHWHILE = 4.0
"""Seconds of computing still to come, above which the functions are compiled for lanes, own choice."""
MOST, AT_ONCE = 64, 0.03
"""Runs that a thread takes at once: at most so many, and not many more than last so long [s], own choices."""
BETWEEN_REPORTS = 0.05
"""Seconds between two reports of how far the threads are."""
_compiling = threading.Lock()

RunChanges = tuple[Mapping[str, float], Mapping[str, float]]
"""Parameters and start values of a run that differ from the described ones."""
Failure = tuple[str, Exception] | None
"""Name and error of a law or an action in Python that failed."""


class RunInputs(NamedTuple):
    """What a run begins with: values of the tunable parameters, all numbers by name, its start."""

    values: Array
    numbers: Mapping[str, Any]
    start: Start


@frozen(eq=False)
class BatchResult:
    """How a run of a batch ended, and the rows of its signals; far cheaper than a Run.

    Attributes:
        time: (n,) [s], never decreasing, two equal ones at a jump; signals: name -> (n,); none where a run did not
            begin.
        knots: rows across which signals may not be smooth, (n,): see `robodyn.computation.results.Signal`.
        violated: names of the checks that it violates.
    """

    outcome: Outcome
    time: Array = field(default_factory=lambda: np.zeros(0))
    signals: Mapping[str, Array] = field(default_factory=dict)
    knots: Booleans | None = None
    violated: tuple[str, ...] = ()


def refusal_result(error: ModelError) -> BatchResult:
    """The result of a run whose numbers no description accepts: it did not begin, and why."""
    return BatchResult(Outcome(OutcomeKind.FAILED, "; ".join(str(flaw) for flaw in error.flaws), 0.0))


class BatchRunner:
    """Runs of one compiled system with one solver and one recording, from one time to another.

    Args:
        recording: as the user says it, or the instants themselves that the engine keeps.
        drained: whether rows are taken away as they come.

    Attributes:
        instants: that the engine keeps.
        rows_chosen: whether the engine chooses the rows, so that signals can be read between them.
        limits: names of the numbers that decide which starts are allowed.
        deciding: names of those that decide delays and jumps of references, and so what the engine is told of a run.
        setup: the values of these in the last run, and what the engine was told of it; march: the tables that runs
            march by.
        idle: memory of runs that have ended.
    """

    def __init__(
        self,
        compiled: CompiledSystem,
        solver: Solver,
        recording: Recording | EngineRecording,
        begin: float,
        duration: float,
        drained: bool = False,
    ) -> None:
        compiled.check_solver(solver)
        system = compiled.system
        self.compiled, self.solver = compiled, solver
        self.span, self.duration = (begin, begin + duration), duration
        self.rows_chosen = False
        if isinstance(recording, EngineRecording):
            self.instants = recording
        else:
            asked = recording.rate, recording.times, recording.refine
            self.rows_chosen = solver.adaptive and asked == (None, None, None)
            limited = "within" in compiled.module.kernels
            self.instants = engine_recording(recording, solver, begin, duration, limited, drained)
        joints = system.scenario.machine.mechanism.limited_joints if system.scenario.machine.mechanism else ()
        self.limits = {f"{joint.name}.{limit}" for joint in joints for limit in joint.limits}
        self.deciding = deciding_numbers(system)
        self.deciding_or_limiting = self.limits.union(self.deciding)
        self._decide: Any = itemgetter(*self.deciding) if self.deciding else lambda numbers: ()
        # A delayed signal without a given past has that of the start, which any number may decide.
        self.free_past = any(delay.before is None for delay in system.delays)
        self.setup: tuple[Any, Setup] | None = None
        self.march: MarchTables | None = None
        self.idle: list[Integration] = []
        self._allowed_start: Start | None = None

    @cached_property
    def given_start(self) -> Start | None:
        """The start of all runs, where none is searched for."""
        if self.compiled.system.scenario.initialisation != "given":
            return None
        return find_start(self.compiled, self.compiled.system.described_values)

    def screen(self, columns: Mapping[str, Array]) -> list[str]:
        """Numbers that each run has to check, of those with these values in all runs to come: the others are checked
        here, whole columns at once."""
        checks = self.compiled.checks
        return [name for name in columns if name not in checks.place] + checks.screen(columns)

    def read(
        self,
        parameters: Mapping[str, float],
        initial: Mapping[str, float] | None = None,
        *,
        before: Run | None = None,
        unchecked: Iterable[str] | None = None,
    ) -> RunInputs:
        """What a run with some parameters and start values changed begins with.

        Args:
            before: a run that it goes on from. unchecked: parameters that are still to be checked; all by default.

        Raises:
            ModelError: where a description refuses them.
        """
        compiled, system = self.compiled, self.compiled.system
        values = system.parameter_values(parameters)
        doubtful = parameters if unchecked is None else {name: parameters[name] for name in unchecked}
        if doubtful:
            compiled.check_numbers(doubtful)
        # Few numbers decide more than the values of parameters.
        numbers: Mapping[str, Any] = system.number_values
        if not parameters.keys().isdisjoint(self.deciding_or_limiting):
            numbers = {**numbers, **parameters}
        start = self.given_start if before is None else None
        if start is None:
            start = find_start(compiled, values, before)
        if initial:
            start = change_start(system, start, initial, values)
        # The same start within the same limits is checked once.
        described = numbers is system.number_values
        if self.limits and before is None and not (described and start is self._allowed_start):
            check_start_limits(system, system.name_states(start.x), numbers)
            self._allowed_start = start if described else None
        return RunInputs(values, numbers, start)

    def read_rows(
        self, parameters: Mapping[str, Array], initial: Mapping[str, Array], count: int
    ) -> tuple[Array, Array, Array] | None:
        """Values of the tunable parameters, states and memory at the start of so many runs, a row each, with these
        columns changed; None where each run must be read by itself, or has something to refuse."""
        system, start = self.compiled.system, self.given_start
        mechanism = system.scenario.machine.mechanism
        restricted = self.limits or system.has_balls or any(c.range for c in system.scenario.machine.coordinates)
        decisive = not self.deciding_or_limiting.isdisjoint(parameters)
        if start is None or decisive or (initial and mechanism is not None and restricted):
            return None
        if self.screen(parameters) or not all(np.isfinite(column).all() for column in initial.values()):
            return None
        values, x, m = (
            system.parameter_rows(parameters, count),
            *(np.tile(row, (count, 1)) for row in (start.x, start.m)),
        )
        for k, state in enumerate(system.states):
            if state.name in initial:
                x[:, k] = initial[state.name]
        for k, info in enumerate(system.memory):
            # As in `change_start`.
            if (name := info.name.partition(".pending.")[0]) in initial:
                m[:, k] = initial[name]
        return values, x, m

    def begin(self, inputs: RunInputs) -> tuple[Integration, PythonCalls]:
        """A run ready to be advanced, in the memory of an earlier one where that fits; and its laws in Python."""
        p, start = self.compiled.module.prepare(inputs.values), inputs.start
        calls, setup = PythonCalls(self.compiled, p), self._set_up(p, inputs)
        while self.idle:
            # Popping is atomic: what one thread has, no other has.
            try:
                run = self.idle.pop()
            except IndexError:
                break
            if run.setup is setup and run.derivatives is None:
                run.restart(start.x, start.m, p)
                return run, calls
        return Integration(setup, *self.span, start.x, start.m, p), calls

    def _set_up(self, p: Array, inputs: RunInputs) -> Setup:
        """What the engine is told of a run; that of the last one, where nothing decides otherwise."""
        compiled, numbers, start = self.compiled, inputs.numbers, inputs.start
        last, decided = self.setup, self._decide(numbers)
        if last is not None and last[0] == decided and not self.free_past:
            return last[1]
        if last is None:
            problem = build_problem(compiled, p, numbers, start)
            self.march = make_tables(compiled, p, numbers, start, self.span[1], self.instants, self.solver)
            setup = set_up(problem, self.solver, self.instants, self.march.fields)
        else:
            setup = last[1]
        setup = setup.changed(**parameter_tables(compiled, p, numbers, start, self.duration))
        self.setup = decided, setup
        return setup

    def complete(
        self, run: Integration, calls: PythonCalls, progress: Callable[..., Any] | None, probes: bool
    ) -> tuple[Trajectory, Failure]:
        """Advance a run by itself to its end; a law or an action in Python that fails ends it."""
        run.call_back(calls.run_task, calls.run_action, progress)
        try:
            return run.complete(probes), None
        except BrokenRun as broken:
            return broken.trajectory, (calls.running, broken.cause)

    def give_back(self, run: Integration) -> None:
        """A run that nobody looks at any more, to be begun again; one of a large record is let go."""
        if not _is_large(run) and len(self.idle) < MOST_IDLE:
            self.idle.append(run)

    def describe(self, trajectory: Trajectory, failure: Failure) -> Outcome:
        """How a run ended by itself; where a law or an action in Python failed, that is it."""
        if failure:
            return describe_failure(trajectory, *failure)
        return describe_outcome(self.compiled, self.solver, trajectory)

    def judge(self, start: Start, trajectory: Trajectory, failure: Failure = None) -> BatchResult:
        """The outcome of a run that began there, in the light of its certificate."""
        compiled, solver = self.compiled, self.solver
        unbalanced = describe_action(compiled.system, trajectory) if trajectory.events else ""
        certificate = certify(compiled, solver, trajectory, trajectory.at_time - start.time, unbalanced)
        if self.rows_chosen and not failure:
            certificate = check_rows(certificate, compiled, trajectory, True)
        violated = tuple(check.name for check in certificate.violated)
        return self.keep(judge(self.describe(trajectory, failure), certificate), trajectory, violated)

    def keep(self, outcome: Outcome, trajectory: Trajectory, violated: tuple[str, ...] = ()) -> BatchResult:
        """What is kept of a trajectory."""
        names = [info.name for info in self.compiled.recorded]
        signals = dict(zip(names, np.ascontiguousarray(trajectory.y.T), strict=True))
        return BatchResult(outcome, trajectory.time, signals, trajectory.knots, violated)


def find_runner(
    compiled: CompiledSystem,
    solver: Solver,
    recording: Recording | None,
    begin: float,
    duration: float,
    drained: bool = False,
) -> BatchRunner:
    """The runner of runs like these, kept with the compiled system for the next ones.

    Args:
        recording: by default sampled blocks keep steps short, whose ends are recorded; elsewhere there are rows within
            them, as in a single run.
    """
    recording = recording or Recording(refine=1 if compiled.system.discrete.tasks else None)
    key, runners = (solver, recording, begin, duration, drained), compiled.runners
    if key not in runners:
        runner = BatchRunner(compiled, solver, recording, begin, duration, drained)
        check_extent(compiled, solver, runner.instants, duration)
        if len(runners) >= MOST_RUNNERS:
            runners.clear()
        runners[key] = runner
    cached: BatchRunner = runners[key]
    return cached


class Worker:
    """The runs of one thread: one by one, then in lanes, then in the faster of both ways.

    Long functions are computed up to four times as fast in lanes. Where they are short, what the engine does beside
    them decides, and the waiting of runs for one another may cost more than lanes save: tried once.

    Args:
        lanes: False: never in lanes, True: always; None: where it pays.
        is_stopped: asked now and then whether nobody wants the runs any more, which then end by KeyboardInterrupt.

    Attributes:
        pack: carries out the next runs in lanes; None: one after the other.
    """

    def __init__(
        self, runner: BatchRunner, lanes: bool | None = None, is_stopped: Callable[[], bool] | None = None
    ) -> None:
        self.runner, self.lanes = runner, lanes
        self.pack: Pack | None = None
        self._lane_pack: Pack | None = None
        self._lanes_possible = lanes is not False and runner.solver.max_wall_time is None
        self._seconds: dict[bool, float] = {}
        self._slots: list[Integration] = []
        self._look = _stop_when(is_stopped) if is_stopped else None

    def choose(self, left: int, threads: int) -> int:
        """How many of the runs that are left to all threads this one had best take, after the way to carry them out."""
        worthwhile = self.lanes or self._seconds.get(False, 0.0) * left > WORTHWHILE
        if self._lanes_possible and self._lane_pack is None and worthwhile:
            # The first thread compiles, the others wait for it.
            with _compiling:
                self._lane_pack = make_pack(self.runner.compiled)
            self._lanes_possible = self._lane_pack is not None
        tried = True in self._seconds and not self.lanes
        self.pack = None if tried and self._seconds[True] >= self._seconds[False] else self._lane_pack
        fitting = int(AT_ONCE / max(self._seconds.get(self.pack is not None, AT_ONCE), 1e-9))
        # In lanes, as many in each; at the end no thread is to have much more to do than another.
        lanes = self.pack.lanes if self.pack is not None else 1
        return max(lanes, min(MOST, fitting, left // (2 * threads)) // lanes * lanes)

    def note(self, start_time: float, count: int) -> None:
        """How long so many runs took as chosen, since a time of this thread [s]: other work does not count."""
        self._seconds[self.pack is not None] = (time.thread_time() - start_time) / count

    def run(self, changes: Sequence[RunChanges], unchecked: Iterable[str] | None = None) -> list[BatchResult]:
        """Some runs, each with its parameters and start values; a refused number is the outcome of its run."""
        start_time, results, inputs = time.thread_time(), list[BatchResult | None](), list[RunInputs]()
        for parameters, initial in changes:
            try:
                inputs.append(self.runner.read(parameters, initial, unchecked=unchecked))
                results.append(None)
            except ModelError as error:
                results.append(refusal_result(error))
        ended = zip(inputs, self.carry_out(inputs), strict=True)
        judged = iter([self.runner.judge(each.start, *end) for each, end in ended])
        self.note(start_time, len(changes))
        return [next(judged) if result is None else result for result in results]

    def carry_out(self, inputs: Sequence[RunInputs]) -> list[tuple[Trajectory, Failure]]:
        """Runs from their beginning to their end.

        Raises:
            KeyboardInterrupt: where nobody wants them any more, or where Ctrl-C ends them.
        """
        runner, probes = self.runner, self.runner.rows_chosen
        begun = [runner.begin(each) for each in inputs]
        ended: list[tuple[Trajectory, Failure]] = []
        if self.pack is None or len(begun) == 1:
            for run, calls in begun:
                ended.append(runner.complete(run, calls, self._look, probes))
                if ended[-1][0].status is Status.INTERRUPTED:
                    raise KeyboardInterrupt
        else:
            runs = [run for run, _ in begun]
            self._advance_in_lanes(self.pack, runs)
            ended = [(run.trajectory(probes), None) for run in runs]
        for run, _ in begun:
            runner.give_back(run)
        return ended

    def _advance_in_lanes(self, pack: Pack, runs: list[Integration]) -> None:
        """Runs at once; those that ask for something, as for a Jacobian, go on alone."""
        try:
            reasons = pack.advance(runs, self._look)
        except BaseException:
            # Runs that were left in the middle of a call cannot go on.
            self.pack = self._lane_pack = None
            raise
        for run, reason in zip(runs, reasons, strict=True):
            if not has_ended(reason):
                run.call_back(None, None, self._look)
                run.loop()

    def open_slices(self, parameters: Mapping[str, Array], measures: Sequence[tuple[str, int]]) -> bool:
        """Make ready for slices of runs that differ in these parameters alone, which the engine begins, judges and
        measures itself; False where these decide more, or Python has to look at each run.

        Args:
            measures: kind and column of the recorded signals.
        """
        runner, compiled, solver = self.runner, self.runner.compiled, self.runner.solver
        decisive = not runner.deciding_or_limiting.isdisjoint(parameters)
        if decisive or runner.free_past or runner.given_start is None or calls_python(compiled.system):
            return False
        try:
            self._described = runner.read({})
        except ModelError:
            return False
        start, checks = self._described.start, plan_checks(compiled, solver).table
        reading = row_reading(compiled) if runner.rows_chosen else None
        self._slice = Slice(
            self._slot(0),
            start.x,
            start.m,
            checks,
            most_too_long=None if solver.adaptive else int(MOST_LONG_STEPS),
            events_count=any(guard.moves for guard in compiled.system.discrete.guards),
            measures=measures,
            between=(reading, BETWEEN_SHARE, BETWEEN_LIMIT) if reading else None,
        )
        return True

    def run_slice(self, parameters: Mapping[str, Array]) -> tuple[list[Integration], Array, Array]:
        """Runs that differ in these parameters alone, in the same memory over and over.

        Returns:
            The runs as they ended, valid until the next slice; which of them kept all that they must, (n,), and the
            measures of these, (n, n_measures).
        """
        start_time, count = time.thread_time(), len(next(iter(parameters.values())))
        values = self.runner.compiled.system.parameter_rows(parameters, count)
        runs = [self._slot(k) for k in range(count)]
        for run, row in zip(runs, self.runner.compiled.module.prepare_rows(values), strict=True):
            run.p[: len(row)] = row
        self._slice.begin(runs)
        if self.pack is None or count == 1:
            for run in runs:
                run.begun = time.perf_counter()
                run.call_back(None, None, self._look)
                run.loop()
        else:
            self._advance_in_lanes(self.pack, runs)
        # No run can have the memory of one whose model has changed, or which takes too much of it.
        self._slots = [run for run in self._slots if run.derivatives is None and not _is_large(run)]
        sound, measures = self._slice.judge(runs)
        self.note(start_time, count)
        return runs, sound, measures

    def judge(self, run: Integration) -> BatchResult:
        """The result of a run of the last slice, looked at by itself."""
        return self.runner.judge(self._described.start, run.trajectory(self.runner.rows_chosen))

    def _slot(self, k: int) -> Integration:
        """Memory for run k of a slice."""
        while len(self._slots) <= k:
            self._slots.append(self.runner.begin(self._described)[0])
        return self._slots[k]

    def release(self) -> None:
        """Leave the memory to runs of other calls."""
        for run in self._slots:
            self.runner.give_back(run)
        self._slots = []


def _is_large(run: Integration) -> bool:
    return run.run.row_capacity * (run.problem.n_y + 2) >= LARGE


def _stop_when(is_stopped: Callable[[], bool]) -> Callable[..., None]:
    """Threads are never interrupted themselves: they look whether the one that is, was."""

    def look(*_: Any) -> None:
        if is_stopped():
            raise KeyboardInterrupt

    return look


def why_no_lanes(compiled: CompiledSystem, solver: Solver) -> str:
    """What keeps the runs of a system from lanes; empty where nothing does."""
    if calls_python(compiled.system):
        return "laws or actions in plain Python are called one at a time"
    if solver.max_wall_time is not None:
        return "a limit of wall time (solver.max_wall_time) is that of single runs"
    return describe_missing_lanes()


def make_pack(compiled: CompiledSystem) -> Pack | None:
    """What carries out several runs of a system at once; None where that cannot be."""
    module = compiled.module
    if calls_python(compiled.system) or not lanes_are_there() or (vectors := compiled.lane_module) is None:
        return None
    addresses = {module.kernels[name].address: address for name, address in vectors.addresses.items()}
    if plan := compiled.propagation:
        sizes = plan.n_linear, plan.n_inputs
        addresses[propagation_addresses(*sizes, 1)[0]] = propagation_addresses(*sizes, vectors.lanes)[0]
    longest = max(size for kernel in module.kernels.values() for size in kernel.out_sizes)
    pack = Pack(vectors.lanes, addresses, module.n_parameters + module.n_prelude, module.data, longest)
    pack.keeps = module, vectors
    return pack


class SegmentRunner(BatchRunner):
    """Runs that begin at different instants, each recorded at times of its own.

    Args:
        times: when a run begins -> the times that it is recorded at, increasing; it ends at the last of them.
    """

    def __init__(self, compiled: CompiledSystem, solver: Solver, times: Mapping[float, Array]) -> None:
        super().__init__(compiled, solver, Recording(rate=1.0), 0.0, 1.0)
        self.times = times

    def begin(self, inputs: RunInputs) -> tuple[Integration, PythonCalls]:
        begin, times = inputs.start.time, self.times[inputs.start.time]
        # A tick at the last time, which is counted from the beginning, is not to be missed by rounding.
        duration = float(times[-1]) - begin + 8 * math.ulp(float(times[-1]))
        recording = EngineRecording(kind="times", times=times, watch_steps=self.instants.watch_steps)
        return BatchRunner(self.compiled, self.solver, recording, begin, duration).begin(inputs)

    def give_back(self, run: Integration) -> None:
        """Nothing: the next run begins at another time."""


class _SegmentWorker(Worker):
    def __init__(
        self,
        runner: SegmentRunner,
        starts: Sequence[Start],
        ends: list[Trajectory | None],
        is_stopped: Callable[[], bool] | None = None,
    ) -> None:
        super().__init__(runner, None, is_stopped)
        self.starts, self.ends = starts, ends

    def work(self, numbers: Sequence[int]) -> None:
        start_time, system = time.thread_time(), self.runner.compiled.system
        values, numbers_by_name = system.described_values, system.number_values
        inputs = [RunInputs(values, numbers_by_name, self.starts[k]) for k in numbers]
        for k, (trajectory, _) in zip(numbers, self.carry_out(inputs), strict=True):
            self.ends[k] = trajectory
        self.note(start_time, len(numbers))


def run_segments(
    compiled: CompiledSystem,
    solver: Solver,
    starts: Sequence[Start],
    times: Sequence[Array],
    report: Callable[[int], None] = lambda ended: None,
) -> list[Trajectory]:
    """Runs from many different instants and states, such as measured ones, each to the last of its times.

    Args:
        times: that each run is recorded at. report: called now and then with how many have ended.
    """
    runner = SegmentRunner(compiled, solver, {s.time: t for s, t in zip(starts, times, strict=True)})
    ends: list[Trajectory | None] = [None] * len(starts)
    threads = 1 if calls_python(compiled.system) else min(count_cores(), len(starts))
    run_in_threads(
        range(len(starts)),
        threads,
        lambda is_stopped: _SegmentWorker(runner, starts, ends, is_stopped),
        lambda: report(sum(end is not None for end in ends)),
    )
    return [end for end in ends if end is not None]


class ThreadWorker(Protocol):
    """What one thread does of a batch."""

    def choose(self, left: int, threads: int) -> int:
        """How many of the runs that are left it had best be given."""

    def work(self, numbers: Sequence[int]) -> None:
        """Carry out runs by their numbers."""

    def release(self) -> None:
        """There is nothing left to do."""


def run_in_threads(
    numbers: Sequence[int],
    threads: int,
    make_worker: Callable[[Callable[[], bool]], ThreadWorker],
    report: Callable[[], None],
) -> None:
    """Carry out every run once.

    Args:
        make_worker: called in each thread, with what says whether somebody wants the runs still.
        report: called now and then by this thread.

    Raises:
        What a thread raised; where several did, not that it was stopped.
    """
    lock, stopped, begin = threading.Lock(), threading.Event(), 0

    def work() -> None:
        nonlocal begin
        worker = make_worker(stopped.is_set)
        while not stopped.is_set():
            # Compiling for lanes, where that pays, is not to keep the other threads from their runs.
            count = worker.choose(len(numbers) - begin, threads)
            with lock:
                some = numbers[begin : begin + count]
                begin += len(some)
            if not some:
                worker.release()
                return
            worker.work(some)
            if threads == 1:
                report()

    if threads == 1:
        work()
        return
    with ThreadPoolExecutor(threads) as pool:
        try:
            workers = {pool.submit(work) for _ in range(threads)}
            while wait(workers, BETWEEN_REPORTS, FIRST_EXCEPTION).not_done and not _errors(workers):
                report()
        finally:
            stopped.set()
    for error in _errors(workers):
        raise error
    report()


def _errors(workers: Iterable[Future[None]]) -> list[BaseException]:
    """Why threads ended; those that were told to end last."""
    errors = [error for worker in workers if worker.done() and (error := worker.exception())]
    return sorted(errors, key=lambda error: isinstance(error, KeyboardInterrupt))


def count_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
