"""Parameter scaling: in which variables is the search done? Logarithms of positive numbers, multiples of others.

p = exp(z) for a positive number whose bounds are not negative,   p = s z for any other, s its magnitude

Places, states and products of inertia have either sign, also where the given value is positive.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from robodyn.base.errors import FlawList
from robodyn.computation.results.signal import Floats
from robodyn.description.model import Number

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


@dataclass(frozen=True)
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


def make_scales(numbers: Sequence[Number], bounds: Mapping[str, Bounds]) -> tuple[Scale, ...]:
    """The scale of each free parameter; bounds that are none are a ModelError."""
    flaws = FlawList()
    known = [number.name for number in numbers]
    flaws.add_unknown(bounds, known, "is not a free parameter", "bounds")
    for number in numbers:
        lower, upper = bounds.get(number.name, (-math.inf, math.inf))
        if not lower < upper:
            flaws.add(f"bounds.{number.name}", f"must be a lower and a greater upper number, are {lower:g}, {upper:g}")
        elif not lower <= number.value <= upper:
            what = f"the start value {number.value:g} lies outside {lower:g} to {upper:g}"
            flaws.add(f"bounds.{number.name}", what, "widen them or start elsewhere")
    flaws.raise_if_any("fit")
    return tuple(_scale(number, bounds.get(number.name)) for number in numbers)


def _scale(number: Number, bounds: Bounds | None) -> Scale:
    name = number.name.rpartition(OF_RECORDING)[2]
    positive = number.value > 0 and not any(fnmatchcase(name, pattern) for pattern in EITHER_SIGN)
    if positive and bounds is None:
        return Scale(number, number.value / REACH, number.value * REACH, 0.0, bounded=False)
    lower, upper = bounds or (-math.inf, math.inf)
    if positive and lower >= 0:
        return Scale(number, lower, upper, 0.0)
    width = upper - lower if bounds and math.isfinite(upper - lower) else 0.0
    return Scale(number, lower, upper, abs(number.value) or width or 1.0)


def spread_points(count: int, dimension: int, seed: int) -> Floats:
    """Halton's points, scrambled: they fill the unit cube evenly, and more of them go between the first."""
    from scipy.stats.qmc import Halton

    return np.asarray(Halton(dimension, seed=np.random.default_rng(seed)).random(count))
