"""Templates: the parts of a machine that is used several times, under a prefix and with other numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from robodyn.base.errors import FlawList, nearest
from robodyn.base.records import dataclass
from robodyn.description.files.forms import forms_of
from robodyn.description.files.groups import BY_NAME, GROUPS, LISTS
from robodyn.description.files.reading import choose, key_of
from robodyn.description.files.table import Table, entries_of, leaves_of
from robodyn.description.model import FormulaSignal
from robodyn.description.model.description import Description
from robodyn.description.model.formula import FormulaError, rename_signals
from robodyn.description.model.kinds import Kind
from robodyn.description.model.referring_kinds import Numbers, Part, Parts, Reference, ReferenceMap, References, Weights
from robodyn.description.structures.beams import SectionPart

KEYS = (*GROUPS, *BY_NAME, *LISTS)
"""What a template may have."""


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
    replaced = dict(entries_of(changes))
    data: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for group, table in changed.items():
        place = f"{use}.{group}" if group in changes and group not in template else f"{source}.{group}"
        if group in LISTS:
            data[group] = [names.pattern(entry) for entry in table] if isinstance(table, list) else table
            origins[group] = place
            continue
        for key, value in table.items():
            fresh = names.own(key) if group in GROUPS else names.signal(key)
            part = names.part(value, GROUPS[group]) if group in GROUPS else names.names(value)
            data.setdefault(group, {})[fresh] = part
            for inner, entry in entries_of({key: value}):
                given = not isinstance(entry, Mapping) and f"{group}.{inner}" in replaced
                origins[f"{group}.{fresh}{inner.removeprefix(key)}"] = f"{use if given else source}.{group}.{inner}"
    return Instance(data, origins)


def _change(template: Mapping[str, Any], changes: Mapping[str, Any], use: str, flaws: FlawList) -> dict[str, Any]:
    """The template's tables with some entries replaced; what is changed must be there."""
    for group, table in changes.items():
        if group not in KEYS:
            flaws.add(f"{use}.{group}", "is unknown", nearest(group, ("template", *KEYS)))
        elif group in GROUPS:
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
        leaves = list(leaves_of(data[group]))
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
    for group in GROUPS:
        yield from template.get(group, {})


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

    def part(self, value: Any, classes: Sequence[type[Description]]) -> Any:
        """The table of a part with the names of parts in it prefixed, as its fields declare."""
        table = Table(value, "", FlawList())
        cls = choose(table, forms_of(classes))
        if cls is None or not isinstance(value, Mapping):
            return value
        if cls is FormulaSignal and isinstance(value.get("formula"), str):
            return {**value, "formula": self.rename_formula(value["formula"], value.get("parameters", ()))}
        kinds = {key_of(name, kind)[0]: kind for name, kind in cls.KINDS.items()}
        return {key: self.entry(entry, kinds[key]) if key in kinds else entry for key, entry in value.items()}

    def entry(self, value: Any, kind: Kind) -> Any:
        """What a field holds, with the names of parts in it prefixed."""
        if isinstance(kind, SectionPart) and isinstance(value, str):
            return self.names(value)
        if isinstance(kind, Parts) and isinstance(value, Mapping):
            named = isinstance(kind.classes[0].KINDS["name"], Reference)
            parts = {name: self.part(entry, kind.classes) for name, entry in value.items()}
            return {self.signal(name) if named else name: part for name, part in parts.items()}
        if isinstance(kind, Part):
            many = isinstance(value, list)
            return [self.part(entry, kind.classes) for entry in value] if many else self.part(value, kind.classes)
        if isinstance(kind, Numbers) and kind.law != "state":
            return value
        by_name = isinstance(kind, (Weights, Numbers)) or (isinstance(kind, ReferenceMap) and bool(kind.keys_to))
        referring = by_name or isinstance(kind, (Reference, References, ReferenceMap))
        return self.names(value, by_name) if referring else value

    def names(self, value: Any, by_name: bool = False) -> Any:
        """A name, or a list or table of them, in tables by name the keys too."""
        if isinstance(value, Mapping):
            return {self.signal(key) if by_name else key: self.names(entry) for key, entry in value.items()}
        if isinstance(value, list):
            return [self.names(entry) for entry in value]
        return self.signal(value) if isinstance(value, str) else value

    def rename_formula(self, formula: str, parameters: Collection[str]) -> str:
        """A formula of the signals of this use; its parameters are its own."""
        try:
            return rename_signals(formula, lambda name: name if name in parameters else self.signal(name))
        except FormulaError:
            return formula  # reported with the signal itself
