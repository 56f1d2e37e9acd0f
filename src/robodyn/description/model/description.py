"""Descriptions: frozen data classes that check themselves by what their fields declare."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, dataclass_transform

from robodyn.base import Flaw, FlawList
from robodyn.base.records import make_record
from robodyn.description.model import fields as f

from .kinds import FieldKind, NameMap, NumberMap
from .numbers import Number

if TYPE_CHECKING:
    from robodyn.base.spatial import Pose


Rename = Callable[[str, str], str]
"""Gives the new name for a kind ("point", "signal", ...; "part" for a part's own name) and a name of it."""


def default_of(cls: type, field: str) -> Any:
    """The default of a field of a description; MISSING where it is required."""
    return cls.__dataclass_fields__[field].default  # type: ignore[attr-defined]


class SourceFile(Protocol):
    """A file that descriptions were read from."""

    @property
    def source(self) -> str:
        """Its name."""

    def place(self, flaw: Flaw) -> Flaw:
        """This flaw, reported where the thing stands."""


@dataclass_transform(
    frozen_default=True,
    field_specifiers=(
        f.part_name, f.text, f.file, f.texts, f.flag, f.choice, f.whole_number, f.quantity, f.quantities, f.vector,
        f.place, f.unit_vector, f.rotation_matrix, f.array, f.reference, f.references, f.weights, f.target,
        f.reference_map, f.text_map, f.numbers, f.plain_function, f.law_or_name, f.child, f.children,
    ),
)  # fmt: skip
class Description:
    """A frozen data class, made by deriving from it, whose fields are declared by the functions of `fields`.

    Attributes:
        NOUN: what one is called in messages.
        MARKS: keys by which a file distinguishes this class from others that may stand in the same place.
        KINDS: field -> what it holds, in order.
        SPELLED: fields of what is made of it -> the keys of a file that hold them, where these differ.
        written_in: the file it was read from, if it was; not a field, but kept by `replaced`.
        REFUSED: keys that a file cannot give, because they follow -> what to do instead.
        MISSING: fields that a file must give -> what is not there without them.
    """

    NOUN: ClassVar[str] = ""
    MARKS: ClassVar[tuple[str, ...]] = ()
    KINDS: ClassVar[Mapping[str, FieldKind]] = {}
    written_in: ClassVar[SourceFile | None] = None
    SPELLED: ClassVar[Mapping[str, str]] = {}
    REFUSED: ClassVar[Mapping[str, str]] = {}
    MISSING: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        made = make_record(cls, kw_only=kw_only)
        cls.KINDS = {field.name: field.metadata["kind"] for field in dataclasses.fields(made)}
        attributes = "".join(f"        {name}: {kind.about}\n" for name, kind in cls.KINDS.items() if kind.about)
        cls.__doc__ = f"{(cls.__doc__ or cls.__name__).rstrip()}\n\n    Attributes:\n{attributes}"

    def __post_init__(self) -> None:
        flaws = FlawList()
        for field, kind in self.KINDS.items():
            object.__setattr__(self, field, kind.accept(flaws, field, getattr(self, field)))
        self.check(flaws)
        flaws.raise_if_any(f"{self.NOUN} '{self._prefix}'" if self._prefix else self.NOUN)
        # What was asked for while fields were still being set may have changed.
        self.__dict__.pop("_numbers", None)

    def __getstate__(self) -> dict[str, Any]:
        """Its fields and its file: what has been found from these is found again."""
        state = self.__dict__
        return {name: state[name] for name in (*self.KINDS, "written_in") if name in state}

    @property
    def derived(self) -> dict[str, Any]:
        """Plain data that follow from the fields, for whoever reads a run without these classes."""
        return {}

    def check(self, flaws: FlawList) -> None:
        """Note what concerns several fields; `flaws` has those of single fields."""

    def made(self) -> Any:
        """The description that this one stands for, where that is another one."""
        return self

    def stated(self, *fields: str) -> dict[str, Any]:
        """The fields, of these or of all, that are not at their defaults."""
        values = {field: getattr(self, field) for field in fields or self.KINDS}
        return {field: value for field, value in values.items() if value != default_of(type(self), field)}

    def set_fields(self, **values: Any) -> None:
        """Set fields of a description that is being made."""
        for field, value in values.items():
            object.__setattr__(self, field, value)

    def replaced(self, **changed: Any) -> Self:
        """This description with other values in some fields; itself where there are none."""
        if not changed:
            return self
        fresh: Self = dataclasses.replace(self, **changed)  # type: ignore[type-var]
        return fresh if self.written_in is None else fresh.read_from(self.written_in)

    def read_from(self, file: SourceFile) -> Self:
        """Remember where this description was read from."""
        object.__setattr__(self, "written_in", file)
        return self

    @property
    def _prefix(self) -> str:
        """The prefix of the names of its numbers."""
        return getattr(self, "name", "")

    def map_numbers(self, change: NumberMap, prefix: str | None = None) -> Self:
        """This description with each of its named numbers as the map gives it."""
        return self._with(
            lambda field, kind, value: kind.map_numbers(self, self._path(prefix, field, kind), value, change)
        )

    def numbers(self, prefix: str | None = None) -> Iterable[Number]:
        """Its named numbers: `<name>.<field>` or `<name>.<field>.<suffix>`."""
        # Listed once: parts are shared by all descriptions that differ in other parts.
        listed = self.__dict__.setdefault("_numbers", {})
        if prefix not in listed:
            numbers = _NumberList()
            self.map_numbers(numbers, prefix)
            listed[prefix] = tuple(numbers.found)
        return listed[prefix]

    def with_numbers(self, changes: Mapping[str, float], prefix: str | None = None) -> Self:
        """This description with some numbers changed; names that are not its own are left alone."""
        return self.map_numbers(_NumberChanges(changes), prefix)

    def map_names(self, change: NameMap, path: str = "") -> Self:
        """This description with its own name, and those it refers to, as the map gives them."""
        under = f"{path}." if path else ""
        return self._with(lambda field, kind, value: kind.map_names(under + field, value, change))

    def references(self, path: str = "") -> Iterable[tuple[str, str, str]]:
        """Every name of another part or of a signal: where it stands, what it refers to, the name."""
        references = []

        def note(at: str, to: str, name: str) -> str:
            if to != "part":
                references.append((at, to, name))
            return name

        self.map_names(note, path)
        return references

    def renamed(self, rename: Rename) -> Self:
        """This description with other names, its own and those it refers to."""
        return self.map_names(lambda _, to, name: rename(to, name))

    def moved(self, place: Pose, grounded: Collection[str]) -> Self:
        """This description where the ground, and what is fixed to it, stands at another place of the world.

        Args:
            grounded: names of the ground and of its points.
        """
        return self._with(lambda _, kind, value: kind.moved(self, value, place, grounded))

    def _path(self, prefix: str | None, field: str, kind: FieldKind) -> str:
        """The beginning of the names of a field's numbers."""
        prefix = self._prefix if prefix is None else prefix
        return ".".join(filter(None, (prefix, field if kind.under is None else kind.under)))

    def _with(self, change: Callable[[str, FieldKind, Any], Any]) -> Self:
        """This description with the values of its fields changed; itself where none of them is."""
        changed = {}
        for field, kind in self.KINDS.items():
            value = getattr(self, field)
            fresh = None if value is None else change(field, kind, value)
            if fresh is not value and fresh != value:
                changed[field] = fresh
        return self.replaced(**changed)


class _NumberList:
    """A map of numbers that leaves them and lists them; parts have their own lists."""

    def __init__(self) -> None:
        self.found: list[Number] = []

    def __call__(self, number: Number) -> float:
        self.found.append(number)
        return number.value

    def map_part(self, part: Description, prefix: str | None) -> Description:
        self.found += part.numbers(prefix)
        return part


class _NumberChanges:
    """A map of numbers to their new values; a part without any of them stays as it is."""

    def __init__(self, values: Mapping[str, float]) -> None:
        self.values = values

    def __call__(self, number: Number) -> float:
        return self.values.get(number.name, number.value)

    def map_part(self, part: Description, prefix: str | None) -> Description:
        concerned = any(number.name in self.values for number in part.numbers(prefix))
        return part.map_numbers(self, prefix) if concerned else part


# --------------------------------------------------------------------------------------------------
# Plain data of a description: what does it say? For files, provenance and digests.


def describe(value: Any) -> Any:
    """Any description as dictionaries, lists, strings and numbers; fields at their defaults are left out."""
    # Most of what is met is plain.
    if type(value) in _PLAIN:
        return value
    if isinstance(value, (list, tuple)):
        return [describe(entry) for entry in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        plain = {"type": type(value).__name__}
        for name, default, make in _counted_fields(type(value)):
            entry = getattr(value, name)
            required = default is dataclasses.MISSING and make is dataclasses.MISSING
            if required or not bool(entry == (make() if default is dataclasses.MISSING else default)):
                plain[name] = describe(entry)
        return plain | (value.derived if isinstance(value, Description) else {})
    if isinstance(value, Mapping):
        return {str(key): describe(entry) for key, entry in value.items()}
    if callable(value):
        named = value if hasattr(value, "__qualname__") else type(value)
        return f"{named.__module__}:{named.__qualname__}"
    return value


_PLAIN = (float, str, bool, int, type(None))


@cache
def _counted_fields(owner: Any) -> list[tuple[str, Any, Any]]:
    """Name, default and what makes the default of each field; what does not count in comparisons is not said."""
    return [(field.name, field.default, field.default_factory) for field in dataclasses.fields(owner) if field.compare]


def digest(value: Any) -> str:
    """A short fingerprint of a description."""
    text = json.dumps(describe(value), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
