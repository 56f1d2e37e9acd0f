"""Sweep runner: how is a plan carried out, and how far is it? Every run once, finished ones kept at once."""

from __future__ import annotations

import importlib
import time
import warnings
from collections.abc import Callable
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robodyn.base import FlawList, WaitingLine, frozen, refuse_word
from robodyn.computation.simulation.batch import count_cores, run_in_threads

from .folder import PartWriter, SweepRow, describe_plan, locking, open_folder, read_parts
from .plan import SweepPlan
from .runs import NearNominal, Nonlinear, Prepare, SweepJob, SweepWorker
from .table import SweepRows, SweepTable, make_table, write_table

if TYPE_CHECKING:
    from .clusters import Cluster


class ClusterLost(RuntimeError):
    """A cluster could not carry out a sweep; what had arrived is kept."""


@frozen
class SweepProgress:
    """How far a sweep is.

    Attributes:
        done: runs that are finished, of `total`; kept: those of them that were there before.
        simulated: time simulated by this call [s]; elapsed: time it took so far [s].
        workers: of a cluster, that take part; refused: address of a worker -> why it does not.
    """

    done: int
    total: int
    kept: int
    simulated: float
    elapsed: float
    workers: int | None = None
    refused: tuple[tuple[str, str], ...] = ()

    @property
    def rate(self) -> float:
        """Runs a second of this call."""
        return (self.done - self.kept) / max(self.elapsed, 1e-9)

    @property
    def share(self) -> float:
        """The share of this call's runs that is done."""
        return (self.done - self.kept) / max(self.total - self.kept, 1)

    @property
    def sentence(self) -> str:
        """For who waits."""
        said = f"{self.done} of {self.total} runs"
        if self.workers is not None:
            said += f", {self.workers} workers" if self.workers else ", waiting for workers"
        if self.done > self.kept:
            said += f", {self.rate:.3g} runs/s, {self.simulated / self.elapsed:.3g} times real time"
        return said


METHODS: dict[str, Prepare] = {"nonlinear": Nonlinear, "perturbation": NearNominal}
"""Ways to simulate, by name."""


def run_sweep(
    plan: SweepPlan,
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    client: Any = None,
    method: str | Prepare = "nonlinear",
    fresh: bool = False,
    progress: Callable[[SweepProgress], None] | None = None,
) -> SweepTable:
    """Carry out a plan; in a folder where it was begun before, only what is missing.

    Args:
        folder: for `plan.json`, finished runs, `table.parquet` and `curves.parquet`; None keeps all in memory.
        workers: threads, one a core by default; laws that are plain Python, and other methods than those of METHODS,
            have one.
        client: a `distributed.Client` whose workers carry out the runs instead of this process.
        method: a name of METHODS, or a function that makes ready another way to simulate.
        fresh: begin anew instead of going on.

    Raises:
        ModelError: where the folder holds another sweep. ImportError: a folder needs pyarrow, reported before any run.
        ClusterLost: where a cluster could not carry it out; what had arrived is kept in the folder.
    """
    flaws = FlawList()
    if workers is not None and workers < 1:
        flaws.add("workers", f"must be at least 1, is {workers}")
    if workers is not None and client is not None:
        flaws.add("workers", "has no effect: the client's cluster has its own", "leave it out")
    flaws.raise_if_any("sweep")
    if isinstance(method, str):
        refuse_word("method", method, METHODS, "sweep")
        name, prepare = method, METHODS[method]
    else:
        name, prepare = f"{method.__module__}:{method.__qualname__}", method
    if folder is None:
        return _Sweep(plan, prepare, None, progress).run(workers, client)
    importlib.import_module("pyarrow")
    place = Path(folder)
    with locking(place):
        open_folder(place, describe_plan(plan, name), fresh)
        table = _Sweep(plan, prepare, place, progress).run(workers, client)
        write_table(table, place)
    return table


class _Sweep:
    """One call of `run_sweep`: what is finished, where that is kept, who hears of it."""

    def __init__(
        self,
        plan: SweepPlan,
        prepare: Prepare,
        folder: Path | None,
        progress: Callable[[SweepProgress], None] | None,
    ) -> None:
        self.plan, self.prepare, self.folder, self.progress = plan, prepare, folder, progress
        self.begun, self.simulated = time.perf_counter(), 0.0
        self.rows = SweepRows(plan)
        for row in read_parts(folder) if folder else ():
            self.rows.add(row)
        self.missing = self.rows.missing
        self.done = self.kept = plan.n_runs - len(self.missing)
        self.writer: PartWriter | None = None
        self.refused: dict[str, str] = {}
        self.message = WaitingLine(f"sweeping {plan.scenario.name}", quiet=progress is not None)

    def run(self, workers: int | None, client: Any) -> SweepTable:
        """Carry out what is missing."""
        if self.missing:
            # Runs that share native code follow each other; each is kept as soon as it is done.
            groups = self.plan.group(self.missing)
            self.writer = PartWriter(self.folder) if self.folder else None
            with self.message, closing(self.writer) if self.writer else nullcontext():
                self.report()
                if client is not None:
                    from .clusters import run_on_cluster

                    run_on_cluster(self.plan, self.prepare, groups, client, self.keep, self.report)
                else:
                    numbers, job = [number for group in groups for number in group], SweepJob(self.plan, self.prepare)
                    count = min(count_cores() if workers is None else workers, len(numbers)) if job.parallel else 1
                    run_in_threads(numbers, count, partial(SweepWorker, job, self.keep), self.report)
        return make_table(self.rows, self.simulated, time.perf_counter() - self.begun)

    def keep(self, row: SweepRow) -> None:
        """A run is finished."""
        if self.writer:
            self.writer.add(row)
        self.rows.add(row)
        self.done += 1
        self.simulated += row.time

    def report(self, cluster: Cluster | None = None) -> None:
        """Say how far it is."""
        elapsed = time.perf_counter() - self.begun
        who = (len(cluster.accepted), tuple(cluster.refused.items())) if cluster else ()
        at = SweepProgress(self.done, self.plan.n_runs, self.kept, self.simulated, elapsed, *who)
        if self.progress:
            self.progress(at)
        else:
            for worker, why in at.refused:
                if worker not in self.refused:
                    self.refused[worker] = why
                    warnings.warn(f"the worker {worker} cannot take part in the sweep: {why}", stacklevel=2)
        self.message.update(at.sentence, at.share)
