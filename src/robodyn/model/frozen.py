"""How does a description keep a mapping that nobody can change after it has been checked?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from robodyn.errors import FlawList


class FrozenDict(dict[str, Any]):
    """A dictionary that cannot be changed; it compares, prints and is written to JSON like any other."""

    def _refuse(self, *arguments: Any, **named: Any) -> NoReturn:
        raise TypeError("a description cannot be changed: make a new one with dataclasses.replace or with_numbers")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)

    def __deepcopy__(self, memo: Any) -> FrozenDict:
        return self


def freeze_mappings(flaws: FlawList, description: Any, *fields: str) -> None:
    """Replace the mappings of a description by frozen copies; anything else is a flaw."""
    for field in fields:
        value = getattr(description, field)
        if isinstance(value, Mapping):
            object.__setattr__(description, field, FrozenDict(value))
        else:
            flaws.add(field, f"must be a mapping of names to values, is {value!r}")
