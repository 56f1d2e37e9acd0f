"""Composed files: what does a TOML file say once its includes and templates are put in?

    include = "axis.toml"           another file's tables, or a list of files; this file's own values win
    robot = "panda.urdf"            the machine of a robot file, likewise
    [templates.servo_axis]          tables of parts, as at the top level, that are not yet a part of the machine
    [use.x]                         its parts once, named `x.motor` ..., with the values given here in place of its own
    template = "servo_axis"

A template may use others likewise. Works on the data before any table is read. Parts of templates come first, then
those of includes, then the file's own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robodyn.base import Flaw, FlawList, ModelError, frozen, nearest
from robodyn.description.model import Description, FormulaSignal, Scenario
from robodyn.description.model.formula import FormulaError, rename_signals
from robodyn.description.model.kinds import (
    Child,
    Children,
    FactorMap,
    FieldKind,
    NamedNumbers,
    Reference,
    ReferenceList,
    ReferenceMap,
    Texts,
)
from robodyn.description.model.numbers import check_name
from robodyn.description.structures.beams import SECTIONS, SectionPart

from .mechanism_tables import BODIES
from .path_forms import PATHS
from .reading import choose, forms_of, key_of
from .robot_files import ROBOT_KEYS, robot_tables
from .table import TomlTable, entries_of, leaves_of, load_toml

# --------------------------------------------------------------------------------------------------
# Tables at the top of a scenario's file: which hold named parts, and which name parts? As the descriptions declare.


def keys_of(cls: type[Description]) -> Iterator[tuple[str, str, FieldKind, type[Description]]]:
    """Every key of a class with its field, kind and owner, those of parts that files give beside them included."""
    for name, kind in cls.KINDS.items():
        if isinstance(kind, Child) and kind.inline:
            yield from keys_of(kind.classes[0])
        else:
            yield key_of(name, kind)[0], name, kind, cls


TOP = {key: kind for key, _, kind, _ in keys_of(Scenario)}
GROUPS: Mapping[str, Sequence[type[Description]]] = {
    **{key: kind.classes for key, kind in TOP.items() if isinstance(kind, Children)},
    "bodies": BODIES,
    "sections": SECTIONS,
    "paths": PATHS,
}
"""Tables of named parts, and what they are."""
BY_NAME = tuple(
    key
    for key, kind in TOP.items()
    if (isinstance(kind, NamedNumbers) and kind.dotted) or (isinstance(kind, ReferenceMap) and kind.keys_to)
)
"""Tables whose keys name parts."""
LISTS = tuple(key for key, kind in TOP.items() if isinstance(kind, Texts))
"""Lists of names."""

# --------------------------------------------------------------------------------------------------
# Templates: the parts of a machine that is used several times, under a prefix and with other numbers.


KEYS = (*GROUPS, *BY_NAME, *LISTS)
"""Keys that a template may have."""


def _change(template: Mapping[str, Any], changes: Mapping[str, Any], use: str, flaws: FlawList) -> dict[str, Any]:
    """The template's tables with some entries replaced; what is changed must be there."""
    for group, table in changes.items():
        if group not in KEYS:
            flaws.add(f"{use}.{group}", "is unknown", nearest(group, ("template", *KEYS)))
        elif group in GROUPS:
            parts = template.get(group, {})
            if isinstance(table, Mapping) and isinstance(parts, Mapping):
                flaws.add_unknown(table, parts, "the template has no such part", f"{use}.{group}")
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
    merged = dict(table)
    for key, value in changes.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = merge_tables(merged[key], value) if both else value
    return merged


