"""Kinds of fields: what does a field of a description hold, in which unit and within which bounds?

What follows from a kind: the check when a description is made (`accept`), the named numbers (`numbers`, `changed`), the
references that a machine checks and renames (`references`, `renamed`), what moves with the ground (`moved`); and in
`robodyn.description.files` reading and writing TOML, the tables of keys in the docs and the JSON Schema.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.base.errors import FlawList, nearest
from robodyn.base.records import dataclass
from robodyn.description.model.numbers import (
    LEAST,
    Number,
    as_floats,
    check_count,
    check_finite,
    check_flag,
    check_name,
    check_texts,
)

if TYPE_CHECKING:
    from robodyn.base.spatial import Pose
    from robodyn.description.model.description import Description

Rename = Callable[[str, str], str]
"""What a name refers to ("point", "signal", ...; "part" for a part's own name), the name -> the new name."""


@dataclass(frozen=True)
class Kind:
    """What a field holds.

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

    def numbers(self, owner: Description, path: str, value: Any) -> Iterator[Number]:
        return iter(())

    def changed(self, owner: Description, path: str, value: Any, changes: Mapping[str, float]) -> Any:
        """The value with the numbers changed that have new ones."""
        return value

    def references(self, path: str, value: Any) -> Iterator[tuple[str, str, str]]:
        """Path, what is referred to ("point"), name."""
        return iter(())

    def renamed(self, value: Any, rename: Rename) -> Any:
        return value

    def moved(self, owner: Description, value: Any, place: Pose, grounded: Collection[str]) -> Any:
        """The value where the ground, and what is fixed to it, moves to another place."""
        return value


@dataclass(frozen=True)
class Name(Kind):
    """A part's own name."""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        check_name(flaws, value, path)
        return value

    def renamed(self, value: Any, rename: Rename) -> Any:
        return rename("part", value)


@dataclass(frozen=True)
class Text(Kind):
    """Any text."""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        if not isinstance(value, str):
            flaws.add(path, f"must be text, is {value!r}")
        return value


@dataclass(frozen=True)
class File(Text):
    """The path of a file."""


@dataclass(frozen=True)
class Texts(Kind):
    """A list of texts: patterns, or names that nobody checks."""

    noun: str = "text"
    empty: bool = True

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        if not check_texts(flaws, path, value, f"{self.noun}s"):
            return value
        if not (self.empty or tuple(value)):
            flaws.add(path, f"must name at least one {self.noun}")
        return tuple(value)


@dataclass(frozen=True)
class Flag(Kind):
    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        check_flag(flaws, path, value)
        return value


@dataclass(frozen=True)
class Choice(Kind):
    """One of several words."""

    options: Collection[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", tuple(self.options))

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        if value not in self.options:
            flaws.add(path, f"'{value}' is unknown", nearest(str(value), self.options))
        return value


@dataclass(frozen=True)
class Count(Kind):
    """A whole number."""

    least: int = 0
    most: int | None = None

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        return int(value) if check_count(flaws, path, value, self.least, self.most) else value


@dataclass(frozen=True)
class Bounds:
    """Where a number must lie."""

    positive: bool = False
    non_negative: bool = False
    within: tuple[float, float] | None = None
    infinite: bool = False
    remedy: str = ""

    def check(self, flaws: FlawList, path: str, value: Any, unit: str) -> bool:
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


@dataclass(frozen=True)
class Quantity(Kind):
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

    def unit_for(self, owner: Any) -> str | None:
        """None where the owner has no use for it."""
        return self.unit if isinstance(self.unit, str) else self.unit.get(getattr(owner, self.by))

    def numbers(self, owner: Description, path: str, value: Any) -> Iterator[Number]:
        unit = self.unit_for(owner)
        if self.named and unit is not None:
            yield Number(path, value, unit)

    def changed(self, owner: Description, path: str, value: Any, changes: Mapping[str, float]) -> Any:
        return changes.get(path, value) if self.named else value


@dataclass(frozen=True)
class Quantities(Quantity):
    """A number, or one for each row of something; what they are called, their description knows."""

    named: bool = False

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        if not isinstance(value, (Sequence, np.ndarray)) or isinstance(value, str):
            return super().settle(flaws, path, value)
        usable = [self.bounds.check(flaws, f"{path}[{k}]", entry, "") for k, entry in enumerate(value)]
        return as_floats(value) if all(usable) else value
