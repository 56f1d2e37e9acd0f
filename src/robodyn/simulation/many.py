"""Batch of runs: what happens to many robots that differ in some numbers? One compiled system, threads over cores.

The engine runs without the interpreter's lock, and each run is computed by itself: its numbers are those of `simulate`
to the last bit, whatever the number of threads.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from robodyn.assembly import System
from robodyn.errors import Flaw, FlawList, ModelError
from robodyn.model import Recording, Solver
from robodyn.results.table import Curves, RunTable
from robodyn.simulation.alike import AlikeRuns
from robodyn.simulation.columns import Columns, read_columns
from robodyn.simulation.compiled import CompiledSystem
from robodyn.simulation.lane_choice import LaneChoice
from robodyn.simulation.lean import Changed, Ended, LeanRuns
from robodyn.simulation.measures import Measure, find_measures
from robodyn.simulation.outcomes import describe_end
from robodyn.simulation.pool import Completed, RunPool, why_no_lanes
from robodyn.simulation.python_calls import calls_python
from robodyn.simulation.run_functions import compile_system
from robodyn.waiting import WaitingLine

LOOK = 0.05
"""Seconds between two looks at how far the threads are."""
PART_OF_MEMORY = 0.5
"""Part of the machine's memory that curves may take, own choice."""

Progress = Callable[[int, int], Any]


def simulate_many(
    what: System | CompiledSystem,
    parameters: Mapping[str, Any] | None = None,
    *,
    initial: Mapping[str, Any] | None = None,
    measures: Sequence[str] = (),
    record: Recording | None = None,
    solver: Solver | None = None,
    threads: int | None = None,
    lanes: bool | None = None,
    progress: Progress | None = None,
) -> RunTable:
    """Simulate one scenario many times with other numbers; a row of the table is a run.

    Args:
        what: a system compiled for the signals that measures and curves are of; one that is not compiled yet is
            compiled here, for these alone.
        parameters: tunable number -> its values, one a run, or one number for all runs.
        initial: state or sampled output -> its start values, alike.
        measures: `kind:signal`, such as "peak:deviation.horizontal"; by default those of a sweep.
        record: keep whole curves of its signals at its rate or times, from which measures are taken too. By default
            measures are taken from the ends of steps where there are sampled blocks, else from the rows of `simulate`.
        threads: one a core by default; laws that are plain Python run in one thread.
        lanes: whether each thread computes several robots a call; by default where so many runs are left that compiling
            for it pays, and where it turns out to be faster. Never with laws that are plain Python, with a limit of
            wall time, on Windows, or on processors of another kind than x86-64; a warning says why they are not there
            where they are asked for.
        progress: called now and then with (runs that have ended, runs).

    Returns:
        Each run as `simulate` would give it; numbers that no description accepts are the outcome of their run.

    Raises:
        ModelError: with every problem of the arrays, measures and curves.
        TypeError: where an argument is of another kind.
        KeyboardInterrupt: where Ctrl-C ends the batch, whatever the number of threads; nothing is kept of it.
    """
    _check_types(
        what=(what, System | CompiledSystem, "assemble(scenario) makes a System"),
        parameters=(parameters, Mapping | None, "{'elbow.friction.coulomb': [2.0, 3.0]}"),
        initial=(initial, Mapping | None, "{'elbow.position': [0.0, 0.1]}"),
        measures=(measures, list | tuple, "['peak:elbow.velocity']"),
        record=(record, Recording | None, "Recording(rate=100.0)"),
        solver=(solver, Solver | None, "Solver('rk4', step=1e-3)"),
        threads=(threads, int | None, "4"),
        lanes=(lanes, bool | None, "True"),
    )
    system = what.system if isinstance(what, CompiledSystem) else what
    flaws = FlawList()
    columns = read_columns(flaws, system, parameters or {}, initial or {})
    taken = find_measures(flaws, measures, system)
    if threads is not None and threads < 1:
        flaws.add("threads", f"must be at least 1, is {threads}")
    flaws.raise_if_any(f"runs of '{system.scenario.name}'")
    kept = [measure.signal for measure in taken]
    compiled = what if isinstance(what, CompiledSystem) else _compile(what, solver, kept, record)
    batch = _Batch(compiled, solver or compiled.solver, columns, taken, record)
    batch.lanes = lanes
    if lanes and (reason := why_no_lanes(compiled, solver or compiled.solver)):
        warnings.warn(f"no lanes: {reason}; runs are carried out one by one, with the same results", stacklevel=2)
    with WaitingLine(f"simulating {system.scenario.name}", quiet=progress is not None, watched=False) as message:
        batch.run_all(_count_threads(threads, compiled, columns.count), progress or _tell(message))
    return batch.table()


