"""Search space of a fit: scaled numbers, bodies that are physically possible, starts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from robodyn.base import Array, FlawList, fits, frozen
from robodyn.description.model import Number, Scenario
from robodyn.description.model.body import TENSOR, tensor_of

# --------------------------------------------------------------------------------------------------
# Parameter scaling: in which variables is the search done? Logarithms of positive numbers, multiples of others.
#
# p = exp(z) for a positive number whose bounds are not negative,   p = s z for any other, s its magnitude
#
# Places, states and products of inertia have either sign, also where the given value is positive.


SPAN = 10.0
"""Starts without bounds lie between this part and this multiple of a positive number."""
REACH = 1e3
"""Positive numbers without bounds are looked for up to this part and this multiple of the given value."""

EITHER_SIGN = ("initial.*", "*.origin.*", "*.com.?", "*.inertia.x[yz]", "*.inertia.yz")
"""Names of numbers whose sign says nothing."""

OF_RECORDING = ":"
"""Between a recording's label and the name of a number that it has its own of."""

LARGEST = 700.0
"""Logarithm of nearly the largest number there is."""

Bounds = tuple[float, float]


@frozen
class Scale:
    """One free parameter: its number, bounds (given or by default) and magnitude; 0 stands for a logarithm."""

    number: Number
    lower: float
    upper: float
    magnitude: float
    bounded: bool = True

    @property
    def logarithmic(self) -> bool:
        return self.magnitude == 0.0

    def value(self, z: float) -> float:
        return math.exp(min(z, LARGEST)) if self.logarithmic else self.magnitude * z

    def scaled(self, value: float) -> float:
        if not self.logarithmic:
            return value / self.magnitude
        return math.log(value) if value > 0 else -math.inf

    def slope(self, z: float) -> float:
        """dp/dz."""
        return math.exp(z) if self.logarithmic else self.magnitude

    @property
    def limits(self) -> Bounds:
        """Bounds of z."""
        return self.scaled(self.lower), self.scaled(self.upper)

    @property
    def region(self) -> Bounds:
        """Where starts are drawn from, in z: the bounds, else around the given value."""
        middle = self.scaled(self.number.value)
        half = math.log(SPAN) if self.logarithmic else 1.0
        lower, upper = self.limits
        wide = [math.isinf(limit) or (self.logarithmic and not self.bounded) for limit in (lower, upper)]
        return middle - half if wide[0] else lower, middle + half if wide[1] else upper


class Scales(tuple[Scale, ...]):
    """All free parameters in their order, as one vector z."""

    @property
    def names(self) -> list[str]:
        """Names of the numbers."""
        return [scale.number.name for scale in self]

    @property
    def given(self) -> Array:
        """z of the given values."""
        return self.scaled([scale.number.value for scale in self])

    @property
    def limits(self) -> Array:
        """Lower and upper bounds of z, (2, n)."""
        return np.array([scale.limits for scale in self]).T

    @property
    def regions(self) -> Array:
        """Where starts are drawn from, in z: lower and upper ends, (2, n)."""
        return np.array([scale.region for scale in self]).T

    def scaled(self, values: Iterable[float]) -> Array:
        """z of parameters in their own units."""
        return np.array([scale.scaled(value) for scale, value in zip(self, values, strict=True)])

    def values(self, z: Array) -> Array:
        """Parameters in their own units."""
        return np.array([scale.value(float(zk)) for scale, zk in zip(self, z, strict=True)])

    def named(self, z: Array) -> dict[str, float]:
        """The same by name."""
        return dict(zip(self.names, self.values(z).tolist(), strict=True))


def make_scales(numbers: Sequence[Number], bounds: Mapping[str, Bounds]) -> Scales:
    """The scale of each free parameter; bounds that are none are a ModelError."""
    flaws = FlawList()
    names = [number.name for number in numbers]
    flaws.add_unknown(bounds, names, "is not a free parameter", "bounds")
    for number in numbers:
        lower, upper = bounds.get(number.name, (-math.inf, math.inf))
        if not lower < upper:
            flaws.add(f"bounds.{number.name}", f"must be a lower and a greater upper number, are {lower:g}, {upper:g}")
        elif not lower <= number.value <= upper:
            what = f"the start value {number.value:g} lies outside {lower:g} to {upper:g}"
            flaws.add(f"bounds.{number.name}", what, "widen them or start elsewhere")
    flaws.raise_if_any("fit")
    return Scales(_scale(number, bounds.get(number.name)) for number in numbers)


