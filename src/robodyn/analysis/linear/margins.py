"""Gain, phase and delay margins: how much of each does a sampled loop bear?

The loop is cut at held signals and closed by a factor k on all of them, u = k w. It is at the limit of stability where
k lambda = 1 for an eigenvalue lambda of L(z) (see `lifting`) at some z = e^(i omega T): the eigenvalues' curves over
half the unit circle of z, the other half being their mirror, are followed and give

    gain margins    k = 1 / lambda       where lambda is real and positive
    phase margin    |angle of lambda|    where |lambda| = 1

The delay margin comes from the loop with the signal read later by tau, whose multipliers are found anew for each tau.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from scipy.optimize import brentq

from robodyn.analysis.linear.lifting import Lifted, lift
from robodyn.analysis.linear.sampled_model import SampledModel
from robodyn.analysis.linear.stability import join_branches

STABLE = 1e-7
"""How much above one a multiplier may be: an integrator's double one is known to half the digits."""
GRID_POINTS = 600
LOWEST_ANGLE = 1e-5
"""Of z [rad], from which on curves are followed; integrators make them infinite at 0."""
REAL = 1e-4
"""Part of its magnitude up to which a number at the end of a curve, or refined, is real."""
SAME = 1e-3
"""Part by which limits of gain differ at least; within it they are found again by the multipliers themselves."""
MOST_GAIN = 1e9
HALVINGS = 45
SHORTEST_DELAY, LONGEST_DELAY, DELAYS_TRIED, DELAY_ACCURACY = 0.05, 100.0, 16, 1e-6
"""Where a delay margin is searched, in sample times of the signal, and how accurately it is found."""


@dataclass(frozen=True)
class Margins:
    """What a loop bears.

    Attributes:
        signals: held ones at which it is cut.
        stable: as it is; radius: its largest multiplier's magnitude, of a cycle.
        gain_from, gain_to: factors on the signals between which it is stable, the stable range nearest to 1; 0 and inf
            where there is no limit, nan where no factor makes it stable.
        phase: [deg], delay: [s]: what is borne in addition; nan where it is unstable, inf where there is no limit.
    """

    JSON = """
    signals
    stable
    radius: of the closed loop's multipliers
    gain_from: stable from this factor of its gain ...
    gain_to: ... up to this one
    phase: margin [deg]
    delay: margin [s]
    """
    signals: tuple[str, ...]
    stable: bool
    radius: float
    gain_from: float
    gain_to: float
    phase: float
    delay: float


def find_margins(model: SampledModel, signals: str | Sequence[str], delay: bool = True) -> Margins:
    """Gain, phase and delay margins of a loop cut at one held signal, or at several that are scaled together.

    Args:
        delay: whether that margin, which takes longest, is looked for; else it is nan.
    """
    names = (signals,) if isinstance(signals, str) else tuple(signals)
    lifted = lift(model, names)
    curves = Curves(lifted)
    radius, limits = lifted.radius(), curves.real_gains()
    ranges = [(low, high) for low, high, growing in count_growing(lifted, limits) if not growing]
    nearest = min(ranges, key=distance_to_one, default=(float("nan"), float("nan")))
    gains = [_polish(lifted, limit) for limit in nearest]
    if radius > 1 + STABLE:
        return Margins(names, False, radius, gains[0], gains[1], float("nan"), float("nan"))
    crossings = curves.unit_crossings()
    phase = min((abs(np.angle(value)) for _, value in crossings), default=np.inf)
    late = _find_delay(model, lifted, names) if delay else float("nan")
    return Margins(names, True, radius, gains[0], gains[1], float(np.degrees(phase)), late)


class Closable(Protocol):
    """A loop that can be closed by a gain."""

    def multipliers(self, gain: float) -> np.ndarray:
        """Of its motions; those that grow have magnitudes above one."""


def count_growing(loop: Closable, limits: Sequence[float]) -> list[tuple[float, float, int]]:
    """Ranges of a gain from 0 to inf, and how many motions grow in each.

    Args:
        limits: gains at which a multiplier may cross; those almost the same count once.
    """
    edges = [0.0]
    for limit in sorted(limits):
        edges += [limit] if limit > edges[-1] * (1 + SAME) else []
    ranges: list[tuple[float, float, int]] = []
    for low, high in pairwise([*edges, np.inf]):
        growing = int(np.sum(np.abs(loop.multipliers(choose_between(low, high))) > 1 + STABLE))
        joined = ranges and ranges[-1][2] == growing
        ranges = [*ranges[:-1], (ranges[-1][0], high, growing)] if joined else [*ranges, (low, high, growing)]
    return ranges


def choose_between(low: float, high: float) -> float:
    """A gain inside a range."""
    if np.isinf(high):
        return 2 * low + 1
    return float(np.sqrt(low * high)) if low else high / 2


def _polish(lifted: Lifted, limit: float) -> float:
    """A limit of stability, where the largest multiplier's magnitude says it is.

    Beside an integrator, whose multiplier stays at one, that is where another one passes it by more than rounding.
    """
    ends = limit * (1 - 2 * SAME), limit * (1 + 2 * SAME)
    for one in (1.0, 1 + STABLE) if 0 < limit < np.inf else ():
        if (lifted.radius(ends[0]) - one) * (lifted.radius(ends[1]) - one) < 0:
            return float(brentq(lambda gain, one=one: lifted.radius(gain) - one, *ends, rtol=1e-12))
    return limit


