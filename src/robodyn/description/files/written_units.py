"""Units of a file's numbers: in which were they given? A number without a unit means SI, wherever it is given."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from robodyn.base.units import known_unit
from robodyn.description.files.composition import load_composed
from robodyn.description.files.groups import GROUPS
from robodyn.description.files.units import is_quantity, split_quantity
from robodyn.description.model.numbers import XYZ
from robodyn.description.model.scenario import ORIENTATION

WITHIN = re.compile(rf"^({'|'.join(GROUPS)})\.")


def find_written_units(path: str | Path, numbers: Collection[str], text: str | None = None) -> dict[str, str]:
    """Number -> the unit it is written with in a scenario's file, where that is not of SI (`elbow.target`: deg).

    Args:
        text: what an editor holds of the file, read in place of what is kept of it.
    """
    units: dict[str, str] = {}
    for place, value in list_leaves(load_composed(Path(path), text).data):
        written = split_quantity(value)[1] if isinstance(value, str) and is_quantity(value) else ""
        unit = known_unit(written)
        if unit is not None and unit.factor != 1:
            units |= {name: written for name in number_names(place) if name in numbers or name.startswith("initial.")}
    return units


def list_leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every text, number and switch of a file with its place, entries of lists by their number."""
    if not isinstance(value, (dict, list)):
        yield place, value
        return
    for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
        yield from list_leaves(entry, f"{place}.{key}" if place else str(key))


def number_names(place: str) -> Iterator[str]:
    """Names that the number at a place may have: `blocks.drive.parameters.limit` is `drive.limit`."""
    name = WITHIN.sub("", place).replace(".parameters.", ".")
    yield name
    stem, _, last = name.rpartition(".")
    if last not in ("0", "1", "2") or stem.endswith(ORIENTATION):
        return
    yield f"{stem}.{XYZ[int(last)]}"
    # A free joint's `base.position[0]` is that of its axis `base.x`.
    owner, _, quantity = stem.rpartition(".")
    yield f"{owner}.{XYZ[int(last)]}.{quantity}"
