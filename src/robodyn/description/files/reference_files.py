"""References from files: a column of a CSV, Parquet or other table as a law that a block can have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robodyn.base.errors import FlawList, ModelError, nearest
from robodyn.description.files.samples import read_samples
from robodyn.description.files.table import FAILED, Table
from robodyn.description.laws.recorded import ENDS, INTERPOLATIONS, RecordedReference
from robodyn.description.model.description import Description
from robodyn.description.model.fields import choice, text

if TYPE_CHECKING:
    from robodyn.description.files.reading import Reader

FILE_REFERENCE = "file_reference"
"""Name of the law in a file."""
MOST_SAMPLES = 100_000
"""Of one reference: a step ends at each of them."""


class FileReference(Description):
    """A column of a file, over its column `time`, as a law."""

    NOUN = "reference"

    file: str = text(doc="a CSV file, or one that ends in `.parquet`, beside this one; its first column is `time`")
    column: str = text(doc="name of the column, without the unit that may stand in brackets behind it")
    interpolation: str = choice(INTERPOLATIONS, default="linear", doc="between the samples")
    ends: str = choice(
        ENDS,
        default="natural",
        doc='of a cubic spline: `"natural"` (no acceleration at the ends) or `"clamped"` (no speed)',
    )

    def check(self, flaws: FlawList) -> None:
        if self.ends != "natural" and self.interpolation in ("held", "linear"):
            flaws.add("ends", f"has no effect on the interpolation '{self.interpolation}'", "it belongs to cubic")

    def load(self, folder: Path) -> RecordedReference:
        """The law, of a file in a folder."""
        path, column = folder / self.file, self.column
        flaws = FlawList()
        data = read_samples(path)
        if column not in data.names:
            flaws.add("column", f"there is no column '{column}'", nearest(column, data.names))
            flaws.raise_if_any(str(path))
        k = data.names.index(column)
        _check_samples(flaws, column, data.time, data.values[:, k])
        flaws.raise_if_any(str(path))
        samples = tuple(data.time.tolist()), tuple(data.values[:, k].tolist())
        unit = data.units[k] or None
        return RecordedReference(*samples, self.interpolation, self.ends, unit, f"{path.name}: {column}")


def read_reference(
    path: str | Path, column: str, interpolation: str = "linear", ends: str = "natural"
) -> RecordedReference:
    """A column over the column `time` as a law with the outputs value, rate and acceleration.

    Raises:
        ModelError: with every flaw of the file.
    """
    return FileReference(str(path), column, interpolation, ends).load(Path())


def _check_samples(flaws: FlawList, column: str, time: np.ndarray, values: np.ndarray) -> None:
    if not 2 <= time.size <= MOST_SAMPLES:
        flaws.add("", f"has {time.size} samples, a reference has 2 to {MOST_SAMPLES}", "take every tenth or so")
    for k in np.flatnonzero(np.diff(time) <= 0)[:10]:
        flaws.add("time", f"{time[k]:g} s is there twice", "leave one of these lines out")
    for k in np.flatnonzero(~np.isfinite(values))[:10]:
        flaws.add(column, f"is missing at {time[k]:g} s", "leave the line out, or fill it in")


def read_file_reference(table: Table, reader: Reader) -> RecordedReference | None:
    """The law of a block whose `law` is "file_reference"."""
    form = reader.make(table, FileReference, reader.values(table, FileReference))
    if form is FAILED:
        return FAILED
    try:
        law: RecordedReference = form.load(reader.folder)
    except ModelError as error:
        table.flaws.extend(error.flaws, under=table.at("file"))
        return FAILED
    if law.unit and "unit" in table:
        what = f"has no effect: the file gives '{form.column}' in {law.unit}"
        table.flaws.add(table.at("unit"), what, "leave it out")
        return FAILED
    return law