@frozen
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
        table = TomlTable(value, "", FlawList())
        cls = choose(table, forms_of(classes))
        if cls is None or not isinstance(value, Mapping):
            return value
        if cls is FormulaSignal and isinstance(value.get("formula"), str):
            return {**value, "formula": self.rename_formula(value["formula"], value.get("parameters", ()))}
        kinds = {key_of(name, kind)[0]: kind for name, kind in cls.KINDS.items()}
        return {key: self.entry(entry, kinds[key]) if key in kinds else entry for key, entry in value.items()}

    def entry(self, value: Any, kind: FieldKind) -> Any:
        """The contents of a field, with the names of parts in it prefixed."""
        if isinstance(kind, SectionPart) and isinstance(value, str):
            return self.names(value)
        if isinstance(kind, Children) and isinstance(value, Mapping):
            named = isinstance(kind.classes[0].KINDS["name"], Reference)
            parts = {name: self.part(entry, kind.classes) for name, entry in value.items()}
            return {self.signal(name) if named else name: part for name, part in parts.items()}
        if isinstance(kind, Child):
            many = isinstance(value, list)
            return [self.part(entry, kind.classes) for entry in value] if many else self.part(value, kind.classes)
        if isinstance(kind, NamedNumbers) and kind.law != "state":
            return value
        by_name = isinstance(kind, (FactorMap, NamedNumbers)) or (isinstance(kind, ReferenceMap) and bool(kind.keys_to))
        referring = by_name or isinstance(kind, (Reference, ReferenceList, ReferenceMap))
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


OF_FIXED = ("kind", "parent", "child", "origin", "rotation", "node")
"""Keys of a joint that a fixed one has too."""
DEEPEST, MOST_FILES, MOST_ENTRIES = 8, 50, 200_000
"""Files that include each other, or templates that use each other; files together; entries of all tables together."""


@dataclass
class Composed:
    """The tables of a file with everything put in, and where each entry stands.

    Attributes:
        origins: path of an entry that stands elsewhere -> (file, path there); the file itself has no name.
    """

    data: dict[str, Any]
    origins: dict[str, tuple[str, str]] = field(default_factory=dict)

    def place(self, flaw: Flaw) -> Flaw:
        """This flaw, reported where the thing stands."""
        path = re.sub(r"\[\d+\]", "", flaw.path)
        while path:
            if path in self.origins:
                file, place = self.origins[path]
                rest = flaw.path[len(path) :]
                return Flaw(f"{file + ': ' if file else ''}{place}{rest}", flaw.what, flaw.remedy)
            path = path.rpartition(".")[0]
        return flaw

    def raise_if_any(self, flaws: FlawList, source: str) -> None:
        """Raise all flaws as one error, each reported where the thing stands."""
        FlawList([self.place(flaw) for flaw in flaws.found]).raise_if_any(source)


def load_composed(path: Path, text: str | None = None) -> Composed:
    """The contents of a TOML file, or of a text in its place, with its includes and templates put in.

    Raises:
        ModelError: with every problem of including, each with its file and path.
    """
    composed = _Loader().load(path, (), text)
    _expand(composed, str(path))
    return composed


class _Loader:
    """Loads files with their includes, so many at most."""

    def __init__(self) -> None:
        self.n_files = 0

    def load(self, path: Path, within: tuple[Path, ...], text: str | None = None) -> Composed:
        """A file with what it includes; templates are kept as they are."""
        data = flatten_names(load_toml(path, text))
        includes = data.pop("include", [])
        files = [includes] if isinstance(includes, str) else includes
        flaws = FlawList()
        whole = Composed({})
        if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
            flaws.add("include", f"must be the name of a file or a list of them, is {includes!r}")
            files = []
        parts = [self.include(path, file, (*within, path.resolve()), flaws) for file in files]
        for part in (*parts, *_load_robot(path, data.pop("robot", None), flaws)):
            # Two includes of one file must not differ: nobody could know which one wins.
            first, second = (dict(leaves_of(composed.data)) for composed in (whole, part))
            for place in (place for place in second if place in first and first[place] != second[place]):
                files = f"'{whole.origins[place][0]}' and '{part.origins[place][0]}'"
                flaws.add(place, f"is given by two includes, {files}", "keep it in one of them")
            _merge(whole, part)
        flaws.raise_if_any(str(path))
        _merge(whole, Composed(data))
        return whole

    def include(self, path: Path, file: str, within: tuple[Path, ...], flaws: FlawList) -> Composed:
        """An included file, as it is seen from the folder of the one that includes it."""
        target = path.parent / file
        self.n_files += 1
        if target.resolve() in within:
            cycle = " -> ".join(part.name for part in (*within[within.index(target.resolve()) :], target))
            flaws.add("include", f"'{file}' includes itself: {cycle}", "leave one of them out")
            return Composed({})
        if len(within) > DEEPEST or self.n_files > MOST_FILES:
            flaws.add("include", f"'{file}' is one too many: {MOST_FILES} files, {DEEPEST} deep, may be included")
            return Composed({})
        try:
            part = self.load(target, within)
        except ModelError as error:
            what = [Flaw(f"{file}: {flaw.path}" if flaw.path else file, flaw.what, flaw.remedy) for flaw in error.flaws]
            flaws.extend(what, under="include")
            return Composed({})
        folder = os.path.dirname(file)
        origins = {place: (file, place) for place, _ in entries_of(part.data)}
        origins |= {place: (os.path.join(folder, name), there) for place, (name, there) in part.origins.items()}
        return Composed(_resolve(part.data, folder) if folder else part.data, origins)