def _scale(number: Number, bounds: Bounds | None) -> Scale:
    name = number.name.rpartition(OF_RECORDING)[2]
    positive = number.value > 0 and not fits(name, EITHER_SIGN)
    if positive and bounds is None:
        return Scale(number, number.value / REACH, number.value * REACH, 0.0, bounded=False)
    lower, upper = bounds or (-math.inf, math.inf)
    if positive and lower >= 0:
        return Scale(number, lower, upper, 0.0)
    width = upper - lower if bounds and math.isfinite(upper - lower) else 0.0
    return Scale(number, lower, upper, abs(number.value) or width or 1.0)


def spread_points(count: int, dimension: int, seed: int) -> Array:
    """Halton's points, scrambled: they fill the unit cube evenly, and more of them go between the first."""
    from scipy.stats.qmc import Halton

    return np.asarray(Halton(dimension, seed=np.random.default_rng(seed)).random(count))


# --------------------------------------------------------------------------------------------------
# Physically consistent inertia: in which coordinates is it searched for, so that every point is a possible body?
#
# Symbols: I the inertia tensor about the centre of mass, x its free entries, S the second moments of the mass about
# it.
#
#     S = trace(I)/2 1 - I   must not have a negative eigenvalue
#
# With a positive mass that is all there is to a possible body, wherever its centre of mass: its pseudo-inertia then has
# no negative eigenvalue either (Wensing, Kim and Slotine 2018). Where all three moments of inertia are free,
#
#     S = L L^T,   L_ii = exp(y)
#
# is any possible body for some y, and nothing else (Rucker and Wensing 2022); products that are fixed give their L_ij.
# Where fewer are free, or bounds are given, the possible x are a convex set around some c, which all y are mapped
# into:
#
#     x = c + y / sqrt(1 + g(y)^2),   g = 1 where c + y is at the border of the set, 2 at twice the way there


MOMENTS = TENSOR[:3]
PRODUCTS = {"xy": (1, 0), "xz": (2, 0), "yz": (2, 1)}
"""Places below the diagonal, in the order in which L is filled."""
INSIDE = 1e-3
"""Smallest eigenvalue of S, by their sum, from which a search begins: thin rods and plates have none to spare."""
AT_LIMIT = 1e-4
"""Smallest eigenvalue of S, by their sum, below which a body is at the limit of what is possible."""


class Chart(Protocol):
    """Coordinates y of the free entries of a tensor."""

    def entries(self, y: Array) -> Array: ...

    def coordinates(self, x: Array) -> Array: ...


@frozen
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

    def second_moments(self, x: Array) -> Array:
        """S with these free entries."""
        entries = dict(zip(TENSOR, self.given, strict=True)) | dict(zip(self.keys, x.tolist(), strict=True))
        tensor = tensor_of([entries[key] for key in TENSOR])
        return np.trace(tensor) / 2 * np.eye(3) - tensor

    def margin(self, x: Array) -> float:
        """Smallest eigenvalue of S by their sum: 0 at the limit of what is possible."""
        values = np.linalg.eigvalsh(self.second_moments(x))
        return float(values[0] / max(values.sum(), 1e-300))

    def room(self, x: Array) -> float:
        """The margin, or the distance from a bound where that is less, by the sum of the eigenvalues."""
        size = max(float(np.trace(self.second_moments(x))), 1e-300)
        ways = [
            way / size for value, (low, high) in zip(x, self.bounds, strict=True) for way in (value - low, high - value)
        ]
        return min(self.margin(x), *ways)

    def normals(self, x: Array) -> Array:
        """How the part of S that vanishes at the limit changes with each free entry, (n_vanishing, n_entries)."""
        values, vectors = np.linalg.eigh(self.second_moments(x))
        null = vectors[:, values < AT_LIMIT * values.sum()]
        here = self.second_moments(x)
        steps = [self.second_moments(x + unit) - here for unit in np.eye(len(x))]
        pairs = [(i, j) for i in range(null.shape[1]) for j in range(i, null.shape[1])]
        rows = [[null[:, i] @ step @ null[:, j] for step in steps] for i, j in pairs]
        return np.array(rows).reshape(-1, len(x))

    def chart(self, start: Array) -> Chart:
        """Coordinates for searches from these entries."""
        bounded = any(math.isfinite(limit) for bound in self.bounds for limit in bound)
        if set(MOMENTS) <= set(self.keys) and not bounded:
            return CholeskyChart(self)
        return RadialChart(self, self.inside(start))

    def inside(self, x: Array) -> Array:
        """The entries, or others near them with room to all sides."""
        from scipy.optimize import minimize

        if self.room(x) >= INSIDE:
            return x
        size = float(np.trace(self.second_moments(x))) or 1.0
        options = {"xatol": 1e-6, "fatol": 1e-9}
        optimum = minimize(lambda u: -self.room(x + size * u), 0 * x, method="Nelder-Mead", options=options)
        return x + size * optimum.x


