"""Kinds of fields: what does a field of a description hold, in which unit and within which bounds?

What follows from a kind: the check when a description is made (`accept`), its named numbers, listed or changed
(`map_numbers`), the names by which it refers to others, listed or changed (`map_names`), what moves with the ground
(`moved`); and in `robodyn.description.files` reading and writing TOML, the docs' tables of keys and the JSON Schema.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.base import FlawList, frozen, nearest

from .numbers import (
    LEAST,
    FrozenDict,
    Number,
    as_floats,
    check_count,
    check_finite,
    check_name,
    check_rotation,
    check_text,
    check_texts,
    check_vector,
)
from .rules import find_law, units_of

if TYPE_CHECKING:
    from robodyn.base.spatial import Pose

    from .description import Description

NumberMap = Callable[[Number], float]
"""A named number -> its value, or a new one."""
NameMap = Callable[[str, str, str], str]
"""Where a name stands, what it refers to ("point", "signal", ...; "part" for a part's own name), the name -> the same,
or a new one."""


@frozen
class FieldKind:
    """The kind of a field's contents.

    Attributes:
        doc: its meaning, for the docs' tables.
        key: in files; the field's own name where there is none, "rod[0]" for the first entry of a list.
        optional: whether None, or leaving it out, is allowed; absent: what that means, for the docs' tables.
        under: what its numbers' names have in place of the field's own name.
        unit: of its numbers, in SI, "" for none; or by the value of another field.
    """

    _: KW_ONLY
    doc: str = ""
    key: str = ""
    optional: bool = False
    absent: str = ""
    under: str | None = None
    unit: str | Mapping[str, str] = ""

    @property
    def about(self) -> str:
        """Meaning and unit in a few words."""
        shown = self.unit if isinstance(self.unit, str) else " or ".join(dict.fromkeys(self.unit.values()))
        return " ".join(filter(None, (self.doc, f"[{shown}]" if shown and "{" not in shown else "")))

    def accept(self, flaws: FlawList, path: str, value: Any) -> Any:
        """The value as it is kept; what is wrong with it is noted."""
        return None if value is None and self.optional else self.settle(flaws, path, value)

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        return value

    def map_numbers(self, owner: Description, path: str, value: Any, change: NumberMap) -> Any:
        """The value with each of its named numbers as the map gives it."""
        return value

    def map_names(self, path: str, value: Any, change: NameMap) -> Any:
        """The value with each of its names as the map gives it."""
        return value

    def moved(self, owner: Description, value: Any, place: Pose, grounded: Collection[str]) -> Any:
        """The value where the ground, and what is fixed to it, moves to another place."""
        return value


@frozen
class PartName(FieldKind):
    """A part's own name."""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        check_name(flaws, value, path)
        return value

    def map_names(self, path: str, value: Any, change: NameMap) -> Any:
        return change(path, "part", value)


@frozen
class AnyText(FieldKind):
    """Any text."""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        if not isinstance(value, str):
            flaws.add(path, f"must be text, is {value!r}")
        return value


@frozen
class File(AnyText):
    """The path of a file."""


@frozen
class Texts(FieldKind):
    """A list of texts: patterns, names that nobody checks, or some of several words, each once."""

    noun: str = "text"
    empty: bool = True
    options: tuple[str, ...] = ()

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        if not check_texts(flaws, path, value, f"{self.noun}s"):
            return value
        if not (self.empty or tuple(value)):
            flaws.add(path, f"must name at least one {self.noun}")
        for name, count in Counter(value if self.options else ()).items():
            if count > 1:
                flaws.add(path, f"'{name}' appears twice")
            if name not in self.options:
                flaws.add(path, f"'{name}' is unknown", nearest(name, self.options))
        return tuple(value)


@frozen
class Flag(FieldKind):
    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        if not isinstance(value, bool):
            flaws.add(path, f"must be true or false, is {value!r}")
        return value


@frozen
class Choice(FieldKind):
    """One of several words."""

    options: Collection[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", tuple(self.options))

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        if value not in self.options:
            flaws.add(path, f"'{value}' is unknown", nearest(str(value), self.options))
        return value


@frozen
class Count(FieldKind):
    """A whole number."""

    least: int = 0
    most: int | None = None

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        return int(value) if check_count(flaws, path, value, self.least, self.most) else value


@frozen
class Bounds:
    """Where a number must lie."""

    positive: bool = False
    non_negative: bool = False
    within: tuple[float, float] | None = None
    infinite: bool = False
    remedy: str = ""

    def check(self, flaws: FlawList, path: str, value: Any, unit: str) -> bool:
        """Whether a value is a number within them; the flaw where it is not."""
        if not check_finite(flaws, path, value, infinite=self.infinite):
            return False
        if self.positive and value < LEAST:
            what = "must be positive" if value <= 0 else f"must be at least {LEAST:g}"
        elif self.non_negative and value < 0:
            what = "must not be negative"
        elif self.within and not self.within[0] <= value <= self.within[1]:
            what = f"must be between {self.within[0]:g} and {self.within[1]:g}"
        else:
            return True
        flaws.add(path, f"{what}, is {value:g} {unit}".rstrip(), self.remedy)
        return False


FREE = Bounds()


@frozen
class Quantity(FieldKind):
    """A number with a unit.

    Attributes:
        unit: in SI, "" for a pure number; or by the value of the field `by`, where a number may have none.
        written: what files may give it in, where that is more: "{x}" rad or m, "{F}" N m or N, "{I}" kg m^2 or kg;
            the name of a field in braces, "{signal}", for the unit of the state it names.
        named: whether it is a number of the description, which `--set` and `tunable` know.
    """

    unit: str | Mapping[str, str] = ""
    by: str = ""
    written: str = ""
    named: bool = True
    bounds: Bounds = FREE

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        unit = self.unit if isinstance(self.unit, str) else ""
        return float(value) if self.bounds.check(flaws, path, value, unit) else value

    def map_numbers(self, owner: Description, path: str, value: Any, change: NumberMap) -> Any:
        # Without a unit its owner has no use for it.
        unit = self.unit if isinstance(self.unit, str) else self.unit.get(getattr(owner, self.by))
        return change(Number(path, value, unit)) if self.named and unit is not None else value


@frozen
class Quantities(Quantity):
    """A number, or one for each row of something; what they are called, their description knows."""

    named: bool = False

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        if not isinstance(value, (Sequence, np.ndarray)) or isinstance(value, str):
            return super().settle(flaws, path, value)
        usable = [self.bounds.check(flaws, f"{path}[{k}]", entry, "") for k, entry in enumerate(value)]
        return as_floats(value) if all(usable) else value


# --------------------------------------------------------------------------------------------------
# Kinds of fields of several numbers: vectors, places, directions, rotations and arrays, and how they move.


WORLD = "world"


def is_grounded(frame: str, owner: Description, grounded: Collection[str]) -> bool:
    """Whether a frame is the world's, or that of the ground or of one of its points."""
    return frame == WORLD or (bool(frame) and getattr(owner, frame) in grounded)


@frozen
class Vector(FieldKind):
    """Several numbers of one unit.

    Attributes:
        length: how many; None for any number of them.
        suffixes: of their names, () where they are no numbers of the description.
        units: of each of them, where they differ; in files they are then a table by their suffixes.
        frame: field that names the point or body in whose frame it is given, or "world".
        placed: whether it is a place, not a direction or a free vector.
        zero: whether it may have no length.
    """

    unit: str = ""
    length: int | None = None
    suffixes: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    bounds: Bounds = FREE
    frame: str = ""
    placed: bool = False
    zero: bool = True

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        if not check_vector(flaws, path, value, self.length):
            return value
        for k, entry in enumerate(value if self.bounds != FREE else ()):
            self.bounds.check(flaws, f"{path}[{k}]", entry, self.unit)
        if not self.zero and float(np.linalg.norm(value)) < 1e-9:
            flaws.add(path, "must not be zero")
        return as_floats(tuple(value))

    def map_numbers(self, owner: Description, path: str, value: Any, change: NumberMap) -> Any:
        if not self.suffixes:
            return value
        units = self.units or (self.unit,) * len(self.suffixes)
        entries = zip(self.suffixes, value, units, strict=True)
        return tuple(change(Number(f"{path}.{suffix}", entry, unit)) for suffix, entry, unit in entries)

    def moved(self, owner: Description, value: Any, place: Pose, grounded: Collection[str]) -> Any:
        if not is_grounded(self.frame, owner, grounded):
            return value
        return as_floats(place.apply(value) if self.placed else place.R @ np.array(value))


@frozen
class UnitVector(Vector):
    """Three numbers, kept as a unit vector."""

    length: int | None = 3
    zero: bool = False

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        value = super().settle(flaws, path, value)
        if flaws.concern(path):
            return value
        size = float(np.linalg.norm(value))
        # A vector of length one to the last bits stays as it is, so that descriptions are the same when read again.
        near = abs(size - 1.0) < 4 * np.finfo(float).eps
        return value if near else as_floats(np.array(value) / size)


@frozen
class Rotation(FieldKind):
    """A rotation matrix, three rows."""

    frame: str = ""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        return as_floats(value) if check_rotation(flaws, value, path) else value

    def moved(self, owner: Description, value: Any, place: Pose, grounded: Collection[str]) -> Any:
        return as_floats(place.R @ np.array(value)) if is_grounded(self.frame, owner, grounded) else value


@frozen
class Array(FieldKind):
    """Nested lists of numbers (or of "string" or "boolean"), whose shape its description checks."""

    unit: str = ""
    of: str = "number"

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        return as_floats(tuple(value) if isinstance(value, Iterable) else value)


# --------------------------------------------------------------------------------------------------
# Kinds of fields that refer to others: names of parts and signals, numbers by name, laws, whole descriptions.


@frozen
class Reference(FieldKind):
    """The name of another part: a "point", "body", "moving joint", "joint or coordinate", or of a "signal"."""

    to: str

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        check_text(flaws, path, value)
        return value

    def map_names(self, path: str, value: Any, change: NameMap) -> Any:
        return change(path, self.to, value) if isinstance(value, str) else value


@frozen
class Target(Reference):
    """The name of a signal, or a number in its place; files may give that in a unit."""

    to: str = "signal"
    written: str = ""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        if isinstance(value, str):
            return value
        return float(value) if check_finite(flaws, path, value) else value


@frozen
class ReferenceList(Texts):
    """Names of several parts, which their noun says."""

    empty: bool = False

    def map_names(self, path: str, value: Any, change: NameMap) -> Any:
        return tuple(change(path, self.noun, name) for name in value)


@frozen
class FactorMap(ReferenceList):
    """Factors by the name of what they belong to."""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        if not isinstance(value, Mapping):
            flaws.add(path, f"must be a mapping of names to numbers, is {value!r}")
            return value
        for name, weight in value.items():
            check_finite(flaws, f"{path}.{name}", weight)
        if not (self.empty or value):
            flaws.add(path, f"must name at least one {self.noun}")
        return FrozenDict({name: as_floats(weight) for name, weight in value.items()})

    def map_names(self, path: str, value: Any, change: NameMap) -> Any:
        return {change(path, self.noun, name): weight for name, weight in value.items()}


@frozen
class ReferenceMap(FieldKind):
    """Names of parts or signals by what they are for: argument -> signal.

    Attributes:
        keys_to: what the keys refer to, "" for nothing.
        several: whether a list of names, or a number, may stand in place of a name.
    """

    to: str
    keys_to: str = ""
    several: bool = False

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        if not isinstance(value, Mapping):
            flaws.add(path, f"must be a mapping of names to values, is {value!r}")
            return value
        for key, entry in value.items():
            self._check(flaws, f"{path}.{key}", entry)
        return FrozenDict({key: tuple(entry) if isinstance(entry, list) else entry for key, entry in value.items()})

    def _check(self, flaws: FlawList, path: str, entry: Any) -> None:
        if not self.several:
            check_text(flaws, path, entry)
            return
        for one in entry if isinstance(entry, (tuple, list)) else (entry,):
            if not isinstance(one, str):
                check_finite(flaws, path, one, infinite=True)

    def map_names(self, path: str, value: Any, change: NameMap) -> Any:
        def map_entry(at: str, entry: Any) -> Any:
            if isinstance(entry, tuple):
                return tuple(map_entry(at, name) for name in entry)
            return change(at, self.to, entry) if isinstance(entry, str) else entry

        mapped = {}
        for key, entry in value.items():
            at = f"{path}.{key}"
            mapped[change(at, self.keys_to, key) if self.keys_to else key] = map_entry(at, entry)
        return mapped


@frozen
class TextMap(ReferenceMap):
    """Texts by what they are for, which refer to nothing."""

    to: str = ""

    def map_names(self, path: str, value: Any, change: NameMap) -> Any:
        return value


@frozen
class NamedNumbers(FieldKind):
    """Numbers by name: a law's parameters, start values.

    Attributes:
        law: field of the law, or of units by name, whose units they have; "state" for units of states; "" for none.
        lists: whether a list of numbers may stand in place of one.
        dotted: whether the names have dots, which files may write without quotes.
    """

    law: str = ""
    lists: bool = False
    dotted: bool = False
    infinite: bool = False

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        if not isinstance(value, Mapping):
            flaws.add(path, f"must be a mapping of names to values, is {value!r}")
            return value
        numbers = FrozenDict({key: as_floats(entry) for key, entry in value.items()})
        for key, entry in numbers.items():
            for one in entry if self.lists and isinstance(entry, tuple) else (entry,):
                check_finite(flaws, f"{path}.{key}", one, infinite=self.infinite)
        return numbers

    def units(self, owner: Any) -> Mapping[str, str]:
        of = getattr(owner, self.law) if self.law not in ("", "state") else None
        return of if isinstance(of, Mapping) else units_of(of)

    def map_numbers(self, owner: Description, path: str, value: Any, change: NumberMap) -> Any:
        if self.under is None or not value:
            return value
        units, mapped = self.units(owner), dict[str, Any]()
        for key, entry in value.items():
            name, unit = f"{path}.{key}" if path else key, units.get(key, "")
            if isinstance(entry, tuple):
                mapped[key] = tuple(change(Number(f"{name}.{k}", one, unit)) for k, one in enumerate(entry))
            else:
                mapped[key] = change(Number(name, entry, unit))
        return mapped


@frozen
class Function(FieldKind):
    """A plain function."""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        if not callable(value):
            flaws.add(path, f"must be a function, is {value!r}")
        return value


@frozen
class LawOrName(FieldKind):
    """A law of the package by its name, or a function; whether it fits, its description checks."""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        name = getattr(value, "__name__", "")
        return name if name and find_law(name) is value else value


@frozen
class Child(FieldKind):
    """A description within a description; which of several classes, its keys in a file say.

    Attributes:
        inline: whether files give its fields beside those of its owner.
        numbered: whether its numbers are numbers of its owner.
    """

    classes: tuple[type[Description], ...]
    inline: bool = False
    numbered: bool = True

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        if not isinstance(value, self.classes):
            names = " or ".join(f"a {one.__name__}" for one in self.classes)
            remedy = f"{self.classes[0].__name__}(**...) makes one of it" if isinstance(value, Mapping) else ""
            flaws.add(path, f"must be {names}, is {value!r}", remedy)
        return value

    def map_numbers(self, owner: Description, path: str, value: Any, change: NumberMap) -> Any:
        return _map_part(value, change, path) if self.numbered else value

    def map_names(self, path: str, value: Any, change: NameMap) -> Any:
        return value.map_names(change, path)

    def moved(self, owner: Description, value: Any, place: Pose, grounded: Collection[str]) -> Any:
        return value.moved(place, grounded)


@frozen
class Children(Child):
    """Descriptions that have names, in order."""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        value = tuple(value)
        for k, part in enumerate(value):
            super().settle(flaws, f"{path}[{k}]", part)
        return value

    def map_numbers(self, owner: Description, path: str, value: Any, change: NumberMap) -> Any:
        return tuple(_map_part(part, change) for part in value)

    def map_names(self, path: str, value: Any, change: NameMap) -> Any:
        return tuple(part.map_names(change, f"{path}.{part.name}") for part in value)

    def moved(self, owner: Description, value: Any, place: Pose, grounded: Collection[str]) -> Any:
        return tuple(part.moved(place, grounded) for part in value)


def _map_part(part: Description, change: NumberMap, prefix: str | None = None) -> Description:
    """A part whose numbers are mapped one by one, unless the map has a quicker way."""
    map_part = getattr(change, "map_part", None)
    mapped: Description = map_part(part, prefix) if map_part else part.map_numbers(change, prefix)
    return mapped
