"""How are modal data written in a TOML file? As arrays, in the table itself or in a file beside it.

Masses and their displacements in each mode, the modes' stiffness, and the motion of the nodes where something is
attached. A `.json` file has the table's keys; an `.npz` file has them as arrays, nodes as `nodes.NAME.position` ...;
a `.csv` file has a row for each place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robodyn.errors import FlawList
from robodyn.files.modal_files import FORMATS, FileProblem
from robodyn.files.reading import read_array
from robodyn.files.table import FAILED, Table, attempt
from robodyn.model import FlexibleBody
from robodyn.structures import Particles, modal_body
from robodyn.structures.checks import check_modes

UNITS = {"mass": "kg", "position": "m", "shift": "", "stiffness": ""}
OPTIONAL = {"tensor": "kg m^2", "turn": ""}


def read_modal(name: str, table: Table, folder: Path) -> FlexibleBody | None:
    """A body by modal data; its flaws are noted in the table."""
    table, good = _joined(table, folder)
    arrays = {key: read_array(table, key, unit) for key, unit in UNITS.items()}
    arrays |= {key: read_array(table, key, unit) for key, unit in OPTIONAL.items() if key in table}
    nodes = {key: _read_node(node) for key, node in table.tables("nodes")}
    table.finish()
    if not good or any(value is None for value in (*arrays.values(), *nodes.values())):
        return FAILED
    stiffness = arrays.pop("stiffness")
    particles = attempt(table, Particles.lumped, **arrays)
    if particles is None:
        _check_modes(table, arrays["shift"], stiffness, nodes)
        return FAILED
    return attempt(table, modal_body, name, particles, stiffness, nodes)


def _joined(table: Table, folder: Path) -> tuple[Table, bool]:
    """The table with what its `file` holds, and whether that could be read; flaws then name the file."""
    if "file" not in table:
        return table, True
    file = table.text("file")
    if file is None:
        return table, False
    try:
        found = _load(folder / file)
    except FileProblem as problem:
        table.flaws.add(table.at("file"), f"'{file}' {problem}", problem.remedy)
        table.asked |= {*UNITS, *OPTIONAL, "nodes"}
        table.finish()
        return Table({}, table.path, FlawList()), False
    for key in found.keys() & table.data.keys():
        table.flaws.add(table.at(key), f"'{file}' has it too", "give it once")
    rest = {key: value for key, value in table.data.items() if key != "file"}
    joined = Table(found | rest, f"{table.path}[{file}]", table.flaws)
    joined.known.add("file")
    return joined, not found.keys() & rest.keys()


def _load(path: Path) -> dict[str, Any]:
    if path.suffix not in FORMATS:
        raise FileProblem("has no known ending", f"known: {', '.join(FORMATS)}")
    if not path.is_file():
        raise FileProblem(f"is not a file; looked for {path}", "files stand beside the scenario's")
    return FORMATS[path.suffix](path)


def _read_node(table: Table) -> Any:
    """Position, displacements and turns; a node without `turn` does not turn."""
    position, shift = read_array(table, "position", "m"), read_array(table, "shift", "")
    turn = read_array(table, "turn", "") if "turn" in table else np.zeros_like(shift)
    table.finish()
    return FAILED if any(part is None for part in (position, shift, turn)) else (position, shift, turn)


def _check_modes(table: Table, shift: np.ndarray, stiffness: Any, nodes: Any) -> None:
    """Tell what is wrong with stiffness and nodes together with what is wrong with the particles."""
    if shift.ndim == 3:
        flaws = FlawList()
        check_modes(flaws, shift.shape[1], stiffness, nodes)
        table.flaws.extend(flaws.found, under=table.path)
