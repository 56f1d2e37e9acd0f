"""Vectors: how are 3-vectors and 3 x 3 matrices combined, whether they hold numbers or symbols?

A vector is a numpy array (3,) or a CasADi SX column (3, 1); a matrix is (3, 3) of either. Sums and
`matrix @ vector` already work on both and on mixtures; here is the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.base import symbolic as sym
from robodyn.base.lazy import ca
from robodyn.base.symbolic.kinds import is_expression

Scalar = Any
Vector = Any
Matrix = Any


def dot(x: Vector, y: Vector) -> Scalar:
    """Scalar product x . y."""
    if is_expression(x) or is_expression(y):
        return ca.dot(x, y)
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


def cross(x: Vector, y: Vector) -> Vector:
    """Vector product x cross y."""
    if is_expression(x) or is_expression(y):
        return ca.densify(ca.cross(x, y))
    return sym.stack(
        [
            x[1] * y[2] - x[2] * y[1],
            x[2] * y[0] - x[0] * y[2],
            x[0] * y[1] - x[1] * y[0],
        ]
    )


def skew(x: Vector) -> Matrix:
    """Matrix of the vector product: skew(x) @ y = x cross y."""
    return build_matrix([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def build_matrix(rows: Sequence[Sequence[Scalar]]) -> Matrix:
    """Matrix with the given entries: SX as soon as one entry is a symbol, else numpy."""
    entries = [entry for row in rows for entry in row]

    if not any(sym.is_symbolic(entry) for entry in entries):
        return np.array([[float(entry) for entry in row] for row in rows])

    return sym.stack(entries).reshape((len(rows[0]), len(rows))).T


def build_symmetric(entry: Any, n: int = 3) -> Matrix:
    """Symmetric n x n matrix of which only entry(i, j) with i <= j is computed."""
    upper = {(i, j): entry(i, j) for i in range(n) for j in range(i, n)}

    return build_matrix([[upper[min(i, j), max(i, j)] for j in range(n)] for i in range(n)])


def rotate_symmetric(R: Matrix, S: Matrix) -> Matrix:
    """Symmetric matrix S expressed in other axes, R S R^T; only its upper triangle is computed."""
    RS = R @ S
    if is_expression(RS):
        return ca.densify(ca.triu2symm(ca.triu(RS @ R.T)))

    return build_symmetric(lambda i, j: RS[i, 0] * R[j, 0] + RS[i, 1] * R[j, 1] + RS[i, 2] * R[j, 2])


def as_vector(values: Any) -> Vector:
    """Three numbers or symbols as a vector.

    Raises:
        ValueError: when there are not just three of them, in one column.
    """
    vector = sym.stack(values) if isinstance(values, list | tuple | np.ndarray) else values
    if vector.shape not in ((3,), (3, 1)):
        raise ValueError(f"a vector has 3 entries, got shape {vector.shape}")

    return vector


def perpendicular_to(axis: Vector) -> tuple[Vector, Vector]:
    """Two directions perpendicular to an axis and to each other."""
    first = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    first /= np.linalg.norm(first)
    return first, np.cross(axis, first)
