"""Balanced truncation (Hankel): which states of a linear model matter least between its inputs and outputs?

    A P + P A^T + B B^T = 0,   A^T Q + Q A + C^T C = 0,   sigma_i^2 = eigenvalues of P Q

Poles that are not stable have no such P and Q: they are split off first, kept as they are, and put back
(ordered Schur form, then a Sylvester equation). P and Q are found as products L L^T, so that a state that inputs do not
reach has a sigma of rounding size, not of its square root. Square-root method: Tombs and Postlethwaite (1987).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import block_diag, schur, solve_sylvester

from robodyn.analysis.linear.linear_model import LinearModel
from robodyn.analysis.linear.subspaces import project, scale_states
from robodyn.base.errors import Flaw, ModelError

MARGIN = 1e-8
"""Poles this far or further left of the axis, by part of the largest pole, are stable."""
NEGLIGIBLE = 1e-9
"""Part of the largest Hankel singular value below which a state has no effect."""


@dataclass(frozen=True, eq=False)
class Split:
    """A model as a sum of two: stable poles, and all others; direct effects stay with the stable part."""

    stable: LinearModel
    others: LinearModel


@dataclass(frozen=True, eq=False)
class Truncation:
    """A model of lower order.

    Attributes:
        model: poles that are not stable come first.
        hankel_values: of the stable part of the full model, largest first, in outputs' units over inputs'.
        kept: how many stable states are left; unstable: how many states were not for choice.
    """

    model: LinearModel
    hankel_values: np.ndarray
    kept: int
    unstable: int

    @property
    def error_bound(self) -> float:
        """Greatest error of the transfer matrix at any frequency: `2 sum of the sigma left out` (Glover 1984)."""
        return 2 * float(self.hankel_values[self.kept :].sum())


def truncate(model: LinearModel, order: int | None = None, *, tolerance: float = NEGLIGIBLE) -> Truncation:
    """The model of lower order by balanced truncation of its stable part.

    Args:
        order: of the whole reduced model; by default what `tolerance` leaves.
        tolerance: part of the largest Hankel singular value below which states are left out, where no order is given.
    """
    split = split_stable(model)
    reach, see = _factors(split.stable)
    U, sigma, Vh = np.linalg.svd(see.T @ reach)
    sigma = sigma[: split.stable.order]
    kept = int(np.sum(sigma > tolerance * _size(split, sigma))) if order is None else order - split.others.order
    _check_order(order, split, kept, sigma)
    weights = 1 / np.sqrt(sigma[:kept])
    small = project(split.stable, reach @ Vh[:kept].T * weights, see @ U[:, :kept] * weights)
    notes = (*model.notes, f"balanced truncation of {model.order} states to {split.others.order + kept}")
    return Truncation(replace(add_models(split.others, small), notes=notes), sigma, kept, split.others.order)


def _size(split: Split, sigma: np.ndarray) -> float:
    """The largest sigma, or what the model's inputs and outputs would make of a pole that they do reach and see.

    |b| |c| / (2 |Re s|); it counts where the stable part is all hidden and its sigma are rounding errors.
    """
    if not sigma.size:
        return 0.0
    decay = np.abs(np.linalg.eigvals(split.stable.A).real).max()
    reach = max(np.linalg.norm(part.B) for part in (split.stable, split.others))
    see = max(np.linalg.norm(part.C) for part in (split.stable, split.others))
    return max(float(sigma.max()), float(reach * see / (2 * decay)))


def _check_order(order: int | None, split: Split, kept: int, sigma: np.ndarray) -> None:
    if order is None:
        return
    lowest, highest = split.others.order, split.others.order + int(np.sum(sigma > 0))
    if not lowest <= order <= highest:
        what = f"must be from {lowest} (the poles that are not stable) to {highest}, is {order}"
        raise ModelError([Flaw("order", what)], "balanced truncation")


def split_stable(model: LinearModel) -> Split:
    """The model as the sum of one with stable poles and one with all others, integrators included.

    [A11 A12; 0 A22] with A11 stable; X from A11 X - X A22 = -A12 makes the blocks independent.
    """
    scaled = scale_states(model)
    limit = -MARGIN * max(np.abs(np.linalg.eigvals(scaled.A)).max(initial=0.0), np.finfo(float).tiny)
    T, Z, n = schur(scaled.A, output="real", sort=lambda real, imaginary: real < limit)
    X = solve_sylvester(T[:n, :n], -T[n:, n:], -T[:n, n:]) if 0 < n < len(T) else np.zeros((n, len(T) - n))
    stable = project(scaled, Z[:, :n], Z[:, :n] - Z[:, n:] @ X.T)
    others = project(scaled, Z[:, :n] @ X + Z[:, n:], Z[:, n:])
    return Split(stable, replace(others, D=np.zeros_like(model.D)))


def add_models(first: LinearModel, second: LinearModel) -> LinearModel:
    """Two models of the same inputs and outputs side by side: the sum of their transfer matrices."""
    return replace(
        second,
        A=block_diag(first.A, second.A),
        B=np.vstack([first.B, second.B]),
        C=np.hstack([first.C, second.C]),
        D=first.D + second.D,
        states=(),
    )


def _factors(stable: LinearModel) -> tuple[np.ndarray, np.ndarray]:
    """L of P = L L^T and of Q = L L^T, real, (n, 2 n)."""
    return factor_gramian(stable.A, stable.B), factor_gramian(stable.A.T, stable.C.T)


def factor_gramian(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """L of the P = L L^T that solves A P + P A^T + B B^T = 0, A stable, without forming P: (n, 2 n), real.

    In Schur form A = [A1 a; 0 alpha], B = [B1; b], L = [L1 l; 0 tau]:

        tau = |b| / sqrt(-2 Re alpha),  y = b^H / tau,  (A1 + conj(alpha)) l = -a tau - B1 y,  B1 <- B1 - l y^H

    and the same for what is left. Hammarling (1982), in complex numbers.
    """
    T, Z = schur(A, output="complex")
    left = Z.conj().T @ B.astype(complex)
    L = np.zeros_like(T)
    for k in reversed(range(len(T))):
        size = np.linalg.norm(left[k])
        if size == 0:
            continue
        L[k, k] = size / np.sqrt(-2 * T[k, k].real)
        y = left[k].conj() / L[k, k]
        shifted = T[:k, :k] + T[k, k].conj() * np.eye(k)
        L[:k, k] = np.linalg.solve(shifted, -T[:k, k] * L[k, k] - left[:k] @ y)
        left[:k] -= np.outer(L[:k, k], y.conj())
    # P is real: L L^H = (Re L)(Re L)^T + (Im L)(Im L)^T.
    L = Z @ L
    return np.hstack([L.real, L.imag])
