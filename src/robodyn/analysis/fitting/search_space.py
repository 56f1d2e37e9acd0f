"""Search space of a fit: coordinates y in which every point is a possible one.

For the entries of inertia tensors they are those of `possible_bodies`, for all other parameters the scaled ones z.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.analysis.fitting.possible_bodies import AT_LIMIT, INSIDE, Chart, FreeInertia
from robodyn.analysis.fitting.scaling import SPAN, Scale, spread_points
from robodyn.base.errors import FlawList
from robodyn.computation.results.signal import Floats
from robodyn.description.model import Scenario
from robodyn.description.model.body import TENSOR

SLOPE_STEP = 1e-6
AT_BOUND = 1e-6


@dataclass(frozen=True)
class SearchSpace:
    """All coordinates of a search, a chart for each body whose inertia is free."""

    scales: tuple[Scale, ...]
    inertias: tuple[FreeInertia, ...]
    charts: tuple[Chart, ...]

    @property
    def given(self) -> Floats:
        """z of the given values."""
        return np.array([scale.scaled(scale.number.value) for scale in self.scales])

    def values(self, z: Floats) -> Floats:
        """Parameters in their own units."""
        return np.array([scale.value(float(zk)) for scale, zk in zip(self.scales, z, strict=True)])

    def coordinates(self, z: Floats) -> Floats:
        """y of scaled parameters, the nearest within the limits."""
        y, values = np.array(z, float), self.values(z)
        for free, chart in zip(self.inertias, self.charts, strict=True):
            y[list(free.places)] = chart.coordinates(values[list(free.places)])
        return np.clip(y, *self.limits)

    def scaled(self, y: Floats) -> Floats:
        """z of coordinates."""
        z = np.array(y, float)
        for free, chart in zip(self.inertias, self.charts, strict=True):
            for k, value in zip(free.places, chart.entries(z[list(free.places)]).tolist(), strict=True):
                z[k] = self.scales[k].scaled(value)
        return z

    def slopes(self, y: Floats) -> Floats:
        """dz/dy, by central differences of the charts."""
        T = np.eye(len(y))
        for k in (k for free in self.inertias for k in free.places):
            step = SLOPE_STEP * np.eye(len(y))[k]
            T[:, k] = (self.scaled(y + step) - self.scaled(y - step)) / (2 * SLOPE_STEP)
        return T

    @property
    def limits(self) -> Floats:
        """Lower and upper bounds of y, (2, n); charts have none."""
        bounds = np.array([scale.limits for scale in self.scales]).T
        bounds[:, self._charted] = [[-math.inf], [math.inf]]
        return bounds

    @property
    def _charted(self) -> list[int]:
        return [k for free in self.inertias for k in free.places]

    def draw_starts(self, count: int, seed: int) -> Floats:
        """Starting points, (count, n): the given values first, then quasi-random ones, the same for a seed."""
        first = self.coordinates(self.given)
        lower, upper = np.array([scale.region for scale in self.scales]).T
        # S is of second order in L: a range of moments is half as wide in logarithms of L.
        half = math.log(SPAN) / 2
        for k in self._charted:
            lower[k], upper[k] = first[k] - half, first[k] + half
        return np.vstack([first, lower + spread_points(count - 1, len(first), seed) * (upper - lower)])

    def at_limit(self, z: Floats) -> list[FreeInertia]:
        """Bodies that are hardly possible any more, by their inertia."""
        values = self.values(z)
        return [free for free in self.inertias if free.margin(values[list(free.places)]) < AT_LIMIT]

    def at_bounds(self, z: Floats) -> list[bool]:
        """Which parameters lie at a bound; charts come near to those of entries and do not reach them."""
        found = [
            any(abs(zk - limit) <= AT_BOUND * max(abs(zk), 1.0) for limit in scale.limits)
            for scale, zk in zip(self.scales, z, strict=True)
        ]
        values = self.values(z)
        for free in self.inertias:
            size = np.trace(free.second_moments(values[list(free.places)]))
            for k, bounds in zip(free.places, free.bounds, strict=True):
                found[k] = any(abs(values[k] - bound) < AT_LIMIT * size for bound in bounds)
        return found

    def tangent(self, z: Floats) -> Floats:
        """Directions of z along the limits at which bodies are, (n, n_directions); all where none is at one."""
        rows, values = [], self.values(z)
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


def make_search_space(scenario: Scenario, scales: Sequence[Scale]) -> SearchSpace:
    """The coordinates of free parameters; an inertia that has no room to change is a ModelError."""
    mechanism = scenario.machine.mechanism
    names = [scale.number.name for scale in scales]
    flaws, inertias, charts = FlawList(), [], []
    for body in mechanism.bodies if mechanism else ():
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
    return SearchSpace(tuple(scales), tuple(inertias), tuple(charts))
