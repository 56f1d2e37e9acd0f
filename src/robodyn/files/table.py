"""How is a table of a file read so that every problem in it is told: missing, unknown, wrong type, wrong unit?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from robodyn.errors import FlawList, nearest
from robodyn.files.units import UnitError, read_quantity

REQUIRED: Any = object()


class Table:
    """A table being read; keys not asked for by `finish` are unknown."""

    def __init__(self, data: Any, path: str, flaws: FlawList) -> None:
        self.path = path
        self.flaws = flaws
        self.data: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
        self.asked: set[str] = set()
        if not isinstance(data, Mapping):
            flaws.add(path, f"must be a table, is {data!r}")

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def raw(self, key: str, default: Any = REQUIRED) -> Any:
        self.asked.add(key)
        if key in self.data:
            return self.data[key]
        if default is REQUIRED:
            self.flaws.add(self.at(key), "is missing")
            return None
        return default

    def number(self, key: str, unit: str = "", default: Any = REQUIRED) -> Any:
        value = self.raw(key, default)
        if key not in self.data:
            return value
        return self.quantity(self.at(key), value, unit)

    def quantity(self, path: str, value: Any, unit: str) -> float | None:
        try:
            return read_quantity(value, unit)
        except UnitError as error:
            self.flaws.add(path, str(error))
            return None

    def vector(self, key: str, unit: str, length: int | None = None, default: Any = REQUIRED) -> Any:
        value = self.raw(key, default)
        if key not in self.data:
            return value
        if not isinstance(value, list) or (length is not None and len(value) != length):
            self.flaws.add(self.at(key), f"must be a list of {length or 'some'} numbers, is {value!r}")
            return None
        entries = [self.quantity(f"{self.at(key)}[{k}]", entry, unit) for k, entry in enumerate(value)]
        return None if None in entries else tuple(entries)

    def text(self, key: str, default: Any = REQUIRED) -> Any:
        return self._typed(key, str, "text", default)

    def flag(self, key: str, default: bool = False) -> Any:
        return self._typed(key, bool, "true or false", default)

    def integer(self, key: str, default: Any = REQUIRED) -> Any:
        return self._typed(key, int, "a whole number", default)

    def texts(self, key: str, default: Any = REQUIRED) -> Any:
        value = self._typed(key, list, "a list of texts", default)
        if isinstance(value, list) and not all(isinstance(entry, str) for entry in value):
            self.flaws.add(self.at(key), f"must be a list of texts, is {value!r}")
            return ()
        return tuple(value or ())

    def _typed(self, key: str, kind: type, noun: str, default: Any) -> Any:
        value = self.raw(key, default)
        if key in self.data and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
            self.flaws.add(self.at(key), f"must be {noun}, is {value!r}")
            return None
        return value

    def table(self, key: str) -> Table:
        """A sub-table, empty where it is not there."""
        return Table(self.raw(key, {}), self.at(key), self.flaws)

    def tables(self, key: str) -> Iterator[tuple[str, Table]]:
        """All named sub-tables of a table of tables."""
        group = self.table(key)
        for name in group.data:
            group.asked.add(name)
            yield name, Table(group.data[name], group.at(name), self.flaws)

    def finish(self) -> None:
        """Tell keys that nothing asked for."""
        for key in self.data:
            if key not in self.asked:
                self.flaws.add(self.at(key), "is unknown", nearest(key, self.asked))
