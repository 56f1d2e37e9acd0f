"""CSV and other text tables: how do 500,000 lines become columns in seconds, and which cell is wrong?"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Mapping
from dataclasses import field
from pathlib import Path

import numpy as np

from robodyn.base import Array, FlawList, frozen, known_unit, refuse, split_heading
from robodyn.base.untrusted import MEGABYTE, read_bytes

# --------------------------------------------------------------------------------------------------
# Columns of a file as they stand there: numbers, units, and where each row is found, before anything is converted.


MOST_FLAWS = 20
"""A file of another kind is wrong in every cell: this many are reported."""


@frozen
class FileColumns:
    """Columns of one clock.

    Attributes:
        values: by name, in the file's own units, nan where a sample is missing; all of one length.
        units: as the file writes them; names that are not here have none.
        places: number of each row in the file, and `word`, what it counts.
        stamps: times of the rows [s], where the format has them apart from the columns.
        notes: what was left out or understood, for whoever uses the numbers.
        texts: columns of words that were asked for.
    """

    values: Mapping[str, Array]
    units: Mapping[str, str] = field(default_factory=dict)
    places: Array | None = None
    word: str = "row"
    stamps: Array | None = None
    topic: str = ""
    notes: tuple[str, ...] = ()
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def place(self, row: int) -> str:
        """Where a row stands in the file."""
        return f"{self.word} {row + 1 if self.places is None else int(self.places[row])}"

    def rows(self, mask: Array, *notes: str) -> FileColumns:
        """These columns with some of their rows."""
        places = np.arange(1, mask.size + 1) if self.places is None else self.places
        values = {name: column[mask] for name, column in self.values.items()}
        stamps = None if self.stamps is None else self.stamps[mask]
        return FileColumns(values, self.units, places[mask], self.word, stamps, self.topic, (*self.notes, *notes))


# --------------------------------------------------------------------------------------------------
# Layout of a text table: which character parts cells, which is the decimal point, where do numbers begin?


MISSING = ("", "nan", "na", "n/a", "null", "none", "-")
"""Cells without a number, in small letters."""
DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?")
LOOKED_AT = 50
"""Rows that decide what a column holds."""


@frozen
class TextFormat:
    """The format of a text table as a mapping says it; None is found out.

    Attributes:
        skip: lines before the headings.
        separator: of the cells; " " is any white space.
        decimal: "." or ",".
        drop_bad_rows: whether rows that cannot be read are left out, and counted, instead of refused.
    """

    skip: int = 0
    separator: str | None = None
    decimal: str | None = None
    drop_bad_rows: bool = False


@frozen
class TextTable:
    """Lines of numbers with their line numbers, and what their columns are.

    Attributes:
        comma: whether a comma is the decimal point.
        numeric: places of columns that hold numbers.
    """

    path: Path
    names: tuple[str, ...]
    units: tuple[str, ...]
    lines: list[str]
    numbers: list[int]
    separator: str
    comma: bool
    numeric: tuple[int, ...]

    def split(self, row: int) -> list[str]:
        return split_line(self.path, self.numbers[row], self.lines[row], self.separator)

    def number(self, cell: str) -> float:
        """The number of a cell, nan where it is missing; a ValueError where it is neither."""
        return read_cell(cell, self.comma)


def read_cell(cell: str, comma: bool) -> float:
    """The number of a cell, nan where it is missing; a ValueError where it is neither."""
    text = cell.strip()
    if text.lower() in MISSING:
        return float("nan")
    return float(text.replace(",", ".") if comma and "." not in text else text)


def split_line(path: Path, number: int, text: str, separator: str) -> list[str]:
    if separator == " ":
        return text.split()
    try:
        return next(csv.reader([text], delimiter=separator))
    except csv.Error as error:
        refuse(f"line {number}", f"cannot be read: {error}", source=str(path))


def find_layout(path: Path, numbered: list[tuple[int, str]], given: TextFormat, words: Collection[str]) -> TextTable:
    """Headings, units and form of the numbers of lines that hold something; columns of words are none of numbers."""
    numbered = [(number, line) for number, line in numbered if number > given.skip]
    if not numbered:
        refuse("", "holds no samples", "a line of headings, then one line per sample", str(path))
    separator = given.separator or _find_separator(numbered[0][1])
    head = split_line(path, *numbered[0], separator)
    rows = [split_line(path, *line, separator) for line in numbered[1 : LOOKED_AT + 2]]
    comma = given.decimal == "," or (given.decimal is None and _has_decimal_commas(separator, [head, *rows]))
    if all(_is_number(cell, comma) for cell in head):
        names, units, body = [str(k + 1) for k in range(len(head))], [""] * len(head), 0
    else:
        names, units = map(list, zip(*map(split_heading, head), strict=True))
        body = 1
        if rows and _are_units(rows[0], len(names)):
            units, body = [unit.strip(" []()") for unit in rows[0]], 2
    if len(numbered) <= body:
        refuse("", "holds no samples", "a line of headings, then one line per sample", str(path))
    numeric = _find_numeric(rows[body - 1 :] if body else [head, *rows], len(names), comma)
    numeric = tuple(k for k in numeric if names[k] not in words)
    lines = [line for _, line in numbered[body:]]
    numbers = [number for number, _ in numbered[body:]]
    return TextTable(path, tuple(names), tuple(units), lines, numbers, separator, comma, numeric)


def _find_separator(line: str) -> str:
    best = max(";\t,", key=line.count)
    return best if best in line else " " if " " in line.strip() else ","


def _has_decimal_commas(separator: str, rows: list[list[str]]) -> bool:
    return separator != "," and any(DECIMAL_COMMA.fullmatch(cell.strip()) for row in rows for cell in row)


def _is_number(cell: str, comma: bool) -> bool:
    try:
        return read_cell(cell, comma) == read_cell(cell, comma)
    except ValueError:
        return False


def _are_units(row: list[str], count: int) -> bool:
    """Whether a line below the headings says their units: no cell is a number, at least one a unit."""
    cells = [cell.strip().strip("[]()") for cell in row]
    known = [known_unit(cell) is not None for cell in cells if cell]
    return len(row) == count and not any(_is_number(cell, True) for cell in cells) and bool(known) and all(known)


def _find_numeric(rows: list[list[str]], count: int, comma: bool) -> tuple[int, ...]:
    """Columns with a number in some of the first rows, or with nothing at all; others hold text."""
    numeric = []
    for k in range(count):
        cells = [row[k] for row in rows if len(row) > k]
        empty = all(cell.strip().lower() in MISSING for cell in cells)
        if empty or len(cells) < 2 or any(_is_number(cell, comma) for cell in cells):
            numeric.append(k)
    return tuple(numeric)


MOST_BYTES = 512 * MEGABYTE


def read_text_table(path: Path, given: TextFormat, texts: Collection[str] = ()) -> FileColumns:
    """Columns of a text table, some as words; lines that begin with # and empty ones are left out."""
    text, notes = _decode(read_bytes(path, MOST_BYTES))
    numbered = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip() and line.lstrip()[0] != "#"]
    table = find_layout(path, numbered, given, texts)
    flaws, headings = FlawList(), set()
    for k, name in enumerate(table.names):
        place = f"headings, column {k + 1}"
        if not name:
            flaws.add(place, "has no name", "name the signal it holds")
        elif name in headings:
            flaws.add(place, f"'{name}' appears twice", "leave one out")
        headings.add(name)
    flaws.raise_if_any(str(table.path))
    values = _read_fast(table)
    whole = np.ones(len(table.lines), bool)
    if values is None:
        values, whole = _read_slowly(table, given.drop_bad_rows)
    cells = [table.split(row) for row in range(len(table.lines))] if {*texts} & {*table.names} else []
    read = {name: tuple(row[table.names.index(name)].strip() for row in cells) for name in texts if name in table.names}
    words = [name for k, name in enumerate(table.names) if k not in table.numeric and name not in texts]
    if words:
        notes.append(f"columns of text are left out: {', '.join(words)}")
    if table.comma:
        notes.append("a comma is the decimal point")
    columns = FileColumns(
        {table.names[k]: values[:, i] for i, k in enumerate(table.numeric)},
        {table.names[k]: table.units[k] for k in table.numeric},
        np.array(table.numbers),
        "line",
        notes=tuple(notes),
        texts=read,
    )
    dropped = f"{int((~whole).sum())} lines that cannot be read are left out"
    return columns if whole.all() else columns.rows(whole, dropped)


