"""Template of a mapping: a TOML file with all columns of a log, to be filled in."""

from __future__ import annotations

import json
from pathlib import Path

from robodyn.base.atomic import write_file
from robodyn.description.files.samples import DataMapping
from robodyn.description.files.samples.clocks import time_column
from robodyn.description.files.samples.columns import Columns
from robodyn.description.files.samples.reading import read_columns


def write_template(file: Path, path: Path, mapping: DataMapping | None = None) -> Path:
    """A mapping of all columns of a file by their own names and units."""
    groups = read_columns(file, mapping or DataMapping())
    lines = [f"# Columns of {file.name}. Name each signal like that of the model; delete what is not needed.", "[time]"]
    time = time_column(groups[0], mapping or DataMapping())
    if time in groups[0].values:
        lines.append(f"column = {json.dumps(time)}")
    elif all(columns.stamps is None for columns in groups):
        lines.append('# column = "..." or, for rows without times:\n# rate = "1 kHz"')
    lines.append("from_first = true\n")
    for columns in groups:
        lines += [_signal(columns, name) for name in columns.values if name != time]
    write_file(path, "\n".join(lines))
    return path


def _signal(columns: Columns, name: str) -> str:
    unit = columns.units.get(name, "")
    return (
        f"[signals.{json.dumps(name)}]\ncolumn = {json.dumps(name)}\n"
        + (f"unit = {json.dumps(unit, ensure_ascii=False)}\n" if unit else '# unit = "deg"\n')
        + '# sign = -1\n# offset = 0.0\n# delay = "1 ms"\n# gear = 100\n# factor = "0.1 N m/A"\n'
    )
