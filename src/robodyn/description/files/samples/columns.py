"""Columns of a file as they stand there: numbers, units, and where each row is found, before anything is converted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from robodyn.base.records import dataclass

Floats = NDArray[np.float64]

MOST_FLAWS = 20
"""A file of another kind is wrong in every cell: this many are reported."""


@dataclass(frozen=True)
class Columns:
    """Columns of one clock.

    Attributes:
        values: by name, in the file's own units, nan where a sample is missing; all of one length.
        units: as the file writes them; names that are not here have none.
        places: number of each row in the file, and `word`, what it counts.
        stamps: times of the rows [s], where the format has them apart from the columns.
        notes: what was left out or understood, for whoever uses the numbers.
    """

    values: Mapping[str, Floats]
    units: Mapping[str, str] = field(default_factory=dict)
    places: np.ndarray | None = None
    word: str = "row"
    stamps: Floats | None = None
    topic: str = ""
    notes: tuple[str, ...] = ()

    def place(self, row: int) -> str:
        """Where a row stands in the file."""
        return f"{self.word} {row + 1 if self.places is None else int(self.places[row])}"

    def rows(self, kept: np.ndarray, *notes: str) -> Columns:
        """The same columns with some of their rows."""
        places = np.arange(1, kept.size + 1) if self.places is None else self.places
        values = {name: column[kept] for name, column in self.values.items()}
        stamps = None if self.stamps is None else self.stamps[kept]
        return Columns(values, self.units, places[kept], self.word, stamps, self.topic, (*self.notes, *notes))
