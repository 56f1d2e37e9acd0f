"""Frozen mapping: how does a description keep one that nobody can change after it has been checked?"""

from __future__ import annotations

from typing import Any, NoReturn


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
