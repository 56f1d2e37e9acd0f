"""Judging of runs: how does the engine check what a run has watched, measure its signals and read between its rows?

Of one run, or of a slice of runs of one model that it begins and judges by one call each.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from robodyn.base import Array

from .binding import address_of, copied, fill, functions
from .integrate import Integration
from .problem import NO_LIMIT
from .trajectory import Trajectory

MEASURES = ("peak", "rms", "mean", "final", "max", "min", "time_of_peak")
"""Kinds of measures, in the engine's order."""


class CheckForm(IntEnum):
    """What kind of check it is, as in engine.h."""

    BALANCE = 0
    CLOSED = 1
    PASSIVE = 2
    INVARIANT = 3


class WatchedCheck(NamedTuple):
    """A check of what a run watches, as in engine.h: rows of what is watched, and the limit."""

    form: CheckForm
    row: int
    size: int
    relative: bool
    limit: float


class CheckTable:
    """Checks in the engine's own form."""

    def __init__(self, checks: Sequence[WatchedCheck]) -> None:
        self.count = len(checks)
        self.table = np.zeros((max(self.count, 1), 5), np.int64)
        for row, check in zip(self.table, checks, strict=False):
            row[:4] = check[:4]
            row.view(float)[4] = check.limit
        self.found = np.zeros((self.count, 3))

    def values(self, trajectory: Trajectory, duration: float, atol: float) -> list[list[float]]:
        """Value, limit and time of each check of a trajectory of so many simulated seconds."""
        extremes, results = np.ascontiguousarray(trajectory.extremes.T), np.empty((self.count, 3))
        numbers = duration, atol, trajectory.counters.largest_step
        arguments = address_of(self.table), self.count, address_of(extremes), extremes.shape[1]
        functions().check_watched(*arguments, *numbers, address_of(results))
        return results.tolist()


def take_measure(kind: str, time: Array, y: Array) -> float:
    """One number of a signal at some times, see MEASURES; peak is the largest magnitude.

    sqrt(integral y^2 dt / T) and integral y dt / T of values joined by straight lines; jumps are two rows at one time.
    """
    time, y = np.ascontiguousarray(time, float), np.ascontiguousarray(y, float)
    if not len(time) or time.shape != y.shape:
        raise ValueError(f"y: must be {len(time)} values, one a time, and at least one, has the shape {y.shape}")
    number: float = functions().take_measure(MEASURES.index(kind), len(time), address_of(time), address_of(y), 1)
    return number


class RowReading:
    """What of the outputs says how they are read between rows, (n_y,) each.

    Args:
        unit: number of each output's unit, 0 for none, negative for those that hold; rate: number of the output that is
            its rate, -1 for none; degree: how many times it is itself the rate of another.
    """

    def __init__(self, unit: list[int], rate: list[int], degree: list[int]) -> None:
        self.tables = {
            name: np.array(table, np.int64) for name, table in (("unit", unit), ("rate", rate), ("degree", degree))
        }
        n = len(unit)
        strides = {"t_next": 1, "y_next": n, "knot_next": 1, "probe_next": 1 + 2 * n}
        self.structure = fill("Record", None, n_y=n, **self.tables, **strides)

    def errors(self, time: Array, y: Array, knots: Array, probes: Any, share: float) -> Array:
        """Error of each output between rows, as part of its size, that this share of the probes stays below; 0 for
        outputs that hold.

        Args:
            time, y, knots: of a trajectory; probes: times, outputs there, and what the error of the step makes of them.
        """
        table = np.column_stack(probes)
        arrays = {"t": time, "y": y, "knot": knots, "probes": table}
        contiguous = {name: np.ascontiguousarray(array, float) for name, array in arrays.items()}
        counts = {"n_rows": len(time), "n_probes": len(table)}
        record = copied(self.structure, **counts, **{name: address_of(array) for name, array in contiguous.items()})
        errors = np.zeros(len(self.tables["unit"]))
        if not functions().find_errors_between(ctypes.addressof(record), share, address_of(errors)):
            raise MemoryError("there is not enough memory to look between the rows")
        return errors


class Slice:
    """Runs that differ in their parameters alone.

    Args:
        run: any of them; x, m: where all begin.
        most_too_long: steps in a row that may be too long for what drives; None: any. events_count: whether runs with
            events are not judged here. measures: kind and output. between: how outputs are read between rows, share of
            the probes and limit of the errors that it is judged by.
    """

    def __init__(
        self,
        run: Integration,
        x: Array,
        m: Array,
        checks: CheckTable,
        most_too_long: int | None,
        events_count: bool,
        measures: Sequence[tuple[str, int]],
        between: tuple[RowReading, float, float] | None = None,
    ) -> None:
        problem = run.problem
        kinds = np.array([MEASURES.index(kind) for kind, _ in measures], np.int64)
        columns = np.array([column for _, column in measures], np.int64)
        tables = (problem.delay_times, problem.history_start, problem.breaks)
        delay, before, breaks = (np.array(table, float) for table in tables)
        arrays = {"x": np.array(x, float), "m": np.array(m, float), "delay": delay, "before": before, "breaks": breaks}
        arrays |= {"checks": checks.table, "found": checks.found.copy(), "kinds": kinds, "columns": columns}
        counts = {"n_breaks": len(breaks), "n_checks": checks.count, "n_measures": len(measures)}
        allowed = NO_LIMIT if most_too_long is None else most_too_long
        limits: dict[str, float] = {"most_too_long": allowed, "events_count": int(events_count)}
        if between is not None:
            reading, share, most = between
            limits |= {"reading": ctypes.addressof(reading.structure), "share": share, "most_between": most}
            arrays["errors"] = np.zeros(problem.n_y)
        self.structure = fill("Slice", None, **arrays, **counts, **limits)
        # The engine reads them as long as the structure is used.
        self.keeps: Any = arrays, between
        self.n_measures = len(measures)

    def begin(self, runs: Sequence[Integration]) -> None:
        """Let runs begin again, each with the parameters that it holds."""
        addresses = _addresses(runs)
        functions().slice_begin(ctypes.addressof(self.structure), address_of(addresses), len(runs))

    def judge(self, runs: Sequence[Integration]) -> tuple[Array, Array]:
        """Which of the runs reached their end with every check held (n,), and their measures (n, n_measures)."""
        addresses, sound = _addresses(runs), np.zeros(len(runs), np.int64)
        measures = np.full((len(runs), self.n_measures), np.nan)
        arguments = ctypes.addressof(self.structure), address_of(addresses), len(runs)
        functions().slice_judge(*arguments, address_of(sound), address_of(measures))
        return sound > 0, measures


def _addresses(runs: Sequence[Integration]) -> Array:
    return np.array([run.address for run in runs], np.int64)
