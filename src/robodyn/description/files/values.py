"""Values in files: how is what a field holds written as TOML? One function for each kind of field."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.base.spatial import from_quaternion, from_rpy
from robodyn.base.units import fill_unit, known_unit
from robodyn.description.files.laws_of_files import load_function
from robodyn.description.files.reference_files import FILE_REFERENCE, read_file_reference
from robodyn.description.files.table import FAILED, Table
from robodyn.description.files.units import LINEAR, ROTARY, is_quantity
from robodyn.description.model import kinds
from robodyn.description.model.body import TENSOR, Inertia
from robodyn.description.model.coordinate import common_unit
from robodyn.description.model.kinds import Kind
from robodyn.description.model.rules import units_of
from robodyn.description.model.scenario import list_unit

if TYPE_CHECKING:
    from robodyn.description.files.reading import Reader


def read_numbers(table: Table, units: Mapping[str, str] | None = None, lists: bool = False) -> dict[str, Any]:
    """All entries of a table as numbers (or lists of numbers), converted to SI."""
    numbers = {}
    for key, value in table.data.items():
        unit = (units or {}).get(key, "")
        numbers[key] = table.vector(key, unit) if lists and isinstance(value, list) else table.number(key, unit)
    return numbers


def read_rotation(table: Table, key: str = "rotation") -> Any:
    """Exactly one of rpy (fixed-axis roll, pitch, yaw), quaternion (w, x, y, z), rotation (3x3)."""
    given = [way for way in ("rpy", "quaternion", key) if way in table]
    if len(given) > 1:
        table.flaws.add(table.path, f"gives {' and '.join(given)}", f"give one of rpy, quaternion, {key}")
    rpy = table.vector("rpy", "rad", 3, (0.0, 0.0, 0.0))
    quaternion = table.vector("quaternion", "", 4, (1.0, 0.0, 0.0, 0.0))
    rotation = read_array(table, key, "") if key in table else np.eye(3)
    if rpy is None or quaternion is None or rotation is FAILED or len(given) > 1:
        return FAILED
    if "quaternion" in table:
        if not np.linalg.norm(quaternion) > 0:
            table.flaws.add(table.at("quaternion"), "must not be zero", "[1, 0, 0, 0] rotates nothing")
            return FAILED
        return from_quaternion(*(np.asarray(quaternion) / np.linalg.norm(quaternion)))
    return from_rpy(*rpy) if "rpy" in table else rotation


def _read_quantity(reader: Reader, kind: kinds.Quantity, table: Table, key: str) -> Any:
    unit = kind.written or kind.unit
    if isinstance(unit, Mapping):
        unit = unit.get(str(table.data.get(kind.by)), "")
    elif unit.startswith("{") and unit[1:-1] in table.data:
        unit = reader.states.get(str(table.data[unit[1:-1]]), "")
    unit = fill_unit(unit, _place(reader, table))
    many = isinstance(kind, kinds.Quantities) and isinstance(table.data[key], list)
    return table.vector(key, unit) if many else table.number(key, unit)


def _read_vector(reader: Reader, kind: kinds.Vector, table: Table, key: str) -> Any:
    unit = fill_unit(kind.unit, _place(reader, table))
    return _read_entries(table, key, kind) if kind.units else table.vector(key, unit, kind.length)


def _read_entries(table: Table, key: str, kind: kinds.Vector) -> Any:
    """Numbers of a table by their suffixes, 0 where they are not given."""
    entries = table.table(key)
    units = kind.units or (kind.unit,) * len(kind.suffixes)
    numbers = tuple(entries.number(name, unit, 0.0) for name, unit in zip(kind.suffixes, units, strict=True))
    entries.finish()
    return FAILED if None in numbers else numbers


def _read_inertia(reader: Reader, kind: Inertia, table: Table, key: str) -> Any:
    value = table.data[key]
    if isinstance(value, dict):
        return _read_entries(table, key, dataclasses.replace(kind, suffixes=TENSOR))
    if isinstance(value, list) and any(isinstance(row, list) for row in value):
        return read_array(table, key, kind.unit)
    return table.vector(key, kind.unit)


def read_array(table: Table, key: str, unit: str) -> Any:
    """Numbers in nested lists, or an array; whether its shape is right is for the description to say."""
    value = table.raw(key)
    if value is None:
        return FAILED
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "fiu":
            return value.astype(float)
        table.flaws.add(table.at(key), f"must be real numbers, is of type {value.dtype}")
        return FAILED
    if not isinstance(value, list):
        table.flaws.add(table.at(key), f"must be a list, is {value!r}")
        return FAILED
    before = len(table.flaws.found)
    numbers = _nested(table, table.at(key), value, unit)
    if len(table.flaws.found) > before:
        return FAILED
    try:
        return np.array(numbers, float)
    except ValueError:
        table.flaws.add(table.at(key), "must be rows of numbers, has rows of different lengths")
        return FAILED


def _nested(table: Table, path: str, value: Any, unit: str) -> Any:
    if isinstance(value, list):
        return [_nested(table, f"{path}[{k}]", entry, unit) for k, entry in enumerate(value)]
    return table.quantity(path, value, unit)


def _read_plain_array(reader: Reader, kind: kinds.Array, table: Table, key: str) -> Any:
    return read_array(table, key, kind.unit) if kind.of == "number" else table.raw(key)


def _read_target(reader: Reader, kind: kinds.Target, table: Table, key: str) -> Any:
    """A signal's name, or a number: text that begins like a number with a unit is one."""
    value = table.raw(key)
    if isinstance(value, str) and not is_quantity(value):
        return value
    return table.number(key, fill_unit(kind.written, _place(reader, table)))


