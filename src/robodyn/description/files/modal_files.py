"""Modal data files: how are they kept beside the scenario's, as .json, .npz or .csv?"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base.untrusted import MEGABYTE, Unreadable, parse_json, read_archive, read_array, read_bytes, read_text
from robodyn.description.files.table import Table

MOST_BYTES = 256 * MEGABYTE
"""Of modal data, unpacked, this project's own choice; texts may have a quarter of it."""
AXES = ("x", "y", "z")
MOTIONS = (*AXES, "rx", "ry", "rz")
COLUMN = re.compile(r"mode([1-9]\d{0,8})\.(x|y|z|rx|ry|rz)")


class FileProblem(ValueError):
    """A data file that cannot be used; the message follows the file's name."""

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what)
        self.remedy = remedy


def load_json(path: Path) -> dict[str, Any]:
    """The same keys as the table's own."""
    try:
        data = parse_json(read_text(path, MOST_BYTES // 4))
    except (OSError, Unreadable) as error:
        raise FileProblem(str(error)) from error
    if not isinstance(data, dict):
        raise FileProblem("must hold an object with the keys of the table")
    return data


def load_npz(path: Path) -> dict[str, Any]:
    """Arrays by the table's keys; those with dots are in tables: `nodes.tip.shift`."""
    try:
        members = read_archive(read_bytes(path, MOST_BYTES), MOST_BYTES)
        arrays = {name.removesuffix(".npy"): read_array(data) for name, data in members.items()}
    except (OSError, Unreadable) as error:
        raise FileProblem(f"is not an .npz archive of arrays: {error}") from error
    data: dict[str, Any] = {}
    for key, array in arrays.items():
        group, _, rest = key.partition(".")
        if not rest:
            data[key] = array
            continue
        node, _, field = rest.rpartition(".")
        data.setdefault(group, {}).setdefault(node, {})[field] = array
    return data


def load_csv(path: Path) -> dict[str, Any]:
    """A row for each place: `name` (of a node, or empty), `mass` [kg], `x`, `y`, `z` [m], `mode1.x` ... `mode1.rz`.

    A row with a name is a node, a row with a mass a particle; it can be both. Turns that have no column are 0.
    """
    try:
        text = read_text(path, MOST_BYTES // 4)
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except (OSError, Unreadable, csv.Error) as error:
        raise FileProblem(f"is not a table of text: {error}") from error
    if not rows:
        raise FileProblem("has no rows", "a head with the columns' names, then a row for each place")
    if any(None in row for row in rows):
        raise FileProblem("has rows longer than its head")
    n = _count_modes(list(rows[0]))
    names = [(row.get("name") or "").strip() for row in rows]
    mass = np.array([_number(row, k, "mass") for k, row in enumerate(rows)])
    place = np.array([[_number(row, k, axis) for axis in AXES] for k, row in enumerate(rows)])
    motion = np.array([[_motion(row, k, mode + 1) for mode in range(n)] for k, row in enumerate(rows)])
    heavy = mass != 0
    nodes = {
        name: {"position": place[k], "shift": motion[k, :, :3], "turn": motion[k, :, 3:]}
        for k, name in enumerate(names)
        if name
    }
    if len(nodes) < sum(map(bool, names)):
        raise FileProblem("uses a name twice", "give each node its own")
    moved, turned = motion[heavy, :, :3], motion[heavy, :, 3:]
    return {"mass": mass[heavy], "position": place[heavy], "shift": moved, "turn": turned, "nodes": nodes}


def _count_modes(columns: list[str]) -> int:
    """Number of modes in a head; unknown and missing columns are reported."""
    needed = {"mass", *AXES}
    modes = {int(found[1]) for column in columns if (found := COLUMN.fullmatch(str(column)))}
    n = max(modes, default=0)
    if n > len(columns):
        raise FileProblem(f"has a column for mode {n}, but only {len(columns)} columns", "number the modes from 1")
    needed |= {f"mode{k}.{axis}" for k in range(1, max(n, 1) + 1) for axis in AXES}
    unknown = [
        str(column) for column in columns if column not in needed | {"name"} and not COLUMN.fullmatch(str(column))
    ]
    missing = sorted(needed - set(columns))
    if unknown or missing:
        said = [f"{word} {', '.join(names)}" for word, names in (("missing", missing), ("unknown", unknown)) if names]
        raise FileProblem(
            f"has wrong columns: {'; '.join(said)}", "name, mass, x, y, z, mode1.x ... mode1.rz, mode2.x ..."
        )
    return n


def _motion(row: dict[str, Any], k: int, mode: int) -> list[float]:
    return [_number(row, k, column) if (column := f"mode{mode}.{axis}") in row else 0.0 for axis in MOTIONS]


def _number(row: dict[str, Any], k: int, column: str) -> float:
    text = (row[column] or "").strip()
    if not text and column == "mass":
        return 0.0
    try:
        return float(text)
    except ValueError as error:
        raise FileProblem(f"row {k + 1}, {column}: {text!r} is not a number") from error


FORMATS: dict[str, Callable[[Path], dict[str, Any]]] = {".npz": load_npz, ".json": load_json, ".csv": load_csv}


def join_file(table: Table, folder: Path, keys: Iterable[str]) -> Table | None:
    """A table with what its `file` holds, None where that cannot be read; flaws of what it holds name the file.

    Args:
        keys: that the table and the file may have.
    """
    if "file" not in table:
        return table
    file = table.text("file")
    if file is None:
        return None
    try:
        found = _load(folder / file)
    except FileProblem as problem:
        table.flaws.add(table.at("file"), f"'{file}' {problem}", problem.remedy)
        table.asked |= {*keys}
        table.finish()
        return None
    for key in found.keys() & table.data.keys():
        table.flaws.add(table.at(key), f"'{file}' has it too", "give it once")
    rest = {key: value for key, value in table.data.items() if key != "file"}
    return Table(found | rest, f"{table.path}[{file}]", table.flaws)


def _load(path: Path) -> dict[str, Any]:
    if path.suffix not in FORMATS:
        raise FileProblem("has no known ending", f"known: {', '.join(FORMATS)}")
    if not path.is_file():
        raise FileProblem(f"is not a file; looked for {path}", "files stand beside the scenario's")
    return FORMATS[path.suffix](path)
