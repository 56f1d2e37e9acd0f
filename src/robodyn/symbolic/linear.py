"""How does a law solve a small set of linear equations, for numbers and for symbols alike?

    A x = b,   A = Q R by Householder reflections

A graph cannot choose its pivots while it runs. Reflections need none: they do not amplify rounding errors whatever the
order of the rows. Entries known to be zero cost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from robodyn.symbolic.elementary import copysign, sqrt
from robodyn.symbolic.kinds import is_symbolic


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
    table = [[*row, entry] for row, entry in zip(rows, right, strict=True)]
    for k in range(n - 1):
        _reflect(table, k)
    return _substitute_back(table)


def _reflect(table: list[list[Any]], k: int) -> None:
    """Make column k zero below its diagonal: rows -= v (v^T rows) 2 / (v^T v), v = a_k + sign(a_kk) |a_k| e_k."""
    n = len(table)
    below = [i for i in range(k + 1, n) if not _is_zero(table[i][k])]
    if not below:
        return
    length = sqrt(sum(table[i][k] * table[i][k] for i in (k, *below)))
    diagonal = -copysign(length, table[k][k])
    v = {k: table[k][k] - diagonal} | {i: table[i][k] for i in below}
    # v^T v = 2 |a_k| (|a_k| + |a_kk|) = -2 diagonal v_k
    half = -1.0 / (diagonal * v[k])
    for j in range(k + 1, n + 1):
        touched = [i for i in v if not _is_zero(table[i][j])]
        if touched:
            share = half * sum(v[i] * table[i][j] for i in touched)
            for i, entry in v.items():
                table[i][j] = table[i][j] - share * entry
    table[k][k] = diagonal
    for i in below:
        table[i][k] = 0.0


def _substitute_back(table: list[list[Any]]) -> tuple[Any, ...]:
    n = len(table)
    x: list[Any] = [0.0] * n
    for k in reversed(range(n)):
        known = [table[k][j] * x[j] for j in range(k + 1, n) if not _is_zero(table[k][j])]
        x[k] = (table[k][n] - sum(known)) / table[k][k]
    return tuple(x)


def _is_zero(value: Any) -> bool:
    return bool(value.is_zero()) if isinstance(value, ca.SX) else value == 0.0
