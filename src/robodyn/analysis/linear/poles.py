"""Poles: where are those of a linear model with delays, exactly, and which states take part in them?

A delay makes the characteristic equation transcendental,

    det P(s) = 0,  P(s) = [[s I - A, -E], [-F, e^(s tau) - H]],

with infinitely many roots. Pade approximations of the delays find the slow ones roughly; Newton's method on
P(s) z = 0, here as nonlinear inverse iteration (Ruhe 1973), makes each of them exact:

    P(s) u = P'(s) z,  s <- s - (c^T z) / (c^T u),  z <- u / |u|.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eig, matrix_balance

from robodyn.analysis.linear.linear_model import LinearModel
from robodyn.base.errors import Flaw, ModelError

PADE_ORDER = 8
# A Pade pole that Newton's method moves by more than this share of its magnitude does not stand for the root it finds.
NEAR = 0.02
MOST_STEPS = 30
HIGHEST_ORDER = 60


@dataclass(frozen=True, eq=False)
class Root:
    """A pole s with P(s) right = 0 and left^T P(s) = 0, over the states and then the delayed signals.

    Attributes:
        shares: part of each state and delay in the pole, `left_k P'_kk right_k`, their sum being 1 (complex).
    """

    pole: complex
    right: np.ndarray
    left: np.ndarray
    shares: np.ndarray


def find_poles(model: LinearModel, order: int = PADE_ORDER) -> tuple[Root, ...]:
    """All poles of a model without delays; of one with delays those that Pade of this order resolves.

    The order is raised where the model's own oscillations turn far within a delay: Pade of order n is good for a phase
    of about n rad.

    Raises:
        ModelError: for an order below 1 where there are delays.
    """
    if model.delays and order < 1:
        what = f"must be at least 1 for a model with delays, is {order}"
        raise ModelError([Flaw("pade", what, "its poles are found by approximating the delays")])
    pencil = Pencil(model)
    found = []
    for pole, right, left in _pade_poles(model, max(order, _needed_order(model))):
        root = pencil.refine(pole, right, left) if model.delays else pencil.root(pole, right, left)
        found += [] if root is None else [root]
    return tuple(sorted(found, key=lambda root: (abs(root.pole), -root.pole.imag)))


def _needed_order(model: LinearModel) -> int:
    """Order at which the fastest oscillation of the model without delayed feedback is resolved."""
    if not model.delays or not model.order:
        return 1
    fastest = float(np.max(np.abs(np.linalg.eigvals(model.A).imag)))
    return int(min(np.ceil(fastest * float(np.max(model.delay_times))), HIGHEST_ORDER))


def _pade_poles(model: LinearModel, order: int) -> Iterator[tuple[complex, np.ndarray, np.ndarray]]:
    """Poles of the Pade model and their vectors, seen from all states and delayed signals of the model itself."""
    whole = np.eye(model.order + len(model.delays))
    x, d = whole[:, : model.order], whole[:, model.order :]
    probe = LinearModel(model.A, x.T, x, 0 * whole, model.E, model.F, d.T, model.H, d, delays=model.delays)
    finite = probe.with_pade(order)
    values, left, right = eig(finite.A, left=True, right=True)
    for k, value in enumerate(values):
        yield complex(value), finite.C @ right[:, k], left[:, k].conj() @ finite.B


class Pencil:
    """P(s) of a model, its rows and columns scaled to entries of like size: T^-1 P(s) T, T diagonal."""

    def __init__(self, model: LinearModel) -> None:
        self.n, self.times = model.order, model.delay_times
        _, (scale, _) = matrix_balance(np.abs(model.coupling), permute=False, separate=True)
        self.scale = scale
        self.coupling = model.coupling * scale / scale[:, None]
        self.size = float(np.linalg.norm(self.coupling))

    def matrix(self, s: complex) -> np.ndarray:
        return np.diag(np.concatenate([np.full(self.n, s), np.exp(s * self.times)])) - self.coupling

    def slope(self, s: complex) -> np.ndarray:
        """Diagonal of P'(s): 1 for states, tau e^(s tau) for delays."""
        return np.concatenate([np.ones(self.n, complex), self.times * np.exp(s * self.times)])

    def root(self, pole: complex, right: np.ndarray, left: np.ndarray) -> Root:
        """Vectors in the model's own units and the share of each entry."""
        products = left * self.slope(pole) * right
        total = products.sum()
        shares = products / total if total != 0 else np.full(products.size, np.nan, complex)
        return Root(complex(pole), right, left, shares)

    def refine(self, pole: complex, right: np.ndarray, left: np.ndarray) -> Root | None:
        """Newton's method from a Pade pole and its vectors; None where it finds no root near by."""
        s, z = self._iterate(pole, right / self.scale)
        if not self.is_near(s, pole) or not self._is_root(s):
            return None
        y = left * self.scale
        for _ in range(2):
            y = _solve(self.matrix(s).T, self.slope(s) * y)
            y = y / np.linalg.norm(y)
        return self.root(s, z * self.scale, y / self.scale)

    def is_near(self, root: complex, pole: complex) -> bool:
        """Whether a root is the one a Pade pole stands for; poles at zero are known to half the digits at worst."""
        return abs(root - pole) <= NEAR * abs(pole) + 1e-7 * self.size

    def _iterate(self, start: complex, z: np.ndarray) -> tuple[complex, np.ndarray]:
        """Newton's method; it ends early where it leaves the neighbourhood, since such a root is not kept."""
        s, rounding = start, 4 * np.finfo(float).eps
        for _ in range(MOST_STEPS):
            u = _solve(self.matrix(s), self.slope(s) * z)
            largest = np.argmax(np.abs(u))
            step = z[largest] / u[largest]
            s, z = s - step, u / np.linalg.norm(u)
            settled = abs(step) <= rounding * max(abs(s), 1e-6 * self.size)
            if settled or not abs(s - start) <= abs(start) + 1e-3 * self.size:
                break
        return s, z

    def _is_root(self, s: complex) -> bool:
        """Whether P(s) is singular to what rounding leaves of it; a double root is found to half the digits only."""
        P = self.matrix(s)
        return bool(np.linalg.svd(P, compute_uv=False)[-1] <= 1e-9 * np.linalg.norm(P))


def _solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solution; an exactly singular matrix is moved by rounding: only the direction counts then."""
    try:
        return np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        moved = matrix + np.finfo(float).eps * np.linalg.norm(matrix) * np.eye(len(matrix))
        return np.linalg.solve(moved, right)
