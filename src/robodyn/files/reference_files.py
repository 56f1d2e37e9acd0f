"""References from files: a column of a CSV or Parquet file as a law that a block can have."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robodyn.errors import Flaw, FlawList, ModelError, nearest
from robodyn.files.sample_files import Samples, read_parquet, read_samples
from robodyn.files.table import Table
from robodyn.laws.recorded import ENDS, INTERPOLATIONS, RecordedReference

FILE_REFERENCE = "file_reference"
"""Name of the law in a file."""
MOST_SAMPLES = 100_000
"""Of one reference: a step ends at each of them."""


def read_reference(
    path: str | Path, column: str, interpolation: str = "linear", ends: str = "natural"
) -> RecordedReference:
    """A column over the column `time` as a law with the outputs value, rate and acceleration.

    Args:
        path: a CSV file, or one that ends in .parquet.
        column: its name, without the unit that may stand in brackets behind it.
        interpolation: "held", "linear" or "cubic"; ends: "natural" or "clamped", of a cubic spline.

    Raises:
        ModelError: with every flaw of the file.
    """
    path = Path(path)
    flaws = FlawList()
    check_choices(flaws, interpolation, ends)
    flaws.raise_if_any(str(path))
    data = _load(path, column)
    if column not in data.names:
        flaws.add("column", f"there is no column '{column}'", nearest(column, data.names))
        flaws.raise_if_any(str(path))
    k = data.names.index(column)
    _check_samples(flaws, column, data.time, data.values[:, k])
    flaws.raise_if_any(str(path))
    samples = tuple(data.time.tolist()), tuple(data.values[:, k].tolist())
    return RecordedReference(*samples, interpolation, ends, data.units[k] or None, f"{path.name}: {column}")


def check_choices(flaws: FlawList, interpolation: str, ends: str) -> None:
    for key, value, known in (("interpolation", interpolation, INTERPOLATIONS), ("ends", ends, ENDS)):
        if value not in known:
            flaws.add(key, f"{value!r} is unknown", nearest(str(value), known))
    if ends != "natural" and interpolation in ("held", "linear"):
        flaws.add("ends", f"has no effect on the interpolation '{interpolation}'", "it belongs to cubic")


def _load(path: Path, column: str) -> Samples:
    if path.suffix != ".parquet":
        return read_samples(path)
    try:
        return read_parquet(path, column)
    except ImportError as error:
        remedy = "pip install 'robodyn[export]', or write it as CSV"
        raise ModelError([Flaw("", f"a Parquet file needs {error.name}", remedy)], str(path)) from error


def _check_samples(flaws: FlawList, column: str, time: np.ndarray, values: np.ndarray) -> None:
    if not 2 <= time.size <= MOST_SAMPLES:
        flaws.add("", f"has {time.size} samples, a reference has 2 to {MOST_SAMPLES}", "take every tenth or so")
    for k in np.flatnonzero(~np.isfinite(values))[:10]:
        flaws.add(column, f"is missing at {time[k]:g} s", "leave the line out, or fill it in")


def read_file_reference(table: Table, folder: Path) -> RecordedReference | None:
    """The law of a block whose `law` is "file_reference"."""
    file, column = table.text("file"), table.text("column")
    interpolation, ends = table.text("interpolation", "linear"), table.text("ends", "natural")
    if None in (file, column, interpolation, ends):
        return None
    choices = FlawList()
    check_choices(choices, interpolation, ends)
    table.flaws.extend(choices.found, under=table.path)
    if choices.found:
        return None
    try:
        law = read_reference(folder / file, column, interpolation, ends)
    except ModelError as error:
        table.flaws.extend(error.flaws, under=table.at("file"))
        return None
    if law.unit and "unit" in table:
        table.flaws.add(table.at("unit"), f"has no effect: the file gives '{column}' in {law.unit}", "leave it out")
        return None
    return law
