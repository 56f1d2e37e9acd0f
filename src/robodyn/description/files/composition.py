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
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robodyn.base.errors import Flaw, FlawList, ModelError, nearest
from robodyn.description.files.groups import LISTS
from robodyn.description.files.robot_files import ROBOT_KEYS, robot_tables
from robodyn.description.files.table import entries_of, leaves_of, load_toml
from robodyn.description.files.template import KEYS, flatten_names, instantiate, merge_tables
from robodyn.description.model.numbers import check_name

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
        """The same flaw, reported where the thing stands."""
        path = re.sub(r"\[\d+\]", "", flaw.path)
        while path:
            if path in self.origins:
                file, place = self.origins[path]
                rest = flaw.path[len(path) :]
                return Flaw(f"{file + ': ' if file else ''}{place}{rest}", flaw.what, flaw.remedy)
            path = path.rpartition(".")[0]
        return flaw

    def raise_if_any(self, flaws: FlawList, source: str) -> None:
        """Raise all flaws as one error, each told where the thing stands."""
        FlawList([self.place(flaw) for flaw in flaws.found]).raise_if_any(source)


def load_composed(path: Path, text: str | None = None) -> Composed:
    """The contents of a TOML file, or of a text in its place, with its includes and templates put in.

    Raises:
        ModelError: with every problem of including, each with its file and path.
    """
    found = _Loader().load(path, (), text)
    _expand(found, str(path))
    return found


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
            _check_twice(flaws, whole, part)
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


def _load_robot(path: Path, given: Any, flaws: FlawList) -> list[Composed]:
    """The tables of the machine that a robot file describes, where one is named."""
    if given is None:
        return []
    options = {"file": given} if isinstance(given, str) else given
    if not isinstance(options, Mapping) or not isinstance(options.get("file"), str):
        flaws.add("robot", f"must be the name of a robot file, or a table with one as `file`, is {given!r}")
        return []
    for key in (key for key in options if key not in ROBOT_KEYS):
        flaws.add(f"robot.{key}", "is unknown", nearest(key, ROBOT_KEYS))
    known = {key: value for key, value in options.items() if key in ROBOT_KEYS}
    try:
        data = flatten_names(robot_tables(path.parent, known))
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


def _check_twice(flaws: FlawList, whole: Composed, part: Composed) -> None:
    """Two includes of one file must not differ: nobody could know which one wins."""
    first, second = (dict(leaves_of(found.data)) for found in (whole, part))
    for place in (place for place in second if place in first and first[place] != second[place]):
        files = f"'{whole.origins[place][0]}' and '{part.origins[place][0]}'"
        flaws.add(place, f"is said by two includes, {files}", "say it in one of them")


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
    """The same data with names of files as they are seen from the folder of the file that includes it."""
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
    known = _Templates(whole, templates, flaws)
    for name in templates:
        known.expand(name, ())
    made = known.use_all(uses, "use", ())
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
            tables = self.expand(template, within)
            instance = instantiate(name, tables, changes, path, f"templates.{template}", self.flaws)
            origins = {place: self.origin(there) for place, there in instance.origins.items()}
            return Composed(instance.data, origins)
        return Composed({})

    def expand(self, name: str, within: tuple[str, ...]) -> dict[str, Any]:
        """A template with the parts of those that it uses itself."""
        if name not in self.expanded:
            own = dict(self.templates[name])
            made = self.use_all(own.pop("use", {}), f"templates.{name}.use", (*within, name))
            _add_parts(made, Composed(own))
            self.whole.origins |= {f"templates.{name}.{place}": there for place, there in made.origins.items()}
            self.expanded[name] = made.data
        return self.expanded[name]

    def origin(self, place: str) -> tuple[str, str]:
        """File and path of what stands at a place of the composed tables."""
        return self.whole.origins.get(place, ("", place))
