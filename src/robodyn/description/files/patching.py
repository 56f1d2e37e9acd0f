"""Patch of a scenario's file: which tables change its numbers to others? A file that includes it and says them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robodyn.base.errors import FlawList
from robodyn.description.files.writing import scenario_tables, tables_text
from robodyn.description.model import Scenario


def patch_text(scenario: Scenario, values: Mapping[str, float], include: str | Path | None = None) -> str:
    """TOML with new values of a scenario's numbers, at their places.

    Args:
        include: the scenario's file; the patch is then a scenario by itself.
    """
    data: dict[str, Any] = {} if include is None else {"include": str(include)}
    blocks = _block_places(scenario)
    if set(values) <= set(blocks):
        for name, value in values.items():
            _set(data, blocks[name], value)
        return tables_text(data)
    changed = scenario.with_numbers(values)
    # What a file cannot name stands in the file that is patched.
    old, new = (scenario_tables(one, unnamed=FlawList()) for one in (scenario, changed))
    return tables_text(data | _difference(old, new))


def _block_places(scenario: Scenario) -> dict[str, tuple[str, ...]]:
    """Where numbers of blocks stand in a file, also of a scenario of which another part cannot be written."""
    return {
        f"{block.name}.{key}": ("blocks", block.name, "parameters", key)
        for block in scenario.machine.blocks
        for key, value in block.parameters.items()
        if isinstance(value, float)
    }


def _set(data: dict[str, Any], place: tuple[str, ...], value: float) -> None:
    table = data
    for key in place[:-1]:
        table = table.setdefault(key, {})
    table[place[-1]] = value


def _difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Entries of new tables that the old ones have not, or otherwise; lists are said as a whole."""
    found: dict[str, Any] = {}
    for key, value in new.items():
        if isinstance(value, Mapping) and isinstance(old.get(key), Mapping):
            inner = _difference(old[key], value)
            found |= {key: inner} if inner else {}
        elif value != old.get(key):
            found[key] = value
    return found
