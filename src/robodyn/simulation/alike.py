"""Runs that differ in parameters alone: how are they begun, carried out and judged without an object for each?

The engine begins a whole slice of runs, judges them and takes their measures. Python looks only at those that did not
reach their end, or for which some check does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from robodyn.engine import Integration, Trajectory
from robodyn.engine.slices import Slice
from robodyn.model import Solver
from robodyn.results.signal import Floats
from robodyn.simulation.certificate import BETWEEN_LIMIT, BETWEEN_SHARE, HASTY_STEPS, plan_checks, row_reading
from robodyn.simulation.compiled import CompiledSystem
from robodyn.simulation.pool import RunPool
from robodyn.simulation.prepared import LARGE, PreparedRuns
from robodyn.simulation.starting import Start


class Judged(NamedTuple):
    """Runs as they ended: which of them kept all that they must, (n,), and the measures of these, (n, n_measures)."""

    runs: Sequence[Integration]
    sound: np.ndarray
    measures: np.ndarray

    def trajectory(self, k: int, probes: bool) -> Trajectory:
        """What run k has left; only until the next ones begin."""
        return self.runs[k].trajectory(probes)


class AlikeRuns:
    """The runs of one thread, in the same memory over and over.

    Args:
        values: of the parameters as described. measures: kind and column of the recorded signals.
        between: whether signals must be readable between rows.
    """

    def __init__(
        self,
        runs: PreparedRuns,
        start: Start,
        values: Floats,
        measures: Sequence[tuple[str, int]],
        between: bool,
    ) -> None:
        self.runs, self.start, self.values, self.between = runs, start, values, between
        self.slots: list[Integration] = []
        self.slice = self._make_slice(runs.compiled, runs.solver, measures)

    def _make_slice(self, compiled: CompiledSystem, solver: Solver, measures: Sequence[tuple[str, int]]) -> Slice:
        moves = any(guard.moves for guard in compiled.system.discrete.guards)
        hasty = None if solver.adaptive else int(HASTY_STEPS)
        start, checks = self.start, plan_checks(compiled, solver).table
        reading = row_reading(compiled) if self.between else None
        between = (reading, BETWEEN_SHARE, BETWEEN_LIMIT) if reading else None
        return Slice(self._slot(0), start.x, start.m, checks, hasty, moves, measures, between)

    def carry_out(
        self, pool: RunPool, count: int, columns: Mapping[int, Floats], is_stopped: Callable[[], bool]
    ) -> Judged:
        """So many runs.

        Args:
            columns: place of a parameter -> its values, one a run.
        """
        values = np.tile(self.values, (count, 1))
        for place, column in columns.items():
            values[:, place] = column
        runs, rows = [self._slot(k) for k in range(count)], self.runs.compiled.module.prepare_rows(values)
        for run, row in zip(runs, rows, strict=True):
            run.p[: len(row)] = row
        self.slice.begin(runs)
        pool.advance(runs, is_stopped)
        self.slots = [run for run in self.slots if _can_serve(run)]
        return Judged(runs, *self.slice.judge(runs))

    def release(self) -> None:
        """Leave the memory to runs of other calls."""
        for run in self.slots:
            self.runs.give_back(run)
        self.slots = []

    def _slot(self, k: int) -> Integration:
        """Memory for run k of a slice."""
        while len(self.slots) <= k:
            compiled, start = self.runs.compiled, self.start
            p = compiled.module.prepare(self.values)
            setup = self.runs.set_up(p, compiled.described_numbers, start)
            self.slots.append(self.runs.begin(setup, p, start))
        return self.slots[k]


def _can_serve(run: Integration) -> bool:
    """Whether another run can have its memory: none whose model has changed, or which takes too much of it."""
    return run.derivatives is None and run.run.row_capacity * (run.problem.n_y + 2) < LARGE
