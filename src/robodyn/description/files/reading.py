"""Reading descriptions: how does a table of a file become what its class declares, with every problem reported?"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robodyn.base.errors import Flaw, FlawList, ModelError, nearest
from robodyn.base.units import known_unit
from robodyn.description.files.forms import forms_of
from robodyn.description.files.table import FAILED, Table
from robodyn.description.files.units import is_quantity, split_quantity
from robodyn.description.files.values import VALUES, read_rotation
from robodyn.description.model import FormulaSignal, kinds
from robodyn.description.model.description import Description, default_of
from robodyn.description.model.kinds import Kind

ENTRY = re.compile(r"(\w+)\[(\d+)\]")
COUNTS = {2: "two", 3: "three"}
MAPPINGS = (kinds.Numbers, kinds.ReferenceMap)
"""Kinds without which others of a description cannot be judged."""


def key_of(name: str, kind: Kind) -> tuple[str, int | None]:
    """The key of a field in a file, and its place where the key holds a list of several fields."""
    match = ENTRY.fullmatch(kind.key)
    return (match[1], int(match[2])) if match else (kind.key or name, None)


def is_required(cls: type, name: str) -> bool:
    return default_of(cls, name) is dataclasses.MISSING


def marked_words(cls: type[Description]) -> dict[str, str]:
    """Keys that tell a class by a word: "kind" -> "tube"."""
    return {key: word for key, _, word in (mark.partition("=") for mark in cls.MARKS) if word}


@dataclass
class Reader:
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

    def group(self, table: Table, key: str, classes: Sequence[type[Description]]) -> dict[str, Any]:
        """The descriptions of a table of tables by name; None for those that cannot be made. They are read once."""
        if table.at(key) not in self.found:
            self.found[table.at(key)] = {name: self.read(part, classes, name) for name, part in table.tables(key)}
        return self.found[table.at(key)]

    def read(self, table: Table, classes: Sequence[type[Description]], name: str | None = None) -> Any:
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
                table.flaws.add(table.at(key), f"follows from '{cls.MARKS[0]}'", remedy)
        table.finish()
        return self.make(table, cls, values | ({} if name is None else {"name": name}))

    def values(self, table: Table, cls: type[Description]) -> dict[str, Any]:
        """What a table gives for the fields of a class; what cannot be read is None."""
        found: dict[str, Any] = {}
        self.spelled |= {table.at(own): table.at(key) for own, key in cls.SPELLED.items()}
        table.asked |= marked_words(cls).keys()
        for name, kind in cls.KINDS.items():
            key, entry = key_of(name, kind)
            inline = isinstance(kind, kinds.Part) and kind.inline
            if inline or (name == "name" and not (kind.key and kind.key in table)):
                continue
            if key != name:
                self.spelled[table.at(name)] = table.at(kind.key)
            if isinstance(kind, kinds.Reference) and entry is not None:
                together = [own for own, other in cls.KINDS.items() if key_of(own, other)[0] == key]
                found |= self._names(table, key, together, kind.to) if entry == 0 else {}
            elif isinstance(kind, kinds.Rotation):
                given = [way for way in ("rpy", "quaternion", key) if way in table]
                found |= {name: read_rotation(table, key)} if given else {}
            elif key in table:
                table.asked.add(key)
                found[name] = self.value(kind, table, key)
            elif is_required(cls, name):
                found[name] = table.raw(key, remedy=cls.MISSING.get(name, ""))
        return found

    def make(self, table: Table, cls: type[Description], values: dict[str, Any]) -> Any:
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

    def stand_in(self, table: Table, cls: type[Description]) -> Any:
        """A description with defaults in place of what is flawed, so that flaws of what holds it are reported too."""
        values = self.values(Table(table.data, table.path, FlawList()), cls)
        for name, value in values.items():
            flaws = FlawList()
            cls.KINDS[name].accept(flaws, name, value)
            values[name] = default_of(cls, name) if flaws.found else value
        return FAILED if dataclasses.MISSING in values.values() else cls(**values)

    def check(self, table: Table, cls: type[Description], values: dict[str, Any]) -> None:
        """Report what is wrong with single fields of a description that cannot be made."""
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
        return spell(flaw, self.spelled)

    def _names(self, table: Table, key: str, fields: Sequence[str], noun: str) -> dict[str, Any]:
        """Names that a list holds for as many fields."""
        before = len(table.flaws.found)
        names = table.texts(key)
        if len(names) == len(fields):
            return dict(zip(fields, names, strict=True))
        if len(table.flaws.found) == before:
            count = COUNTS.get(len(fields), len(fields))
            table.flaws.add(table.at(key), f"must name {count} {noun}s, names {len(names)}")
        return dict.fromkeys(fields, FAILED)

    def value(self, kind: Kind, table: Table, key: str) -> Any:
        """What a key that is there holds, None where it cannot be read."""
        read = next(VALUES[cls] for cls in type(kind).__mro__ if cls in VALUES)
        return read(self, kind, table, key)


def spell(flaw: Flaw, spelled: Mapping[str, str]) -> Flaw:
    """A flaw whose path names a field, as one of its key in the file."""
    for own, key in spelled.items():
        if flaw.path == own or flaw.path.startswith((f"{own}.", f"{own}[")):
            return Flaw(key + flaw.path.removeprefix(own), flaw.what, flaw.remedy)
    return flaw


def written_units(table: Table) -> dict[str, str]:
    """SI units of the parameters of a formula that are written with a unit."""
    units: dict[str, str] = {}
    for key, value in table.table("parameters").data.items():
        text = split_quantity(value)[1] if isinstance(value, str) and is_quantity(value) else ""
        unit = known_unit(text) if text else None
        units |= {key: unit.name or "1"} if unit else {}
    return units


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
