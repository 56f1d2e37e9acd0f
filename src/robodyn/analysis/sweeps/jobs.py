"""Job of a sweep: what is done in one process, in its threads, whoever hands out the runs?"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import nullcontext
from typing import Any

import numpy as np

from robodyn.analysis.sweeps.curves import resample, resample_along
from robodyn.analysis.sweeps.nonlinear import Nonlinear
from robodyn.analysis.sweeps.parts import Finished
from robodyn.analysis.sweeps.plan import SweepPlan
from robodyn.analysis.sweeps.track import Prepare, Track
from robodyn.results.signal import Floats, Kind, Signal

LOOK = 0.05
"""Seconds between two looks at how far the threads are."""


class Job:
    """Simulates runs of a plan and says what is kept of each.

    Attributes:
        threaded: whether several threads may do so at once; a user's function may keep something between its calls.
    """

    def __init__(self, plan: SweepPlan, prepare: Prepare) -> None:
        self.plan, self.simulate = plan, prepare(plan)
        self.threaded = isinstance(self.simulate, Nonlinear) and not plan.in_python
        self.turn = nullcontext() if self.threaded else threading.Lock()

    def __call__(self, number: int) -> Finished:
        with self.turn:
            begun = time.perf_counter()
            track = self.simulate(self.plan.changes(number))
            return finish_run(self.plan, number, track, time.perf_counter() - begun)

    def stop_with(self, stopped: threading.Event) -> None:
        """End runs under way where something else has ended; those of a user's function go on to their end."""
        if isinstance(self.simulate, Nonlinear):
            self.simulate.is_stopped = stopped.is_set


def run_in_threads(
    job: Job, numbers: Sequence[int], count: int, keep: Callable[[Finished], None], report: Callable[[], None]
) -> None:
    """Every run once; `keep` is called with each by one thread at a time, `report` now and then by this one."""
    if count == 1 or not job.threaded:
        for number in numbers:
            keep(job(number))
            report()
        return
    stopped = threading.Event()
    job.stop_with(stopped)
    left, lock = iter(numbers), threading.Lock()
    with ThreadPoolExecutor(count) as pool:
        try:
            threads = [pool.submit(_work, job, left, lock, stopped, keep) for _ in range(count)]
            while wait(threads, LOOK, FIRST_EXCEPTION).not_done and not any(map(_has_failed, threads)):
                report()
        finally:
            stopped.set()
    for thread in threads:
        thread.result()
    report()


def _has_failed(thread: Any) -> bool:
    return bool(thread.done() and thread.exception())


def _work(
    job: Job, left: Iterator[int], lock: threading.Lock, stopped: threading.Event, keep: Callable[[Finished], None]
) -> None:
    while not stopped.is_set():
        with lock:
            number = next(left, None)
        if number is None:
            return
        done = job(number)
        with lock:
            keep(done)


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
