"""Sweeps on a cluster: how do the workers of dask.distributed share the runs of a plan?

A task is a few runs of one plan: its result does not depend on where and when it is carried out, and nothing that a
worker or the scheduler holds is needed afterwards. The scheduler gives the tasks of a lost worker to others; those of a
lost scheduler are submitted again. What has arrived here is kept, each run once. A worker is given tasks once it has
said that its versions are those of this process: the same numbers to the last bit need the same program.
"""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import cloudpickle
from distributed import Client, KilledWorker

from robodyn.base import Flaw, ModelError, quietly, refuse

from .folder import SweepRow, find_versions, hash_equations
from .plan import SweepPlan
from .runner import ClusterLost
from .runs import Prepare, SweepJob, SweepWorker

_making = threading.Lock()


def make_task() -> Callable[..., list[SweepRow]]:
    """The task of a worker, as a function that is pickled by value: the scheduler reads it without having robodyn."""

    def run(content: bytes, equations: str, runs: Sequence[int]) -> list[SweepRow]:
        from .clusters import run_task

        return run_task(content, equations, runs)

    return run


def run_task(content: bytes, equations: str, runs: Sequence[int]) -> list[SweepRow]:
    """Carry out some runs of a pickled plan in this process."""
    with quietly(), _making:
        job = _make_job(content, equations)
    remaining, rows = runs, list[SweepRow]()
    worker = SweepWorker(job, rows.append)
    while remaining:
        count = worker.choose(job.plan.n_runs, 1)
        worker.work(remaining[:count])
        remaining = remaining[count:]
    return rows


@lru_cache(maxsize=1)
def _make_job(content: bytes, equations: str) -> SweepJob:
    try:
        plan, prepare = cloudpickle.loads(content)
    except ImportError as error:
        flaw = Flaw(f"{error.name}", "is not installed there", "install what your laws need where the workers are")
        raise ModelError([flaw], "a worker") from error
    if hash_equations(plan) != equations:
        what = "the equations of the scenario differ there: a law has been edited in one of the two places"
        refuse(sys.executable, what, "install the same modules of yours there", "a worker")
    return SweepJob(plan, prepare)


TASK_SECONDS = 0.5
"""Work handed to a worker at once."""
LARGEST_TASK = 1000
TASKS_A_THREAD = 2
"""One to be carried out, one to go on with while the first is fetched."""
LOOK = 0.5
"""Seconds between two looks at who has come and gone."""


