"""Along which lengths and angles of a mechanism can forces act? Named scalar coordinates s(q).

A coordinate has signals `position` and `velocity`; a force f on it reaches the joints by the transpose of its
gradient: `tau = (ds/dq)^T f`. Each joint is such a coordinate already.
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

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_name(flaws, self.name)
        freeze_mappings(flaws, self, "of")
        flaws.raise_if_any(f"coordinate '{self.name}'")
        for joint, weight in self.of.items():
            check_finite(flaws, f"of.{joint}", weight)
        if not self.of:
            flaws.add("of", "must name at least one joint")
        if check_finite(flaws, "inertia", self.inertia) and self.inertia < 0:
            flaws.add("inertia", f"must not be negative, is {self.inertia:g}")
        flaws.raise_if_any(f"coordinate '{self.name}'")
        keep_floats(self, "inertia")


@dataclass(frozen=True)
class Distance(Numbered):
    """The distance between two points (a strut, a spring, a cylinder) [m]."""

    name: str
    start: str
    end: str

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_name(flaws, self.name)
        check_text(flaws, "start", self.start)
        check_text(flaws, "end", self.end)
        if self.start == self.end:
            flaws.add("end", f"is the same point as start ('{self.start}')", "name two different points")
        flaws.raise_if_any(f"coordinate '{self.name}'")


@dataclass(frozen=True)
class Along(Numbered):
    """The world position of a point along a fixed direction (a force in that direction acts there) [m]."""

    name: str
    point: str
    direction: tuple[float, ...]

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_name(flaws, self.name)
        check_text(flaws, "point", self.point)
        if check_vector(flaws, "direction", self.direction, 3) and np.linalg.norm(self.direction) < 1e-9:
            flaws.add("direction", "must not be zero")
        flaws.raise_if_any(f"coordinate '{self.name}'")
        unit = np.asarray(self.direction, float) / np.linalg.norm(self.direction)
        object.__setattr__(self, "direction", as_floats(unit))


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

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_name(flaws, self.name)
        if self.unit not in ("m", "rad"):
            flaws.add("unit", f"must be 'm' or 'rad', is '{self.unit}'")
        check_callable(flaws, "function", self.function)
        if check_texts(flaws, "of", self.of, "joints") and not self.of:
            flaws.add("of", "must name at least one joint")
        flaws.raise_if_any(f"coordinate '{self.name}'")
        object.__setattr__(self, "of", tuple(self.of))


Coordinate = Combination | Distance | Along | Linkage
