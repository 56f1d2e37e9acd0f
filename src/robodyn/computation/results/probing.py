"""Interpolation error by probes: how good is reading a run between its rows? Known solutions at times without a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robodyn.base.records import dataclass
from robodyn.base.signals import SignalInfo

from .between import LEAST_ROWS, MOST_ROWS, cubics, find_windows, polynomials
from .signal import Floats

if TYPE_CHECKING:
    from .run import Run

UNIT_PART = 0.02
"""Part of the largest signal of a unit that counts as size of the others: some are nothing but errors of the solution.
Numbers without a unit are taken to be about 1. Rows are chosen by the same measure, see pieces.c."""
JUMP_PART = 1e-6
"""Distance of rows, as part of the whole run, at which they close in on a jump."""
ROUNDING = 1e-9
"""Size in any unit of what is nothing but rounding; this project's own choice. Of a rate it is what changes its signal
by no more than that in the whole run: the acceleration of a locked joint is rounding of the forces that lock it."""
LONG = 256
"""Rows of a record of which only those about the probes are looked at."""
SOLVER_PART = 4.0
"""Interpolation need not be better than this times the error of a step."""


@dataclass(frozen=True, eq=False)
class Probes:
    """Signals of the solution at a few times between rows.

    Args:
        time: [s], (k,). values: of the signals, (k, n_signals).
        errors: what the estimated error of the step makes of the signals, (k, n_signals); 0 for fixed steps.
    """

    time: Floats
    values: Floats
    errors: Floats


class Rows(NamedTuple):
    """What of a run says how good reading it between its rows is."""

    time: Floats
    values: Floats
    infos: Sequence[SignalInfo]
    knots: NDArray[np.bool_] | None
    probes: Probes | None


def interpolation_errors(run: Run | Rows, share: float = 1.0) -> dict[str, float]:
    """Largest error of each signal between rows, at the probes of the run, relative to the signal's size.

        error = |interpolated - probe| - 4 * error of the step,  not below 0
        size = largest magnitude of the signal + 0.02 * largest magnitude of any signal of its unit + rounding

    With a share below 1 it is what that part of the probes stay below: a probe may lie where a signal jumps, which no
    row can show. Signals that hold are left out; a run without probes (measured data) has none.
    """
    if run.probes is None or run.time.size == 0:
        return {}
    # A run that failed may end before its last probe; rows that close in on a jump leave nothing between them.
    there = (run.probes.time >= run.time[0]) & (run.probes.time < run.time[-1])
    row = run.time.searchsorted(run.probes.time[there], side="right")
    there[there] = run.time[row] - run.time[row - 1] > JUMP_PART * (run.time[-1] - run.time[0])
    times, kept = run.probes.time[there], [k for k, info in enumerate(run.infos) if info.kind != "held"]
    apart = np.abs(_read(run, kept, times) - run.probes.values[there][:, kept])
    excess = apart - SOLVER_PART * run.probes.errors[there][:, kept]
    # What is not a number has no size: such probes say nothing.
    excess = np.where(excess > 0.0, excess, 0.0)
    if not len(excess):
        excess = np.zeros((1, len(kept)))
    # The quantile "lower", which is one of the values.
    place = int((len(excess) - 1) * share)
    worst = np.partition(excess, place, axis=0)[place] / _sizes(run)[kept]
    return {run.infos[k].name: float(value) for k, value in zip(kept, worst, strict=True)}


def _read(run: Run | Rows, kept: list[int], times: Floats) -> Floats:
    """Signals of some columns at some times; of a long record only the rows about these are looked at."""
    row = run.time.searchsorted(times, side="right") - 1
    first, count = find_windows(run.time, run.knots, np.minimum(row, run.time.size - 2))
    time, values = run.time, run.values
    if time.size > LONG:
        rows = np.unique(np.concatenate([first + k for k in range(MOST_ROWS)] + [row, row + 1]))
        rows = rows[rows < run.time.size]
        time, values = time[rows], values[rows]
        first, row = rows.searchsorted(first), rows.searchsorted(row)
    result = polynomials(time, values[:, kept], first, count, times)
    place = {info.name: k for k, info in enumerate(run.infos)}
    rated = [k for k, column in enumerate(kept) if run.infos[column].rate is not None]
    few = (count < LEAST_ROWS).nonzero()[0]
    if rated and few.size:
        own = [kept[k] for k in rated]
        rates = values[:, [place[str(run.infos[column].rate)] for column in own]]
        result[np.ix_(few, np.array(rated))] = cubics(time, values[:, own], rates, row[few], times[few])
    return result


def _sizes(run: Run | Rows) -> Floats:
    own = np.fmax(np.fmax.reduce(run.values, axis=0, initial=0.0), -np.fmin.reduce(run.values, axis=0, initial=0.0))
    units = {"": 1.0}
    for info, size in zip(run.infos, own, strict=True):
        if info.kind != "held":
            units[info.unit] = max(units.get(info.unit, 0.0), float(size))
    return _roundings(run) + own + UNIT_PART * np.array([units.get(info.unit, 0.0) for info in run.infos])


def _roundings(run: Run | Rows) -> Floats:
    """1e-9 of each signal, 1e-9/T of a rate and 1e-9/T^2 of a rate's rate, T the duration between 1 ms and 1 s."""
    brief = min(max(float(run.time[-1] - run.time[0]), 1e-3), 1.0)
    rates = {info.rate for info in run.infos}
    second = {info.rate for info in run.infos if info.name in rates}
    return np.array([ROUNDING / brief ** ((info.name in rates) + (info.name in second)) for info in run.infos])
