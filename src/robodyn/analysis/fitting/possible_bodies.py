"""Physically consistent inertia: in which coordinates is it searched for, so that every point is a possible body?

Symbols: I the inertia tensor about the centre of mass, x its free entries, S the second moments of the mass about it.

    S = trace(I)/2 1 - I   must not have a negative eigenvalue

With a positive mass that is all there is to a possible body, wherever its centre of mass: its pseudo-inertia then has
no negative eigenvalue either (Wensing, Kim and Slotine 2018). Where all three moments of inertia are free,

    S = L L^T,   L_ii = exp(y)

is any possible body for some y, and nothing else (Rucker and Wensing 2022); products that are fixed give their L_ij.
Where fewer are free, or bounds are given, the possible x are a convex set around some c, which all y are mapped into:

    x = c + y / sqrt(1 + g(y)^2),   g = 1 where c + y is at the border of the set, 2 at twice the way there
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from robodyn.analysis.fitting.scaling import Bounds
from robodyn.computation.results.signal import Floats
from robodyn.description.model.body import TENSOR, tensor_of

MOMENTS = TENSOR[:3]
PRODUCTS = {"xy": (1, 0), "xz": (2, 0), "yz": (2, 1)}
"""Places below the diagonal, in the order in which L is filled."""
INSIDE = 1e-3
"""Smallest eigenvalue of S, by their sum, from which a search begins: thin rods and plates have none to spare."""
AT_LIMIT = 1e-4
"""Smallest eigenvalue of S, by their sum, below which a body is at the limit of what is possible."""


class Chart(Protocol):
    """Coordinates y of the free entries of a tensor."""

    def entries(self, y: Floats) -> Floats: ...

    def coordinates(self, x: Floats) -> Floats: ...


@dataclass(frozen=True)
class FreeInertia:
    """The entries of one body's tensor that are fitted.

    Attributes:
        places: in the list of free parameters, of the entries named `keys`.
        given: all six entries as the scenario has them; bounds: of the free ones.
    """

    body: str
    places: tuple[int, ...]
    keys: tuple[str, ...]
    given: tuple[float, ...]
    bounds: tuple[Bounds, ...]

    def second_moments(self, x: Floats) -> Floats:
        """S with these free entries."""
        entries = dict(zip(TENSOR, self.given, strict=True)) | dict(zip(self.keys, x.tolist(), strict=True))
        tensor = tensor_of([entries[key] for key in TENSOR])
        return np.trace(tensor) / 2 * np.eye(3) - tensor

    def margin(self, x: Floats) -> float:
        """Smallest eigenvalue of S by their sum: 0 at the limit of what is possible."""
        values = np.linalg.eigvalsh(self.second_moments(x))
        return float(values[0] / max(values.sum(), 1e-300))

    def room(self, x: Floats) -> float:
        """The margin, or the distance from a bound where that is less, by the sum of the eigenvalues."""
        size = max(float(np.trace(self.second_moments(x))), 1e-300)
        ways = [
            way / size for value, (low, high) in zip(x, self.bounds, strict=True) for way in (value - low, high - value)
        ]
        return min(self.margin(x), *ways)

    def normals(self, x: Floats) -> Floats:
        """How the part of S that vanishes at the limit changes with each free entry, (n_vanishing, n_entries)."""
        values, vectors = np.linalg.eigh(self.second_moments(x))
        null = vectors[:, values < AT_LIMIT * values.sum()]
        here = self.second_moments(x)
        steps = [self.second_moments(x + unit) - here for unit in np.eye(len(x))]
        pairs = [(i, j) for i in range(null.shape[1]) for j in range(i, null.shape[1])]
        rows = [[null[:, i] @ step @ null[:, j] for step in steps] for i, j in pairs]
        return np.array(rows).reshape(-1, len(x))

    def chart(self, start: Floats) -> Chart:
        """Coordinates for searches from these entries."""
        bounded = any(math.isfinite(limit) for bound in self.bounds for limit in bound)
        if set(MOMENTS) <= set(self.keys) and not bounded:
            return CholeskyChart(self)
        return RadialChart(self, self.inside(start))

    def inside(self, x: Floats) -> Floats:
        """The entries, or others near them with room to all sides."""
        from scipy.optimize import minimize

        if self.room(x) >= INSIDE:
            return x
        size = float(np.trace(self.second_moments(x))) or 1.0
        options = {"xatol": 1e-6, "fatol": 1e-9}
        found = minimize(lambda u: -self.room(x + size * u), 0 * x, method="Nelder-Mead", options=options)
        return x + size * found.x


@dataclass(frozen=True)
class CholeskyChart:
    """S = L L^T: y has the logarithms of L_ii, and L_ij / L_jj for free products."""

    free: FreeInertia

    def entries(self, y: Floats) -> Floats:
        own = dict(zip(self.free.keys, y.tolist(), strict=True))
        fixed = dict(zip(TENSOR, self.free.given, strict=True))
        L = np.diag(np.exp([own[key] for key in MOMENTS]))
        for key, (i, j) in PRODUCTS.items():
            L[i, j] = own[key] * L[j, j] if key in own else (-fixed[key] - L[i, :j] @ L[j, :j]) / L[j, j]
        S = L @ L.T
        tensor = np.trace(S) * np.eye(3) - S
        places = {key: (k, k) for k, key in enumerate(MOMENTS)} | PRODUCTS
        return np.array([tensor[places[key]] for key in self.free.keys])

    def coordinates(self, x: Floats) -> Floats:
        """Of the entries, or of a body a little thicker where they are at the limit."""
        S = self.free.second_moments(x)
        thicker = INSIDE * max(float(np.trace(S)), 1e-9) - float(np.linalg.eigvalsh(S)[0])
        L = np.linalg.cholesky(S + max(thicker, 0.0) * np.eye(3))
        own = {key: math.log(L[k, k]) for k, key in enumerate(MOMENTS)}
        own |= {key: float(L[i, j] / L[j, j]) for key, (i, j) in PRODUCTS.items()}
        return np.array([own[key] for key in self.free.keys])


@dataclass(frozen=True)
class RadialChart:
    """x = c + y / sqrt(1 + g(y)^2), y by the sum of the second moments at c."""

    free: FreeInertia
    centre: Floats

    def entries(self, y: Floats) -> Floats:
        way = self._size * y
        return self.centre + way / math.sqrt(1 + self._gauge(way) ** 2)

    def coordinates(self, x: Floats) -> Floats:
        way = x - self.centre
        return way / math.sqrt(1 - min(self._gauge(way), 1 - INSIDE) ** 2) / self._size

    @cached_property
    def _size(self) -> float:
        return float(np.trace(self.free.second_moments(self.centre)))

    @cached_property
    def _root(self) -> Floats:
        """W with W S(c) W^T = 1."""
        return np.linalg.inv(np.linalg.cholesky(self.free.second_moments(self.centre)))

    def _gauge(self, way: Floats) -> float:
        """How often the way goes into that to the border: by the eigenvalue of S that vanishes first, or a bound."""
        change = self.free.second_moments(self.centre + way) - self.free.second_moments(self.centre)
        parts = [0.0, float(np.linalg.eigvalsh(-self._root @ change @ self._root.T)[-1])]
        for step, value, (low, high) in zip(way, self.centre, self.free.bounds, strict=True):
            parts += [float(step / (high - value)), float(step / (low - value))]
        return max(parts)
