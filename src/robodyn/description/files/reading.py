"""Reading descriptions: how does a table of a file become what its class declares, with every problem reported?"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from robodyn.base import Flaw, FlawList, ModelError, fill_unit, known_unit, nearest
from robodyn.base.spatial import from_quaternion, from_rpy
from robodyn.description.model import Event, FormulaSignal, kinds
from robodyn.description.model.body import TENSOR, InertiaEntries
from robodyn.description.model.coordinate import common_unit
from robodyn.description.model.description import Description, default_of
from robodyn.description.model.event import SetValues, level_crossing
from robodyn.description.model.fields import EMPTY, declare_as, numbers, part_name, quantity, reference
from robodyn.description.model.kinds import FieldKind
from robodyn.description.model.rules import units_of
from robodyn.description.model.scenario import list_unit

from .laws_of_files import LAWS_OF_DATA, load_function, read_law_of_data
from .table import FAILED, TomlTable
from .units import LINEAR, ROTARY, is_quantity, split_quantity

# --------------------------------------------------------------------------------------------------
# Forms of files: descriptions that a file gives in another way than Python does, and what is made of them.


def new_values() -> Any:
    """The field of the values that an event sets."""
    doc = "table of states or memory and their new values"
    return numbers("state", dotted=True, default=EMPTY, doc=doc, absent="none")


class LevelEvent(Description, kw_only=True):
    """An event at which a signal passes a level."""

    NOUN, MARKS = "event", ("signal",)
    SPELLED: ClassVar[Mapping[str, str]] = {"inputs.signal": "signal", "parameters.level": "level"}

    name: str = part_name()
    direction: str = declare_as(Event, "direction")
    terminal: bool = declare_as(Event, "terminal")
    set: Mapping[str, float] = new_values()
    signal: str = reference("signal", doc="the signal that is watched")
    level: float = quantity(written="{signal}", doc="the value it passes")

    def made(self) -> Event:
        action = SetValues(self.set) if self.set else None
        fields = {"signal": self.signal}, {"level": self.level}
        return Event(self.name, level_crossing, *fields, self.direction, action, self.terminal)


class GuardEvent(Event):
    """An event at which a function passes zero."""

    set: Mapping[str, float] = new_values()

    def check(self, flaws: FlawList) -> None:
        if self.set and self.action is not None:
            flaws.add("set", "has no effect beside an action", "give one of the two")

    def made(self) -> Event:
        fields = {name: getattr(self, name) for name in Event.KINDS}
        return Event(**fields | ({"action": SetValues(self.set)} if self.set else {}))


EVENTS = (LevelEvent, GuardEvent)
FORMS: dict[type, Sequence[type[Description]]] = {Event: EVENTS}
"""Forms in which files give a description."""


def forms_of(classes: Sequence[type[Description]]) -> Sequence[type[Description]]:
    """The classes that files give in the place of others."""
    return FORMS.get(classes[0], classes)


def form_of(event: Event) -> Description:
    """The form by which a file gives an event."""
    fields = {name: getattr(event, name) for name in Event.KINDS}
    if isinstance(event.action, SetValues):
        fields |= {"action": None, "set": event.action.values}
    if event.guard is level_crossing and event.native and fields["action"] is None:
        level = {"signal": event.inputs["signal"], "level": event.parameters["level"]}
        return LevelEvent(**level, **{name: fields[name] for name in LevelEvent.KINDS if name in fields})
    return GuardEvent(**fields)


# --------------------------------------------------------------------------------------------------
# Values in files: how is what a field holds written as TOML? One function for each kind of field.


def read_numbers(table: TomlTable, units: Mapping[str, str] | None = None, lists: bool = False) -> dict[str, Any]:
    """All entries of a table as numbers (or lists of numbers), converted to SI."""
    numbers = {}
    for key, value in table.data.items():
        unit = (units or {}).get(key, "")
        numbers[key] = table.vector(key, unit) if lists and isinstance(value, list) else table.number(key, unit)
    return numbers


def read_rotation(table: TomlTable, key: str) -> Any:
    """Exactly one of rpy (fixed-axis roll, pitch, yaw), quaternion (w, x, y, z), rotation (3x3)."""
    forms = [way for way in ("rpy", "quaternion", key) if way in table]
    if len(forms) > 1:
        table.flaws.add(table.path, f"gives {' and '.join(forms)}", f"give one of rpy, quaternion, {key}")
    rpy = table.vector("rpy", "rad", 3, (0.0, 0.0, 0.0))
    quaternion = table.vector("quaternion", "", 4, (1.0, 0.0, 0.0, 0.0))
    rotation = read_array(table, key, "") if key in table else np.eye(3)
    if rpy is None or quaternion is None or rotation is FAILED or len(forms) > 1:
        return FAILED
    if "quaternion" in table:
        if not np.linalg.norm(quaternion) > 0:
            table.note("quaternion", "must not be zero", "use [1, 0, 0, 0] for no rotation")
            return FAILED
        return from_quaternion(*(np.asarray(quaternion) / np.linalg.norm(quaternion)))
    return from_rpy(*rpy) if "rpy" in table else rotation


def _read_quantity(reader: TableReader, kind: kinds.Quantity, table: TomlTable, key: str) -> Any:
    unit = kind.written or kind.unit
    if isinstance(unit, Mapping):
        unit = unit.get(str(table.data.get(kind.by)), "")
    elif unit.startswith("{") and unit[1:-1] in table.data:
        unit = reader.states.get(str(table.data[unit[1:-1]]), "")
    unit = fill_unit(unit, _place(reader, table))
    many = isinstance(kind, kinds.Quantities) and isinstance(table.data[key], list)
    return table.vector(key, unit) if many else table.number(key, unit)


def _read_vector(reader: TableReader, kind: kinds.Vector, table: TomlTable, key: str) -> Any:
    unit = fill_unit(kind.unit, _place(reader, table))
    return _read_entries(table, key, kind) if kind.units else table.vector(key, unit, kind.length)


def _read_entries(table: TomlTable, key: str, kind: kinds.Vector) -> Any:
    """Numbers of a table by their suffixes, 0 where they are not given."""
    entries = table.table(key)
    units = kind.units or (kind.unit,) * len(kind.suffixes)
    numbers = tuple(entries.number(name, unit, 0.0) for name, unit in zip(kind.suffixes, units, strict=True))
    entries.finish()
    return FAILED if None in numbers else numbers


def _read_inertia(reader: TableReader, kind: InertiaEntries, table: TomlTable, key: str) -> Any:
    value = table.data[key]
    if isinstance(value, dict):
        return _read_entries(table, key, dataclasses.replace(kind, suffixes=TENSOR))
    if isinstance(value, list) and any(isinstance(row, list) for row in value):
        return read_array(table, key, kind.unit)
    return table.vector(key, kind.unit)


def read_array(table: TomlTable, key: str, unit: str) -> Any:
    """Numbers in nested lists, or an array; whether its shape is right is for the description to say."""
    value = table.raw(key)
    if value is None:
        return FAILED
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "fiu":
            return value.astype(float)
        table.note(key, f"must be real numbers, is of type {value.dtype}")
        return FAILED
    if not isinstance(value, list):
        table.note(key, f"must be a list, is {value!r}")
        return FAILED
    before = len(table.flaws.found)
    numbers = _nested(table, table.at(key), value, unit)
    if len(table.flaws.found) > before:
        return FAILED
    try:
        return np.array(numbers, float)
    except ValueError:
        table.note(key, "must be rows of numbers, has rows of different lengths")
        return FAILED


def _nested(table: TomlTable, path: str, value: Any, unit: str) -> Any:
    if isinstance(value, list):
        return [_nested(table, f"{path}[{k}]", entry, unit) for k, entry in enumerate(value)]
    return table.quantity(path, value, unit)


def _read_plain_array(reader: TableReader, kind: kinds.Array, table: TomlTable, key: str) -> Any:
    return read_array(table, key, kind.unit) if kind.of == "number" else table.raw(key)


def _read_target(reader: TableReader, kind: kinds.Target, table: TomlTable, key: str) -> Any:
    """A signal's name, or a number: text that begins like a number with a unit is one."""
    value = table.raw(key)
    if isinstance(value, str) and not is_quantity(value):
        return value
    return table.number(key, fill_unit(kind.written, _place(reader, table)))


