"""Sample files: signals over time from a CSV or Parquet file, in SI, every flaw reported by line and column."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.errors import Flaw, FlawList, ModelError, nearest
from robodyn.units import known_unit, split_heading
from robodyn.untrusted import DAMAGE, MEGABYTE, Unreadable, read_bytes, read_text

MOST_BYTES = 256 * MEGABYTE
MISSING = ("", "nan")
MOST_FLAWS = 20
"""A file of another kind is wrong in every cell: this many are reported."""


@dataclass(frozen=True)
class Samples:
    """Times [s] and values (n, signals) in SI, nan where one is missing; names and units of the signals."""

    time: np.ndarray
    values: np.ndarray
    names: tuple[str, ...]
    units: tuple[str, ...]


def read_samples(path: Path) -> Samples:
    """Signals from a CSV file: a first column `time`, then one a signal.

    A heading may give a unit in brackets, `rail.position [mm]`: values are converted to SI; without one they are in SI.
    An empty cell or `nan` is a missing sample. Commas, semicolons or tabs part the cells; lines that begin with # are
    left out.
    """
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
    table = table * factors
    _check_times(table[:, 0], [number for number, _ in rows[1:]], flaws)
    flaws.raise_if_any(str(path))
    return Samples(table[:, 0], table[:, 1:], tuple(names[1:]), tuple(units[1:]))


def _read_lines(path: Path) -> list[tuple[int, str]]:
    """The lines that hold something, with their numbers."""
    try:
        text = read_text(path, MOST_BYTES, "utf-8-sig")
    except (OSError, Unreadable) as error:
        reason = (isinstance(error, OSError) and error.strerror) or error
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


def read_parquet(path: Path, column: str) -> Samples:
    """One signal of a Parquet file with a column `time`; units stand in the fields' metadata or in brackets.

    Raises:
        ImportError: where pyarrow is not installed.
    """
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(io.BytesIO(read_bytes(path, MOST_BYTES)))
        if 16 * file.metadata.num_rows > MOST_BYTES:
            raise Unreadable(f"declares {file.metadata.num_rows} rows, at most {MOST_BYTES // 16} are read")
        fields = {split_heading(field.name)[0]: field for field in file.schema_arrow}
        missing = [name for name in ("time", column) if name not in fields]
        if missing:
            raise ModelError(
                [Flaw(name, "there is no such column", nearest(name, fields)) for name in missing], str(path)
            )
        found = [_read_field(file, fields[name]) for name in ("time", column)]
    except ModelError:
        raise
    except OSError as error:
        raise ModelError([Flaw("", f"cannot be read: {error.strerror or error}")], str(path)) from error
    except (*DAMAGE, pyarrow.ArrowException, MemoryError) as error:
        raise ModelError([Flaw("", f"cannot be read: {str(error)[:200]}")], str(path)) from error
    (time, _), (values, unit) = found
    flaws = FlawList()
    _check_times(time, list(range(1, time.size + 1)), flaws)
    flaws.raise_if_any(str(path))
    return Samples(time, values[:, np.newaxis], (column,), (unit,))


def _read_field(file: Any, field: Any) -> tuple[np.ndarray, str]:
    """Values of a field in SI, and their unit."""
    stored = (field.metadata or {}).get(b"unit", b"").decode("utf-8", "replace")
    unit = stored or split_heading(field.name)[1]
    known = known_unit(unit)
    values = file.read([field.name]).column(0).cast("float64").to_numpy()
    return np.asarray(values, float) * (known.factor if known else 1.0), known.name if known else unit
