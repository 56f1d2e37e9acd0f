"""Task of a cluster: what does a worker do with the pickled plan of a sweep?"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache

import cloudpickle

from robodyn.analysis.sweeps.identity import hash_equations
from robodyn.analysis.sweeps.parts import SweepRow
from robodyn.analysis.sweeps.runs import Job, SweepWorker
from robodyn.base.errors import Flaw, ModelError
from robodyn.base.waiting import quietly

_making = threading.Lock()


def make_task() -> Callable[..., list[SweepRow]]:
    """What a worker does, as a function that is pickled by value: the scheduler reads it without having robodyn."""

    def run(content: bytes, equations: str, runs: Sequence[int]) -> list[SweepRow]:
        from robodyn.analysis.sweeps.cluster_task import run_task

        return run_task(content, equations, runs)

    return run


def run_task(content: bytes, equations: str, runs: Sequence[int]) -> list[SweepRow]:
    """Carry out some runs of a pickled plan in this process."""
    with quietly(), _making:
        job = _make_job(content, equations)
    left, rows = runs, list[SweepRow]()
    worker = SweepWorker(job, rows.append)
    while left:
        count = worker.choose(job.plan.n_runs, 1)
        worker.work(left[:count])
        left = left[count:]
    return rows


@lru_cache(maxsize=1)
def _make_job(content: bytes, equations: str) -> Job:
    try:
        plan, prepare = cloudpickle.loads(content)
    except ImportError as error:
        flaw = Flaw(f"{error.name}", "is not installed there", "install what your laws need where the workers are")
        raise ModelError([flaw], "a worker") from error
    if hash_equations(plan) != equations:
        what = "the equations of the scenario are others there: a law has been edited in one of both places"
        raise ModelError([Flaw(sys.executable, what, "install the same modules of yours there")], "a worker")
    return Job(plan, prepare)
