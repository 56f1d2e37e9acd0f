"""TOML tables: how is one read so that every problem is reported? Missing, unknown, wrong type or unit."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from robodyn.base import FlawList, ModelError, UnitError, nearest, refuse
from robodyn.base.untrusted import MEGABYTE, Unreadable, parse_toml, read_text

from .units import read_quantity

MOST_BYTES = 4 * MEGABYTE
"""Of a TOML file; more data stand in files of their own."""
MOST_SUGGESTED = 20
"""Unknown keys of a table for which the nearest known one is looked for."""
REQUIRED: Any = object()
FAILED: Any = None


def load_toml(path: Path, text: str | None = None) -> dict[str, Any]:
    """The contents of a TOML file, or of a text in its place; what cannot be read is a ModelError that names it."""
    try:
        data = parse_toml(read_text(path, MOST_BYTES) if text is None else text)
    except OSError as error:
        refuse("", f"cannot be read: {error.strerror or error}", source=str(path))
    except Unreadable as error:
        refuse("", str(error), source=str(path))
    flaws = FlawList()
    for place, value in leaves_of(data):
        # No name of a file, a signal or a function has it, and what looks one up may not bear it.
        if _has_null(value) or "\0" in place:
            flaws.add(place.replace("\0", "?"), f"has a null character: {value!r}", "leave it out")
    flaws.raise_if_any(str(path))
    return data


def _has_null(value: Any) -> bool:
    return any(map(_has_null, value)) if isinstance(value, list) else isinstance(value, str) and "\0" in value


class TomlTable:
    """A table being read; keys not read by the time of `finish` are unknown.

    Attributes:
        asked: keys that were read; known: keys that were looked for, to suggest instead of a misspelt one.
    """

    def __init__(self, data: Any, path: str, flaws: FlawList) -> None:
        self.path = path
        self.flaws = flaws
        self.data: dict[str, Any] = dict(data) if isinstance(data, Mapping) else {}
        self.asked: set[str] = set()
        self.known: set[str] = set()
        if not isinstance(data, Mapping):
            flaws.add(path, f"must be a table, is {data!r}")

    def __contains__(self, key: str) -> bool:
        self.known.add(key)
        return key in self.data

    def at(self, key: str) -> str:
        """Return the path of a key, as messages name it."""
        return f"{self.path}.{key}" if self.path else key

    def note(self, key: str, what: str, remedy: str = "") -> None:
        """Note what is wrong with a key."""
        self.flaws.add(self.at(key), what, remedy)

    def raw(self, key: str, default: Any = REQUIRED, remedy: str = "") -> Any:
        """Return a value as it is in the file; a missing one without a default is a flaw."""
        self.asked.add(key)
        if key in self.data:
            return self.data[key]
        if default is REQUIRED:
            self.note(key, "is missing", remedy)
            return None
        return default

    def number(self, key: str, unit: str = "", default: Any = REQUIRED) -> Any:
        """Return a number in a unit, from a number or a text with a unit."""
        value = self.raw(key, default)
        if key not in self.data:
            return value
        return self.quantity(self.at(key), value, unit)

    def quantity(self, path: str, value: Any, unit: str) -> float | None:
        """Return a value in a unit; what is none is a flaw."""
        try:
            return read_quantity(value, unit)
        except UnitError as error:
            self.flaws.add(path, str(error))
            return None

    def vector(self, key: str, unit: str, length: int | None = None, default: Any = REQUIRED) -> Any:
        """Return a list of numbers in a unit, of a length where one is asked for."""
        value = self.raw(key, default)
        if key not in self.data:
            return value
        if not isinstance(value, list) or (length is not None and len(value) != length):
            self.note(key, f"must be a list of {length or 'some'} numbers, is {value!r}")
            return None
        entries = [self.quantity(f"{self.at(key)}[{k}]", entry, unit) for k, entry in enumerate(value)]
        return None if None in entries else tuple(entries)

    def text(self, key: str, default: Any = REQUIRED) -> Any:
        """Return a text."""
        return self._typed(key, str, "text", default)

    def flag(self, key: str, default: bool = False) -> Any:
        """Return true or false."""
        return self._typed(key, bool, "true or false", default)

    def integer(self, key: str, default: Any = REQUIRED) -> Any:
        """Return a whole number."""
        return self._typed(key, int, "a whole number", default)

    def texts(self, key: str, default: Any = REQUIRED) -> Any:
        """Return a list of texts."""
        value = self._typed(key, list, "a list of texts", default)
        if isinstance(value, list) and not all(isinstance(entry, str) for entry in value):
            self.note(key, f"must be a list of texts, is {value!r}")
            return ()
        return tuple(value or ())

    def _typed(self, key: str, kind: type, noun: str, default: Any) -> Any:
        value = self.raw(key, default)
        if key in self.data and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
            self.note(key, f"must be {noun}, is {value!r}")
            return None
        return value

    def table(self, key: str) -> TomlTable:
        """A sub-table, empty where it is not there."""
        return TomlTable(self.raw(key, {}), self.at(key), self.flaws)

    def tables(self, key: str) -> Iterator[tuple[str, TomlTable]]:
        """All named sub-tables of a table of tables."""
        group = self.table(key)
        for name in group.data:
            group.asked.add(name)
            yield name, TomlTable(group.data[name], group.at(name), self.flaws)

    def rows(self, key: str, default: Any = REQUIRED) -> list[TomlTable]:
        """Tables of a list of tables."""
        value = self.raw(key, default)
        if key in self.data and (not isinstance(value, list) or not value):
            self.note(key, f"must be a list of tables, is {value!r}")
        entries = value if isinstance(value, list) else []
        return [TomlTable(entry, f"{self.at(key)}[{k}]", self.flaws) for k, entry in enumerate(entries)]

    def flattened(self) -> TomlTable:
        """This table with dotted keys joined: `elbow.position = 1` is a table in a table to TOML."""
        flat = TomlTable({}, self.path, self.flaws)
        for key, value in leaves_of(self.data):
            if key in flat.data:
                self.note(key, "is given twice", "with and without quotes it is the same key")
            flat.data[key] = value
        return flat

    def finish(self) -> None:
        """Report keys that nothing asked for."""
        keys = self.asked | self.known
        for k, key in enumerate(key for key in self.data if key not in self.asked):
            remedy = nearest(key, keys) if k < MOST_SUGGESTED else ""
            if isinstance(self.data[key], Mapping):
                remedy += "; a name with dots stands in quotes"
            self.note(key, "is unknown", remedy)


def entries_of(data: Any, under: str = "") -> Iterator[tuple[str, Any]]:
    """All entries of a table and of those in it, with their paths."""
    for key, value in data.items() if isinstance(data, Mapping) else ():
        place = f"{under}.{key}" if under else str(key)
        yield place, value
        yield from entries_of(value, place)


def leaves_of(data: Any) -> Iterator[tuple[str, Any]]:
    """All entries that are no tables."""
    return ((place, value) for place, value in entries_of(data) if not isinstance(value, Mapping))


def attempt(table: TomlTable, make: Any, *arguments: Any, **named: Any) -> Any:
    """Make a description; its flaws are noted under the table's path.

    Where an argument could not be read, its default stands in for it, so that flaws of the others are reported too.
    """
    signature = inspect.signature(make)
    bound = signature.bind(*arguments, **named)
    failed = [key for key, value in bound.arguments.items() if value is FAILED]
    if any(signature.parameters[key].default is inspect.Parameter.empty for key in failed):
        return FAILED
    for key in failed:
        del bound.arguments[key]
    try:
        made = make(*bound.args, **bound.kwargs)
    except ModelError as error:
        table.flaws.extend(error.flaws, under=table.path)
        return FAILED
    return FAILED if failed else made