def _read_named(reader: TableReader, kind: kinds.NamedNumbers, table: TomlTable, key: str) -> Any:
    """Numbers by name, in the units of states, or of a law that has been read before."""
    group = table.table(key).flattened() if kind.dotted else table.table(key)
    law = reader.loaded.get(table.at(kind.law), table.data.get(kind.law))
    units = reader.states if kind.law == "state" else _filled(reader, units_of(law), table)
    lists = {name: entry for name, entry in group.data.items() if isinstance(entry, list)}
    units = {**units, **{name: list_unit(name, units.get(name, ""), len(entry)) for name, entry in lists.items()}}
    numbers = read_numbers(group, units, lists=kind.lists)
    return FAILED if None in numbers.values() else numbers


def _filled(reader: TableReader, units: Mapping[str, str], table: TomlTable) -> Mapping[str, str]:
    """Units of a law on its joint, and with that of its block in the place of {u}, where the block says one."""
    own, placeholders = table.data.get("unit"), _place(reader, table)
    placeholders |= {"{u}": own} if isinstance(own, str) and known_unit(own) else {}
    return {key: fill_unit(unit, placeholders) for key, unit in units.items()}


def _place(reader: TableReader, table: TomlTable) -> dict[str, str]:
    """Units for {x}, {F} and {I} on the joint or coordinate that a table names, or is; none where that is unknown."""
    of = table.data.get("on", table.data.get("prescribed", table.data.get("of")))
    unit = common_unit(of if isinstance(of, (dict, list)) else [of], reader.positions)
    unit = table.data.get("unit", "m") if "function" in table.data else unit
    return dict({"rad": ROTARY, "m": LINEAR}.get(unit, {}))


