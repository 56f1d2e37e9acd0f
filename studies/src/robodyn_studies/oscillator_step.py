"""Coupled oscillator, macro step: what does one do to the state? An exact linear map.

Symbols: s = (x, v) of a mass; f force of the coupling on the first mass, -f on the second; H macro step. Between
exchanges every side is solved exactly, by the matrix exponential of its equations with polynomial inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import expm

from robodyn.base.errors import FlawList, nearest
from robodyn.description.catalog import COUPLINGS, Oscillator
from robodyn_studies.oscillator_exact import exact_matrix

MAPPED = tuple(name for name in COUPLINGS if name != "model-force")


@dataclass(frozen=True, eq=False)
class _Side:
    """x' = F x + B u with u a polynomial, over one macro step: x(H) = E x + sum_j G_j c_j."""

    E: np.ndarray
    G: tuple[np.ndarray, ...]

    def go(self, x: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        return self.E @ x + sum((G @ c for G, c in zip(self.G, coefficients, strict=False)), np.zeros(len(x)))


def _make_side(F: np.ndarray, B: np.ndarray, H: float, order: int) -> _Side:
    """u = c0 + c1 s + ... is itself a linear system: the j-th coefficient drives the (j-1)-th, times j."""
    n, m = B.shape
    size = n + m * (order + 1)
    whole = np.zeros((size, size))
    whole[:n, :n], whole[:n, n : n + m] = F, B
    for j in range(order):
        whole[n + j * m : n + (j + 1) * m, n + (j + 1) * m : n + (j + 2) * m] = np.eye(m)
    grown = expm(whole * H)
    parts = [grown[:n, n + j * m : n + (j + 1) * m] * math.factorial(j) for j in range(order + 1)]
    return _Side(grown[:n, :n], tuple(parts))


def map_macro_step(
    numbers: Oscillator, coupling: str, step: float, *, scheme: str = "parallel", order: int = 0
) -> np.ndarray:
    """Matrix of one macro step on (x1, v1, x2, v2) and, for orders above 0, on what was exchanged before: signals,
    or accelerations of the models of each side.

    Args:
        coupling: "force-displacement", "displacement-displacement" or "model-model".
    """
    _check(coupling, scheme, order)
    if coupling == "model-model":
        # Models are those of the beginning in both schemes.
        go, kept = _models(numbers, step, order), 2
    elif coupling == "force-displacement":
        go, kept = _force_displacement(numbers, step, scheme == "sequential", order), 3
    else:
        go, kept = _displacement_displacement(numbers, step, scheme == "sequential", order), 4
    return np.column_stack([go(column) for column in np.eye(4 + order * kept)])


def _check(coupling: str, scheme: str, order: int) -> None:
    flaws = FlawList()
    if coupling not in MAPPED:
        flaws.add("coupling", f"'{coupling}' is unknown or has no such map", nearest(coupling, MAPPED))
    if scheme not in ("parallel", "sequential"):
        flaws.add("scheme", f"'{scheme}' is unknown", nearest(scheme, ("parallel", "sequential")))
    if order not in (0, 1, 2):
        flaws.add("order", f"must be 0, 1 or 2, is {order}")
    flaws.raise_if_any("macro step")


def spectral_radius(
    numbers: Oscillator, coupling: str, step: float, *, scheme: str = "parallel", order: int = 0
) -> float:
    """By how much the fastest growing motion grows in one macro step."""
    matrix = map_macro_step(numbers, coupling, step, scheme=scheme, order=order)
    return float(np.max(np.abs(np.linalg.eigvals(matrix))))


def _own(numbers: Oscillator, side: int, coupled: bool) -> np.ndarray:
    """F of one mass with its own spring, and with the coupling fixed at its far end where it has that."""
    k = numbers.stiffness[2 * side] + (numbers.stiffness[1] if coupled else 0.0)
    c = numbers.damping[2 * side] + (numbers.damping[1] if coupled else 0.0)
    return np.array([[0.0, 1.0], [-k / numbers.masses[side], -c / numbers.masses[side]]])


def _far(numbers: Oscillator, side: int) -> np.ndarray:
    """B from the far position and velocity."""
    return np.array([[0.0, 0.0], [numbers.stiffness[1], numbers.damping[1]]]) / numbers.masses[side]


def _fit(values: list[np.ndarray], first: int, H: float) -> np.ndarray:
    """Coefficients of the polynomial through values at times first H, (first + 1) H, ..."""
    times = H * np.arange(first, first + len(values))
    return np.linalg.solve(np.vander(times, increasing=True), np.array(values))


def _at(coefficients: np.ndarray, time: float) -> np.ndarray:
    return time ** np.arange(len(coefficients)) @ coefficients


Step = Callable[[np.ndarray], np.ndarray]


def _force_displacement(numbers: Oscillator, H: float, sequential: bool, order: int) -> Step:
    first = _make_side(_own(numbers, 0, True), _far(numbers, 0), H, order)
    second = _make_side(_own(numbers, 1, False), np.array([[0.0], [1.0 / numbers.masses[1]]]), H, order)
    gains = np.array([numbers.stiffness[1], numbers.damping[1]])

    def go(z: np.ndarray) -> np.ndarray:
        s1, s2, motions, forces = z[:2], z[2:4], list(z[4 : 4 + 2 * order].reshape(order, 2)), z[4 + 2 * order :]
        pushes = [*forces[:, None], -gains @ (s2 - s1) * np.ones(1)]
        far = _fit([*motions, s2], -order, H)
        after = first.go(s1, far)
        if sequential:
            arrived = -gains @ (_at(far, H) - after) * np.ones(1)
            push = _fit([*pushes, arrived][-order - 1 :], 1 - order, H)
        else:
            push = _fit(pushes, -order, H)
        kept = [*motions, s2][1:] if order else []
        return np.concatenate([after, second.go(s2, push), *kept, *(pushes[1:] if order else [])])

    return go


def _displacement_displacement(numbers: Oscillator, H: float, sequential: bool, order: int) -> Step:
    sides = [_make_side(_own(numbers, k, True), _far(numbers, k), H, order) for k in (0, 1)]

    def go(z: np.ndarray) -> np.ndarray:
        s1, s2 = z[:2], z[2:4]
        before = z[4:].reshape(2, order, 2)
        known = [[*before[0], s1], [*before[1], s2]]
        after = sides[0].go(s1, _fit(known[1], -order, H))
        towards = _fit([*known[0], after][-order - 1 :], 1 - order, H) if sequential else _fit(known[0], -order, H)
        kept = [*(known[0][1:] if order else []), *(known[1][1:] if order else [])]
        return np.concatenate([after, sides[1].go(s2, towards), *kept])

    return go


def _models(numbers: Oscillator, H: float, order: int) -> Step:
    """Each side with the far mass, which accelerates by a polynomial besides the coupling's force."""
    push = np.array([[0.0], [0.0], [0.0], [1.0]])
    sides = [_make_side(_with_free_mass(numbers, this), push, H, order) for this in (0, 1)]
    own = [_own(numbers, side, False)[1] for side in (0, 1)]

    def go(z: np.ndarray) -> np.ndarray:
        states, before = (z[:2], z[2:4]), z[4:].reshape(2, order)
        known = [[*before[k][:, None], own[k] @ states[k] * np.ones(1)] for k in (0, 1)]
        after = [
            sides[k].go(np.concatenate([states[k], states[1 - k]]), _fit(known[1 - k], -order, H))[:2] for k in (0, 1)
        ]
        return np.concatenate([*after, *(value for part in known for value in part[1:])] if order else after)

    return go


def _with_free_mass(numbers: Oscillator, this: int) -> np.ndarray:
    """F of one mass, then the other one without its own spring."""
    rows = [2 * this, 2 * this + 1, 2 - 2 * this, 3 - 2 * this]
    F = exact_matrix(numbers)[np.ix_(rows, rows)]
    F[3, 2:] -= _own(numbers, 1 - this, False)[1]
    return F
