"""Worker processes: how do several share the runs of a sweep, and end when they should?

Where the system can, processes are copies of this one made after the native code was: they start at once and need no
main module to import. A process that has lost its parent keeps nothing and ends.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from robodyn.waiting import quietly

CHUNK_SECONDS = 0.25
"""Work handed to a process at once."""
LARGEST_CHUNK = 1000
POLL_SECONDS = 0.5
START_METHOD = "fork" if sys.platform == "linux" else "spawn"

Work = Callable[[Callable[[], bool]], Callable[[int], float]]
"""Called in each process with a function that says whether it is still wanted: -> run number -> simulated time [s]."""


class WorkerLost(RuntimeError):
    """A process of a sweep failed or ended by itself; what it had finished is kept."""


@dataclass
class Worker:
    """A process, and how many batches of runs it is at and gets at once."""

    process: Any
    connection: Connection
    chunk: int = 1
    busy: int = 0
    since: float = 0.0

    def hand(self, batches: Sequence[Sequence[int]]) -> None:
        self.busy, self.since = len(batches), time.perf_counter()
        try:
            self.connection.send([run for batch in batches for run in batch])
        except OSError as error:
            raise self.lost() from error

    def lost(self) -> WorkerLost:
        """How the process ended, whichever end of its pipe was the first to know."""
        self.process.join(1.0)
        code = self.process.exitcode
        if code is None or code >= 0:
            return WorkerLost(f"a process of the sweep ended by itself (exit code {code})")
        name = signal.Signals(-code).name
        cause = ", as systems do where memory runs out: take fewer workers" if name == "SIGKILL" else ""
        return WorkerLost(f"a process of the sweep was ended from outside or crashed ({name}{cause})")

    def learn(self) -> None:
        """Choose the next chunk by how long the last one took."""
        elapsed = max(time.perf_counter() - self.since, 1e-6)
        wanted = self.busy * min(4.0, CHUNK_SECONDS / elapsed)
        self.chunk, self.busy = min(max(int(wanted), 1), LARGEST_CHUNK), 0


def share(
    work: Work,
    batches: Sequence[Sequence[int]],
    count: int,
    report: Callable[[int, float], None],
    start_method: str = START_METHOD,
) -> None:
    """Do all runs in `count` processes; `report` is called with how many are done and their simulated time [s].

    Args:
        batches: runs that one process is to do one after the other.
    """
    waiting = list(reversed(batches))
    with _started(work, count, start_method) as workers:
        for worker in workers:
            _hand_next(worker, waiting)
        while any(worker.busy for worker in workers):
            for worker in _answering(workers):
                report(*_receive(worker))
                worker.learn()
                _hand_next(worker, waiting)


def _hand_next(worker: Worker, waiting: list[Sequence[int]]) -> None:
    if waiting:
        worker.hand([waiting.pop() for _ in range(min(worker.chunk, len(waiting)))])


def _answering(workers: Sequence[Worker]) -> Iterator[Worker]:
    """Workers that are done with their chunk, or that ended."""
    busy = [worker for worker in workers if worker.busy]
    ready = wait([place for worker in busy for place in (worker.connection, worker.process.sentinel)], timeout=1.0)
    return (worker for worker in busy if worker.connection in ready or worker.process.sentinel in ready)


def _receive(worker: Worker) -> tuple[int, float]:
    try:
        if worker.connection.poll():
            answer = worker.connection.recv()
            if isinstance(answer, str):
                raise WorkerLost(f"a process of the sweep failed:\n{answer}")
            return answer
    except (EOFError, OSError) as error:
        raise worker.lost() from error
    raise worker.lost()


@contextmanager
def _started(work: Work, count: int, start_method: str) -> Iterator[list[Worker]]:
    """Processes, ended with the block whatever happens in it."""
    context = multiprocessing.get_context(start_method)
    workers = []
    try:
        for _ in range(count):
            near, far = context.Pipe()
            process = context.Process(target=serve, args=(work, far, os.getpid()), daemon=True)  # type: ignore[attr-defined]
            process.start()
            far.close()
            workers.append(Worker(process, near))
        yield workers
    finally:
        for worker in workers:
            worker.process.terminate()
        for worker in workers:
            worker.process.join()
            worker.connection.close()


def serve(work: Work, connection: Connection, parent: int) -> None:
    """A process' life: chunks of runs until nobody wants them any more. Interrupts are the parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def is_wanted() -> bool:
        return os.getppid() == parent

    try:
        with quietly():
            run = work(is_wanted)
            while is_wanted():
                if connection.poll(POLL_SECONDS):
                    chunk = connection.recv()
                    connection.send((len(chunk), sum([run(number) for number in chunk])))
    except (EOFError, ConnectionError):
        return
    except Exception:  # noqa: BLE001  whatever went wrong is reported where the sweep was asked for
        connection.send(traceback.format_exc())
