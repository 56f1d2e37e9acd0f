"""Linear equations by QR: how does a law solve a small set of them, for numbers and for symbols alike?

    A x = b,   A = Q R by Householder reflections

A graph cannot choose its pivots while it runs. Reflections need none: they do not amplify rounding errors whatever the
order of the rows. Entries known to be zero cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from robodyn.base.symbolic.elementary import copysign, sqrt
from robodyn.base.symbolic.kinds import is_expression, is_symbolic


def solve_linear(A: Sequence[Sequence[Any]], b: Sequence[Any]) -> tuple[Any, ...]:
    """Solution x of A x = b for a square A, dense or with zeros, of numbers or symbols.

    Args:
        A: rows, (n, n); b: (n,).

    Raises:
        ValueError: when A is not square or b has not as many entries.
        numpy.linalg.LinAlgError: when A holds numbers and is singular; symbols then give infinities where they run.
    """
    rows, right = [list(row) for row in A], list(b)
    n = len(rows)
    if any(len(row) != n for row in rows) or len(right) != n:
        raise ValueError(f"needs a square matrix and as many right sides, has {n} rows and {len(right)} right sides")
    if not is_symbolic(rows) and not is_symbolic(right):
        return tuple(np.linalg.solve(np.array(rows, float), np.array(right, float)).tolist())
    return factor_linear(rows)(right)


def factor_linear(A: Sequence[Sequence[Any]]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """The solution of A x = b as a function of b, for a square A of symbols that is taken apart once.

    Args:
        A: rows, (n, n).
    """
    rows = [list(row) for row in A]
    mirrors = [_reflect(rows, k) for k in range(len(rows) - 1)]

    def solve(b: Sequence[Any]) -> tuple[Any, ...]:
        right = list(b)
        for mirror in mirrors:
            _mirror(right, mirror)
        return _substitute_back(rows, right)

    return solve


Mirror = tuple[Any, dict[int, Any]]
"""A reflection `column -= v s (v^T column)`: s = 2 / (v^T v), and the entries of v."""


def _reflect(rows: list[list[Any]], k: int) -> Mirror:
    """Make column k zero below its diagonal, by v = a_k + sign(a_kk) |a_k| e_k."""
    n = len(rows)
    below = [i for i in range(k + 1, n) if not _is_zero(rows[i][k])]
    if not below:
        return 0.0, {}
    length = sqrt(sum(rows[i][k] * rows[i][k] for i in (k, *below)))
    diagonal = -copysign(length, rows[k][k])
    v = {k: rows[k][k] - diagonal} | {i: rows[i][k] for i in below}
    # v^T v = 2 |a_k| (|a_k| + |a_kk|) = -2 diagonal v_k
    mirror = -1.0 / (diagonal * v[k]), v
    for j in range(k + 1, n):
        column = [row[j] for row in rows]
        _mirror(column, mirror)
        for i in v:
            rows[i][j] = column[i]
    rows[k][k] = diagonal
    for i in below:
        rows[i][k] = 0.0
    return mirror


def _mirror(column: list[Any], mirror: Mirror) -> None:
    scale, v = mirror
    touched = [i for i in v if not _is_zero(column[i])]
    if touched:
        share = scale * sum(v[i] * column[i] for i in touched)
        for i, entry in v.items():
            column[i] = column[i] - share * entry


def _substitute_back(rows: list[list[Any]], right: list[Any]) -> tuple[Any, ...]:
    n = len(rows)
    x: list[Any] = [0.0] * n
    for k in reversed(range(n)):
        known = [rows[k][j] * x[j] for j in range(k + 1, n) if not _is_zero(rows[k][j])]
        x[k] = (right[k] - sum(known)) / rows[k][k]
    return tuple(x)


def _is_zero(value: Any) -> bool:
    return bool(value.is_zero()) if is_expression(value) else value == 0.0