def _check_types(**given: tuple[Any, Any, str]) -> None:
    """Refuse arguments of another kind than allowed, each with an example of what it may be."""
    wrong = [
        f"{name}: must not be a {type(value).__name__}, for example {example}"
        for name, (value, allowed, example) in given.items()
        if not isinstance(value, allowed)
    ]
    if wrong:
        raise TypeError("; ".join(wrong))


def count_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _count_threads(threads: int | None, compiled: CompiledSystem, runs: int) -> int:
    return 1 if calls_python(compiled.system) else min(threads or count_cores(), runs)


def _errors(workers: Iterable[Future[None]]) -> list[BaseException]:
    """Why threads ended; those that were told to end last."""
    found = [error for worker in workers if worker.done() and (error := worker.exception())]
    return sorted(found, key=lambda error: isinstance(error, KeyboardInterrupt))


def _tell(message: WaitingLine) -> Progress:
    return lambda done, total: message.update(f"{done} of {total} runs")


def _compile(system: System, solver: Solver | None, measured: list[str], record: Recording | None) -> CompiledSystem:
    curves = record.signals if record else ()
    return compile_system(system, solver, signals=tuple(dict.fromkeys([*measured, *curves])))


class _Batch:
    """All runs of one call, and what is kept of those that have ended."""

    def __init__(
        self,
        compiled: CompiledSystem,
        solver: Solver,
        columns: Columns,
        measures: Sequence[Measure],
        record: Recording | None,
    ) -> None:
        place = {info.name: k for k, info in enumerate(compiled.recorded)}
        self.columns, self.measures = columns, [(measure, place.get(measure.signal)) for measure in measures]
        self.compiled, self.solver, self.scenario = compiled, solver, compiled.system.scenario
        self.lanes: bool | None = None
        self._check_compiled(record.signals if record else ())
        self.lean = LeanRuns(compiled, solver, record, self.scenario.duration)
        self.lean.screen(columns.parameters)
        self.stopped = threading.Event()
        self.taken = np.full((columns.count, len(measures)), np.nan)
        self.ended: list[tuple[str, str, float] | None] = [None] * columns.count
        self.violated: Counter[str] = Counter()
        self.lock, self.next, self.n_ended = threading.Lock(), 0, 0
        self.curves = self._make_curves(record) if record else None

    def _check_compiled(self, patterns: Sequence[str]) -> None:
        """What measures and curves are of is recorded."""
        flaws, among = FlawList(), "among those that the system was compiled for"
        remedy = "compile the system for it (signals=...), or give the system itself"
        for measure, place in self.measures:
            if place is None:
                flaws.add(f"measure {measure.name}", f"its signal is not {among}", remedy)
        for pattern in patterns:
            if not any(fnmatchcase(info.name, pattern) for info in self.compiled.recorded):
                flaws.add("record.signals", f"'{pattern}' matches no signal {among}", remedy)
        flaws.raise_if_any(f"runs of '{self.scenario.name}'")

    def _make_curves(self, record: Recording) -> Curves:
        times = self.lean.times
        if times is None:
            flaw = Flaw("record", "runs choose their own steps", "give a rate or times, at which curves are kept")
            raise ModelError([flaw], f"runs of '{self.scenario.name}'")
        infos = [info for info in self.compiled.recorded if any(fnmatchcase(info.name, one) for one in record.signals)]
        size, most = 8.0 * self.columns.count * len(infos) * len(times), PART_OF_MEMORY * memory_size()
        if size > most:
            what = f"{self.columns.count} runs of {len(infos)} signals at {len(times)} times take {size / 2**30:.3g} GB"
            remedy = f"at most {most / 2**30:.3g} GB are kept here: name fewer signals or times, or take measures"
            raise ModelError([Flaw("record", what, remedy)], f"runs of '{self.scenario.name}'")
        values = {info.name: np.full((self.columns.count, len(times)), np.nan) for info in infos}
        return Curves("time", "s", times, values, {info.name: info.unit for info in infos})

    def run_all(self, threads: int, progress: Progress) -> None:
        """Every run once, in so many threads."""
        if threads == 1:
            self._work(1, lambda done: progress(done, self.columns.count))
            return
        with ThreadPoolExecutor(threads) as pool:
            try:
                workers = {pool.submit(self._work, threads, None) for _ in range(threads)}
                while wait(workers, LOOK, FIRST_EXCEPTION).not_done and not _errors(workers):
                    progress(self.n_ended, self.columns.count)
            finally:
                self.stopped.set()
        for error in _errors(workers):
            raise error

    def _work(self, threads: int, report: Callable[[int], Any] | None) -> None:
        """Some runs after the others, until there are none left or nobody wants them."""
        pool, choice = self.lean.make_pool(), LaneChoice(self.compiled, self.solver, self.lanes)
        taken = [(measure.kind, column or 0) for measure, column in self.measures]
        alike = self.lean.make_alike(self.columns, taken)
        while not self.stopped.is_set():
            some = self._take(choice.choose(pool, self.columns.count - self.next, threads))
            if not some:
                if alike is not None:
                    alike.release()
                return
            begun = time.thread_time()
            if alike is not None:
                self._run_alike(pool, alike, some)
            else:
                every = self.lean.run_slice(pool, list(self._changes(some)), self.stopped.is_set)
                for k, ended in zip(some, every, strict=True):
                    self._keep(k, ended)
            choice.note(pool, (time.thread_time() - begun) / len(some))
            with self.lock:
                self.n_ended += len(some)
            if report:
                report(self.n_ended)

    def _run_alike(self, pool: RunPool, alike: AlikeRuns, some: range) -> None:
        """Runs that differ in parameters alone; each that is not as it should be is looked at by itself."""
        places, lean = self.lean.place, self.lean
        columns = {places[name]: each[some.start : some.stop] for name, each in self.columns.parameters.items()}
        judged = alike.carry_out(pool, len(some), columns, self.stopped.is_set)
        self.taken[some.start : some.stop] = judged.measures
        end = describe_end(lean.runs.span[1])
        self.ended[some.start : some.stop] = [(end.kind.name.lower(), end.sentence, end.time)] * len(some)
        for j in range(len(some)) if self.curves else np.flatnonzero(~judged.sound).tolist():
            trajectory = judged.trajectory(j, lean.rows_chosen)
            ended = Ended(end, trajectory) if judged.sound[j] else lean.judge(alike.start, Completed(trajectory))
            self._keep(some[j], ended)

    def _take(self, count: int) -> range:
        """Numbers of the next runs, that no other thread has."""
        with self.lock:
            begin, self.next = self.next, min(self.next + count, self.columns.count)
            return range(begin, self.next)

    def _changes(self, some: range) -> Iterator[Changed]:
        """Inputs and start values of some runs, as plain numbers."""
        columns = self.columns
        return zip(*(self._rows(values, some) for values in (columns.parameters, columns.initial)), strict=True)

    @staticmethod
    def _rows(columns: Mapping[str, np.ndarray], some: range) -> Iterator[dict[str, float]]:
        if not columns:
            return ({} for _ in some)
        rows = zip(*(values[some.start : some.stop].tolist() for values in columns.values()), strict=True)
        return (dict(zip(columns, row, strict=True)) for row in rows)

    def _keep(self, k: int, ended: Ended) -> None:
        outcome, trajectory = ended.outcome, ended.trajectory
        if trajectory is not None and outcome.carried_through and len(trajectory.time):
            for j, (measure, column) in enumerate(self.measures):
                self.taken[k, j] = measure.take(trajectory.time, trajectory.y[:, column])
        if self.curves is not None and trajectory is not None:
            # A run that ends early has its end as its last row, which is none of the times asked for.
            rows = min(len(trajectory.time), len(self.curves.places))
            rows = int(np.sum(trajectory.time[:rows] == self.curves.places[:rows]))
            for j, info in enumerate(self.compiled.recorded):
                if info.name in self.curves.values:
                    self.curves.values[info.name][k, :rows] = trajectory.y[:rows, j]
        if ended.violated:
            with self.lock:
                self.violated.update(ended.violated)
        self.ended[k] = outcome.kind.name.lower(), outcome.sentence, outcome.time

    def table(self) -> RunTable:
        """What came out."""
        kinds, sentences, times = zip(*(one for one in self.ended if one is not None), strict=True)
        units = {number.name: number.unit for number in self.compiled.system.parameters}
        for states in (self.compiled.system.states, self.compiled.system.memory):
            units |= {f"initial.{info.name}": info.unit for info in states}
        inputs = {name: np.array(values) for name, values in self.columns.inputs.items()}
        taken = {measure.name: self.taken[:, j] for j, (measure, _) in enumerate(self.measures)}
        return RunTable(
            scenario=self.scenario.name,
            inputs=inputs,
            measures=taken,
            units={name: units[name] for name in inputs} | {m.name: m.unit for m, _ in self.measures},
            outcomes=kinds,
            sentences=sentences,
            end_time=np.array(times),
            curves=self.curves,
            violated=dict(self.violated),
        )


def memory_size() -> float:
    """Of the machine [bytes]; where it does not say, what a small one has."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 4.0 * 2**30