def _read_weights(reader: TableReader, kind: kinds.FactorMap, table: TomlTable, key: str) -> Any:
    weights = read_numbers(table.table(key))
    return FAILED if None in weights.values() else weights


def _read_references(reader: TableReader, kind: kinds.ReferenceMap, table: TomlTable, key: str) -> Any:
    """Argument -> signal name, or a list of them, or a number in its place."""
    group = table.table(key).flattened() if kind.keys_to else table.table(key)
    references: dict[str, Any] = {}
    for name, value in group.data.items():
        group.asked.add(name)
        entries = value if isinstance(value, list) and kind.several else [value]
        allowed = (str, float, int) if kind.several else (str,)
        if not all(isinstance(entry, allowed) and not isinstance(entry, bool) for entry in entries):
            noun = "a signal's name or a list of them" if kind.several else "text"
            group.note(name, f"must be {noun}, is {value!r}")
            return FAILED
        references[name] = tuple(entries) if isinstance(value, list) else value
    return references


def _read_function(reader: TableReader, kind: FieldKind, table: TomlTable, key: str) -> Any:
    text = table.text(key)
    law: Any
    if text in LAWS_OF_DATA:
        law = read_law_of_data(text, table, reader)
    else:
        law = FAILED if text is None else load_function(text, table, key, reader.folder)
    reader.loaded[table.at(key)] = law
    return reader.loaded[table.at(key)]


def _read_texts(reader: TableReader, kind: FieldKind, table: TomlTable, key: str) -> Any:
    good = isinstance(table.data[key], list) and all(isinstance(entry, str) for entry in table.data[key])
    texts = table.texts(key)
    return texts if good else FAILED


def _read_parts(reader: TableReader, kind: kinds.Children, table: TomlTable, key: str) -> Any:
    parts = reader.group(table, key, kind.classes)
    return FAILED if None in parts.values() else tuple(parts.values())


def _read_file(reader: TableReader, kind: kinds.File, table: TomlTable, key: str) -> Any:
    """A path from the folder of the scenario's file."""
    text = table.text(key)
    return FAILED if text is None else str(reader.folder / text)


VALUES: dict[type, Callable[[TableReader, Any, TomlTable, str], Any]] = {
    FieldKind: lambda reader, kind, table, key: table.text(key),
    kinds.Flag: lambda reader, kind, table, key: table.flag(key),
    kinds.Count: lambda reader, kind, table, key: table.integer(key),
    kinds.File: _read_file,
    kinds.Texts: _read_texts,
    kinds.Quantity: _read_quantity,
    kinds.Vector: _read_vector,
    InertiaEntries: _read_inertia,
    kinds.Array: _read_plain_array,
    kinds.Target: _read_target,
    kinds.FactorMap: _read_weights,
    kinds.ReferenceMap: _read_references,
    kinds.NamedNumbers: _read_named,
    kinds.Function: _read_function,
    kinds.LawOrName: _read_function,
    kinds.Child: lambda reader, kind, table, key: reader.read(table.table(key), kind.classes),
    kinds.Children: _read_parts,
}

