"""Data sheet of measurements: rates, gaps, jitter, and of each signal range, noise, quantisation and saturation."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from robodyn.analysis.measurement.signal_quality import SignalQuality, assess_signal
from robodyn.computation.results import Run
from robodyn.computation.results.signal import Floats

GAP = 1.5
"""Median steps beyond which rows are missing."""
SHOWN = 5
HEADINGS = f"{'signal':<32} {'least':>11} {'greatest':>11} {'deviation':>11} {'noise':>10} {'step':>10}  missing  unit"


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

    def as_plain(self) -> dict[str, Any]:
        """As plain dictionaries, lists and numbers, for JSON."""
        return asdict(self)


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


def describe_data_sheet(sheet: DataSheet) -> str:
    """The sheet as text."""
    clock = sheet.clock
    lines = [
        f"{sheet.source}: {clock.rows} rows from {_moment(clock.start)} s to {_moment(clock.end)} s",
        f"rate {clock.rate:.6g} Hz, jitter {clock.jitter:.2g} s (largest {clock.worst_jitter:.2g} s)",
        *_describe_gaps(clock),
        *(f"note: {note}" for note in sheet.notes),
        "",
        HEADINGS,
    ]
    for name, s in sheet.signals.items():
        numbers = f"{s.minimum:>11.5g} {s.maximum:>11.5g} {s.deviation:>11.5g} {s.noise:>10.3g} {s.quantum:>10.3g}"
        lines.append(f"{name:<32} {numbers} {s.missing:>8}  {sheet.units[name]}".rstrip())
    warnings = [sentence for name, s in sheet.signals.items() for sentence in _warnings(name, s, sheet.units[name])]
    return "\n".join([*lines, *([""] if warnings else []), *(f"warning: {sentence}" for sentence in warnings)])


def _moment(time: float) -> str:
    """A time; one since 1970 to the millisecond, where six digits would be days."""
    return f"{time:.3f}" if abs(time) >= 1e6 else f"{time:.6g}"


def _describe_gaps(clock: ClockQuality) -> list[str]:
    lines = []
    if clock.gaps:
        lost = sum(gap.missing for gap in clock.gaps)
        shown = "; ".join(f"{g.length:.4g} s after row {g.row + 1} at {_moment(g.time)} s" for g in clock.gaps[:SHOWN])
        lines.append(f"warning: {len(clock.gaps)} gaps, about {lost} rows missing: {shown}")
    if clock.repeated:
        lines.append(f"warning: {clock.repeated} rows have the time of the row before")
    return lines


def _warnings(name: str, s: SignalQuality, unit: str) -> list[str]:
    found = []
    if s.deviation == 0:
        found.append(f"{name} is constant")
    if s.saturated:
        worst = max(s.saturated, key=lambda stretch: stretch.count)
        total = sum(stretch.count for stretch in s.saturated)
        where = f"the longest stretch is rows {worst.start + 1} to {worst.end + 1} at {worst.value:.5g} {unit}".rstrip()
        found.append(f"{name} stays at its limit in {total} rows (saturation, or rest): {where}")
    if s.spikes:
        rows = ", ".join(str(row + 1) for row in s.spikes[:SHOWN])
        found.append(f"{name} has {len(s.spikes)} spikes, at rows {rows}{' ...' if len(s.spikes) > SHOWN else ''}")
    return found
