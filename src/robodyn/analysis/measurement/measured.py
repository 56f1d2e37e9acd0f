"""Measured data as a run: signals of a file in SI, do they match those of a model, and how far is a run from them?"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from robodyn.analysis.measurement.data_sheet import assess_clock
from robodyn.base.errors import Flaw, FlawList, ModelError
from robodyn.base.units import same_quantity
from robodyn.computation.assembly import System
from robodyn.computation.results import Outcome, OutcomeKind, Provenance, Run, SignalInfo, Statistics
from robodyn.description.files.samples import DataMapping, Samples, read_mapping, read_samples
from robodyn.description.laws.recorded import AT_TICK, place_on_ticks
from robodyn.description.model import Scenario

SAME_RATE = 1e-3
"""Difference of two sample rates, by their ratio's next whole number, that is none."""


def read_measured(path: str | Path, mapping: DataMapping | str | Path | None = None) -> Run:
    """Measured signals of a file, named like the simulated ones, by a mapping or by the columns' own names.

    Args:
        path: CSV, Parquet, MCAP, ROS bag, .npz, .npy or .mat.
        mapping: what the columns mean, or the TOML file that says so.
    """
    path = Path(path)
    known = mapping if isinstance(mapping, DataMapping) or mapping is None else read_mapping(mapping)
    return as_run(read_samples(path, known), path)


def as_run(data: Samples, path: Path) -> Run:
    """Samples of a file as a run."""
    infos = [SignalInfo(name, unit) for name, unit in zip(data.names, data.units, strict=True)]
    for k, signal in enumerate(data.signals):
        infos[k] = replace(infos[k], kind="held" if signal.held else "continuous", rate=signal.rate)
    kept = [signal.name for signal in data.signals if signal.keep_saturated]
    return Run(
        data.time,
        data.values,
        tuple(infos),
        outcome=Outcome(OutcomeKind.FINISHED, f"measured data read from {path.name}", float(data.time[-1])),
        provenance=Provenance("measured", {"source": "measured", "file": path.name, "saturation_kept": kept}),
        statistics=Statistics(simulated_time=float(np.ptp(data.time))),
        warnings=data.notes,
    )


def without(data: Run, names: Collection[str]) -> Run:
    """The same data without some signals, and without what they say of rates."""
    kept = [k for k, name in enumerate(data.names) if name not in names]
    infos = tuple(replace(data.infos[k], rate=None) for k in kept)
    return Run(data.time, data.values[:, kept], infos, data.outcome, data.provenance, warnings=data.warnings)


def match_measured(data: Run, signals: dict[str, str]) -> None:
    """Refuse data that cannot be compared with a simulation: unknown signals, other units, times before its start.

    Args:
        signals: unit of every simulated signal.
    """
    flaws = FlawList()
    flaws.add_unknown(data.names, signals, "there is no such signal")
    for info in data.infos:
        if info.unit and signals.get(info.name) and not same_quantity(info.unit, signals[info.name]):
            flaws.add(info.name, f"is given in {info.unit}, the signal is in {signals[info.name]}")
        if not np.isfinite(data[info.name].values).any():
            flaws.add(info.name, "has no sample")
    if not data.infos:
        flaws.add("", "holds no signal")
    if data.time.size and data.time[0] < 0:
        flaws.add("time", f"begins at {data.time[0]:g} s, before the simulation does", "count it from the start")
    for row in np.flatnonzero(np.diff(data.time) <= 0)[:10] + 1:
        flaws.add("time", f"{data.time[row]:g} s is there twice, at row {row + 1} again", "leave one of these rows out")
    flaws.raise_if_any("measured data")


def at_ticks(system: System, data: Run) -> Run:
    """The data with rows that are next to a tick of the model's sampled blocks, or to the start, at it.

    A row that a logger stamps some nanoseconds before a tick would meet the sample before.
    """
    time, base = data.time.copy(), system.discrete.base_period
    if base is not None:
        time = place_on_ticks(time, base)
    if time.size > 1 and abs(time[0]) <= AT_TICK * (time[1] - time[0]):
        time[0] = 0.0
    return replace(data, time=time)


def last_as_long(scenario: Scenario, data: Run) -> Scenario:
    """The scenario for as long as data last, recorded as a run asks for."""
    if not data.time[-1] > 0:
        raise ModelError([Flaw("time", "has nothing after the start")], "measured data")
    recording = replace(scenario.recording, times=None, rate=None, refine=None)
    return replace(scenario, duration=float(data.time[-1]), recording=recording)


def describe_rates(scenario: Scenario, data: Run) -> list[str]:
    """Sentences on a model whose samples do not fall on those of the data."""
    rate = assess_clock(data.time).rate
    periods = sorted({float(b.period) for b in scenario.machine.all_blocks if b.sampled and b.period is not None})
    off = [period for period in periods if not _is_whole(rate * period) and not _is_whole(1 / (rate * period))]
    what = f"the data have {rate:.6g} Hz: held signals are compared between samples"
    remedy = "set the model's period to that of the real controller, or record at a multiple of its rate"
    return [f"the model samples at {1 / period:g} Hz, {what}; {remedy}" for period in off]


def _is_whole(ratio: float) -> bool:
    return abs(ratio - max(round(ratio), 1)) < SAME_RATE


@dataclass(frozen=True)
class SignalError:
    """Simulated minus measured.

    Attributes:
        percent: rms by the measured signal's own deviation; bias: mean; largest: of its size, at a time [s].
    """

    name: str
    unit: str
    rows: int
    rms: float
    percent: float
    bias: float
    largest: float
    at_time: float


def compare_signals(run: Run, data: Run) -> tuple[SignalError, ...]:
    """Errors of every signal that both have, at the times of the data up to the end of the run; nan is no sample."""
    found = []
    rows = data.time <= run.time[-1]
    for name in (name for name in data.names if name in run):
        measured = data[name].values[rows]
        apart = run[name](data.time[rows]) - measured
        there = np.isfinite(apart)
        if not there.any():
            continue
        rms = float(np.sqrt(np.mean(apart[there] ** 2)))
        worst = int(np.nanargmax(np.abs(apart)))
        spread = max(float(np.nanstd(measured)), 1e-300)
        numbers = (rms, 100 * rms / spread, float(np.mean(apart[there])), float(abs(apart[worst])))
        found.append(SignalError(name, run[name].unit, int(there.sum()), *numbers, float(data.time[rows][worst])))
    return tuple(found)