@frozen
class CholeskyChart:
    """S = L L^T: y has the logarithms of L_ii, and L_ij / L_jj for free products."""

    free: FreeInertia

    def entries(self, y: Array) -> Array:
        own = dict(zip(self.free.keys, y.tolist(), strict=True))
        fixed = dict(zip(TENSOR, self.free.given, strict=True))
        L = np.diag(np.exp([own[key] for key in MOMENTS]))
        for key, (i, j) in PRODUCTS.items():
            L[i, j] = own[key] * L[j, j] if key in own else (-fixed[key] - L[i, :j] @ L[j, :j]) / L[j, j]
        S = L @ L.T
        tensor = np.trace(S) * np.eye(3) - S
        places = {key: (k, k) for k, key in enumerate(MOMENTS)} | PRODUCTS
        return np.array([tensor[places[key]] for key in self.free.keys])

    def coordinates(self, x: Array) -> Array:
        """The coordinates of the entries, or of a body a little thicker where they are at the limit."""
        S = self.free.second_moments(x)
        thicker = INSIDE * max(float(np.trace(S)), 1e-9) - float(np.linalg.eigvalsh(S)[0])
        L = np.linalg.cholesky(S + max(thicker, 0.0) * np.eye(3))
        own = {key: math.log(L[k, k]) for k, key in enumerate(MOMENTS)}
        own |= {key: float(L[i, j] / L[j, j]) for key, (i, j) in PRODUCTS.items()}
        return np.array([own[key] for key in self.free.keys])


@frozen
class RadialChart:
    """x = c + y / sqrt(1 + g(y)^2), y by the sum of the second moments at c."""

    free: FreeInertia
    centre: Array

    def entries(self, y: Array) -> Array:
        way = self._size * y
        return self.centre + way / math.sqrt(1 + self._gauge(way) ** 2)

    def coordinates(self, x: Array) -> Array:
        way = x - self.centre
        return way / math.sqrt(1 - min(self._gauge(way), 1 - INSIDE) ** 2) / self._size

    @cached_property
    def _size(self) -> float:
        return float(np.trace(self.free.second_moments(self.centre)))

    @cached_property
    def _root(self) -> Array:
        """W with W S(c) W^T = 1."""
        return np.linalg.inv(np.linalg.cholesky(self.free.second_moments(self.centre)))

    def _gauge(self, way: Array) -> float:
        """How often the way goes into that to the border: by the eigenvalue of S that vanishes first, or a bound."""
        change = self.free.second_moments(self.centre + way) - self.free.second_moments(self.centre)
        parts = [0.0, float(np.linalg.eigvalsh(-self._root @ change @ self._root.T)[-1])]
        for step, value, (low, high) in zip(way, self.centre, self.free.bounds, strict=True):
            parts += [float(step / (high - value)), float(step / (low - value))]
        return max(parts)


# --------------------------------------------------------------------------------------------------
# Search space of a fit: coordinates y in which every point is a possible one.
#
# For the entries of inertia tensors they are those of `possible_bodies`, for all other parameters the scaled ones z.


SLOPE_STEP = 1e-6
AT_BOUND = 1e-6


