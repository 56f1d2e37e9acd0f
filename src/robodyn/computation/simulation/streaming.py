"""Streaming of rows: how is a run recorded that is longer than memory? Rows leave the engine while it goes on.

They are written to the run's file, block by block; or those of the last seconds are kept, the others forgotten. What is
said of a run that went to its file (checks, doubts, its outcome) is said by an excerpt of its rows: the largest of each
signal, the first that is not a number, both ends, and those about the probes between them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base import Array
from robodyn.computation.engine import Trajectory
from robodyn.computation.engine.trajectory import ProbeRows
from robodyn.computation.results import Outcome, OutcomeKind, Run
from robodyn.computation.results.rows import StoredRows, block_size
from robodyn.computation.results.store import RunWriter

HELD_NUMBERS = 2**21
"""Numbers in rows that are held in memory before there is a file, own choice: most runs have fewer."""
ABOUT = 7
"""Rows on either side of a probe: reading there asks for fewer."""


class RowStream:
    """The rows of one run as they come, [t, y, knot].

    Args:
        begin: the file, made once there are more rows than are held in memory; None: there is none.
        last: seconds at the end that are kept; None: all.

    Attributes:
        received: how many rows there were; parts: those in memory, the last of them.
        writer: of the file, once there is one; failure: why it takes no more.
        first, largest: the first row, and of each signal the row in which it is largest, or first not a number.
        windows: rows about probes; probes: the times of these.
    """

    def __init__(self, n_signals: int, begin: Callable[[], RunWriter] | None, last: float | None) -> None:
        self.begin, self.last, self.block = begin, last, block_size(n_signals)
        self.parts, self.received = list[Array](), 0
        self.coming = np.zeros(0)
        self.writer: RunWriter | None = None
        self.failure: OSError | None = None
        self.first, self.largest = np.zeros((0, n_signals + 2)), np.zeros((n_signals, n_signals + 2))
        self.windows: list[Array] = []
        self.probes: list[float] = []

    def take(self, rows: Array, probes: Array) -> bool:
        """Keep some rows; whether there is room for them."""
        # Ctrl-C may come at any call: there is none between these two.
        count = len(rows)
        self.parts += [rows]
        self.received += count
        if self.last is not None:
            while len(self.parts) > 1 and self.parts[1][0, 0] <= rows[-1, 0] - self.last:
                del self.parts[0]
            return True
        self.coming = np.concatenate([self.coming, probes])
        if self.received * rows.shape[1] < HELD_NUMBERS and self.writer is None:
            return True
        return self._write(self.block)

    def finish(self, trajectory: Trajectory, drained: int) -> tuple[Trajectory, StoredRows | None]:
        """What there is of a run that has ended: all rows, or an excerpt and the others as they are in the file.

        Args:
            drained: rows that the trajectory has not; it has others twice where Ctrl-C came as they were taken.
        """
        if not self.parts and self.writer is None and self.last is None:
            return trajectory, None
        tail = np.column_stack([trajectory.time, trajectory.y, trajectory.knots])[self.received - drained :]
        if self.writer is None:
            rows = np.concatenate([*self.parts, tail])
            self.parts.clear()
            if self.last is not None:
                first = int(np.searchsorted(rows[:, 0], trajectory.at_time - self.last, side="right")) - 1
                rows = rows[max(first, 0) :]
            return _with_rows(trajectory, rows), None
        self.parts.append(tail)
        self.received += len(tail)
        self._write(1)
        # Rows about probes are one behind the other: none may stand there twice.
        close = np.concatenate([*self.windows, tail])
        single = np.concatenate([self.first, self.largest])
        rows = np.concatenate([single[~np.isin(single[:, 0], close[:, 0])], close])
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        read = np.isin(trajectory.probes.time, self.probes)
        probes = ProbeRows(*(part[read] for part in trajectory.probes))
        stored = self.writer.rows()
        return _with_rows(trajectory, rows)._replace(probes=probes, n_rows=len(stored)), stored

    def _write(self, least: int) -> bool:
        """Write what waits, a block after the other, until less than so many rows are left."""
        if self.begin is None or self.failure is not None:
            return self.failure is None
        try:
            while (left := self.received - self._count_written()) >= least:
                self.writer = self.writer or self.begin()
                rows = np.concatenate(self.parts)[-left:]
                block, self.parts = rows[: self.block], [rows]
                ready = int(np.searchsorted(self.coming, block[-1, 0]))
                self._excerpt(block, self.coming[:ready])
                self.coming = self.coming[ready:]
                self.writer.add(block[:, 0], block[:, 1:-1], block[:, -1] > 0)
                self.parts = [rows[self.block :].copy()]
        except OSError as error:
            self.failure = error
        return self.failure is None

    def _count_written(self) -> int:
        return sum(block.n_rows for block in self.writer.blocks) if self.writer else 0

    def _excerpt(self, rows: Array, probes: Array) -> None:
        """Note what is to be said of these rows later. Rows beside which others are missing are knots."""
        if not len(self.first):
            self.first = _isolated(rows[:1])
            self.largest[:] = self.first[0]
        sizes = np.abs(rows[:, 1:-1])
        # What is not a number counts as the largest, and is found first.
        worst = sizes.argmax(axis=0)
        for k in np.flatnonzero(~(sizes.max(axis=0, initial=0.0) <= np.abs(self.largest[:, 1:-1].diagonal()))).tolist():
            if np.isfinite(self.largest[k, 1 + k]):
                self.largest[k] = _isolated(rows[[worst[k]]])
        free, places = 0, np.searchsorted(rows[:, 0], probes, side="right")
        for probe, place in zip(probes.tolist(), places.tolist(), strict=True):
            # Those at the edges, and those close to the one before, are left out.
            if free + ABOUT <= place <= len(rows) - ABOUT:
                free = place + ABOUT
                self.windows.append(_isolated(rows[place - ABOUT : free], [0, -1]))
                self.probes.append(probe)


def _isolated(rows: Array, which: Any = slice(None)) -> Array:
    """Rows of which some are knots."""
    rows = rows.copy()
    rows[which, -1] = 1.0
    return rows


def _with_rows(trajectory: Trajectory, rows: Array) -> Trajectory:
    return trajectory._replace(time=rows[:, 0].copy(), y=rows[:, 1:-1].copy(), knots=rows[:, -1] > 0)


def keep_run(run: Run, stream: RowStream, path: str | Path, tolerance: float) -> Run:
    """The run as it stands in its file: a disk that is full is its outcome, and what fits there is kept.

    Raises:
        OSError: where nothing fits.
    """
    if stream.writer is None:
        with RunWriter(path, len(run), tolerance) as writer:
            writer.add_rows(run)
            certified = writer.certify(run)
            writer.finish(certified)
            return certified
    writer = stream.writer
    while True:
        rows = writer.rows()
        outcome = run.outcome
        if stream.failure is not None:
            until, why = rows.blocks[-1].end if rows.blocks else 0.0, stream.failure.strerror
            sentence = f"{path} takes no more ({why}): make room; the rows until {until:.6g} s are kept"
            outcome = Outcome(OutcomeKind.RECORD_FULL, sentence, outcome.time)
        certified = writer.certify(run).judged(stored=rows, outcome=outcome)
        try:
            writer.finish(certified)
            return certified
        except OSError as error:
            if not writer.blocks:
                raise
            # The last rows make room for what is to be said of the others.
            stream.failure = stream.failure or error
            writer.drop()