# --------------------------------------------------------------------------------------------------
# Reading descriptions: how does a table of a file become what its class declares, with every problem reported?


ENTRY = re.compile(r"(\w+)\[(\d+)\]")
COUNTS = {2: "two", 3: "three"}
MAPPINGS = (kinds.NamedNumbers, kinds.ReferenceMap)
"""Kinds without which others of a description cannot be judged."""


def key_of(name: str, kind: FieldKind) -> tuple[str, int | None]:
    """The key of a field in a file, and its place where the key holds a list of several fields."""
    match = ENTRY.fullmatch(kind.key)
    return (match[1], int(match[2])) if match else (kind.key or name, None)


def is_required(cls: type, name: str) -> bool:
    return default_of(cls, name) is dataclasses.MISSING


def marked_words(cls: type[Description]) -> dict[str, str]:
    """Keys that tell a class by a word: "kind" -> "tube"."""
    return {key: word for key, _, word in (mark.partition("=") for mark in cls.MARKS) if word}


@dataclass
class TableReader:
    """Reads the descriptions of one file.

    Attributes:
        folder: where Python files and data files stand.
        positions: unit of the position of each moving joint, mode and coordinate, "rad" or "m".
        states: units of the states and the memory that the file may give values for.
        spelled: paths of fields -> paths of the keys that hold them, where these differ.
        loaded: functions by the paths of the keys that name them.
        found: descriptions by the path of their group and their name, None for those that could not be made.
        sections: of beams, that the file names.
    """

    folder: Path
    positions: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[str, str] = field(default_factory=dict)
    spelled: dict[str, str] = field(default_factory=dict)
    loaded: dict[str, Any] = field(default_factory=dict)
    found: dict[str, dict[str, Any]] = field(default_factory=dict)
    sections: Any = None

    def group(self, table: TomlTable, key: str, classes: Sequence[type[Description]]) -> dict[str, Any]:
        """The descriptions of a table of tables by name; None for those that cannot be made. They are read once."""
        if table.at(key) not in self.found:
            self.found[table.at(key)] = {name: self.read(part, classes, name) for name, part in table.tables(key)}
        return self.found[table.at(key)]

    def read(self, table: TomlTable, classes: Sequence[type[Description]], name: str | None = None) -> Any:
        """The description of a table, or None where it cannot be made; its flaws are noted."""
        cls = choose(table, forms_of(classes))
        if cls is None:
            return FAILED
        values = self.values(table, cls)
        if cls is FormulaSignal:
            values["parameter_units"] = written_units(table) | dict(values.get("parameter_units") or {})
        for key, remedy in cls.REFUSED.items():
            if key in table:
                table.asked.add(key)
                table.note(key, f"follows from '{cls.MARKS[0]}'", remedy)
        table.finish()
        return self.make(table, cls, values | ({} if name is None else {"name": name}))

    def values(self, table: TomlTable, cls: type[Description]) -> dict[str, Any]:
        """Values of a table for the fields of a class; None for those that cannot be read."""
        values: dict[str, Any] = {}
        self.spelled |= {table.at(own): table.at(key) for own, key in cls.SPELLED.items()}
        table.asked |= marked_words(cls).keys()
        for name, kind in cls.KINDS.items():
            key, entry = key_of(name, kind)
            inline = isinstance(kind, kinds.Child) and kind.inline
            if inline or (name == "name" and not (kind.key and kind.key in table)):
                continue
            if key != name:
                self.spelled[table.at(name)] = table.at(kind.key)
            if isinstance(kind, kinds.Reference) and entry is not None:
                together = [own for own, other in cls.KINDS.items() if key_of(own, other)[0] == key]
                values |= self._names(table, key, together, kind.to) if entry == 0 else {}
            elif isinstance(kind, kinds.Rotation):
                forms = [way for way in ("rpy", "quaternion", key) if way in table]
                values |= {name: read_rotation(table, key)} if forms else {}
            elif key in table:
                table.asked.add(key)
                values[name] = self.value(kind, table, key)
            elif is_required(cls, name):
                values[name] = table.raw(key, remedy=cls.MISSING.get(name, ""))
        return values

    def make(self, table: TomlTable, cls: type[Description], values: dict[str, Any]) -> Any:
        """A description of what has been read.

        Where a value could not be read, its default stands in for it, so that flaws of the others are reported too;
        where there is none, they are reported one by one.
        """
        failed = [name for name, value in values.items() if value is FAILED]
        if any(is_required(cls, name) or isinstance(cls.KINDS[name], MAPPINGS) for name in failed):
            self.check(table, cls, values)
            return FAILED
        try:
            made = cls(**{name: value for name, value in values.items() if name not in failed}).made()
        except ModelError as error:
            table.flaws.extend(self._spell(table, flaw) for flaw in error.flaws)
            return FAILED
        return FAILED if failed else made

    def stand_in(self, table: TomlTable, cls: type[Description]) -> Any:
        """A description with defaults in place of what is flawed, so that flaws of what holds it are reported too."""
        values = self.values(TomlTable(table.data, table.path, FlawList()), cls)
        for name, value in values.items():
            flaws = FlawList()
            cls.KINDS[name].accept(flaws, name, value)
            values[name] = default_of(cls, name) if flaws.found else value
        return FAILED if dataclasses.MISSING in values.values() else cls(**values)

    def check(self, table: TomlTable, cls: type[Description], values: dict[str, Any]) -> None:
        """Report what is wrong with single fields of a description that cannot be made."""
        flaws = FlawList()
        for name, value in values.items():
            if value is not FAILED:
                cls.KINDS[name].accept(flaws, name, value)
        table.flaws.extend(self._spell(table, flaw) for flaw in flaws.found)

    def _spell(self, table: TomlTable, flaw: Flaw) -> Flaw:
        """A flaw of a field, as one of its key in the file."""
        return self.spell(flaw.under(table.path) if table.path else flaw)

    def spell(self, flaw: Flaw) -> Flaw:
        """A flaw whose path names a field, as one of its key in the file."""
        return spell(flaw, self.spelled)

    def _names(self, table: TomlTable, key: str, fields: Sequence[str], noun: str) -> dict[str, Any]:
        """Names that a list holds for as many fields."""
        before = len(table.flaws.found)
        names = table.texts(key)
        if len(names) == len(fields):
            return dict(zip(fields, names, strict=True))
        if len(table.flaws.found) == before:
            count = COUNTS.get(len(fields), len(fields))
            table.note(key, f"must name {count} {noun}s, names {len(names)}")
        return dict.fromkeys(fields, FAILED)

    def value(self, kind: FieldKind, table: TomlTable, key: str) -> Any:
        """The value of a key that is there, None where it cannot be read."""
        read = next(VALUES[cls] for cls in type(kind).__mro__ if cls in VALUES)
        return read(self, kind, table, key)


def spell(flaw: Flaw, spelled: Mapping[str, str]) -> Flaw:
    """A flaw whose path names a field, as one of its key in the file."""
    for own, key in spelled.items():
        if flaw.path == own or flaw.path.startswith((f"{own}.", f"{own}[")):
            return Flaw(key + flaw.path.removeprefix(own), flaw.what, flaw.remedy)
    return flaw


def written_units(table: TomlTable) -> dict[str, str]:
    """SI units of the parameters of a formula that are written with a unit."""
    units: dict[str, str] = {}
    for key, value in table.table("parameters").data.items():
        text = split_quantity(value)[1] if isinstance(value, str) and is_quantity(value) else ""
        unit = known_unit(text) if text else None
        units |= {key: unit.name or "1"} if unit else {}
    return units


def choose(table: TomlTable, classes: Sequence[type[Description]]) -> type[Description] | None:
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
        table.note("kind", f"'{kind}' is unknown", nearest(kind, words))
    table.finish()
    return None


def _has(table: TomlTable, mark: str) -> bool:
    """Whether a table has a key, or in it the word that is asked for: "kind=tube"."""
    key, _, word = mark.partition("=")
    return key in table and (not word or table.data[key] == word)
