"""Reading descriptions: how does a table of a file become what its class declares, with every problem told?"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.errors import Flaw, FlawList, ModelError, nearest
from robodyn.files.forms import EVENTS
from robodyn.files.laws_of_files import load_function
from robodyn.files.table import FAILED, Table
from robodyn.files.units import QUANTITY
from robodyn.model import Event, kinds, referring_kinds
from robodyn.model.body import TENSOR, Inertia
from robodyn.model.description import Description
from robodyn.model.kinds import Kind
from robodyn.model.rules import units_of
from robodyn.spatial import from_quaternion, from_rpy

ENTRY = re.compile(r"(\w+)\[(\d+)\]")
COUNTS = {2: "two", 3: "three"}
MAPPINGS = (referring_kinds.Numbers, referring_kinds.ReferenceMap)
"""Kinds without which others of a description cannot be judged."""


def key_of(name: str, kind: Kind) -> tuple[str, int | None]:
    """The key of a field in a file, and its place where the key holds a list of several fields."""
    found = ENTRY.fullmatch(kind.key)
    return (found[1], int(found[2])) if found else (kind.key or name, None)


def is_required(cls: type, name: str) -> bool:
    return cls.__dataclass_fields__[name].default is dataclasses.MISSING  # type: ignore[attr-defined,no-any-return]


@dataclass
class Reader:
    """Reads the descriptions of one file.

    Attributes:
        folder: where Python files and data files stand.
        states: units of the states and the memory that the file may give values for.
        spelled: paths of fields -> paths of the keys that hold them, where these differ.
        loaded: functions by the paths of the keys that name them.
        found: descriptions by the path of their group and their name, None for those that could not be made.
        sections: of beams, that the file names.
    """

    folder: Path
    states: Mapping[str, str] = field(default_factory=dict)
    spelled: dict[str, str] = field(default_factory=dict)
    loaded: dict[str, Any] = field(default_factory=dict)
    found: dict[str, dict[str, Any]] = field(default_factory=dict)
    sections: Any = None

    def group(self, table: Table, key: str, classes: Sequence[type[Description]]) -> dict[str, Any]:
        """The descriptions of a table of tables by name; None for those that cannot be made."""
        found = {name: self.read(part, forms_of(classes), name) for name, part in table.tables(key)}
        self.found[table.at(key)] = found
        return found

    def read(self, table: Table, classes: Sequence[type[Description]], name: str | None = None) -> Any:
        """The description of a table, or None where it cannot be made; its flaws are noted."""
        cls = choose(table, classes)
        if cls is None:
            return FAILED
        values = self.values(table, cls)
        for key, remedy in getattr(cls, "REFUSED", {}).items():
            if key in table:
                table.asked.add(key)
                table.flaws.add(table.at(key), f"follows from '{cls.MARKS[0]}'", remedy)
        table.finish()
        return self.make(table, cls, values | ({} if name is None else {"name": name}))

    def values(self, table: Table, cls: type[Description]) -> dict[str, Any]:
        """What a table gives for the fields of a class; what cannot be read is None."""
        found: dict[str, Any] = {}
        self.spelled |= {table.at(own): table.at(key) for own, key in getattr(cls, "SPELLED", {}).items()}
        for name, kind in cls.KINDS.items():
            key, entry = key_of(name, kind)
            if getattr(kind, "inline", False) or (name == "name" and not (kind.key and kind.key in table)):
                continue
            if key != name:
                self.spelled[table.at(name)] = table.at(kind.key)
            if entry is not None:
                found[name] = self._entry(table, key, entry, cls)
            elif isinstance(kind, kinds.Rotation):
                found |= _read_rotation(table, key, name)
            elif key in table:
                table.asked.add(key)
                found[name] = self.value(kind, table, key)
            elif is_required(cls, name):
                found[name] = table.raw(key)
        return found

    def make(self, table: Table, cls: type[Description], values: dict[str, Any]) -> Any:
        """A description of what has been read.

        Where a value could not be read, its default stands in for it, so that flaws of the others are told too; where
        there is none, they are told one by one.
        """
        failed = [name for name, value in values.items() if value is FAILED]
        if any(is_required(cls, name) or isinstance(cls.KINDS[name], MAPPINGS) for name in failed):
            self.check(table, cls, values)
            return FAILED
        try:
            made: Any = cls(**{name: value for name, value in values.items() if name not in failed})
            made = made.made() if hasattr(made, "made") else made
        except ModelError as error:
            table.flaws.extend(self._spell(table, flaw) for flaw in error.flaws)
            return FAILED
        return FAILED if failed else made

    def check(self, table: Table, cls: type[Description], values: dict[str, Any]) -> None:
        """Tell what is wrong with single fields of a description that cannot be made."""
        flaws = FlawList()
        for name, value in values.items():
            if value is not FAILED:
                cls.KINDS[name].accept(flaws, name, value)
        table.flaws.extend(self._spell(table, flaw) for flaw in flaws.found)

    def _spell(self, table: Table, flaw: Flaw) -> Flaw:
        """A flaw of a field, as one of its key in the file."""
        return self.spell(flaw.under(table.path) if table.path else flaw)

    def spell(self, flaw: Flaw) -> Flaw:
        """A flaw whose path names a field, as one of its key in the file."""
        for own, key in self.spelled.items():
            if flaw.path == own or flaw.path.startswith((f"{own}.", f"{own}[")):
                return Flaw(key + flaw.path.removeprefix(own), flaw.what, flaw.remedy)
        return flaw

    def _entry(self, table: Table, key: str, entry: int, cls: type[Description]) -> Any:
        """One of several names that a list holds for as many fields."""
        declared = [kind for name, kind in cls.KINDS.items() if key_of(name, kind)[0] == key]
        before = len(table.flaws.found)
        told = key in table.asked
        names = table.texts(key)
        if told:  # its flaws are told once
            del table.flaws.found[before:]
        if len(names) == len(declared):
            return names[entry]
        if not told and len(table.flaws.found) == before:
            noun = getattr(declared[0], "to", "name")
            what = f"must name {COUNTS.get(len(declared), len(declared))} {noun}s, names {len(names)}"
            table.flaws.add(table.at(key), what)
        return FAILED

    def value(self, kind: Kind, table: Table, key: str) -> Any:
        """What a key that is there holds, None where it cannot be read."""
        read = next(VALUES[cls] for cls in type(kind).__mro__ if cls in VALUES)
        return read(self, kind, table, key)

    def numbers(self, kind: referring_kinds.Numbers, table: Table, key: str) -> Any:
        group = table.table(key).flattened() if kind.dotted else table.table(key)
        units = self.states
        if kind.law != "state":
            law = table.data.get(kind.law)
            units = units_of(self.loaded.get(table.at(kind.law), law)) if law else {}
        found = read_numbers(group, units, lists=kind.lists)
        return FAILED if None in found.values() else found


def forms_of(classes: Sequence[type[Description]]) -> Sequence[type[Description]]:
    """The classes that files give, where these are others."""
    return EVENTS if tuple(classes) == (Event,) else classes


def choose(table: Table, classes: Sequence[type[Description]]) -> type[Description] | None:
    """The class whose marks a table has; of several the one that has all marks of the others."""
    fitting = [cls for cls in classes if all(_has(table, mark) for mark in cls.MARKS)]
    best = [cls for cls in fitting if all(set(other.MARKS) <= set(cls.MARKS) for other in fitting)]
    if best or len(classes) == 1:
        return (best or classes)[0]
    marks = list(dict.fromkeys(cls.MARKS[0] for cls in classes if cls.MARKS))
    words = [mark.partition("=")[2] for mark in marks]
    table.asked |= {key_of(name, kind)[0] for cls in classes for name, kind in cls.KINDS.items()}
    if not all(words):
        table.flaws.add(table.path, f"must have exactly one of {', '.join(map(repr, marks))}")
    elif (kind := table.text("kind")) is not None:
        table.flaws.add(table.at("kind"), f"'{kind}' is unknown", nearest(kind, words))
    table.finish()
    return None


def _has(table: Table, mark: str) -> bool:
    """Whether a table has a key, or in it the word that is asked for: "kind=tube"."""
    key, _, word = mark.partition("=")
    return key in table and (not word or table.data[key] == word)


def read_numbers(table: Table, units: Mapping[str, str] | None = None, lists: bool = False) -> dict[str, Any]:
    """All entries of a table as numbers (or lists of numbers), converted to SI."""
    found = {}
    for key, value in table.data.items():
        unit = (units or {}).get(key, "")
        found[key] = table.vector(key, unit) if lists and isinstance(value, list) else table.number(key, unit)
    return found


def _read_rotation(table: Table, key: str, name: str) -> dict[str, Any]:
    """Of a field that is a rotation matrix; empty where nothing is given."""
    given = [way for way in ("rpy", "quaternion", key) if way in table]
    return {name: read_rotation(table, key)} if given else {}


def read_rotation(table: Table, key: str = "rotation") -> Any:
    """Exactly one of rpy (fixed-axis roll, pitch, yaw), quaternion (w, x, y, z), rotation (3x3)."""
    given = [way for way in ("rpy", "quaternion", key) if way in table]
    if len(given) > 1:
        table.flaws.add(table.path, f"gives {' and '.join(given)}", f"give one of rpy, quaternion, {key}")
    rpy = table.vector("rpy", "rad", 3, (0.0, 0.0, 0.0))
    quaternion = table.vector("quaternion", "", 4, (1.0, 0.0, 0.0, 0.0))
    rotation = table.matrix(key, "") if key in table else np.eye(3)
    if rpy is None or quaternion is None or len(given) > 1:
        return FAILED
    if "quaternion" in table:
        if not np.linalg.norm(quaternion) > 0:
            table.flaws.add(table.at("quaternion"), "must not be zero")
            return FAILED
        return from_quaternion(*(np.asarray(quaternion) / np.linalg.norm(quaternion)))
    return from_rpy(*rpy) if "rpy" in table else rotation


def _read_quantity(reader: Reader, kind: kinds.Quantity, table: Table, key: str) -> Any:
    unit = kind.written or kind.unit
    if isinstance(unit, Mapping):
        unit = unit.get(str(table.data.get(kind.by)), "")
    elif unit.startswith("{") and unit[1:-1] in table.data:
        unit = reader.states.get(str(table.data[unit[1:-1]]), "")
    many = isinstance(kind, kinds.Quantities) and isinstance(table.data[key], list)
    return table.vector(key, unit) if many else table.number(key, unit)


def _read_vector(reader: Reader, kind: kinds.Vector, table: Table, key: str) -> Any:
    return _read_entries(table, key, kind) if kind.units else table.vector(key, kind.unit, kind.length)


def _read_entries(table: Table, key: str, kind: kinds.Vector) -> Any:
    """Numbers of a table by their suffixes, 0 where they are not given."""
    entries = table.table(key)
    units = kind.units or (kind.unit,) * len(kind.suffixes)
    found = tuple(entries.number(name, unit, 0.0) for name, unit in zip(kind.suffixes, units, strict=True))
    entries.finish()
    return FAILED if None in found else found


def _read_inertia(reader: Reader, kind: Inertia, table: Table, key: str) -> Any:
    value = table.data[key]
    if isinstance(value, dict):
        return _read_entries(table, key, dataclasses.replace(kind, suffixes=TENSOR))
    if isinstance(value, list) and any(isinstance(row, list) for row in value):
        return table.matrix(key, kind.unit)
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
        table.flaws.add(table.at(key), "has rows of different lengths")
        return FAILED


def _nested(table: Table, path: str, value: Any, unit: str) -> Any:
    if isinstance(value, list):
        return [_nested(table, f"{path}[{k}]", entry, unit) for k, entry in enumerate(value)]
    return table.quantity(path, value, unit)


def _read_plain_array(reader: Reader, kind: kinds.Array, table: Table, key: str) -> Any:
    return read_array(table, key, kind.unit) if kind.of == "number" else table.raw(key)


def _read_target(reader: Reader, kind: referring_kinds.Target, table: Table, key: str) -> Any:
    """A signal's name, or a number: text that begins like a number with a unit is one."""
    value = table.raw(key)
    if isinstance(value, str) and not QUANTITY.fullmatch(value):
        return value
    return table.number(key, kind.written)


