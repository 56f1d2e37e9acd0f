"""Controllability and observability: which motions of a linear model can inputs reach and outputs see?

The staircase: directions that inputs move at once, those that these move, and so on, each round orthogonal to the
rounds before (Rosenbrock 1970; Van Dooren 1981). The rest is not controllable; the transpose gives the observable.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import matrix_balance

from robodyn.analysis.linear.linear_model import LinearModel, Variable
from robodyn.base.errors import Flaw, ModelError

RANK = 1e-9
"""Part of the largest coupling below which a direction is not moved: rounding, a few digits above."""


def find_minimal(model: LinearModel, tolerance: float = RANK) -> LinearModel:
    """The model with the same transfer matrix and the fewest states: what is reached and seen.

    Args:
        tolerance: part of the largest coupling that counts as none.
    """
    scaled = scale_states(model)
    reached = span_reached(scaled.A, scaled.B, tolerance)
    seen = project(scaled, reached, reached)
    basis = span_reached(seen.A.T, seen.C.T, tolerance)
    return project(seen, basis, basis)


@dataclass(frozen=True, eq=False)
class HiddenPoles:
    """Poles [rad/s] that the transfer matrix does not have.

    Attributes:
        uncontrollable: those that no input reaches; unobservable: those that no output sees. A pole may be both.
    """

    uncontrollable: np.ndarray
    unobservable: np.ndarray


def find_hidden_poles(model: LinearModel, tolerance: float = RANK) -> HiddenPoles:
    """Poles that inputs do not reach, and poles that outputs do not see, by magnitude."""
    scaled = scale_states(model)
    sides = ((scaled.A, scaled.B), (scaled.A.T, scaled.C.T))
    return HiddenPoles(*(_poles_beyond(A, span_reached(A, B, tolerance)) for A, B in sides))


def _poles_beyond(A: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Eigenvalues of A on what an invariant subspace leaves."""
    rest = np.linalg.svd(basis, full_matrices=True)[0][:, basis.shape[1] :]
    return sort_roots(np.linalg.eigvals(rest.T @ A @ rest))


def sort_roots(values: np.ndarray) -> np.ndarray:
    """By magnitude, of conjugates the upper one first."""
    return values[np.lexsort((-values.imag, np.abs(values)))]


def span_reached(A: np.ndarray, B: np.ndarray, tolerance: float = RANK) -> np.ndarray:
    """Orthonormal basis of what inputs reach: of [B, A B, A^2 B, ...], (n, n_reached).

    Inputs count by direction, whatever their units.
    """
    sizes = np.linalg.norm(B, axis=0)
    basis = np.zeros((len(A), 0))
    fresh = _new_directions(basis, B[:, sizes > 0] / sizes[sizes > 0], tolerance)
    coupling = max(float(np.linalg.norm(A, 2)), np.finfo(float).tiny)
    while fresh.shape[1]:
        basis = np.hstack([basis, fresh])
        fresh = _new_directions(basis, A @ fresh / coupling, tolerance)
    return basis


def _new_directions(basis: np.ndarray, columns: np.ndarray, tolerance: float) -> np.ndarray:
    """Orthonormal basis of what columns add to a basis, by singular values."""
    for _ in range(2):
        columns = columns - basis @ (basis.T @ columns)
    U, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    U = U[:, sizes > tolerance]
    return U - basis @ (basis.T @ U)


def scale_states(model: LinearModel) -> LinearModel:
    """The same model without delays, states in units in which rows and columns of A are of like size."""
    require_finite(model)
    _, (scale, _) = matrix_balance(model.A, permute=False, separate=True)
    return replace(
        model,
        A=model.A * scale / scale[:, None],
        B=model.B / scale[:, None],
        C=model.C * scale,
        states=_numbered(model.order),
    )


def project(model: LinearModel, right: np.ndarray, left: np.ndarray) -> LinearModel:
    """The model in fewer states z, x = right z: A -> left^T A right, and so on."""
    return replace(
        model,
        A=left.T @ model.A @ right,
        B=left.T @ model.B,
        C=model.C @ right,
        states=_numbered(right.shape[1]),
    )


def _numbered(count: int) -> tuple[Variable, ...]:
    return tuple(Variable(f"x{k + 1}") for k in range(count))


def require_finite(model: LinearModel) -> None:
    """Refuse a model with delays, which has infinitely many states."""
    if model.delays:
        what = f"the model has {len(model.delays)} delays, and with them infinitely many states"
        raise ModelError([Flaw("model", what, "replace them: model.with_pade(order)")], "linear model")
