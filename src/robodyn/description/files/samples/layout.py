"""Layout of a text table: which character parts cells, which is the decimal point, where do numbers begin?"""

from __future__ import annotations

import csv
import re
from pathlib import Path

from robodyn.base.errors import Flaw, ModelError
from robodyn.base.records import dataclass
from robodyn.base.units import known_unit, split_heading

MISSING = ("", "nan", "na", "n/a", "null", "none", "-")
"""Cells without a number, in small letters."""
DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?")
LOOKED_AT = 50
"""Rows that decide what a column holds."""


@dataclass(frozen=True)
class TextFormat:
    """What a mapping says of a text table; None is found out.

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


@dataclass(frozen=True)
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
        raise ModelError([Flaw(f"line {number}", f"cannot be read: {error}")], str(path)) from error


def find_layout(path: Path, numbered: list[tuple[int, str]], given: TextFormat) -> TextTable:
    """Headings, units and form of the numbers of lines that hold something."""
    numbered = [(number, line) for number, line in numbered if number > given.skip]
    if not numbered:
        raise ModelError([Flaw("", "holds no samples", "a line of headings, then one line a sample")], str(path))
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
        raise ModelError([Flaw("", "holds no samples", "a line of headings, then one line a sample")], str(path))
    numeric = _find_numeric(rows[body - 1 :] if body else [head, *rows], len(names), comma)
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
    found = []
    for k in range(count):
        cells = [row[k] for row in rows if len(row) > k]
        empty = all(cell.strip().lower() in MISSING for cell in cells)
        if empty or len(cells) < 2 or any(_is_number(cell, comma) for cell in cells):
            found.append(k)
    return tuple(found)
