"""CSV and other text tables: how do 500,000 lines become columns in seconds, and which cell is wrong?"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from robodyn.base.errors import FlawList
from robodyn.base.untrusted import MEGABYTE, read_bytes
from robodyn.description.files.samples.columns import MOST_FLAWS, Columns, Floats
from robodyn.description.files.samples.layout import TextFormat, TextTable, find_layout

MOST_BYTES = 512 * MEGABYTE


def read_text_table(path: Path, given: TextFormat) -> Columns:
    """Columns of a text table; lines that begin with # and empty ones are left out."""
    text, notes = _decode(read_bytes(path, MOST_BYTES))
    numbered = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip() and line.lstrip()[0] != "#"]
    table = find_layout(path, numbered, given)
    _check_headings(table)
    values = _read_fast(table)
    kept = np.ones(len(table.lines), bool)
    if values is None:
        values, kept = _read_slowly(table, given.drop_bad_rows)
    words = [table.names[k] for k in range(len(table.names)) if k not in table.numeric]
    if words:
        notes.append(f"columns of text are left out: {', '.join(words)}")
    if table.comma:
        notes.append("a comma is the decimal point")
    columns = Columns(
        {table.names[k]: values[:, i] for i, k in enumerate(table.numeric)},
        {table.names[k]: table.units[k] for k in table.numeric},
        np.array(table.numbers),
        "line",
        notes=tuple(notes),
    )
    dropped = f"{int((~kept).sum())} lines that cannot be read are left out"
    return columns if kept.all() else columns.rows(kept, dropped)


def _decode(data: bytes) -> tuple[str, list[str]]:
    try:
        return data.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace"), ["is not in UTF-8, read as Windows text"]


def _check_headings(table: TextTable) -> None:
    flaws, seen = FlawList(), set()
    for k, name in enumerate(table.names):
        place = f"headings, column {k + 1}"
        if not name:
            flaws.add(place, "has no name", "name the signal it holds")
        elif name in seen:
            flaws.add(place, f"'{name}' is there twice", "leave one out")
        seen.add(name)
    flaws.raise_if_any(str(table.path))


def _read_fast(table: TextTable) -> Floats | None:
    """All numbers at once; None where a cell is none, or a line is too short."""
    text = "\n".join(table.lines)
    if '"' in text or (table.comma and "." in text):
        return None
    if table.comma:
        text = text.replace(",", ".")
    part = re.escape(table.separator)
    if table.separator != " ":
        text = re.sub(rf"(?:^|(?<={part}))[ ]*(?={part}|$)", "nan", text, flags=re.MULTILINE)
    separator = None if table.separator == " " else table.separator
    lines = text.split("\n")
    # One that has more cells than the headings is not seen by loadtxt, which takes the columns it is asked for.
    if separator and any(line.count(separator) != len(table.names) - 1 for line in lines):
        return None
    try:
        found = np.loadtxt(lines, delimiter=separator, comments=None, usecols=table.numeric, ndmin=2)
    except ValueError:
        return None
    return None if np.isinf(found).any() else found


def _read_slowly(table: TextTable, drop: bool) -> tuple[Floats, np.ndarray]:
    """Cell by cell; what is wrong is reported by line and column, or left out with its line."""
    flaws = FlawList()
    values = np.full((len(table.lines), len(table.numeric)), np.nan)
    kept = np.ones(len(table.lines), bool)
    for row in range(len(table.lines)):
        before = len(flaws.found)
        _read_row(table, row, values, flaws)
        kept[row] = len(flaws.found) == before
        if drop:
            del flaws.found[before:]
        elif len(flaws.found) >= MOST_FLAWS:
            break
    flaws.raise_if_any(str(table.path))
    return values, kept


def _read_row(table: TextTable, row: int, values: Floats, flaws: FlawList) -> None:
    cells, number = table.split(row), table.numbers[row]
    if len(cells) != len(table.names):
        remedy = 'mend it, or [file] bad_rows = "drop" in a mapping leaves it out'
        flaws.add(f"line {number}", f"has {len(cells)} cells, the headings {len(table.names)}", remedy)
        return
    for i, k in enumerate(table.numeric):
        try:
            values[row, i] = table.number(cells[k])
        except ValueError:
            values[row, i] = np.inf
        if np.isinf(values[row, i]):
            what = f"'{cells[k].strip()}' is not a finite number"
            flaws.add(f"line {number}, column {k + 1} ({table.names[k]})", what, "an empty cell is a missing sample")
