"""Sweep runner: how is a plan carried out? Every run once, finished ones kept at once, on all cores."""

from __future__ import annotations

import importlib
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from robodyn.analysis.sweeps.curves import resample, resample_along
from robodyn.analysis.sweeps.identity import describe_plan
from robodyn.analysis.sweeps.near_nominal import prepare_near_nominal
from robodyn.analysis.sweeps.nonlinear import prepare_nonlinear
from robodyn.analysis.sweeps.parts import Finished, PartWriter, locking, open_folder, read_parts
from robodyn.analysis.sweeps.plan import SweepPlan
from robodyn.analysis.sweeps.table import SweepTable, make_table, write_table
from robodyn.analysis.sweeps.track import Prepare, Simulate, Track
from robodyn.analysis.sweeps.workers import START_METHOD, share
from robodyn.errors import Flaw, ModelError, nearest
from robodyn.results.signal import Floats, Kind, Signal
from robodyn.simulation.many import count_cores
from robodyn.waiting import WaitingLine

METHODS: dict[str, Prepare] = {"nonlinear": prepare_nonlinear, "perturbation": prepare_near_nominal}
"""Ways to simulate, by name."""


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep is.

    Attributes:
        done: runs that are finished, of `total`; kept: those of them that were there before.
        simulated: time simulated by this call [s]; elapsed: time it took so far [s].
    """

    done: int
    total: int
    kept: int
    simulated: float
    elapsed: float


def run_sweep(
    plan: SweepPlan,
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    method: str | Prepare = "nonlinear",
    fresh: bool = False,
    progress: Callable[[SweepProgress], None] | None = None,
    start_method: str = START_METHOD,
) -> SweepTable:
    """Carry out a plan; in a folder where it was begun before, only what is missing.

    Args:
        folder: for `plan.json`, finished runs, `table.parquet` and `curves.parquet`; None keeps all in memory.
        workers: processes, one a core by default; 1 runs in this one.
        method: a name of METHODS, or a function that makes ready another way to simulate.
        fresh: begin anew instead of going on.

    Raises:
        ModelError: where the folder holds another sweep. ImportError: a folder needs pyarrow, reported before any run.
    """
    if workers is not None and workers < 1:
        raise ModelError([Flaw("workers", f"must be at least 1, is {workers}")], "sweep")
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="robodyn-sweep-") as draft:
            return _run(plan, Path(draft), workers, method, progress, start_method)
    importlib.import_module("pyarrow")
    place = Path(folder)
    with locking(place):
        open_folder(place, describe_plan(plan, _name_of(method)), fresh)
        table = _run(plan, place, workers, method, progress, start_method)
        write_table(table, place)
    return table


def _run(
    plan: SweepPlan,
    folder: Path,
    workers: int | None,
    method: str | Prepare,
    progress: Callable[[SweepProgress], None] | None,
    start_method: str,
) -> SweepTable:
    begun = time.perf_counter()
    kept = read_parts(folder)
    missing = [run for run in range(plan.n_runs) if run not in kept]
    at = SweepProgress(len(kept), plan.n_runs, len(kept), 0.0, 0.0)
    # Not watched by a thread, which copies of this process would not have.
    message = WaitingLine(f"sweeping {plan.scenario.name}", quiet=progress is not None, watched=False)

    def report(count: int, simulated: float) -> None:
        nonlocal at
        elapsed = time.perf_counter() - begun
        at = replace(at, done=at.done + count, simulated=at.simulated + simulated, elapsed=elapsed)
        if progress:
            progress(at)
        message.update(f"{at.done} of {at.total} runs")

    if missing:
        report(0, 0.0)
        _run_all(plan, folder, missing, workers, _find_method(method), report, start_method, message)
    return make_table(plan, read_parts(folder), at.simulated, at.elapsed)


def _find_method(method: str | Prepare) -> Prepare:
    if callable(method):
        return method
    if method not in METHODS:
        raise ModelError([Flaw("method", f"'{method}' is unknown", nearest(method, METHODS))], "sweep")
    return METHODS[method]


def _name_of(method: str | Prepare) -> str:
    return method if isinstance(method, str) else f"{method.__module__}:{method.__qualname__}"


def _run_all(
    plan: SweepPlan,
    folder: Path,
    missing: Sequence[int],
    workers: int | None,
    prepare: Prepare,
    report: Callable[[int, float], None],
    start_method: str,
    message: WaitingLine,
) -> None:
    count = min(count_cores() if workers is None else workers, len(missing))
    job = Job(plan, folder, prepare, prepare(plan) if count == 1 or start_method == "fork" else None)
    groups = plan.group(missing)
    with message:
        if count == 1:
            _run_here(job, [number for group in groups for number in group], report)
            return
        # With much native code to make, each of it is made in one process.
        batches = groups if len(groups) > count else [[run] for group in groups for run in group]
        share(job, batches, count, report, start_method)


def _run_here(job: Job, numbers: Sequence[int], report: Callable[[int, float], None]) -> None:
    run = job(lambda: True)
    try:
        for number in numbers:
            report(1, run(number))
    finally:
        job.close()


@dataclass
class Job:
    """The work of one process: simulates runs and keeps what they give.

    Attributes:
        simulate: made ready before; None: to be made ready in the process itself.
    """

    plan: SweepPlan
    folder: Path
    prepare: Prepare
    simulate: Simulate | None
    writer: PartWriter | None = None

    def __call__(self, is_wanted: Callable[[], bool]) -> Callable[[int], float]:
        simulate = self.simulate or self.prepare(self.plan)
        self.writer = writer = PartWriter(self.folder)

        def run(number: int) -> float:
            if not is_wanted():
                return 0.0
            begun = time.perf_counter()
            track = simulate(self.plan.changes(number))
            done = finish_run(self.plan, number, track, time.perf_counter() - begun)
            if is_wanted():
                writer.add(done)
            return track.outcome.time

        return run

    def close(self) -> None:
        """End the file of finished runs."""
        if self.writer is not None:
            self.writer.close()


def finish_run(plan: SweepPlan, number: int, track: Track, wall_time: float) -> Finished:
    """What is kept of a run: its measures and curves, no numbers where it could not be carried through."""
    outcome = track.outcome
    ok = outcome.carried_through and len(track.time) > 0
    measures = tuple(m.take(track.time, track.signals[m.signal]) if ok else float("nan") for m in plan.measures)
    curves = _take_curves(plan, track) if ok else {name: np.full(len(plan.places), np.nan) for name in plan.keep}
    kind = outcome.kind.name.lower()
    return Finished(number, kind, outcome.sentence, outcome.time, wall_time, measures, curves)


def _take_curves(plan: SweepPlan, track: Track) -> dict[str, Floats]:
    places, kept = np.array(plan.places), {name: _signal(plan, track, name) for name in plan.keep}
    if plan.along:
        return resample_along(_signal(plan, track, plan.along), kept, places)
    return {name: resample(signal, places) for name, signal in kept.items()}


def _signal(plan: SweepPlan, track: Track, name: str) -> Signal:
    kind: Kind = "held" if name in plan.held else "continuous"
    return Signal(name, "", track.time, track.signals[name], kind, knots=track.knots)