def connect(address: str | None, workers: int | None = None, timeout: float = 10.0) -> Any:
    """A client of a running scheduler (address, or file that it wrote), or of a cluster of processes on this machine.

    Raises:
        ModelError: where it cannot be reached.
    """
    if address is None:
        return Client(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    place = {"scheduler_file": address} if address.endswith(".json") else {"address": address}
    try:
        return Client(**place, timeout=timeout)
    except (OSError, ValueError, TypeError) as error:
        remedy = "start it (dask scheduler; dask worker ADDRESS), and name the address that it prints"
        what = f"no scheduler can be reached there ({error})"
        raise ModelError([Flaw(f"dask:{address}", what, remedy)], "cluster") from error


class Cluster:
    """The workers of a client that may carry out a sweep, and what they are at.

    Attributes:
        pending: key of a task -> its future and runs; accepted: address -> threads; refused: address -> why.
    """

    def __init__(self, client: Any, content: bytes, equations: str) -> None:
        self.client, self.content, self.equations = client, content, equations
        self.task = make_task()
        self.versions = find_versions()
        self.done: queue.Queue[Any] = queue.Queue()
        self.pending: dict[str, tuple[Any, frozenset[str], list[int]]] = {}
        self.accepted: dict[str, int] = {}
        self.refused: dict[str, str] = {}
        self.looked, self.used = 0.0, False

    def look(self) -> None:
        """See who has come and gone.

        Raises:
            ClusterLost: where the scheduler is gone. ModelError: where no worker is, or was, as it has to be.
        """
        self.looked = time.monotonic()
        try:
            present = self.client.nthreads()
        except (OSError, TimeoutError, RuntimeError, ValueError) as error:
            raise ClusterLost(f"the scheduler of the cluster is gone ({error})") from error
        self.accepted = {worker: threads for worker, threads in present.items() if worker in self.accepted}
        new = [worker for worker in present if worker not in self.accepted and worker not in self.refused]
        if new:
            answers = self.client.run(find_versions, workers=new, on_error="return")
            for worker, answer in answers.items():
                if not isinstance(answer, OSError):  # gone already, or to be asked again
                    self._judge(worker, present[worker], answer)
        self.used = self.used or bool(self.accepted)
        if self.refused and not self.used:
            flaws = [Flaw(worker, why, "install the same there") for worker, why in self.refused.items()]
            raise ModelError(flaws, "no worker of the cluster can carry out this sweep")

    def _judge(self, worker: str, threads: int, found: Any) -> None:
        if isinstance(found, dict):
            differ = {name: found.get(name) for name, ours in self.versions.items() if found.get(name) != ours}
            if not differ:
                self.accepted[worker] = threads
                return
            found = ", ".join(f"{name} {theirs} (here {self.versions[name]})" for name, theirs in differ.items())
        self.refused[worker] = f"it has {found}" if isinstance(found, str) else f"it cannot be asked ({found!r})"

    @property
    def free(self) -> int:
        """Tasks that can be submitted now."""
        return TASKS_A_THREAD * sum(self.accepted.values()) - len(self.pending)

    def submit(self, runs: list[int]) -> None:
        workers = frozenset(self.accepted)
        where: dict[str, Any] = {"workers": [*workers], "allow_other_workers": False, "pure": False}
        future = self.client.submit(self.task, self.content, self.equations, runs, **where)
        self.pending[future.key] = future, workers, runs
        future.add_done_callback(self.done.put)

    def receive(self, timeout: float) -> tuple[list[SweepRow], list[int]]:
        """Runs that are finished, and those that have to be submitted again."""
        try:
            future = self.done.get(timeout=timeout)
        except queue.Empty:
            # Runs that only workers may carry out which are gone, all of them.
            lost = [key for key, (_, workers, _) in self.pending.items() if not workers & self.accepted.keys()]
            abandoned = [self.pending.pop(key) for key in lost]
            self.client.cancel([future for future, *_ in abandoned])
            return [], [run for *_, runs in abandoned for run in runs]
        *_, runs = self.pending.pop(future.key, (future, frozenset(), []))
        if not runs or future.status in ("cancelled", "lost"):
            return [], runs
        try:
            return future.result(), []
        except KilledWorker as error:
            what = f"runs {runs[0]} to {runs[-1]} ended every worker that tried them"
            raise ClusterLost(f"{what}, as happens when memory runs out ({error})") from error

    def close(self) -> None:
        """Nobody wants what is still under way."""
        if self.pending and self.client.status == "running":
            self.client.cancel([future for future, *_ in self.pending.values()])


def run_on_cluster(
    plan: SweepPlan,
    prepare: Prepare,
    groups: Iterable[Sequence[int]],
    client: Any,
    keep: Callable[[SweepRow], None],
    report: Callable[[Cluster], None],
) -> None:
    """Every run once on the workers of a client; `keep` is called with each, `report` now and then."""
    if not isinstance(client, Client) or client.asynchronous:
        what = f"must be a distributed.Client that waits for its answers, is {client!r}"
        refuse("client", what, "give Client(ADDRESS), without asynchronous", "sweep")
    plan = plan.without_inputs()
    cluster = Cluster(client, cloudpickle.dumps((plan, prepare)), hash_equations(plan))
    waiting = [list(reversed(group)) for group in groups][::-1]
    spent, count = 0.0, 0
    try:
        while waiting or cluster.pending:
            if time.monotonic() - cluster.looked > LOOK:
                cluster.look()
                report(cluster)
            size = max(1, min(LARGEST_TASK, int(TASK_SECONDS * count / spent))) if spent else 1
            for _ in range(cluster.free):
                if waiting:
                    # The next runs, of one group: they share native code.
                    runs = [waiting[-1].pop() for _ in range(min(size, len(waiting[-1])))]
                    if not waiting[-1]:
                        waiting.pop()
                    cluster.submit(runs)
            finished, again = cluster.receive(LOOK)
            if again:
                waiting.append(again[::-1])
            for row in finished:
                keep(row)
            count, spent = count + len(finished), spent + sum(row.wall_time for row in finished)
    finally:
        cluster.close()
    report(cluster)