def _load_robot(path: Path, entry: Any, flaws: FlawList) -> list[Composed]:
    """The tables of the machine that a robot file describes, where one is named."""
    if entry is None:
        return []
    options = {"file": entry} if isinstance(entry, str) else entry
    if not isinstance(options, Mapping) or not isinstance(options.get("file"), str):
        flaws.add("robot", f"must be the name of a robot file, or a table with one as `file`, is {entry!r}")
        return []
    flaws.add_unknown(options, ROBOT_KEYS, "is unknown", "robot")
    settings = {key: value for key, value in options.items() if key in ROBOT_KEYS}
    try:
        data = flatten_names(robot_tables(path.parent, settings))
    except ModelError as error:
        flaws.extend(
            [
                Flaw(f"{options['file']}: {flaw.path}".removesuffix(": "), flaw.what, flaw.remedy)
                for flaw in error.flaws
            ],
            under="robot",
        )
        return []
    return [Composed(data, {place: (options["file"], place) for place, _ in entries_of(data)})]


def _merge(whole: Composed, part: Composed) -> None:
    """Put the tables of a part into the whole, where they win."""
    _fix_joints(whole, part)
    for place, _ in entries_of(part.data):
        whole.origins.pop(place, None)
    whole.origins |= part.origins
    whole.data = merge_tables(whole.data, part.data)


def _fix_joints(whole: Composed, part: Composed) -> None:
    """A joint that a file makes a fixed one of leaves behind what only joints that move have, and its start."""
    changes, joints = part.data.get("joints"), whole.data.get("joints")
    if not isinstance(changes, Mapping) or not isinstance(joints, Mapping):
        return
    for name, change in changes.items():
        table = joints.get(name)
        if not isinstance(change, Mapping) or change.get("kind") != "fixed" or not isinstance(table, Mapping):
            continue
        whole.data["joints"][name] = {key: value for key, value in table.items() if key in OF_FIXED}
        start = whole.data.get("initial")
        if isinstance(start, dict):
            start.pop(f"{name}.position", None)


def _add_parts(whole: Composed, part: Composed) -> None:
    """Put the parts of a template into the whole; lists of patterns and names are made longer."""
    lists = {key: [*whole.data[key], *part.data[key]] for key in LISTS if key in whole.data and key in part.data}
    _merge(whole, part)
    whole.data |= lists


def _resolve(value: Any, folder: str, key: str = "") -> Any:
    """The data with names of files as they are seen from the folder of the file that includes it."""
    if isinstance(value, Mapping):
        return {name: _resolve(entry, folder, name) for name, entry in value.items()}
    names_file = isinstance(value, str) and (key == "file" or ".py:" in value)
    return os.path.join(folder, value) if names_file else value


def _expand(whole: Composed, source: str) -> None:
    """Put the parts of used templates into the tables."""
    flaws = FlawList()
    templates, uses = (whole.data.pop(key, {}) for key in ("templates", "use"))
    named = {"templates": templates, "use": uses}
    if _check_tables(flaws, named):
        inner = {f"templates.{name}.use": table["use"] for name, table in templates.items() if "use" in table}
        _check_tables(flaws, inner)
    whole.raise_if_any(flaws, source)
    for name, template in templates.items():
        for key in template:
            if key not in (*KEYS, "use"):
                flaws.add(f"templates.{name}.{key}", "is unknown in a template", nearest(key, KEYS))
    expansion = _Templates(whole, templates, flaws)
    for name in templates:
        expansion.expand(name, ())
    made = expansion.use_all(uses, "use", ())
    whole.raise_if_any(flaws, source)
    _add_parts(made, whole)
    whole.data, whole.origins = made.data, made.origins


