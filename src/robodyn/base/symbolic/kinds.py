"""Numbers or symbols: which of them is a value made of, and how are several put into one column?"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from robodyn.base.lazy import ca


def is_expression(value: Any) -> bool:
    """Whether a value is a CasADi SX; where CasADi is not loaded, there is none."""
    return "casadi" in sys.modules and isinstance(value, ca.SX)


def is_symbolic(value: Any) -> bool:
    """Whether a value is a CasADi SX or a sequence or object array that holds one."""
    if isinstance(value, float):
        return False
    if is_expression(value):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(is_symbolic(item) for item in value.flat)
    return isinstance(value, list | tuple) and any(is_symbolic(item) for item in value)


def symbol(name: str, n: int = 1) -> ca.SX:
    """A column of n new symbols."""
    return ca.SX.sym(name, n)


def length(values: Any) -> int:
    """Entries of a sequence, or of an array or column along its first axis."""
    return len(values) if isinstance(values, Sequence) else int(values.shape[0])


def changed_entries(before: ca.SX, after: ca.SX) -> list[int]:
    """Places at which two columns differ, as far as two levels of their expressions show."""
    pairs = zip(*(ca.vertsplit(ca.densify(column)) for column in (before, after)), strict=True)
    # The same node is the same without a look at what it is made of, which takes ten times longer.
    return [k for k, (a, b) in enumerate(pairs) if a.element_hash() != b.element_hash() and not ca.is_equal(a, b, 2)]


def stack(values: Any) -> Any:
    """All values one below the other: a dense SX column if any is a symbol, else a flat numpy array.

    Nested sequences are taken in order; matrices column by column.
    """
    if is_symbolic(values):
        return ca.densify(ca.SX(ca.vertcat(*(_column(item) for item in _items(values)))))
    columns = [np.asarray(item, dtype=np.float64).ravel(order="F") for item in _items(values)]
    return np.concatenate(columns) if columns else np.zeros(0)


def _items(values: Any) -> Iterable[Any]:
    """The matrices, arrays and scalars in nested sequences."""
    if isinstance(values, list | tuple):
        for value in values:
            yield from _items(value)
    elif isinstance(values, np.ndarray) and values.dtype == object:
        yield from values.ravel(order="F")
    else:
        yield values


def _column(item: Any) -> Any:
    if isinstance(item, float):
        return item
    if isinstance(item, ca.SX):
        return item if item.is_column() else ca.vec(item)
    return ca.DM(np.asarray(item, dtype=np.float64).ravel(order="F"))
