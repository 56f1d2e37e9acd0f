"""Measured data: a table of samples as a run in SI units, every flaw of the file reported by line and column."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robodyn.errors import FlawList, nearest
from robodyn.files.sample_files import read_samples
from robodyn.results import Outcome, OutcomeKind, Provenance, Run, SignalInfo, Statistics
from robodyn.units import same_quantity


def read_measured(path: str | Path) -> Run:
    """Measured signals from a CSV file, named like the simulated signals: see `read_samples`."""
    path = Path(path)
    data = read_samples(path)
    return Run(
        data.time,
        data.values,
        tuple(SignalInfo(name, unit) for name, unit in zip(data.names, data.units, strict=True)),
        outcome=Outcome(OutcomeKind.FINISHED, f"measured data read from {path.name}", float(data.time[-1])),
        provenance=Provenance("measured", {"source": "measured", "file": path.name}),
        statistics=Statistics(simulated_time=float(np.ptp(data.time))),
    )


def match_measured(data: Run, signals: dict[str, str], duration: float | None = None) -> None:
    """Refuse data that cannot be compared with a simulation: unknown signals, other units, times before its start.

    Args:
        signals: unit of every simulated signal.
        duration: longest time that is simulated [s], None for no limit.
    """
    flaws = FlawList()
    for info in data.infos:
        if info.name not in signals:
            flaws.add(info.name, "there is no such signal", nearest(info.name, signals))
        elif info.unit and signals[info.name] and not same_quantity(info.unit, signals[info.name]):
            flaws.add(info.name, f"is given in {info.unit}, the signal is in {signals[info.name]}")
        if not np.isfinite(data[info.name].values).any():
            flaws.add(info.name, "has no sample")
    if not data.infos:
        flaws.add("", "holds no signal")
    if data.time.size and data.time[0] < 0:
        flaws.add("time", f"begins at {data.time[0]:g} s, before the simulation does", "count it from the start")
    if duration is not None and data.time.size and data.time[-1] > duration:
        flaws.add("time", f"ends at {data.time[-1]:g} s, after the simulation does at {duration:g} s")
    flaws.raise_if_any("measured data")
