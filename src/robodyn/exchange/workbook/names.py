"""Cell names: under which name is a cell known? Signal names made fit for spreadsheets."""

from __future__ import annotations

import re

# What a spreadsheet would read as something else: cells (A1, XFD1048576, R1C1), and bare words, which may be a
# function or a truth in some program and language (SIN, SUMME, TRUE, R, C).
_TAKEN = re.compile(r"[A-Za-z]{1,3}\d+|R\d+C\d*|[^\W\d_]+", re.IGNORECASE)
# Excel takes 255 characters; a formula of 8,192 holds many names.
_LONGEST = 100


class CellNames:
    """Names given so far; letter case does not distinguish two names."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def give(self, label: str, *, short: bool = False) -> str:
        """A valid name not given before: dots and dashes become _, a clash gets a number.

        Args:
            short: whether the label is known to be good as it is, such as `h` for the step.
        """
        name = label if short else make_name(label)
        count = 1
        while name.lower() in self._given:
            count += 1
            name = f"{make_name(label)}_{count}"
        self._given.add(name.lower())
        return name


def make_name(label: str) -> str:
    """A label as a defined name: letters, digits and _, unlike any cell, function or truth."""
    name = re.sub(r"\W", "_", label)[:_LONGEST]
    if not name or not (name[0].isalpha() or name[0] == "_"):
        name = f"_{name}"
    return f"{name}_" if _TAKEN.fullmatch(name) else name
