"""Batch of columns: what happens to many robots that differ in some numbers, one run a row?"""

from __future__ import annotations

import os
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, TypeVar

import numpy as np

from robodyn.base import Array, Flaw, FlawList, ModelError, WaitingLine, find_unmatched, fits, frozen, nearest, refuse
from robodyn.computation.assembly import System
from robodyn.computation.engine.slices import MEASURES, take_measure
from robodyn.computation.results.table import Curves, RunTable
from robodyn.description.model import Recording, Solver

from .batch import (
    BatchResult,
    BatchRunner,
    Worker,
    calls_python,
    count_cores,
    find_runner,
    run_in_threads,
    why_no_lanes,
)
from .compiled import CompiledSystem
from .outcomes import describe_end
from .run_functions import compile_system

# --------------------------------------------------------------------------------------------------
# Measures of a run: its largest deviation, root mean square or last value, as one number.


ERRORS = ("deviation", "error")
"""Beginnings of the names of signals that are measured by default."""


@frozen
class Measure:
    """A number of one signal: `peak:deviation.horizontal`."""

    kind: str
    signal: str
    unit: str

    @property
    def name(self) -> str:
        return f"{self.kind}:{self.signal}"

    def take(self, time: Array, y: Array) -> float:
        return take_measure(self.kind, time, y)


def find_measures(flaws: FlawList, texts: Sequence[str], system: System) -> list[Measure]:
    """The measures that texts `kind:signal` ask for, signals also by patterns; the usual ones where there are none."""
    units = system.signal_units
    measures_by_name: dict[str, Measure] = {}
    for text in texts or default_measures(system):
        kind, colon, pattern = text.partition(":")
        signals = [name for name in units if name == pattern or fnmatchcase(name, pattern)]
        if not colon:
            flaws.add(f"measure {text}", "must be written as kind:signal", f"for example peak:{text}")
        elif kind not in MEASURES:
            flaws.add(f"measure {text}", f"'{kind}' is not a kind of measure", nearest(kind, MEASURES))
        elif not signals:
            flaws.add(f"measure {text}", f"there is no signal '{pattern}'", nearest(pattern, units))
        else:
            measures = [Measure(kind, name, "s" if kind == "time_of_peak" else units[name]) for name in signals]
            measures_by_name |= {measure.name: measure for measure in measures}
    return list(measures_by_name.values())


def default_measures(system: System) -> list[str]:
    """Peak and rms of every signal that begins with deviation or error, else where the joints (or all states) end."""
    errors = [name for name in system.signal_names if name.startswith(ERRORS)]
    if errors:
        return [f"{kind}:{name}" for name in errors for kind in ("peak", "rms")]
    states = system.states[: system.n_q] or system.states
    return [f"final:{state.name}" for state in states if state.name in system.signal_names]


T = TypeVar("T")
INITIAL = "initial."
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
    scenario, flaws = system.scenario, FlawList()
    # What is asked for: columns of numbers, measures, threads; all that is wrong is reported at once.
    columns = read_columns(flaws, system, parameters or {}, initial or {})
    measured = find_measures(flaws, measures, system)
    if threads is not None and threads < 1:
        flaws.add("threads", f"must be at least 1, is {threads}")
    flaws.raise_if_any(f"runs of '{scenario.name}'")
    # A system that is not compiled yet records only what measures and curves need.
    if isinstance(what, CompiledSystem):
        compiled = what
    else:
        signals = [*(measure.signal for measure in measured), *(record.signals if record else ())]
        compiled = compile_system(what, solver, signals=tuple(dict.fromkeys(signals)))
    solver = solver or compiled.solver
    if lanes and (reason := why_no_lanes(compiled, solver)):
        warnings.warn(f"no lanes: {reason}; runs are carried out one by one, with the same results", stacklevel=2)

    # One runner for all rows; rows whose numbers no description accepts are marked before anything runs.
    table = _ResultTable(compiled, columns, measured, record)
    runner = find_runner(compiled, solver, record, 0.0, scenario.duration)
    if record:
        table.open_curves(record, runner.instants.times)
    unchecked = runner.screen(columns.parameters)
    if calls_python(system):
        threads = 1
    with WaitingLine(f"simulating {scenario.name}", quiet=progress is not None, watched=False) as line:

        def report() -> None:
            if progress:
                progress(table.n_ended, columns.count)
            else:
                line.update(f"{table.n_ended} of {columns.count} runs", table.n_ended / max(columns.count, 1))

        run_in_threads(
            range(columns.count),
            min(threads or count_cores(), columns.count),
            lambda is_stopped: _ColumnWorker(runner, table, unchecked, lanes, is_stopped),
            report,
        )
    return table.table()


def _check_types(**arguments: tuple[Any, Any, str]) -> None:
    """Refuse arguments of another kind than allowed, each with an example of what it may be."""
    wrong = [
        f"{name}: must not be a {type(value).__name__}, for example {example}"
        for name, (value, allowed, example) in arguments.items()
        if not isinstance(value, allowed)
    ]
    if wrong:
        raise TypeError("; ".join(wrong))


