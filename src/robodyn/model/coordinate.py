"""Along which lengths and angles of a mechanism can forces act? Named scalar coordinates s(q).

A coordinate has signals `position` and `velocity`; a force f on it reaches the joints by the transpose of its
gradient: `tau = (ds/dq)^T f`. Each joint is such a coordinate already.

A coordinate may have a `range`, its stroke: (lower, upper) in its own unit. A start outside is an error; a run that
leaves it ends there, out of reach.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.errors import FlawList
from robodyn.model.frozen import freeze_mappings
from robodyn.model.numbers import (
    Numbered,
    as_floats,
    check_callable,
    check_finite,
    check_name,
    check_text,
    check_texts,
    check_vector,
    keep_floats,
)


@dataclass(frozen=True)
class Combination(Numbered):
    """A weighted sum of joint positions (coupled gears): `s = sum c_i q_i`.

    Attributes:
        inertia: of a rotor that turns with s [kg m^2].
    """

    NUMBERS = {"inertia": ((), "kg m^2")}

    name: str
    of: Mapping[str, float]
    inertia: float = 0.0
    range: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_name(flaws, self.name)
        _check_weights(flaws, self)
        if check_finite(flaws, "inertia", self.inertia) and self.inertia < 0:
            flaws.add("inertia", f"must not be negative, is {self.inertia:g}")
        _check_range(flaws, self.range)
        flaws.raise_if_any(f"coordinate '{self.name}'")
        keep_floats(self, "inertia", "range")


@dataclass(frozen=True)
class Distance(Numbered):
    """The distance between two points (a strut, a spring, a cylinder) [m]."""

    name: str
    start: str
    end: str
    range: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_name(flaws, self.name)
        check_text(flaws, "start", self.start)
        check_text(flaws, "end", self.end)
        if self.start == self.end:
            flaws.add("end", f"is the same point as start ('{self.start}')", "name two different points")
        _check_range(flaws, self.range)
        flaws.raise_if_any(f"coordinate '{self.name}'")
        keep_floats(self, "range")


@dataclass(frozen=True)
class Triangle(Numbered):
    """The third side of a triangle whose two other sides turn with the joints: a cylinder beside a hinge [m].

        s = sqrt(a^2 + b^2 - 2 a b cos(phi)),   phi = sum c_i q_i + offset

    Attributes:
        of: joint -> weight c_i; sides: a and b [m]; offset: [rad].
        at, arm, axis: where it is, for pictures alone: the point at the hinge, the direction of side b and the hinge's
            axis in the frame of that point's body; side a is the arm turned about the axis by phi.
    """

    NUMBERS = {"sides": (("a", "b"), "m"), "offset": ((), "rad")}

    name: str
    of: Mapping[str, float]
    sides: tuple[float, float]
    offset: float = 0.0
    range: tuple[float, float] | None = None
    at: str | None = None
    arm: tuple[float, ...] = (1.0, 0.0, 0.0)
    axis: tuple[float, ...] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_name(flaws, self.name)
        _check_weights(flaws, self)
        usable = check_vector(flaws, "sides", self.sides, 2)
        for k, side in enumerate(self.sides if usable else ()):
            if side <= 0:
                flaws.add(f"sides[{k}]", f"must be positive, is {side:g} m")
        check_finite(flaws, "offset", self.offset)
        _check_range(flaws, self.range)
        if usable and self.range is not None and not flaws.found:
            self._check_reach(flaws, *self.range)
        self._check_place(flaws)
        flaws.raise_if_any(f"coordinate '{self.name}'")
        keep_floats(self, "sides", "offset", "range", "arm", "axis")

    @property
    def reach(self) -> tuple[float, float]:
        """Shortest and longest possible length [m]: `|a - b|` and `a + b`."""
        a, b = self.sides
        return abs(a - b), a + b

    def _check_reach(self, flaws: FlawList, lower: float, upper: float) -> None:
        shortest, longest = self.reach
        if not shortest <= lower < upper <= longest:
            what = f"{lower:g} to {upper:g} m is out of reach of the sides"
            flaws.add("range", what, f"they allow {shortest:.6g} to {longest:.6g} m")

    def _check_place(self, flaws: FlawList) -> None:
        if self.at is not None:
            check_text(flaws, "at", self.at)
            if np.shape(self.arm) == np.shape(self.axis) == (3,) and not np.any(np.cross(self.arm, self.axis)):
                flaws.add("arm", "is parallel to the axis", "the arm turns about the axis: make it square to it")
        for field, idle in (("arm", (1.0, 0.0, 0.0)), ("axis", (0.0, 0.0, 1.0))):
            value = getattr(self, field)
            if check_vector(flaws, field, value, 3) and np.linalg.norm(value) < 1e-9:
                flaws.add(field, "must not be zero")
            elif self.at is None and tuple(value) != idle:
                flaws.add(field, "has no effect without at", "name the point at the hinge")


@dataclass(frozen=True)
class Along(Numbered):
    """The world position of a point along a fixed direction (a force in that direction acts there) [m]."""

    name: str
    point: str
    direction: tuple[float, ...]
    range: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_name(flaws, self.name)
        check_text(flaws, "point", self.point)
        if check_vector(flaws, "direction", self.direction, 3) and np.linalg.norm(self.direction) < 1e-9:
            flaws.add("direction", "must not be zero")
        _check_range(flaws, self.range)
        flaws.raise_if_any(f"coordinate '{self.name}'")
        unit = np.asarray(self.direction, float) / np.linalg.norm(self.direction)
        object.__setattr__(self, "direction", as_floats(unit))
        keep_floats(self, "range")


@dataclass(frozen=True)
class Linkage(Numbered):
    """Any scalar function of joint positions, written as a plain function; its derivatives are exact.

    Attributes:
        function: takes the positions of the joints `of`, in order, returns s.
        unit: "m" or "rad".
    """

    name: str
    of: tuple[str, ...]
    function: Callable[..., Any]
    unit: str = "m"
    range: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_name(flaws, self.name)
        if self.unit not in ("m", "rad"):
            flaws.add("unit", f"must be 'm' or 'rad', is '{self.unit}'")
        check_callable(flaws, "function", self.function)
        if check_texts(flaws, "of", self.of, "joints") and not self.of:
            flaws.add("of", "must name at least one joint")
        _check_range(flaws, self.range)
        flaws.raise_if_any(f"coordinate '{self.name}'")
        object.__setattr__(self, "of", tuple(self.of))
        keep_floats(self, "range")


Coordinate = Combination | Distance | Triangle | Along | Linkage


def _check_weights(flaws: FlawList, coordinate: Combination | Triangle) -> None:
    """The mapping joint -> weight, frozen."""
    freeze_mappings(flaws, coordinate, "of")
    flaws.raise_if_any(f"coordinate '{coordinate.name}'")
    for joint, weight in coordinate.of.items():
        check_finite(flaws, f"of.{joint}", weight)
    if not coordinate.of:
        flaws.add("of", "must name at least one joint")


def _check_range(flaws: FlawList, limits: Any) -> None:
    """A stroke goes from a lower to an upper end."""
    if limits is not None and check_vector(flaws, "range", limits, 2) and not limits[0] < limits[1]:
        flaws.add("range", f"must go from lower to upper, is {limits[0]:g} to {limits[1]:g}")
