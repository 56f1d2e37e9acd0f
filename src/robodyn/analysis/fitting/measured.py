"""What was measured? A table of samples as a run, in SI units, with every flaw of the file told by line and column."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np

from robodyn.errors import Flaw, FlawList, ModelError, nearest
from robodyn.results import Outcome, OutcomeKind, Provenance, Run, SignalInfo, Statistics
from robodyn.results.exports import split_heading
from robodyn.units import known_unit, same_quantity
from robodyn.untrusted import MEGABYTE, Unreadable, read_text

MOST_BYTES = 256 * MEGABYTE
MISSING = ("", "nan")
MOST_FLAWS = 20
"""A file of another kind is wrong in every cell: this many are told."""


def read_measured(path: str | Path) -> Run:
    """Measured signals from a CSV file: a first column `time`, then one a signal, named like the simulated signal.

    A heading may give a unit in brackets, `rail.position [mm]`: values are converted to SI; without one they are in SI.
    An empty cell or `nan` is a missing sample. Commas, semicolons or tabs part the cells; lines that begin with # are
    left out.
    """
    path = Path(path)
    flaws = FlawList()
    lines = _read_lines(path)
    if len(lines) < 2:
        flaws.add("", "holds no samples", "a line of headings, then one line a sample")
        raise ModelError(flaws.found, str(path))
    part = max(",;\t", key=lines[0][1].count)
    rows = [(number, _split(path, number, text, part)) for number, text in lines]
    names, units, factors = _read_headings(rows[0], flaws)
    flaws.raise_if_any(str(path))
    table = np.array([_read_row(number, row, names, flaws) for number, row in rows[1:]])
    flaws.raise_if_any(str(path))
    _check_times(table[:, 0], [number for number, _ in rows[1:]], flaws)
    flaws.raise_if_any(str(path))
    return _as_run(path, table * factors, names[1:], units[1:])


def _read_lines(path: Path) -> list[tuple[int, str]]:
    """The lines that hold something, with their numbers."""
    try:
        text = read_text(path, MOST_BYTES, "utf-8-sig")
    except (OSError, Unreadable) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelError([Flaw("", f"cannot be read: {reason}")], str(path)) from error
    numbered = enumerate(text.splitlines(), start=1)
    return [(number, line) for number, line in numbered if line.strip() and not line.lstrip().startswith("#")]


def _split(path: Path, number: int, text: str, part: str) -> list[str]:
    try:
        return next(csv.reader([text], delimiter=part))
    except csv.Error as error:
        raise ModelError([Flaw(f"line {number}", f"cannot be read: {error}")], str(path)) from error


def _read_headings(row: tuple[int, list[str]], flaws: FlawList) -> tuple[list[str], list[str], np.ndarray]:
    """Names, SI units and factors to SI of the columns."""
    number, cells = row
    names, units, factors = [], [], []
    seen: set[str] = set()
    for column, cell in enumerate(cells, start=1):
        name, unit = split_heading(cell)
        known = known_unit(unit)
        si, factor = (known.name, known.factor) if known else (unit, 1.0)
        place = f"line {number}, column {column}"
        if not name:
            flaws.add(place, "has no name", "name the signal it holds")
        if name in seen:
            flaws.add(place, f"'{name}' is there twice", "leave one out")
        seen.add(name)
        names.append(name)
        units.append(si)
        factors.append(factor)
    if names[0] != "time" or units[0] not in ("", "s"):
        flaws.add(f"line {number}, column 1", f"must be 'time' or 'time [s]', is '{cells[0]}'")
    if len(names) < 2:
        flaws.add(f"line {number}", "names no signal", "a second column holds the first signal")
    return names, units, np.array(factors)


def _read_row(number: int, row: list[str], names: list[str], flaws: FlawList) -> list[float]:
    values = [math.nan] * len(names)
    if len(flaws.found) >= MOST_FLAWS:
        return values
    if len(row) != len(names):
        flaws.add(f"line {number}", f"has {len(row)} cells, the headings {len(names)}")
        return values
    for k, cell in enumerate(row):
        if cell.strip().lower() in MISSING:
            continue
        try:
            values[k] = float(cell)
        except ValueError:
            values[k] = math.inf
        if math.isinf(values[k]):
            what = f"'{cell.strip()}' is not a finite number"
            flaws.add(f"line {number}, column {k + 1} ({names[k]})", what, "an empty cell is a missing sample")
    return values


def _check_times(time: np.ndarray, numbers: list[int], flaws: FlawList) -> None:
    for k in np.flatnonzero(~np.isfinite(time)):
        flaws.add(f"line {numbers[k]}, column 1 (time)", "is missing", "each sample needs its time")
    for k in np.flatnonzero(np.diff(time) <= 0) + 1:
        flaws.add(f"line {numbers[k]}, column 1 (time)", f"{time[k]:g} does not come after {time[k - 1]:g}")
    del flaws.found[MOST_FLAWS:]


def _as_run(path: Path, table: np.ndarray, names: list[str], units: list[str]) -> Run:
    time = table[:, 0]
    return Run(
        time,
        table[:, 1:],
        tuple(SignalInfo(name, unit) for name, unit in zip(names, units, strict=True)),
        outcome=Outcome(OutcomeKind.FINISHED, f"measured data read from {path.name}", float(time[-1])),
        provenance=Provenance("measured", {"source": "measured", "file": path.name}),
        statistics=Statistics(simulated_time=float(np.ptp(time))),
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
