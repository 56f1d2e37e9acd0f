"""Invariant and transmission zeros: at which s do outputs not answer to some input, and which poles do they cancel?

    [A - s I  B]
    [C        D]   loses rank

These are the invariant zeros: transmission zeros, and where inputs are as many as outputs also the poles that inputs do
not reach or outputs do not see (those of the transfer matrix alone: `find_zeros(find_minimal(model))`).
Emami-Naeini and Van Dooren (1982): zeros at infinity and what makes the pencil not square are taken off by orthogonal
steps; eigenvalues of what is left are finite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eig, qr
from scipy.optimize import linear_sum_assignment

from robodyn.analysis.linear.linear_model import LinearModel
from robodyn.analysis.linear.subspaces import scale_states, sort_roots

RANK = 1e-9
"""Part of the largest entry below which a row is zero."""
SAME = 1e-4
"""Distance of a pole and a zero that cancel, by their magnitude: a double pole is known to half its digits."""

Pencil = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class CancelledPair:
    """A pole and a zero at the same place [rad/s]."""

    pole: complex
    zero: complex


def find_zeros(model: LinearModel, tolerance: float = RANK) -> np.ndarray:
    """Invariant zeros [rad/s], complex, by magnitude; none where inputs or outputs are missing.

    Args:
        tolerance: part of the largest entry of the system matrix that counts as zero.
    """
    scaled = scale_states(model)
    if not scaled.B.size or not scaled.C.size:
        return np.zeros(0, complex)
    # Units of inputs and outputs do not move zeros; like sizes make the decisions on rank.
    B, C, D = _scale_channels(scaled.B, scaled.C, scaled.D)
    limit = tolerance * max(np.abs(part).max(initial=0.0) for part in (scaled.A, B, C, D))
    A, B, C, D = _reduce((scaled.A, B, C, D), limit)
    A, B, C, D = _transpose(_reduce(_transpose((A, B, C, D)), limit))
    return _finite_eigenvalues(A, B, C, D)


def _scale_channels(B: np.ndarray, C: np.ndarray, D: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns of [B; D] and rows of [C, D] of size 1, zero ones as they are."""
    columns = np.linalg.norm(np.vstack([B, D]), axis=0)
    columns = np.where(columns > 0, columns, 1.0)
    B, D = B / columns, D / columns
    rows = np.linalg.norm(np.hstack([C, D]), axis=1)
    rows = np.where(rows > 0, rows, 1.0)
    return B, C / rows[:, None], D / rows[:, None]


def _transpose(pencil: Pencil) -> Pencil:
    A, B, C, D = pencil
    return A.T, C.T, B.T, D.T


def _reduce(pencil: Pencil, limit: float) -> Pencil:
    """The same finite zeros with a D of full row rank.

    Rows of D are compressed; outputs [C~] without D~ hold states at zero, which leaves fewer states and turns the rates
    of those held into outputs. Repeated until no output is without D~.
    """
    A, B, C, D = pencil
    while len(A):
        U, rank = _compress_rows(D, limit)
        C, D = U.T @ C, U.T @ D
        held = C[rank:]
        V, n_held = _compress_rows(held.T, limit)
        if n_held == 0:
            return A, B, C[:rank], D[:rank]
        # States in the new axes: the first n_held are zero on the zeros' motions, the rest are free.
        A, B, C = V.T @ A @ V, V.T @ B, C @ V
        C, D = np.vstack([C[:rank], A[:n_held]])[:, n_held:], np.vstack([D[:rank], B[:n_held]])
        A, B = A[n_held:, n_held:], B[n_held:]
    return A, B, C, D


def _compress_rows(matrix: np.ndarray, limit: float) -> tuple[np.ndarray, int]:
    """Orthogonal U whose first columns span the matrix' columns: U^T matrix has zero rows below its rank."""
    if not matrix.size:
        return np.eye(len(matrix)), 0
    U, sizes, _ = np.linalg.svd(matrix)
    return U, int(np.sum(sizes > limit))


def _finite_eigenvalues(A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray) -> np.ndarray:
    """Zeros of a system whose D is square and regular: those of A - s E on the kernel of [C, D]."""
    n = len(A)
    if n == 0:
        return np.zeros(0, complex)
    if not len(D):
        return sort_roots(np.linalg.eigvals(A))
    # [C, D] W = [0, R]: the first n columns of W are the states and inputs that outputs do not see.
    W = np.flip(qr(np.flip(np.hstack([C, D]), axis=1).T)[0], axis=1)
    W = np.flip(W, axis=0)[:, : n + B.shape[1] - len(D)]
    numerator, denominator = np.hstack([A, B]) @ W, W[:n]
    return sort_roots(eig(numerator, denominator, right=False))


def find_cancelled_pairs(model: LinearModel, tolerance: float = SAME) -> tuple[CancelledPair, ...]:
    """Poles that a zero hides, each with its zero, by magnitude.

    Args:
        tolerance: distance of a pole and its zero, by their magnitude.
    """
    scaled, zeros = scale_states(model), find_zeros(model)
    poles = sort_roots(np.linalg.eigvals(scaled.A))
    size = np.maximum(np.abs(poles[:, None]), np.abs(zeros[None, :]))
    distance = np.abs(poles[:, None] - zeros[None, :]) / np.maximum(size, np.finfo(float).tiny)
    rows, columns = linear_sum_assignment(np.where(distance <= tolerance, distance, 10.0))
    near = [(i, j) for i, j in zip(rows.tolist(), columns.tolist(), strict=True) if distance[i, j] <= tolerance]
    return tuple(CancelledPair(complex(poles[i]), complex(zeros[j])) for i, j in near)
