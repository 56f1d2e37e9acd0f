"""Sparse L^T D L factorisation: how is M a = b solved without spoiling the zeros that branches leave in M?

    M = L^T D L,  L unit lower triangular, D diagonal

Elimination runs from the tips to the ground, last row first. Where links come after their parents, an entry
of L is then zero whenever that of M is: no fill-in. Featherstone, Rigid Body Dynamics Algorithms (2008), 6.5.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.base import frozen
from robodyn.base import symbolic as sym
from robodyn.base.spatial import Matrix, Scalar, Vector


@frozen(eq=False)
class LdlFactors:
    """M = L^T D L: the nonzeros of L below its diagonal as {column: entry} for each row, and 1 / D."""

    rows: tuple[dict[int, Scalar], ...]
    inverse_diagonal: tuple[Scalar, ...]


def ldl(M: Matrix) -> LdlFactors:
    """Factors L and D of a symmetric positive definite matrix, of which the lower triangle is read.

    Raises:
        numpy.linalg.LinAlgError: when M holds numbers and is not positive definite.
    """
    n = M.shape[0]
    # Only what is not zero is kept: what branches leave out costs nothing.
    left = [sym.nonzeros(M[i, : i + 1]) for i in range(n)]
    inverses: list[Scalar] = [0.0] * n
    # From the tips to the ground, D_kk = M_kk as the rows beyond have left it.
    for k in reversed(range(n)):
        inverses[k] = 1.0 / _check_pivot(left[k].pop(k, 0.0), k)
        _eliminate(left, k, inverses[k])

    return LdlFactors(tuple(left), tuple(inverses))


def _eliminate(left: list[dict[int, Scalar]], k: int, inverse: Scalar) -> None:
    """Take row k out of those above, M[i, j] -= L[k, i] M[k, j] for j <= i < k, and leave L[k, :] there."""
    row = left[k]
    for i in row:
        factor = row[i] * inverse
        for j in row:
            if j <= i:
                left[i][j] = left[i].get(j, 0.0) - factor * row[j]
    left[k] = {i: entry * inverse for i, entry in row.items()}


def solve_ldl(factors: LdlFactors, b: Sequence[Scalar]) -> Vector:
    """Solution x of L^T D L x = b."""
    x = halve_ldl(factors, b)
    n = len(x)
    # D z = y and L x = z, from the ground.
    moving = [not sym.is_zero(entry) for entry in x]
    for i in range(n):
        x[i] = x[i] * factors.inverse_diagonal[i] if moving[i] else x[i]
        for j, entry in factors.rows[i].items():
            if moving[j]:
                x[i], moving[i] = x[i] - entry * x[j], True

    return sym.stack(x)


def halve_ldl(factors: LdlFactors, b: Sequence[Scalar]) -> list[Scalar]:
    """Solution y of L^T y = b, so that `b^T M^-1 c = y_b^T D^-1 y_c`."""
    y, n = sym.nonzeros(b), len(factors.rows)
    # From the tips: a force on few joints leaves most of y zero, only their ancestors feel it.
    for i in reversed(range(n)):
        if i in y and not sym.is_zero(y[i]):
            for j, entry in factors.rows[i].items():
                y[j] = y.get(j, 0.0) - entry * y[i]

    return [y.get(i, 0.0) for i in range(n)]


def solve_symmetric(M: Matrix, b: Sequence[Scalar]) -> Vector:
    """Solution x of M x = b for a symmetric positive definite M."""
    return solve_ldl(ldl(M), b)


def _check_pivot(pivot: Scalar, k: int) -> Scalar:
    if not sym.is_symbolic(pivot) and not pivot > 0.0:
        raise np.linalg.LinAlgError(f"matrix is not positive definite: pivot of row {k} is {pivot:.3g}")

    return pivot