def _read_weights(reader: Reader, kind: referring_kinds.Weights, table: Table, key: str) -> Any:
    found = read_numbers(table.table(key))
    return FAILED if None in found.values() else found


def _read_references(reader: Reader, kind: referring_kinds.ReferenceMap, table: Table, key: str) -> Any:
    """Argument -> signal name, or a list of them, or a number in its place."""
    group = table.table(key).flattened() if kind.keys_to else table.table(key)
    found: dict[str, Any] = {}
    for name, value in group.data.items():
        group.asked.add(name)
        entries = value if isinstance(value, list) and kind.several else [value]
        allowed = (str, float, int) if kind.several else (str,)
        if not all(isinstance(entry, allowed) and not isinstance(entry, bool) for entry in entries):
            noun = "a signal's name or a list of them" if kind.several else "text"
            group.flaws.add(group.at(name), f"must be {noun}, is {value!r}")
            return FAILED
        found[name] = tuple(entries) if isinstance(value, list) else value
    return found


def _read_function(reader: Reader, kind: Kind, table: Table, key: str) -> Any:
    text = table.text(key)
    reader.loaded[table.at(key)] = FAILED if text is None else load_function(text, table, key, reader.folder)
    return reader.loaded[table.at(key)]


def _read_texts(reader: Reader, kind: Kind, table: Table, key: str) -> Any:
    good = isinstance(table.data[key], list) and all(isinstance(entry, str) for entry in table.data[key])
    found = table.texts(key)
    return found if good else FAILED


