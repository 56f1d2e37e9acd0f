"""How good is reading a run between its rows? Judged by probes: what the solution was at a few times without a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .signal import Floats

if TYPE_CHECKING:
    from .run import Run

UNIT_PART = 0.02
"""Part of the largest signal of a unit that counts as size of the others: some are nothing but errors of the solution.
Numbers without a unit are taken to be about 1. Rows are chosen by the same measure, see pieces.c."""
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


def interpolation_errors(run: Run) -> dict[str, float]:
    """Largest error of each signal between rows, at the probes of the run, relative to the signal's size.

        error = |interpolated - probe| - 4 * error of the step,  not below 0
        size = largest magnitude of the signal + 0.02 * largest magnitude of any signal of its unit

    Signals that hold are left out; a run without probes (measured data) has none.
    """
    if run.probes is None or run.time.size == 0:
        return {}
    # A run that failed may end before its last probe.
    there = (run.probes.time >= run.time[0]) & (run.probes.time <= run.time[-1])
    times, sizes = run.probes.time[there], _sizes(run)
    found = {}
    for k, info in enumerate(run.infos):
        if info.kind != "held":
            apart = np.abs(run[info.name](times) - run.probes.values[there, k])
            # What is not a number has no size: such probes tell nothing.
            worst = float(np.nanmax(np.append(apart - SOLVER_PART * run.probes.errors[there, k], 0.0)))
            found[info.name] = float(worst / sizes[k]) if sizes[k] > 0 else worst
    return found


def _sizes(run: Run) -> Floats:
    own = np.nanmax(np.append(np.abs(run.values), np.zeros((1, len(run))), axis=0), axis=0)
    units = {"": 1.0}
    for info, size in zip(run.infos, own, strict=True):
        if info.kind != "held":
            units[info.unit] = max(units.get(info.unit, 0.0), float(size))
    return own + UNIT_PART * np.array([units.get(info.unit, 0.0) for info in run.infos])
