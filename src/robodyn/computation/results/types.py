"""Type checks of JSON: does what a file gave have the types that its description declares?"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
NUMBERS: dict[Any, tuple[type, ...]] = {float: (int, float), int: (int,)}


def checked(thing: T) -> T:
    """The same description; a TypeError names a field, also of a part, whose value is of another type than declared."""
    kind: Any = type(thing)
    for name, hint in _hints(kind):
        if not _fits(value := getattr(thing, name), hint):
            raise TypeError(f"{kind.__name__}.{name} is {str(value)[:50]!r}")
    return thing


@cache
def _hints(kind: Any) -> list[tuple[str, Any]]:
    hints = get_type_hints(kind)
    return [(field.name, hints[field.name]) for field in fields(kind)]


def _fits(value: Any, hint: Any) -> bool:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, choice) for choice in inner)
    if origin is Literal:
        return any(value == choice for choice in inner)
    if origin in (dict, Mapping):
        return isinstance(value, Mapping) and all(_fits(entry, inner[1]) for entry in value.values())
    if origin in (list, tuple):
        return isinstance(value, origin) and all(_fits(entry, inner[0]) for entry in value)
    if hint in NUMBERS:
        return isinstance(value, NUMBERS[hint]) and not isinstance(value, bool)
    if hint is Any or not isinstance(hint, type):
        return True
    return isinstance(value, hint) and (not is_dataclass(value) or checked(value) is value)