VALUES: dict[type, Callable[[Reader, Any, Table, str], Any]] = {
    kinds.Text: lambda reader, kind, table, key: table.text(key),
    kinds.Name: lambda reader, kind, table, key: table.text(key),
    kinds.Choice: lambda reader, kind, table, key: table.text(key),
    kinds.Flag: lambda reader, kind, table, key: table.flag(key),
    kinds.Count: lambda reader, kind, table, key: table.integer(key),
    kinds.Texts: _read_texts,
    kinds.Quantity: _read_quantity,
    kinds.Vector: _read_vector,
    Inertia: _read_inertia,
    kinds.Array: _read_plain_array,
    referring_kinds.Reference: lambda reader, kind, table, key: table.text(key),
    referring_kinds.References: _read_texts,
    referring_kinds.Target: _read_target,
    referring_kinds.Weights: _read_weights,
    referring_kinds.ReferenceMap: _read_references,
    referring_kinds.Numbers: Reader.numbers,
    referring_kinds.Function: _read_function,
    referring_kinds.Law: _read_function,
    referring_kinds.Part: lambda reader, kind, table, key: reader.read(table.table(key), kind.classes),
    referring_kinds.Parts: lambda reader, kind, table, key: _read_parts(reader, kind, table, key),
}


def _read_parts(reader: Reader, kind: referring_kinds.Parts, table: Table, key: str) -> Any:
    found = reader.group(table, key, kind.classes)
    return FAILED if None in found.values() else tuple(found.values())
