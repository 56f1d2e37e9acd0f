"""How is a block written in a TOML file? A law by its name or from a Python file, its connections and numbers."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from robodyn.errors import nearest
from robodyn.files.reference_files import read_file_reference
from robodyn.files.table import Table, attempt
from robodyn.laws import info_of
from robodyn.model import Block
from robodyn.model.block import find_law
from robodyn.units import fill_unit, known_unit

FILE_REFERENCE = "file_reference"


def read_numbers(table: Table, units: Mapping[str, str] | None = None, lists: bool = False) -> dict[str, Any]:
    """All entries of a table as numbers (or lists of numbers), converted to SI."""
    found = {}
    for key, value in table.data.items():
        unit = (units or {}).get(key, "")
        found[key] = table.vector(key, unit) if lists and isinstance(value, list) else table.number(key, unit)
    return found


def load_law(text: Any, table: Table, folder: Path) -> Callable[..., Any] | str | None:
    """A law of the package by name, or a function of a Python file beside this one: "my_laws.py:drag"."""
    if not isinstance(text, str) or ".py:" not in text:
        return text
    file, _, function = text.rpartition(":")
    source = folder / file
    if not source.is_file():
        table.flaws.add(table.at("law"), f"there is no file '{source}'")
        return None
    spec = importlib.util.spec_from_file_location(source.stem, source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # noqa: BLE001 (whatever the user's file raises is told as a flaw of that file)
        table.flaws.add(table.at("law"), f"'{source}' cannot be loaded: {type(error).__name__}: {error}")
        return None
    if not callable(getattr(module, function, None)):
        known = [key for key, value in vars(module).items() if callable(value)]
        table.flaws.add(table.at("law"), f"'{file}' has no function '{function}'", nearest(function, known))
        return None
    found: Callable[..., Any] = getattr(module, function)
    return found


def read_block(name: str, table: Table, folder: Path) -> Block | None:
    law: Any = table.text("law")
    law = read_file_reference(table, folder) if law == FILE_REFERENCE else load_law(law, table, folder)
    function = find_law(law) if law is not None else None
    own = {"{u}": table.data["unit"]} if known_unit(str(table.data.get("unit", "?"))) else {}
    units = {key: fill_unit(unit, own) for key, unit in info_of(function).units.items()} if function else {}
    fields: dict[str, Any] = {}
    for key in ("on", "unit"):
        if key in table:
            fields[key] = table.text(key)
    for key in ("period", "offset", "delay"):
        if key in table:
            fields[key] = table.number(key, "s")
    for key in ("parameters", "states", "memory", "hold"):
        if key in table:
            fields[key] = read_numbers(table.table(key), units, lists=key == "parameters")
    for key in ("inputs", "acts"):
        if key in table:
            fields[key] = _signals(table.table(key))
    if "native" in table:
        fields["native"] = table.flag("native", True)
    table.finish()
    if any(None in (value.values() if isinstance(value, dict) else (value,)) for value in fields.values()):
        return None
    return attempt(table, Block, name, law, **fields)


def _signals(table: Table) -> dict[str, Any]:
    """Argument -> signal name, or a list of them."""
    found: dict[str, Any] = {}
    for key, value in table.data.items():
        table.asked.add(key)
        names = value if isinstance(value, list) else [value]
        if not all(isinstance(entry, str) for entry in names):
            table.flaws.add(table.at(key), f"must be a signal's name or a list of them, is {value!r}")
            found[key] = None
            continue
        found[key] = tuple(names) if isinstance(value, list) else value
    return found