def _read_named(reader: Reader, kind: kinds.Numbers, table: Table, key: str) -> Any:
    """Numbers by name, in the units of states, or of a law that has been read before."""
    group = table.table(key).flattened() if kind.dotted else table.table(key)
    law = reader.loaded.get(table.at(kind.law), table.data.get(kind.law))
    units = reader.states if kind.law == "state" else _filled(reader, units_of(law), table)
    lists = {name: entry for name, entry in group.data.items() if isinstance(entry, list)}
    units = {**units, **{name: list_unit(name, units.get(name, ""), len(entry)) for name, entry in lists.items()}}
    numbers = read_numbers(group, units, lists=kind.lists)
    return FAILED if None in numbers.values() else numbers


def _filled(reader: Reader, units: Mapping[str, str], table: Table) -> Mapping[str, str]:
    """Units of a law on its joint, and with that of its block in the place of {u}, where the block says one."""
    own, known = table.data.get("unit"), _place(reader, table)
    known |= {"{u}": own} if isinstance(own, str) and known_unit(own) else {}
    return {key: fill_unit(unit, known) for key, unit in units.items()}


def _place(reader: Reader, table: Table) -> dict[str, str]:
    """What {x}, {F} and {I} are on the joint or coordinate that a table names, or is; nothing where that is unknown."""
    of = table.data.get("on", table.data.get("prescribed", table.data.get("of")))
    unit = common_unit(of if isinstance(of, (dict, list)) else [of], reader.positions)
    unit = table.data.get("unit", "m") if "function" in table.data else unit
    return dict({"rad": ROTARY, "m": LINEAR}.get(unit, {}))


def _read_weights(reader: Reader, kind: kinds.Weights, table: Table, key: str) -> Any:
    weights = read_numbers(table.table(key))
    return FAILED if None in weights.values() else weights


def _read_references(reader: Reader, kind: kinds.ReferenceMap, table: Table, key: str) -> Any:
    """Argument -> signal name, or a list of them, or a number in its place."""
    group = table.table(key).flattened() if kind.keys_to else table.table(key)
    references: dict[str, Any] = {}
    for name, value in group.data.items():
        group.asked.add(name)
        entries = value if isinstance(value, list) and kind.several else [value]
        allowed = (str, float, int) if kind.several else (str,)
        if not all(isinstance(entry, allowed) and not isinstance(entry, bool) for entry in entries):
            noun = "a signal's name or a list of them" if kind.several else "text"
            group.flaws.add(group.at(name), f"must be {noun}, is {value!r}")
            return FAILED
        references[name] = tuple(entries) if isinstance(value, list) else value
    return references


def _read_function(reader: Reader, kind: Kind, table: Table, key: str) -> Any:
    text = table.text(key)
    law: Any
    if text == FILE_REFERENCE:
        law = read_file_reference(table, reader)
    else:
        law = FAILED if text is None else load_function(text, table, key, reader.folder)
    reader.loaded[table.at(key)] = law
    return reader.loaded[table.at(key)]


def _read_texts(reader: Reader, kind: Kind, table: Table, key: str) -> Any:
    good = isinstance(table.data[key], list) and all(isinstance(entry, str) for entry in table.data[key])
    texts = table.texts(key)
    return texts if good else FAILED


def _read_parts(reader: Reader, kind: kinds.Parts, table: Table, key: str) -> Any:
    parts = reader.group(table, key, kind.classes)
    return FAILED if None in parts.values() else tuple(parts.values())


def _read_file(reader: Reader, kind: kinds.File, table: Table, key: str) -> Any:
    """A path from the folder of the scenario's file."""
    text = table.text(key)
    return FAILED if text is None else str(reader.folder / text)


VALUES: dict[type, Callable[[Reader, Any, Table, str], Any]] = {
    Kind: lambda reader, kind, table, key: table.text(key),
    kinds.Flag: lambda reader, kind, table, key: table.flag(key),
    kinds.Count: lambda reader, kind, table, key: table.integer(key),
    kinds.File: _read_file,
    kinds.Texts: _read_texts,
    kinds.Quantity: _read_quantity,
    kinds.Vector: _read_vector,
    Inertia: _read_inertia,
    kinds.Array: _read_plain_array,
    kinds.Target: _read_target,
    kinds.Weights: _read_weights,
    kinds.ReferenceMap: _read_references,
    kinds.Numbers: _read_named,
    kinds.Function: _read_function,
    kinds.LawOrName: _read_function,
    kinds.Part: lambda reader, kind, table, key: reader.read(table.table(key), kind.classes),
    kinds.Parts: _read_parts,
}
