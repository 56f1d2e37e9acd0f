"""Kinds of fields that refer to others: names of parts and signals, numbers by name, laws, whole descriptions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from robodyn.base.errors import FlawList
from robodyn.base.records import dataclass
from robodyn.description.model.frozen import FrozenDict
from robodyn.description.model.kinds import Kind, Rename, Texts
from robodyn.description.model.numbers import Number, as_floats, check_finite, check_text
from robodyn.description.model.rules import find_law, units_of

if TYPE_CHECKING:
    from robodyn.base.spatial import Pose
    from robodyn.description.model.description import Description


@dataclass(frozen=True)
class Reference(Kind):
    """The name of another part: a "point", "body", "moving joint", "joint or coordinate", or of a "signal"."""

    to: str

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        check_text(flaws, path, value)
        return value

    def references(self, path: str, value: Any) -> Iterator[tuple[str, str, str]]:
        if isinstance(value, str):
            yield path, self.to, value

    def renamed(self, value: Any, rename: Rename) -> Any:
        return rename(self.to, value) if isinstance(value, str) else value


@dataclass(frozen=True)
class Target(Reference):
    """The name of a signal, or a number in its place; files may give that in a unit."""

    to: str = "signal"
    written: str = ""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        if isinstance(value, str):
            return value
        return float(value) if check_finite(flaws, path, value) else value


@dataclass(frozen=True)
class References(Texts):
    """Names of several parts, which their noun says."""

    empty: bool = False

    def references(self, path: str, value: Any) -> Iterator[tuple[str, str, str]]:
        return ((path, self.noun, name) for name in value)

    def renamed(self, value: Any, rename: Rename) -> Any:
        return tuple(rename(self.noun, name) for name in value)


@dataclass(frozen=True)
class Weights(References):
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

    def renamed(self, value: Any, rename: Rename) -> Any:
        return {rename(self.noun, name): weight for name, weight in value.items()}


@dataclass(frozen=True)
class ReferenceMap(Kind):
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

    def references(self, path: str, value: Any) -> Iterator[tuple[str, str, str]]:
        for key, entry in value.items():
            if self.keys_to:
                yield f"{path}.{key}", self.keys_to, key
            for name in entry if isinstance(entry, tuple) else (entry,):
                if isinstance(name, str):
                    yield f"{path}.{key}", self.to, name

    def renamed(self, value: Any, rename: Rename) -> Any:
        def one(entry: Any) -> Any:
            if isinstance(entry, tuple):
                return tuple(one(name) for name in entry)
            return rename(self.to, entry) if isinstance(entry, str) else entry

        return {rename(self.keys_to, key) if self.keys_to else key: one(entry) for key, entry in value.items()}


@dataclass(frozen=True)
class TextMap(ReferenceMap):
    """Texts by what they are for, which refer to nothing."""

    to: str = ""

    def references(self, path: str, value: Any) -> Iterator[tuple[str, str, str]]:
        return iter(())

    def renamed(self, value: Any, rename: Rename) -> Any:
        return value


@dataclass(frozen=True)
class Numbers(Kind):
    """Numbers by name: a law's parameters, start values.

    Attributes:
        law: field of the law whose units they have; "state" for units of states; "" for none.
        lists: whether a list of numbers may stand in place of one.
        dotted: whether the names have dots, which files may write without quotes.
        open: whether numbers may be given that are not there yet.
    """

    law: str = ""
    lists: bool = False
    dotted: bool = False
    open: bool = False
    infinite: bool = False

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        if not isinstance(value, Mapping):
            flaws.add(path, f"must be a mapping of names to values, is {value!r}")
            return value
        kept = FrozenDict({key: as_floats(entry) for key, entry in value.items()})
        for key, entry in kept.items():
            for one in entry if self.lists and isinstance(entry, tuple) else (entry,):
                check_finite(flaws, f"{path}.{key}", one, infinite=self.infinite)
        return kept

    def units(self, owner: Any) -> Mapping[str, str]:
        return units_of(getattr(owner, self.law)) if self.law not in ("", "state") else {}

    def numbers(self, owner: Description, path: str, value: Any) -> Iterator[Number]:
        units = self.units(owner) if self.under is not None and value else {}
        for key, entry in value.items() if self.under is not None else ():
            own = f"{path}.{key}" if path else key
            if isinstance(entry, tuple):
                yield from (Number(f"{own}.{k}", one, units.get(key, "")) for k, one in enumerate(entry))
            else:
                yield Number(own, entry, units.get(key, ""))

    def changed(self, owner: Description, path: str, value: Any, changes: Mapping[str, float]) -> Any:
        own = f"{path}."
        given = {name.removeprefix(own): number for name, number in changes.items() if name.startswith(own)}
        if self.under is None or not given:
            return value
        fresh = {
            key: tuple(given.get(f"{key}.{k}", one) for k, one in enumerate(entry))
            if isinstance(entry, tuple)
            else given.get(key, entry)
            for key, entry in value.items()
        }
        return fresh | given if self.open else fresh


@dataclass(frozen=True)
class Function(Kind):
    """A plain function."""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        if not callable(value):
            flaws.add(path, f"must be a function, is {value!r}")
        return value


@dataclass(frozen=True)
class Law(Kind):
    """A law of the package by its name, or a function; whether it fits, its description checks."""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        name = getattr(value, "__name__", "")
        return name if name and find_law(name) is value else value


@dataclass(frozen=True)
class Part(Kind):
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

    def numbers(self, owner: Description, path: str, value: Any) -> Iterator[Number]:
        return value.numbers(path) if self.numbered else iter(())

    def changed(self, owner: Description, path: str, value: Any, changes: Mapping[str, float]) -> Any:
        return value.with_numbers(changes, path)

    def references(self, path: str, value: Any) -> Iterator[tuple[str, str, str]]:
        yield from value.references(path)

    def renamed(self, value: Any, rename: Rename) -> Any:
        return value.renamed(rename)

    def moved(self, owner: Description, value: Any, place: Pose, grounded: Collection[str]) -> Any:
        return value.moved(place, grounded)


@dataclass(frozen=True)
class Parts(Part):
    """Descriptions that have names, in order."""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        value = tuple(value)
        for k, part in enumerate(value):
            super().settle(flaws, f"{path}[{k}]", part)
        return value

    def numbers(self, owner: Description, path: str, value: Any) -> Iterator[Number]:
        for part in value:
            yield from part.numbers()

    def changed(self, owner: Description, path: str, value: Any, changes: Mapping[str, float]) -> Any:
        changed = tuple(part.with_numbers(changes) for part in value)
        return value if all(new is old for new, old in zip(changed, value, strict=True)) else changed

    def references(self, path: str, value: Any) -> Iterator[tuple[str, str, str]]:
        for part in value:
            yield from part.references(f"{path}.{part.name}")

    def renamed(self, value: Any, rename: Rename) -> Any:
        return tuple(part.renamed(rename) for part in value)

    def moved(self, owner: Description, value: Any, place: Pose, grounded: Collection[str]) -> Any:
        return tuple(part.moved(place, grounded) for part in value)
