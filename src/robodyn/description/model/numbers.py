"""Named numbers, and checks of single values: which numbers, names, texts and vectors can a description hold?"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from numbers import Real
from typing import Any, NoReturn

import numpy as np

from robodyn.base import FlawList, frozen

LARGEST, LEAST = 1e30, 1e-100
"""The largest magnitude that a number of a description may have, and the least of one that must be positive, because it
is divided by. Both are this project's own choice: products and quotients of several stay within floating point. Where 0
is allowed, so is anything near it: sines and differences leave such numbers in start values."""
XYZ = ("x", "y", "z")
Floats = tuple[float, ...]
Rows = tuple[Floats, ...]
NAME = re.compile(r"[A-Za-z_][\w\-]*(\.[A-Za-z_][\w\-]*)*")


@frozen
class Number:
    """A named physical number of a description."""

    name: str
    value: float
    unit: str


def check_distinct(flaws: FlawList, numbers: Iterable[Number]) -> None:
    """No two numbers may share a name: changing one would change the other."""
    for name, count in Counter(number.name for number in numbers).items():
        if count > 1:
            flaws.add(name, f"{count} numbers have this name", "give the parts that hold them different names")


def check_name(flaws: FlawList, name: Any, path: str = "name") -> None:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        remedy = "letters, digits, _ and -, starting with a letter; dots between parts"
        flaws.add(path, f"'{name}' is not a name", remedy)


def check_text(flaws: FlawList, path: str, value: Any) -> None:
    if not isinstance(value, str):
        flaws.add(path, f"must be a name, is {value!r}")


def check_texts(flaws: FlawList, path: str, value: Any, noun: str) -> bool:
    """Whether a value is a list of texts; one text alone is refused, its letters would be taken for a list."""
    good = isinstance(value, Iterable) and not isinstance(value, str) and all(isinstance(one, str) for one in value)
    if not good:
        flaws.add(path, f"must be a list of {noun}, is {value!r}")
    return good


def check_count(flaws: FlawList, path: str, value: Any, least: int, most: int | None = None) -> bool:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if whole and least <= value and (most is None or value <= most):
        return True
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
    flaws.add(path, f"must be a whole number {bounds}, is {value!r}")
    return False


def check_finite(flaws: FlawList, path: str, value: Any, *, infinite: bool = False) -> bool:
    """Whether a value is a usable real number; says why not otherwise.

    Args:
        infinite: whether infinity is one too, as in a limit that there is not.
    """
    if isinstance(value, bool) or not isinstance(value, (float, Real)):
        flaws.add(path, f"must be a number, is {value!r}")
        return False
    size: Any = abs(value)
    if size != size or (size == math.inf and not infinite):
        flaws.add(path, f"must be finite, is {value}")
    elif LARGEST < size < math.inf:
        flaws.add(path, f"must be at most {LARGEST:g} in magnitude, is {value}", "inf for no limit" if infinite else "")
    else:
        return True
    return False


def check_vector(flaws: FlawList, path: str, value: Any, length: int | None) -> bool:
    """Whether a value is that many usable numbers; None for any number of them."""
    noun = "a list of numbers" if length is None else f"{length} numbers"
    if isinstance(value, str) or not isinstance(value, Iterable):
        flaws.add(path, f"must be {noun}, is {value!r}")
        return False
    entries = tuple(value)
    if length is not None and len(entries) != length:
        flaws.add(path, f"must be {noun}, has {len(entries)}")
        return False
    usable = [check_finite(flaws, f"{path}[{k}]", entry) for k, entry in enumerate(entries)]
    return all(usable)


def check_rotation(flaws: FlawList, rotation: Any, path: str = "rotation") -> bool:
    """R^T R = E and det R = 1, to the precision of hand-written numbers."""
    try:
        matrix = np.array(rotation)
    except ValueError:  # rows of different lengths
        matrix = np.zeros(0)
    if matrix.shape != (3, 3) or matrix.dtype.kind not in "if":
        remedy = "robodyn.base.spatial has from_rpy, from_quaternion, about_axis"
        flaws.add(path, "must be a 3x3 matrix of numbers", remedy)
    elif not np.allclose(matrix.T @ matrix, np.eye(3), atol=1e-6) or np.linalg.det(matrix) < 0:
        flaws.add(path, "is not a rotation matrix", "columns must be orthonormal and right-handed")
    else:
        return True
    return False


def as_floats(value: Any) -> Any:
    """Arrays and lists as nested tuples of Python floats (hashable, comparable, writable to a file)."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return tuple(as_floats(entry) for entry in value)
    return value if isinstance(value, bool) or not isinstance(value, Real) else float(value)


# --------------------------------------------------------------------------------------------------
# Frozen mapping: how does a description keep one that nobody can change after it has been checked?


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