@frozen(eq=False)
class RunColumns:
    """Values of what differs, (n_runs,) each: tunable parameters, and start values of states and sampled outputs."""

    parameters: Mapping[str, Array]
    initial: Mapping[str, Array]
    count: int

    @property
    def inputs(self) -> dict[str, Array]:
        """All of them, start values as `initial.<state>`."""
        return {**self.parameters, **{f"{INITIAL}{name}": values for name, values in self.initial.items()}}


def read_columns(
    flaws: FlawList, system: System, parameters: Mapping[str, Any], initial: Mapping[str, Any]
) -> RunColumns:
    """Arrays by name, one number standing for all runs; every problem is noted."""
    _check_parameters(flaws, system, parameters)
    _check_initial(flaws, system, initial)
    columns = {**parameters, **{f"{INITIAL}{name}": values for name, values in initial.items()}}
    arrays = {name: array for name, values in columns.items() if (array := _read(flaws, name, values)) is not None}
    if not columns:
        flaws.add("parameters", "all runs are identical", "give an array for each number that does")
    lengths = {name: array.size for name, array in arrays.items() if array.ndim}
    count = max(lengths.values(), default=1)
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"'{name}' has {size}" for name, size in lengths.items())
        flaws.add("parameters", f"arrays differ in length: {sizes}", "give all the same, or one number for all runs")
        return RunColumns({}, {}, 0)
    full = {name: np.broadcast_to(array, count) for name, array in arrays.items()}
    return RunColumns(*split_starts(full), count)


def split_starts(values: Mapping[str, T]) -> tuple[dict[str, T], dict[str, T]]:
    """Values of numbers, and of start values without `initial.` before them."""
    starts = {name.removeprefix(INITIAL): value for name, value in values.items() if name.startswith(INITIAL)}
    return {name: value for name, value in values.items() if not name.startswith(INITIAL)}, starts


def _read(flaws: FlawList, name: str, values: Any) -> Array | None:
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        flaws.add(name, f"must be an array of numbers, is {values!r}")
        return None
    if array.ndim > 1:
        flaws.add(name, f"must have one value a run, has the shape {array.shape}", "give an array of one dimension")
    elif array.size == 0:
        flaws.add(name, "has no value", "give at least one")
    elif np.isnan(array).any():
        where = int(np.flatnonzero(np.isnan(array.ravel()))[0])
        flaws.add(f"{name}[{where}]" if array.ndim else name, "must be a number, is nan", "leave this run out")
    else:
        return array
    return None


def _check_parameters(flaws: FlawList, system: System, names: Mapping[str, Any]) -> None:
    tunable = system.places
    mechanism = system.scenario.machine.mechanism
    declarable = {number.name for number in mechanism.numbers()} if mechanism else set()
    for name in names:
        if name in tunable:
            continue
        if name in system.numbers:
            remedy = "vary it in a sweep, which makes the code anew for each value"
            if name in declarable:
                remedy = f"declare it before it is compiled: Machine(..., tunable=['{name}'])"
            flaws.add(name, "is a constant of the native code, not tunable", remedy)
        elif name.startswith(INITIAL):
            flaws.add(name, "is a start value", f"give it as initial={{'{name.removeprefix(INITIAL)}': ...}}")
        else:
            flaws.add(name, "there is no such number", nearest(name, tunable))


def _check_initial(flaws: FlawList, system: System, names: Mapping[str, Any]) -> None:
    scenario = system.scenario
    states = [*system.state_names, *(info.name for info in system.memory if not info.hidden)]
    flaws.add_unknown(names, states, "there is no such state", "initial")
    if names and scenario.initialisation != "given":
        what = f"the start is searched for (initialisation = '{scenario.initialisation}')"
        flaws.add("initial", what, "let the scenario's initialisation be 'given'")
    elif names and scenario.machine.all_constraints:
        what = "constraints decide which start values go together, and are assembled for one start"
        flaws.add("initial", what, "vary them in a sweep, which assembles each")


