"""Sparse Gaussian elimination: how is A x = b solved on the nonzeros of symbolic matrices?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca


def eliminate_sparse(A: ca.SX, right: ca.SX) -> ca.SX:
    """A^-1 on the columns of `right`: see `factorise_sparse`."""
    return factorise_sparse(A)(right)


def factorise_sparse(A: ca.SX) -> Callable[[ca.SX], ca.SX]:
    """A^-1 on columns, by elimination in the order of the rows and without pivots.

    For matrices close to a diagonal: a graph cannot choose its pivots while it runs, and zeros stay zeros.
    """
    rows = _nonzeros(A)
    n = len(rows)
    factors: dict[tuple[int, int], Any] = {}
    # A = L U in place: rows below k lose their entry in column k; fill-in arises only where both rows have entries.
    for k in range(n):
        for i in range(k + 1, n):
            if k in rows[i]:
                factors[i, k] = rows[i].pop(k) / rows[k][k]
                _subtract(rows[i], rows[k], factors[i, k], k)
    inverses = [1.0 / rows[k][k] for k in range(n)]

    def solve(right: ca.SX) -> ca.SX:
        sides, shape = _nonzeros(right), right.shape
        # L y = b, then U x = y from the last row.
        for (i, k), factor in factors.items():
            _subtract(sides[i], sides[k], factor, -1)
        x = ca.SX(*shape)
        for k in reversed(range(n)):
            for j, entry in rows[k].items():
                if j > k:
                    for c in range(shape[1]):
                        if not x[j, c].is_zero():
                            sides[k][c] = sides[k].get(c, 0.0) - entry * x[j, c]
            for c, entry in sides[k].items():
                x[k, c] = entry * inverses[k]
        return x

    return solve


def _nonzeros(A: ca.SX) -> list[dict[int, Any]]:
    rows: list[dict[int, Any]] = [{} for _ in range(A.shape[0])]
    for i, j in zip(*A.sparsity().get_triplet(), strict=True):
        if not A[i, j].is_zero():
            rows[i][j] = A[i, j]
    return rows


def _subtract(row: dict[int, Any], other: dict[int, Any], factor: Any, skipped: int) -> None:
    for j, entry in other.items():
        if j != skipped:
            row[j] = row.get(j, 0.0) - factor * entry