def distance_to_one(ends: tuple[float, float]) -> float:
    """How far a range of gains is from today's."""
    return max(ends[0] - 1, 1 - ends[1], 0.0)


class Curves:
    """The eigenvalues of L(e^(i theta)) over theta from almost 0 to pi, each curve a column.

    Args:
        estimated: whether the values are estimates, which are far cheaper; what is refined is exact in any case.
    """

    def __init__(self, lifted: Lifted, estimated: bool = False) -> None:
        self.lifted = lifted
        self.angles = _choose_angles(lifted)
        self.values = join_branches(list(self._eigenvalues(self.angles, estimated)))

    def _eigenvalues(self, angles: np.ndarray, estimated: bool = False) -> np.ndarray:
        gain = self.lifted.estimate_gain if estimated else self.lifted.gain
        gains = gain(np.exp(1j * angles))
        # A matrix of one element is its eigenvalue.
        return gains[:, :, 0] if gains.shape[-1] == 1 else np.linalg.eigvals(gains)

    def real_gains(self) -> list[float]:
        """1 / lambda wherever a curve meets the positive real axis, its ends included."""
        crossed = [value for _, value in self._crossings(np.imag)]
        ends = [*self._low_end(), *self.values[-1]]
        # At theta = pi all is real, or comes in pairs.
        met = [*crossed, *(value for value in ends if abs(value.imag) <= REAL * abs(value))]
        return [float(1 / value.real) for value in met if value.real > 1 / MOST_GAIN]

    def _low_end(self) -> Iterator[complex]:
        """Values at theta = 0, where they have one: an integrator's go to infinity."""
        for first, second in self.values[:2].T:
            if abs(first - second) <= REAL * abs(second):
                yield complex(first.real)

    def unit_crossings(self) -> list[tuple[float, complex]]:
        """Angle of z and lambda wherever a curve meets the unit circle."""
        return list(self._crossings(lambda value: np.abs(value) - 1))

    def _crossings(self, measure: Callable[[np.ndarray], np.ndarray]) -> Iterator[tuple[float, complex]]:
        """Angle of z and lambda wherever a measure of lambda changes its sign along a curve."""
        signs = measure(self.values) > 0
        for k, branch in np.argwhere(signs[:-1] != signs[1:]):
            ends = self.angles[k : k + 2].copy(), self.values[k : k + 2, branch].copy()
            angle, value = self._refine(measure, *ends)
            # A change of sign through infinity is none.
            if abs(measure(np.array(value))) <= REAL * max(abs(value), 1.0) and abs(value) < MOST_GAIN:
                yield angle, value

    def _refine(
        self, measure: Callable[[np.ndarray], np.ndarray], angles: np.ndarray, values: np.ndarray
    ) -> tuple[float, complex]:
        """Bisection; of the eigenvalues between two points the one nearest to their mean is on the curve."""
        above = measure(values[0]) > 0
        for _ in range(HALVINGS):
            middle = angles.mean()
            found = self._eigenvalues(np.array([middle]))[0]
            value = found[np.argmin(np.abs(found - values.mean()))]
            side = 0 if (measure(value) > 0) == above else 1
            angles[side], values[side] = middle, value
        return float(angles.mean()), complex(values.mean())


def _choose_angles(lifted: Lifted) -> np.ndarray:
    """Evenly spaced in decades and on the circle, and close around the multipliers of cut and closed loop."""
    even = [np.geomspace(LOWEST_ANGLE, np.pi, GRID_POINTS // 2), np.linspace(0, np.pi, GRID_POINTS // 2)[1:]]
    found = np.concatenate([np.linalg.eigvals(lifted.M), np.linalg.eigvals(lifted.close())])
    found = found[np.abs(found) > 0.5]
    width = np.maximum(np.abs(1 - np.abs(found)), 1e-4)
    beside = np.abs(np.angle(found))[:, None] + width[:, None] * np.linspace(-3, 3, 13)
    angles = np.concatenate([*even, beside.ravel()])
    angles = angles[(angles >= LOWEST_ANGLE) & (angles <= np.pi)]
    return np.unique(np.round(angles, 12).clip(LOWEST_ANGLE, np.pi))


def _find_delay(model: SampledModel, lifted: Lifted, signals: Sequence[str]) -> float:
    """The least extra delay [s] at which a multiplier's magnitude is one; inf where it is beyond what is searched."""

    def excess(delay: float) -> float:
        return lift(model, signals, delay).radius() - 1 - STABLE

    period = lifted.turn_time * len(signals) / max(lifted.times.size, 1)
    tried = [0.0, *(period * np.geomspace(SHORTEST_DELAY, LONGEST_DELAY, DELAYS_TRIED)).tolist()]
    for low, high in pairwise(tried if lifted.closes else ()):
        if excess(high) > 0:
            return float(brentq(excess, low, high, rtol=DELAY_ACCURACY)) if excess(low) < 0 else low
    return float("inf")