def _decode(data: bytes) -> tuple[str, list[str]]:
    try:
        return data.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace"), ["is not in UTF-8, read as Windows text"]


def _read_fast(table: TextTable) -> Array | None:
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
        numbers = np.loadtxt(lines, delimiter=separator, comments=None, usecols=table.numeric, ndmin=2)
    except ValueError:
        return None
    return None if np.isinf(numbers).any() else numbers


def _read_slowly(table: TextTable, drop: bool) -> tuple[Array, Array]:
    """Cell by cell; what is wrong is reported by line and column, or left out with its line."""
    flaws = FlawList()
    values = np.full((len(table.lines), len(table.numeric)), np.nan)
    whole = np.ones(len(table.lines), bool)
    for row in range(len(table.lines)):
        before = len(flaws.found)
        _read_row(table, row, values, flaws)
        whole[row] = len(flaws.found) == before
        if drop:
            del flaws.found[before:]
        elif len(flaws.found) >= MOST_FLAWS:
            break
    flaws.raise_if_any(str(table.path))
    return values, whole


def _read_row(table: TextTable, row: int, values: Array, flaws: FlawList) -> None:
    cells, number = table.split(row), table.numbers[row]
    if len(cells) != len(table.names):
        remedy = 'correct it, or [file] bad_rows = "drop" in a mapping leaves it out'
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