@frozen
class SearchSpace:
    """All coordinates of a search, a chart for each body whose inertia is free."""

    scales: Scales
    inertias: tuple[FreeInertia, ...]
    charts: tuple[Chart, ...]

    def coordinates(self, z: Array) -> Array:
        """y of scaled parameters, the nearest within the limits."""
        y, values = np.array(z, float), self.scales.values(z)
        for free, chart in zip(self.inertias, self.charts, strict=True):
            y[list(free.places)] = chart.coordinates(values[list(free.places)])
        return np.clip(y, *self.limits)

    def scaled(self, y: Array) -> Array:
        """z of coordinates."""
        z = np.array(y, float)
        for free, chart in zip(self.inertias, self.charts, strict=True):
            for k, value in zip(free.places, chart.entries(z[list(free.places)]).tolist(), strict=True):
                z[k] = self.scales[k].scaled(value)
        return z

    def slopes(self, y: Array) -> Array:
        """dz/dy, by central differences of the charts."""
        T = np.eye(len(y))
        for k in (k for free in self.inertias for k in free.places):
            step = SLOPE_STEP * np.eye(len(y))[k]
            T[:, k] = (self.scaled(y + step) - self.scaled(y - step)) / (2 * SLOPE_STEP)
        return T

    @property
    def limits(self) -> Array:
        """Lower and upper bounds of y, (2, n); charts have none."""
        bounds = self.scales.limits
        bounds[:, self._charted] = [[-math.inf], [math.inf]]
        return bounds

    @property
    def _charted(self) -> list[int]:
        return [k for free in self.inertias for k in free.places]

    def draw_starts(self, count: int, seed: int) -> Array:
        """Starting points, (count, n): the given values first, then quasi-random ones, the same for a seed."""
        first = self.coordinates(self.scales.given)
        lower, upper = self.scales.regions
        # S is of second order in L: a range of moments is half as wide in logarithms of L.
        half = math.log(SPAN) / 2
        for k in self._charted:
            lower[k], upper[k] = first[k] - half, first[k] + half
        return np.vstack([first, lower + spread_points(count - 1, len(first), seed) * (upper - lower)])

    def at_limit(self, z: Array) -> list[FreeInertia]:
        """Bodies that are hardly possible any more, by their inertia."""
        values = self.scales.values(z)
        return [free for free in self.inertias if free.margin(values[list(free.places)]) < AT_LIMIT]

    def at_bounds(self, z: Array) -> list[bool]:
        """Which parameters lie at a bound; charts come near to those of entries and do not reach them."""
        found = [
            any(abs(zk - limit) <= AT_BOUND * max(abs(zk), 1.0) for limit in scale.limits)
            for scale, zk in zip(self.scales, z, strict=True)
        ]
        values = self.scales.values(z)
        for free in self.inertias:
            size = np.trace(free.second_moments(values[list(free.places)]))
            for k, bounds in zip(free.places, free.bounds, strict=True):
                found[k] = any(abs(values[k] - bound) < AT_LIMIT * size for bound in bounds)
        return found

    def tangent(self, z: Array) -> Array:
        """Directions of z along the limits at which bodies are, (n, n_directions); all where none is at one."""
        rows, values = [], self.scales.values(z)
        for free in self.at_limit(z):
            places = list(free.places)
            row = np.zeros((len(free.normals(values[places])), len(z)))
            row[:, places] = free.normals(values[places]) * [self.scales[k].slope(float(z[k])) for k in places]
            rows.append(row)
        if not rows:
            return np.eye(len(z))
        _, sizes, vectors = np.linalg.svd(np.vstack(rows))
        along = vectors[np.sum(sizes > 1e-9 * sizes[0]) :].T
        # What cannot move at all has no share, not one of rounding.
        return np.where(np.abs(along) > 1e-12, along, 0.0)


def make_search_space(scenario: Scenario, scales: Scales) -> SearchSpace:
    """The coordinates of free parameters; an inertia that has no room to change is a ModelError."""
    mechanism, names = scenario.machine.any_mechanism, scales.names
    flaws, inertias, charts = FlawList(), [], []
    for body in mechanism.bodies:
        keys = tuple(key for key in TENSOR if f"{body.name}.inertia.{key}" in names)
        if not keys or not body.physical:
            continue
        places = tuple(names.index(f"{body.name}.inertia.{key}") for key in keys)
        bounds = tuple(
            (scales[k].lower, scales[k].upper) if scales[k].bounded else (-math.inf, math.inf) for k in places
        )
        free = FreeInertia(body.name, places, keys, body.inertia, bounds)
        x = np.array([scales[k].number.value for k in places])
        if free.room(free.inside(x)) < INSIDE * INSIDE:
            what = f"{', '.join(keys)} cannot change: with the other moments as they are no other body is possible"
            flaws.add(f"{body.name}.inertia", what, "let all three moments be free, or give others")
            continue
        inertias.append(free)
        charts.append(free.chart(x))
    flaws.raise_if_any("fit")
    return SearchSpace(scales, tuple(inertias), tuple(charts))
