"""Data sheet of measurements: rates, gaps, jitter, and of each signal range, noise, quantisation and saturation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robodyn.analysis.measurement.signal_quality import SignalQuality, assess_signal
from robodyn.computation.results import Run
from robodyn.computation.results.signal import Floats

if TYPE_CHECKING:
    from robodyn.analysis.measurement.synchronisation import ClockOffset

GAP = 1.5
"""Median steps beyond which rows are missing."""


@dataclass(frozen=True)
class Gap:
    """Missing rows: after which row, when, how long [s], how many."""

    row: int
    time: float
    length: float
    missing: int


@dataclass(frozen=True)
class ClockQuality:
    """Times of rows.

    Attributes:
        rate: [Hz], by the median step; jitter: standard deviation of the steps, gaps left out, and the largest [s].
        repeated: rows at the time of the one before.
    """

    rows: int
    start: float
    end: float
    rate: float
    jitter: float
    worst_jitter: float
    gaps: tuple[Gap, ...]
    repeated: int


@dataclass(frozen=True)
class DataSheet:
    """What is in a file of measurements."""

    source: str
    clock: ClockQuality
    units: dict[str, str]
    signals: dict[str, SignalQuality]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class DataSheets:
    """A sheet for each clock of a file, and how another recording's clock is set against the first."""

    JSON = """
    clocks: rate, jitter, gaps, and a sheet for each signal
    offset?
    """
    clocks: tuple[DataSheet, ...]
    offset: ClockOffset | None = None


def make_data_sheet(data: Run) -> DataSheet:
    """The sheet of measured or simulated signals."""
    signals = {name: assess_signal(data[name].values) for name in data.names}
    units = {info.name: info.unit for info in data.infos}
    source = str(data.provenance.description.get("file", data.provenance.scenario))
    return DataSheet(source, assess_clock(data.time), units, signals, data.warnings)


def assess_clock(time: Floats) -> ClockQuality:
    """Rate, jitter and gaps of times [s]."""
    steps = np.diff(time)
    rising = steps[steps > 0]
    if not rising.size:
        return ClockQuality(time.size, float(time[0]), float(time[-1]), 0.0, 0.0, 0.0, (), int(np.sum(steps == 0)))
    usual = float(np.median(rising))
    near = rising[rising < GAP * usual] - usual
    gaps = tuple(
        Gap(int(k), float(time[k]), float(steps[k]), int(round(steps[k] / usual)) - 1)
        for k in np.flatnonzero(steps >= GAP * usual)
    )
    start, end = float(time[0]), float(time[-1])
    worst = float(np.abs(near).max()) if near.size else 0.0
    # Rates of an even clock are known better than one step is.
    mean = float(np.mean(rising[rising < GAP * usual]))
    return ClockQuality(time.size, start, end, 1 / mean, float(near.std()), worst, gaps, int(np.sum(steps == 0)))
