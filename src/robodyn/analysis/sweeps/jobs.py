"""Job of a sweep: what is done in one process, in its threads, whoever hands out the runs?"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
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
        many: the same where several runs may be under way at once, in threads and lanes; a user's function may keep
            something between its calls.
    """

    def __init__(self, plan: SweepPlan, prepare: Prepare) -> None:
        self.plan, self.simulate = plan, prepare(plan)
        self.many = self.simulate if isinstance(self.simulate, Nonlinear) and not plan.in_python else None
        self.turn = nullcontext() if self.many else threading.Lock()
        if isinstance(self.simulate, Nonlinear):
            self.simulate.columns = {name: plan.inputs[:, k] for k, name in enumerate(plan.names)}

    def __call__(self, numbers: Sequence[int]) -> list[Finished]:
        with self.turn:
            begun = time.perf_counter()
            changes = [self.plan.changes(number) for number in numbers]
            tracks = self.many.run(changes) if self.many else [self.simulate(one) for one in changes]
            elapsed = (time.perf_counter() - begun) / len(tracks)
        pairs = zip(numbers, tracks, strict=True)
        return [finish_run(self.plan, number, track, elapsed) for number, track in pairs]

    def choose(self, left: int, threads: int) -> int:
        """How many of the runs that are left a thread had best be given at once."""
        return self.many.choose(left, threads) if self.many else 1

    def stop_with(self, stopped: threading.Event) -> None:
        """End runs under way where something else has ended; those of a user's function go on to their end."""
        if isinstance(self.simulate, Nonlinear):
            self.simulate.is_stopped = stopped.is_set


def run_in_threads(
    job: Job, numbers: Sequence[int], count: int, keep: Callable[[Finished], None], report: Callable[[], None]
) -> None:
    """Every run once; `keep` is called with each by one thread at a time, `report` now and then by this one."""
    if count == 1 or job.many is None:
        left = list(reversed(numbers))
        while left:
            for done in job(take(left, job.choose(len(left), 1))):
                keep(done)
            report()
        return
    stopped = threading.Event()
    job.stop_with(stopped)
    left, lock = list(reversed(numbers)), threading.Lock()
    with ThreadPoolExecutor(count) as pool:
        try:
            threads = [pool.submit(_work, job, left, count, lock, stopped, keep) for _ in range(count)]
            while wait(threads, LOOK, FIRST_EXCEPTION).not_done and not any(map(_has_failed, threads)):
                report()
        finally:
            stopped.set()
    for thread in threads:
        thread.result()
    report()


def _has_failed(thread: Any) -> bool:
    return bool(thread.done() and thread.exception())


def take(left: list[int], count: int) -> list[int]:
    """The next runs; the last ones come first in the list."""
    return [left.pop() for _ in range(min(count, len(left)))]


def _work(
    job: Job,
    left: list[int],
    threads: int,
    lock: threading.Lock,
    stopped: threading.Event,
    keep: Callable[[Finished], None],
) -> None:
    while not stopped.is_set():
        # Compiling for lanes, where that pays, is not to keep the other threads from keeping what they have.
        count = job.choose(len(left), threads)
        with lock:
            some = take(left, count)
        if not some:
            return
        found = job(some)
        with lock:
            for done in found:
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
