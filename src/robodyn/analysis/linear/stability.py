"""Root locus and stability limit: how do the poles of a machine move along a path, where does it become unstable?

A path is a tunable number that grows, or a signal (a joint's position) that is held at one value after another by
inputs that are found: each point is one at rest. Sampled controllers count as they run: over a cycle of all ticks, see
`sampled_model`. Motions that break constraints are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from robodyn.analysis.point_functions import OperatingPoint
from robodyn.base import Array, FlawList, bisect, frozen, nearest, refuse
from robodyn.computation.assembly import System

from .linearisation import Parts, Slopes, reduce_constraints
from .poles import sort_roots
from .sampling import SampledParts, check_sampled
from .trim import Trimmer

ACCURATE = 1e-9
"""Part of the searched range to which a limit is found."""
GROWING = 1e-9
"""Part of the largest pole's magnitude from which on a real part is not an integrator's zero."""


@frozen(eq=False)
class PolePath:
    """Poles along a path.

    Attributes:
        along: what changes: numbers or signals that all have the value.
        values: (n,); points: at rest, one each.
        poles: [rad/s], (n, n_branches), each column one pole followed; not a number where a branch is missing.
    """

    along: tuple[str, ...]
    values: Array
    poles: Array
    points: tuple[OperatingPoint, ...]

    @property
    def rightmost(self) -> Array:
        """Greatest real part at each point [rad/s], (n,)."""
        return np.nanmax(self.poles.real, axis=1)


@frozen
class StabilityLimit:
    """Where a rightmost pole crosses the imaginary axis.

    Attributes:
        pole: that pole there [rad/s], of a pair the upper one; stable_above: whether larger values are stable.
    """

    along: tuple[str, ...]
    value: float
    pole: complex
    stable_above: bool


class _Path:
    """Points at rest and their poles as a function of one value; each search starts from the point found last."""

    def __init__(self, system: System, along: str | Sequence[str], by: Sequence[str]) -> None:
        self.along = (along,) if isinstance(along, str) else tuple(along)
        flaws, tunable = FlawList(), system.places
        if not self.along:
            flaws.add("along", "must name a number or a signal")
        for name in self.along:
            if name not in tunable and name not in system.signal_names:
                flaws.add(f"along.{name}", "is neither a tunable number nor a signal", nearest(name, tunable))
            elif name not in tunable and not by:
                flaws.add(
                    "by", f"is missing: nothing holds '{name}' at a value", "name the numbers that are to hold it"
                )
            if name in by:
                flaws.add(f"by.{name}", "cannot be found, it is given", "name another number")
        flaws.raise_if_any(f"poles of '{system.scenario.name}'")
        self._numbers = [name for name in self.along if name in system.places]
        self._signals = [name for name in self.along if name not in system.places]
        self._trimmer = Trimmer(system, self._signals, by)
        self._poles = poles_at_rest(system)
        self._last: OperatingPoint | None = None

    def at(self, value: float) -> tuple[OperatingPoint, Array]:
        numbers = dict.fromkeys(self._numbers, value)
        self._last = self._trimmer.find([value] * len(self._signals), self._last, numbers).point
        return self._last, self._poles(self._last)


def poles_at_rest(system: System) -> Callable[[OperatingPoint], Array]:
    """The function that gives the poles [rad/s] of a system at any of its points at rest, complex, by magnitude."""
    check_sampled(system)
    parts, sampled = Parts(system, (), ()), SampledParts(system, (), "stuck")

    def poles(point: OperatingPoint) -> Array:
        if system.delays:
            late = Slopes(parts, point).model()
            return (reduce_constraints(late, system) if system.motion.constraint_forces else late).poles()
        model = sampled.build(point)
        return model.poles() if model.updates else sort_roots(np.linalg.eigvals(model.A))

    return poles


def follow_poles(system: System, along: str | Sequence[str], values: ArrayLike, by: Sequence[str] = ()) -> PolePath:
    """Poles at rest as a function of a number or of a signal, each followed from point to point.

    Args:
        along: tunable numbers, or signals such as `arm1.q1.position`; several have the same value.
        values: (n,), near enough to each other that poles can be distinguished.
        by: tunable numbers that are found, which hold the signals.
    """
    grid, path = np.atleast_1d(np.asarray(values, float)), _Path(system, along, by)
    points, poles = zip(*map(path.at, grid.tolist()), strict=True)
    return PolePath(path.along, grid, join_branches(poles), points)


def find_stability_limit(
    system: System, along: str | Sequence[str], lower: float, upper: float, by: Sequence[str] = ()
) -> StabilityLimit:
    """The value between two at which a machine becomes stable or unstable, by bisection; arguments as `follow_poles`.

    Raises:
        ModelError: when both ends are stable, or both are not.
    """
    path, ends = _Path(system, along, by), np.array([lower, upper], float)
    growth = [_growth(path.at(end)[1]) for end in ends.tolist()]
    if not ends[0] < ends[1] or (growth[0] > 0) == (growth[1] > 0):
        ends_are = [f"{'unstable' if g > 0 else 'stable'} at {value:g}" for value, g in zip(ends, growth, strict=True)]
        refuse(
            "lower, upper",
            f"it is {' and '.join(ends_are)}",
            "search another range, with the lower value first",
            "stability limit",
        )
    poles = np.zeros(0)

    def has_changed(value: float) -> bool:
        nonlocal poles
        poles = path.at(value)[1]
        return (_growth(poles) > 0) != (growth[0] > 0)

    # Bisection keeps one stable and one unstable value; the crossing pole is the fastest-growing one.
    last, first = bisect(has_changed, *ends.tolist(), within=ACCURATE * float(ends[1] - ends[0]))
    crossing = max(poles, key=lambda pole: (round(pole.real, 9), pole.imag))
    return StabilityLimit(path.along, 0.5 * (last + first), complex(crossing), bool(growth[0] > 0))


def _growth(poles: Array) -> float:
    """Greatest real part [rad/s] beyond the rounding of integrators, whose poles are zero and stay there."""
    return float(poles.real.max() - GROWING * np.abs(poles).max())


def join_branches(poles: Sequence[Array]) -> Array:
    """Poles of neighbouring points put into columns by least total distance; (n, n_branches), missing ones nan."""
    if len({len(unordered) for unordered in poles}) == 1:
        # The same where no pole is missing at any point.
        table = np.array(poles, complex)
        points, count = table.shape
        order = np.tile(np.arange(count), (points, 1))
        if count > 1:
            distance = np.abs(table[:-1, :, None] - table[1:, None, :])
            # Where each pole has a nearest one of its own, these are the least in total.
            nearest = distance.argmin(axis=2)
            clear = (np.sort(nearest, axis=1) == order[1:]).all(axis=1)
            for k in range(points - 1):
                order[k + 1] = (nearest[k] if clear[k] else linear_sum_assignment(distance[k])[1])[order[k]]
        return np.take_along_axis(table, order, axis=1)
    count = max(map(len, poles))
    table = np.full((len(poles), count), complex(np.nan, np.nan))
    table[0, : len(poles[0])] = poles[0]
    last = table[0].copy()
    for row, unordered in zip(table[1:], poles[1:], strict=True):
        # A branch not seen yet is nearer to none than any that is.
        distance = np.abs(last[:, None] - unordered[None, :])
        distance = np.where(np.isnan(distance), 2 * np.nanmax(distance, initial=1.0), distance)
        places, which = linear_sum_assignment(distance)
        row[places] = unordered[which]
        last[places] = unordered[which]
    return table