def _check_tables(flaws: FlawList, tables: Mapping[str, Any]) -> bool:
    """Whether each is a table of tables."""
    for key, value in tables.items():
        if not isinstance(value, Mapping) or not all(isinstance(entry, Mapping) for entry in value.values()):
            flaws.add(key, f"must be a table of tables, is {value!r}")
    return not flaws.found


class _Templates:
    """Templates of a file, and their parts where they are used."""

    def __init__(self, whole: Composed, templates: Mapping[str, Any], flaws: FlawList) -> None:
        self.whole, self.templates, self.flaws = whole, templates, flaws
        self.expanded: dict[str, dict[str, Any]] = {}

    def use_all(self, uses: Mapping[str, Any], path: str, within: tuple[str, ...]) -> Composed:
        """The parts that a table of uses makes.

        Args:
            within: templates of which it is a part, outermost first.
        """
        made = Composed({})
        for name, use in uses.items():
            _add_parts(made, self.use(name, use, f"{path}.{name}", within))
            if len(made.origins) > MOST_ENTRIES:
                self.flaws.add(path, f"makes more than {MOST_ENTRIES} entries", "use fewer or smaller templates")
                return Composed({})
        return made

    def use(self, name: str, use: Mapping[str, Any], path: str, within: tuple[str, ...]) -> Composed:
        """The parts of a template used once."""
        named = FlawList()
        check_name(named, name)
        self.flaws.extend([Flaw(path, flaw.what, flaw.remedy) for flaw in named.found])
        template = use.get("template")
        if not isinstance(template, str) or template not in self.templates:
            what = "is missing" if template is None else f"there is no template '{template}'"
            self.flaws.add(f"{path}.template", what, nearest(str(template), self.templates))
        elif template in within:
            cycle = " -> ".join((*within[within.index(template) :], template))
            self.flaws.add(f"{path}.template", f"'{template}' uses itself: {cycle}", "leave one of them out")
        elif len(within) > DEEPEST:
            self.flaws.add(f"{path}.template", f"is one too many: {DEEPEST} templates deep may be used")
        else:
            changes = {key: value for key, value in use.items() if key != "template"}
            return self.instantiate(name, template, flatten_names(self.expand(template, within)), changes, path)
        return Composed({})

    def instantiate(
        self, prefix: str, name: str, template: Mapping[str, Any], changes: Mapping[str, Any], use: str
    ) -> Composed:
        """The parts of a template as `prefix.part`; names of its own parts in it are prefixed, all others stay.

        Args:
            changes: entries that replace or add to those of the template's parts; use: path of the use, for messages.
        """
        changes, source = flatten_names(changes), f"templates.{name}"
        changed = _change(template, changes, use, self.flaws)
        names = _Names(prefix, frozenset(part for group in GROUPS for part in changed.get(group, {})))
        replaced, made = dict(entries_of(changes)), Composed({})

        def note(place: str, path: str) -> None:
            made.origins[place] = self.whole.origins.get(path, ("", path))

        for group, table in changed.items():
            if group in LISTS:
                made.data[group] = [names.pattern(entry) for entry in table] if isinstance(table, list) else table
                note(group, f"{use if group in changes and group not in template else source}.{group}")
                continue
            for key, value in table.items():
                fresh = names.own(key) if group in GROUPS else names.signal(key)
                part = names.part(value, GROUPS[group]) if group in GROUPS else names.names(value)
                made.data.setdefault(group, {})[fresh] = part
                for inner, entry in entries_of({key: value}):
                    changes_it = not isinstance(entry, Mapping) and f"{group}.{inner}" in replaced
                    path = f"{use if changes_it else source}.{group}.{inner}"
                    note(f"{group}.{fresh}{inner.removeprefix(key)}", path)
        return made

    def expand(self, name: str, within: tuple[str, ...]) -> dict[str, Any]:
        """A template with the parts of those that it uses itself."""
        if name not in self.expanded:
            own = dict(self.templates[name])
            made = self.use_all(own.pop("use", {}), f"templates.{name}.use", (*within, name))
            _add_parts(made, Composed(own))
            self.whole.origins |= {f"templates.{name}.{place}": there for place, there in made.origins.items()}
            self.expanded[name] = made.data
        return self.expanded[name]
