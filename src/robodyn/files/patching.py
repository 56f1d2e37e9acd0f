"""Patch of a scenario's file: which tables change its numbers to others? A file that includes it and says them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from robodyn.errors import FlawList
from robodyn.files.writing import scenario_tables, tables_text
from robodyn.files.written_units import number_names
from robodyn.model import Scenario


def patch_text(scenario: Scenario, values: Mapping[str, float], include: str | Path | None = None) -> str:
    """TOML with new values of a scenario's numbers, at their places.

    Args:
        include: the scenario's file; the patch is then a scenario by itself.

    Raises:
        ModelError: that names numbers without a place of their own in a file.
    """
    flaws = FlawList()
    places = _places(scenario, values)
    data: dict[str, Any] = {} if include is None else {"include": str(include)}
    for name, value in values.items():
        if name not in places:
            flaws.add(name, "has no place of its own in a file", "change it in Python: scenario.with_numbers")
            continue
        table = data
        for key in places[name][:-1]:
            table = table.setdefault(key, {})
        table[places[name][-1]] = value
    flaws.raise_if_any("patch")
    return tables_text(data)


def _places(scenario: Scenario, names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Where numbers stand in a file; those of blocks also where another part of the scenario cannot be written."""
    found: dict[str, tuple[str, ...]] = {
        f"{block.name}.{key}": ("blocks", block.name, "parameters", key)
        for block in scenario.machine.blocks
        for key, value in block.parameters.items()
        if isinstance(value, float)
    }
    if set(names) <= set(found):
        return found
    leaves = _leaves(scenario_tables(scenario), ())
    return found | {name: place for place in leaves for name in number_names(".".join(place))}


def _leaves(table: Mapping[str, Any], place: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Places of all plain numbers."""
    found: list[tuple[str, ...]] = []
    for key, value in table.items():
        if isinstance(value, Mapping):
            found += _leaves(value, (*place, key))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            found.append((*place, key))
    return found
