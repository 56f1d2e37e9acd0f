"""Templates: the parts of a machine that is used several times, under a prefix and with other numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from robodyn.errors import FlawList, nearest
from robodyn.model.formula import FormulaError, rename_signals

PARTS = (
    "bodies", "sections", "joints", "points", "coordinates", "blocks", "signals", "paths", "delays", "loads",
    "constraints", "contacts", "interfaces", "events", "obstacles",
)  # fmt: skip
"""Tables of named parts, as at the top level of a file."""
BY_NAME = ("initial", "nominal")
"""Tables whose keys name parts."""
LISTS = ("tunable", "keep")
KEYS = (*PARTS, *BY_NAME, *LISTS)
WORDS = (
    "law", "kind", "takes", "unit", "about", "direction", "file", "column", "interpolation", "ends",
    "friction", "title", "node",
)  # fmt: skip
"""Keys whose texts are no names of parts."""
REFERRING = ("of", "set", "limits")
"""Tables within a part whose keys name parts."""
ELASTIC = ("beam", "frame", "modal")
"""Tables of a flexible body: their names are its nodes, but for sections."""


@dataclass(frozen=True)
class Instance:
    """The tables of a template used once, and from which entry of the file each of theirs is."""

    data: dict[str, Any]
    origins: dict[str, str]


def instantiate(
    prefix: str, template: Mapping[str, Any], changes: Mapping[str, Any], use: str, source: str, flaws: FlawList
) -> Instance:
    """The parts of a template as `prefix.part`; names of its own parts in it are prefixed, all others stay.

    Args:
        changes: entries that replace or add to those of the template's parts.
        use, source: paths of the use and of the template, for messages.
    """
    template, changes = flatten_names(template), flatten_names(changes)
    changed = _change(template, changes, use, flaws)
    names = _Names(prefix, frozenset(_part_names(changed)))
    data: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for group, table in changed.items():
        place = f"{use}.{group}" if group in changes and group not in template else f"{source}.{group}"
        if group in LISTS:
            data[group] = [names.pattern(entry) for entry in table] if isinstance(table, list) else table
            origins[group] = place
            continue
        for key, value in table.items():
            fresh = names.own(key) if group in PARTS else names.signal(key)
            data.setdefault(group, {})[fresh] = names.rename(value, group)
            for inner, entry in (("", value), *_entries(value)):
                given = not isinstance(entry, Mapping) and _has(changes, f"{group}.{key}{inner}")
                origins[f"{group}.{fresh}{inner}"] = f"{use if given else source}.{group}.{key}{inner}"
    return Instance(data, origins)


def _change(template: Mapping[str, Any], changes: Mapping[str, Any], use: str, flaws: FlawList) -> dict[str, Any]:
    """The template's tables with some entries replaced; what is changed must be there."""
    for group, table in changes.items():
        if group not in KEYS:
            flaws.add(f"{use}.{group}", "is unknown", nearest(group, ("template", *KEYS)))
        elif group in PARTS:
            known = template.get(group, {})
            for name in table if isinstance(table, Mapping) else ():
                if isinstance(known, Mapping) and name not in known:
                    flaws.add(f"{use}.{group}.{name}", "the template has no such part", nearest(name, known))
    known_groups = {group: table for group, table in changes.items() if group in KEYS}
    merged = merge_tables(template, known_groups)
    bad = [group for group, table in merged.items() if group not in LISTS and not isinstance(table, Mapping)]
    for group in bad:
        flaws.add(f"{use}.{group}", f"must be a table, is {merged[group]!r}")
    return {group: table for group, table in merged.items() if group not in bad and group in KEYS}


def flatten_names(data: Mapping[str, Any]) -> dict[str, Any]:
    """Tables by name with their dotted keys joined, so that those of two files meet: `initial.elbow.position`."""
    flat = dict(data)
    for group in (group for group in BY_NAME if isinstance(data.get(group), Mapping)):
        leaves = [(place[1:], value) for place, value in _entries(data[group]) if not isinstance(value, Mapping)]
        # A key that is there with and without quotes is reported by who reads the table.
        if len(dict(leaves)) == len(leaves):
            flat[group] = dict(leaves)
    return flat


def merge_tables(table: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Tables with the entries of others, which win."""
    found = dict(table)
    for key, value in changes.items():
        both = isinstance(value, Mapping) and isinstance(found.get(key), Mapping)
        found[key] = merge_tables(found[key], value) if both else value
    return found


def _part_names(template: Mapping[str, Any]) -> Iterator[str]:
    for group in PARTS:
        yield from template.get(group, {})


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    for key, entry in value.items() if isinstance(value, Mapping) else ():
        yield f".{key}", entry
        yield from ((f".{key}{inner}", deeper) for inner, deeper in _entries(entry))


def _has(data: Mapping[str, Any], path: str) -> bool:
    """Whether tables in tables have an entry; names may have dots."""
    for key, value in data.items():
        if path == key or (
            isinstance(value, Mapping) and path.startswith(f"{key}.") and _has(value, path[len(key) + 1 :])
        ):
            return True
    return False


@dataclass(frozen=True)
class _Names:
    """Names of a template's own parts, and how they are called in one use of it."""

    prefix: str
    parts: frozenset[str]

    def own(self, name: str) -> str:
        return f"{self.prefix}.{name}"

    def signal(self, name: str) -> str:
        """A part of the template, or a signal, node or number of one; anything else stays."""
        owners = (name[:k] for k in (*(at for at, letter in enumerate(name) if letter == "."), len(name)))
        return self.own(name) if any(owner in self.parts for owner in owners) else name

    def pattern(self, text: Any) -> Any:
        return self.own(text) if isinstance(text, str) else text

    def rename(self, value: Any, key: str) -> Any:
        """An entry of a part with the names of parts in it prefixed."""
        if key in ELASTIC:
            return self.rename_sections(value)
        if isinstance(value, Mapping) and isinstance(value.get("formula"), str):
            return {**value, "formula": self.rename_formula(value["formula"], value.get("parameters", ()))}
        if isinstance(value, Mapping):
            return {
                self.signal(name) if key in REFERRING else name: self.rename(entry, name)
                for name, entry in value.items()
            }
        if isinstance(value, list):
            return [self.rename(entry, key) for entry in value]
        if not isinstance(value, str) or key in WORDS:
            return value
        return self.signal(value)

    def rename_formula(self, formula: str, parameters: Collection[str]) -> str:
        """A formula of the signals of this use; its parameters are its own."""
        try:
            return rename_signals(formula, lambda name: name if name in parameters else self.signal(name))
        except FormulaError:
            return formula  # reported with the signal itself

    def rename_sections(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.rename_sections(entry) for entry in value]
        if not isinstance(value, Mapping):
            return value
        return {
            key: self.rename(entry, key) if key == "section" else self.rename_sections(entry)
            for key, entry in value.items()
        }
