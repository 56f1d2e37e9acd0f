"""Which numbers does a description hold, under which names and units, and how is one of them changed?"""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

from robodyn.errors import FlawList

LARGEST, LEAST = 1e30, 1e-100
"""Magnitudes that the numbers of a description may have, this project's own choice: sums and products of several of
them do not leave the range of floating point."""
XYZ = ("x", "y", "z")
NAME = re.compile(r"[A-Za-z_][\w\-]*(\.[A-Za-z_][\w\-]*)*")


@dataclass(frozen=True)
class Number:
    """A named physical number of a description."""

    name: str
    value: float
    unit: str


class Numbered:
    """A frozen description whose numbers have names: `<name>.<field>` or `<name>.<field>.<suffix>`."""

    NUMBERS: ClassVar[Mapping[str, tuple[Sequence[str], str]]] = {}
    name: str

    def numbers(self) -> Iterator[Number]:
        for field, (suffixes, unit) in self.NUMBERS.items():
            value = getattr(self, field)
            if not suffixes:
                yield Number(f"{self.name}.{field}", value, unit)
            for suffix, component in zip(suffixes, value if suffixes else (), strict=True):
                yield Number(f"{self.name}.{field}.{suffix}", component, unit)

    def with_numbers(self, changes: Mapping[str, float]) -> Self:
        """The same description with some numbers changed; names that are not its own are left alone."""
        fields: dict[str, Any] = {}
        for field, (suffixes, _) in self.NUMBERS.items():
            if not suffixes:
                fields[field] = changes.get(f"{self.name}.{field}", getattr(self, field))
            else:
                old = getattr(self, field)
                keys = [f"{self.name}.{field}.{suffix}" for suffix in suffixes]
                fields[field] = tuple(changes.get(key, value) for key, value in zip(keys, old, strict=True))
        return dataclasses.replace(self, **fields)  # type: ignore[type-var]


def check_distinct(flaws: FlawList, numbers: Iterable[Number]) -> None:
    """No two numbers may share a name: changing one would change the other."""
    for name, count in Counter(number.name for number in numbers).items():
        if count > 1:
            flaws.add(name, f"{count} numbers have this name", "give the parts that hold them different names")


def check_name(flaws: FlawList, name: Any) -> None:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        remedy = "letters, digits, _ and -, starting with a letter; dots between parts"
        flaws.add("name", f"'{name}' is not a name", remedy)


def check_text(flaws: FlawList, path: str, value: Any) -> None:
    if not isinstance(value, str):
        flaws.add(path, f"must be a name, is {value!r}")


def check_texts(flaws: FlawList, path: str, value: Any, noun: str) -> bool:
    """Whether a value is a list of texts; one text alone is refused, its letters would be taken for a list."""
    good = not isinstance(value, str) and all(isinstance(entry, str) for entry in value)
    if not good:
        flaws.add(path, f"must be a list of {noun}, is {value!r}")
    return good


def check_callable(flaws: FlawList, path: str, value: Any) -> None:
    if not callable(value):
        flaws.add(path, f"must be a function, is {value!r}")


def check_flag(flaws: FlawList, path: str, value: Any) -> None:
    if not isinstance(value, bool):
        flaws.add(path, f"must be true or false, is {value!r}")


def check_finite(flaws: FlawList, path: str, value: Any, *, infinite: bool = False) -> bool:
    """Whether a value is a usable real number; says why not otherwise.

    Args:
        infinite: whether infinity is one too, as in a limit that there is not.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        flaws.add(path, f"must be a number, is {value!r}")
        return False
    size: Any = abs(value)
    if size != size or (size == math.inf and not infinite):
        flaws.add(path, f"must be finite, is {value}")
    elif LARGEST < size < math.inf:
        flaws.add(path, f"must be at most {LARGEST:g} in magnitude, is {value}", "inf for no limit" if infinite else "")
    elif 0 < size < LEAST:
        flaws.add(path, f"must be 0 or at least {LEAST:g} in magnitude, is {value}")
    else:
        return True
    return False


def check_vector(flaws: FlawList, path: str, value: Any, length: int) -> bool:
    try:
        entries = tuple(value)
    except TypeError:
        flaws.add(path, f"must be {length} numbers, is {value!r}")
        return False
    if len(entries) != length:
        flaws.add(path, f"must be {length} numbers, has {len(entries)}")
        return False
    usable = [check_finite(flaws, f"{path}[{k}]", entry) for k, entry in enumerate(entries)]
    return all(usable)


def as_floats(value: Any) -> Any:
    """Arrays and lists as nested tuples of Python floats (hashable, comparable, writable to a file)."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return tuple(as_floats(entry) for entry in value)
    return value if isinstance(value, bool) or not isinstance(value, Real) else float(value)


def keep_floats(description: Any, *fields: str) -> None:
    """Replace checked fields of a frozen description by Python floats: equal descriptions have equal digests."""
    for field in fields:
        object.__setattr__(description, field, as_floats(getattr(description, field)))