class _ResultTable:
    """What is kept of the runs of one call that have ended.

    Attributes:
        measures: each with the column of its signal among those recorded.
        values: of the measures, (n_runs, n_measures); ended: kind, sentence and time of each outcome.
    """

    def __init__(
        self, compiled: CompiledSystem, columns: RunColumns, measures: Sequence[Measure], record: Recording | None
    ) -> None:
        place = {info.name: k for k, info in enumerate(compiled.recorded)}
        flaws, among = FlawList(), "among those that the system was compiled for"
        remedy = "compile the system for it (signals=...), or give the system itself"
        for measure in measures:
            if measure.signal not in place:
                flaws.add(f"measure {measure.name}", f"its signal is not {among}", remedy)
        for pattern in find_unmatched(record.signals if record else (), place):
            flaws.add("record.signals", f"'{pattern}' matches no signal {among}", remedy)
        flaws.raise_if_any(f"runs of '{compiled.system.scenario.name}'")
        self.compiled, self.columns = compiled, columns
        self.measures = [(measure, place[measure.signal]) for measure in measures]
        self.values = np.full((columns.count, len(measures)), np.nan)
        self.ended: list[tuple[str, str, float]] = [("", "", 0.0)] * columns.count
        self.violated: Counter[str] = Counter()
        self.curves: Curves | None = None
        self.lock, self.n_ended = threading.Lock(), 0

    def open_curves(self, record: Recording, times: Array | None) -> None:
        """Make room for whole signals at times that all runs have in common."""
        title = f"runs of '{self.compiled.system.scenario.name}'"
        if times is None:
            flaw = Flaw("record", "runs choose their own steps", "give a rate or times, at which curves are kept")
            raise ModelError([flaw], title)
        infos = [info for info in self.compiled.recorded if fits(info.name, record.signals)]
        count = self.columns.count
        size, most = 8.0 * count * len(infos) * len(times), PART_OF_MEMORY * memory_size()
        if size > most:
            what = f"{count} runs of {len(infos)} signals at {len(times)} times take {size / 2**30:.3g} GB"
            remedy = f"at most {most / 2**30:.3g} GB are kept here: name fewer signals or times, or use measures"
            refuse("record", what, remedy, title)
        values = {info.name: np.full((count, len(times)), np.nan) for info in infos}
        self.curves = Curves("time", "s", times, values, {info.name: info.unit for info in infos})

    def put(self, k: int, result: BatchResult) -> None:
        """Run k has ended."""
        outcome, time, signals = result.outcome, result.time, result.signals
        if outcome.carried_through and len(time):
            self.values[k] = [measure.take(time, signals[measure.signal]) for measure, _ in self.measures]
        if self.curves is not None and signals:
            # A run that ends early has its end as its last row, which is none of the times asked for.
            rows = min(len(time), len(self.curves.places))
            rows = int(np.sum(time[:rows] == self.curves.places[:rows]))
            for name, curves in self.curves.values.items():
                curves[k, :rows] = signals[name][:rows]
        if result.violated:
            with self.lock:
                self.violated.update(result.violated)
        self.ended[k] = outcome.kind.name.lower(), outcome.sentence, outcome.time

    def table(self) -> RunTable:
        """What came out."""
        kinds, sentences, times = zip(*self.ended, strict=True)
        system, inputs = self.compiled.system, self.columns.inputs
        units = {number.name: number.unit for number in system.parameters}
        for infos in (system.states, system.memory):
            units |= {f"{INITIAL}{info.name}": info.unit for info in infos}
        return RunTable(
            scenario=system.scenario.name,
            inputs={name: np.array(values) for name, values in inputs.items()},
            measures={measure.name: self.values[:, j] for j, (measure, _) in enumerate(self.measures)},
            units={name: units[name] for name in inputs} | {m.name: m.unit for m, _ in self.measures},
            outcomes=kinds,
            sentences=sentences,
            end_time=np.array(times),
            curves=self.curves,
            violated=dict(self.violated),
        )


class _ColumnWorker(Worker):
    """One thread's runs of columns; those that differ in parameters alone are begun and judged slice by slice."""

    def __init__(
        self,
        runner: BatchRunner,
        table: _ResultTable,
        unchecked: list[str],
        lanes: bool | None,
        is_stopped: Callable[[], bool],
    ) -> None:
        super().__init__(runner, lanes, is_stopped)
        self.table, self.unchecked = table, unchecked
        columns, measures = table.columns, [(measure.kind, column) for measure, column in table.measures]
        self.sliced = not unchecked and not columns.initial and self.open_slices(columns.parameters, measures)

    def work(self, numbers: Sequence[int]) -> None:
        columns, span = self.table.columns, slice(numbers[0], numbers[-1] + 1)
        parameters = {name: values[span] for name, values in columns.parameters.items()}
        if self.sliced:
            self._work_sliced(numbers, span, parameters)
        else:
            initial = {name: values[span] for name, values in columns.initial.items()}
            rows = zip(_rows(parameters, len(numbers)), _rows(initial, len(numbers)), strict=True)
            for k, result in zip(numbers, self.run(list(rows), self.unchecked), strict=True):
                self.table.put(k, result)
        with self.table.lock:
            self.table.n_ended += len(numbers)

    def _work_sliced(self, numbers: Sequence[int], span: slice, parameters: Mapping[str, Array]) -> None:
        """Only a run that is not as it should be is looked at by itself, and one whose curves are kept."""
        table, runner = self.table, self.runner
        runs, sound, table.values[span] = self.run_slice(parameters)
        end = describe_end(runner.span[1])
        table.ended[span] = [(end.kind.name.lower(), end.sentence, end.time)] * len(numbers)
        for j in range(len(numbers)) if table.curves else np.flatnonzero(~sound).tolist():
            result = runner.keep(end, runs[j].trajectory(probes=False)) if sound[j] else self.judge(runs[j])
            table.put(numbers[j], result)


def _rows(columns: Mapping[str, Array], count: int) -> Iterable[dict[str, float]]:
    """Values of each run by name, as plain numbers."""
    if not columns:
        return [{}] * count
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def memory_size() -> float:
    """The memory of the machine [bytes]; where it does not say, what a small one has."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 4.0 * 2**30
