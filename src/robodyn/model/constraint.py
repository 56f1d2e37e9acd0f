"""Which relations between its coordinates must a mechanism keep? Loops, rods, couplings, prescribed motions.

A constraint is one or more equations h(q, t) = 0. The forces that keep them are signals, and an event may set
`<name>.active` to 0 (it breaks) or to 1 (it holds again).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.errors import FlawList, nearest
from robodyn.model.frozen import freeze_mappings
from robodyn.model.joint import IDENTITY, check_rotation
from robodyn.model.numbers import (
    Numbered,
    as_floats,
    check_callable,
    check_finite,
    check_flag,
    check_name,
    check_text,
    check_texts,
    check_vector,
    keep_floats,
)

CLOSURES = {
    "spherical": ("force.x", "force.y", "force.z"),
    "universal": ("force.x", "force.y", "force.z", "torque.0"),
    "revolute": ("force.x", "force.y", "force.z", "torque.0", "torque.1"),
    "prismatic": ("force.0", "force.1", "torque.0", "torque.1", "torque.2"),
    "fixed": ("force.x", "force.y", "force.z", "torque.0", "torque.1", "torque.2"),
}
"""Kinds of closures, and the forces that keep each of their equations."""


def _check_common(flaws: FlawList, constraint: Any) -> None:
    check_name(flaws, constraint.name)
    check_flag(flaws, "active", constraint.active)


@dataclass(frozen=True)
class Closure:
    """A joint that closes a loop: what holds between two points of two bodies.

        spherical: the points coincide (3 equations)
        universal: and the two axes are square to each other (4)
        revolute: and the two axes are parallel (5)
        prismatic: the second point slides along the axis, nothing turns (5)
        fixed: the points coincide and nothing turns (6)

    Its forces act on the first body, in world axes, and with the opposite sign on the second; torques belong to single
    equations.

    Attributes:
        axis: in the frame of the first point's body; second_axis: in that of the second's, the same by default.
        rotation: of the second body in the first, R_first_second, where nothing turns.
        active: whether it holds at the start.
    """

    name: str
    first: str
    second: str
    kind: str = "spherical"
    axis: tuple[float, ...] = (0.0, 0.0, 1.0)
    second_axis: tuple[float, ...] | None = None
    rotation: tuple[tuple[float, ...], ...] = IDENTITY
    active: bool = True

    def __post_init__(self) -> None:
        flaws = FlawList()
        _check_common(flaws, self)
        check_text(flaws, "first", self.first)
        check_text(flaws, "second", self.second)
        if self.first == self.second:
            flaws.add("second", f"is the same point as first ('{self.first}')", "name two different points")
        if self.kind not in CLOSURES:
            flaws.add("kind", f"'{self.kind}' is unknown", nearest(str(self.kind), CLOSURES))
        for field in ("axis", "second_axis"):
            value = getattr(self, field)
            if value is not None and check_vector(flaws, field, value, 3) and np.linalg.norm(value) < 1e-9:
                flaws.add(field, "must not be zero")
        check_rotation(flaws, self.rotation)
        self._check_used(flaws)
        flaws.raise_if_any(f"constraint '{self.name}'")
        keep_floats(self, "rotation")
        for field in ("axis", "second_axis"):
            value = self.axis if getattr(self, field) is None else getattr(self, field)
            object.__setattr__(self, field, as_floats(np.asarray(value, float) / np.linalg.norm(value)))

    def _check_used(self, flaws: FlawList) -> None:
        """What the kind of closure has no use for must not be given."""
        idle = {"spherical": ("axis", "second_axis", "rotation"), "fixed": ("axis", "second_axis")}
        idle |= {"universal": ("rotation",), "revolute": ("rotation",), "prismatic": ("second_axis",)}
        defaults: dict[str, Any] = {"axis": (0.0, 0.0, 1.0), "second_axis": self.axis, "rotation": IDENTITY}
        for field in idle.get(self.kind, ()):
            value = getattr(self, field)
            if value is not None and not np.array_equal(value, defaults[field]):
                flaws.add(field, f"has no effect on a {self.kind} closure")

    @property
    def equations(self) -> tuple[str, ...]:
        return CLOSURES[self.kind]


@dataclass(frozen=True)
class Rod(Numbered):
    """A rigid massless rod between two points: `|p_end - p_start| = length` [m].

    Its `tension` is a signal.
    """

    NUMBERS = {"length": ((), "m")}

    name: str
    start: str
    end: str
    length: float
    active: bool = True

    def __post_init__(self) -> None:
        flaws = FlawList()
        _check_common(flaws, self)
        check_text(flaws, "start", self.start)
        check_text(flaws, "end", self.end)
        if self.start == self.end:
            flaws.add("end", f"is the same point as start ('{self.start}')", "name two different points")
        if check_finite(flaws, "length", self.length) and self.length <= 0:
            flaws.add("length", f"must be positive, is {self.length:g} m")
        flaws.raise_if_any(f"constraint '{self.name}'")
        keep_floats(self, "length")

    @property
    def equations(self) -> tuple[str, ...]:
        return ("tension",)


@dataclass(frozen=True)
class Coupling(Numbered):
    """A linear relation of joints and coordinates: `sum c_i s_i = offset` (gears without play, parallel guides)."""

    NUMBERS = {"offset": ((), "")}

    name: str
    of: Mapping[str, float]
    offset: float = 0.0
    active: bool = True

    def __post_init__(self) -> None:
        flaws = FlawList()
        _check_common(flaws, self)
        freeze_mappings(flaws, self, "of")
        flaws.raise_if_any(f"constraint '{self.name}'")
        for key, weight in self.of.items():
            check_finite(flaws, f"of.{key}", weight)
        if not self.of:
            flaws.add("of", "must name at least one joint or coordinate")
        check_finite(flaws, "offset", self.offset)
        flaws.raise_if_any(f"constraint '{self.name}'")
        keep_floats(self, "offset")

    @property
    def equations(self) -> tuple[str, ...]:
        return ("force",)


@dataclass(frozen=True)
class Prescribed:
    """A joint or coordinate that moves as told: `s = position`, with its rates told too.

    Attributes:
        of: joint or coordinate.
        position, velocity, acceleration: signals (of a reference, or of a controller's model) or numbers; rates of a
            number are 0 where they are not told, those of a signal must be.
    """

    name: str
    of: str
    position: Any
    velocity: Any = None
    acceleration: Any = None
    active: bool = True

    def __post_init__(self) -> None:
        flaws = FlawList()
        _check_common(flaws, self)
        check_text(flaws, "of", self.of)
        for field, rate in (("position", "velocity"), ("velocity", "acceleration"), ("acceleration", "")):
            value = getattr(self, field)
            if isinstance(value, str):
                self._check_rate(flaws, field, rate)
            elif value is None and field != "position":
                object.__setattr__(self, field, 0.0)
            else:
                check_finite(flaws, field, value)
        flaws.raise_if_any(f"constraint '{self.name}'")

    def _check_rate(self, flaws: FlawList, field: str, rate: str) -> None:
        """A signal without its rate would be followed late."""
        if rate and getattr(self, rate) is None:
            remedy = f"name the signal of its {rate}, or give 0 where it stands still or steps"
            flaws.add(rate, f"is not told, but {field} is the signal '{getattr(self, field)}'", remedy)

    @property
    def equations(self) -> tuple[str, ...]:
        return ("force",)


@dataclass(frozen=True)
class Relation:
    """Any equations h = 0 between joints and coordinates, as a plain function; its derivatives are exact.

    Attributes:
        of: joints or coordinates, whose positions the function takes in order.
        function: returns one value or a tuple; where it has an argument `time`, it gets the time too.
        count: how many values it returns.
    """

    name: str
    of: tuple[str, ...]
    function: Callable[..., Any]
    count: int = 1
    active: bool = True

    def __post_init__(self) -> None:
        flaws = FlawList()
        _check_common(flaws, self)
        if check_texts(flaws, "of", self.of, "joints or coordinates") and not self.of:
            flaws.add("of", "must name at least one joint or coordinate")
        check_callable(flaws, "function", self.function)
        if not isinstance(self.count, int) or isinstance(self.count, bool) or self.count < 1:
            flaws.add("count", f"must be a whole number of at least 1, is {self.count!r}")
        flaws.raise_if_any(f"constraint '{self.name}'")
        object.__setattr__(self, "of", tuple(self.of))

    @property
    def equations(self) -> tuple[str, ...]:
        return ("force",) if self.count == 1 else tuple(f"force.{k}" for k in range(self.count))


Constraint = Closure | Rod | Coupling | Prescribed | Relation

TREATMENTS = ("baumgarte", "projection", "index3", "minimal")


@dataclass(frozen=True)
class Treatment:
    """How constraints are kept while a mechanism moves.

        baumgarte: h'' + 2 p h' + p^2 h = 0 instead of h = 0; errors decay with the pole p
        projection: h'' = 0, and after each step positions and velocities are put back on the constraints
        index3: h = 0 itself is an equation of every step; the solver's method must be one that has it there
            (generalised_alpha, or rattle in momenta)
        minimal: independent joints move by themselves, the dependent ones follow from h = 0 and h' = 0 wherever the
            motion is evaluated; where they no longer do, the run ends

    Attributes:
        pole: p of Baumgarte's method [1/s]; None chooses it from the mechanism's own time scale.
        independent: joints of minimal coordinates; None chooses them at the start.
    """

    method: str = "baumgarte"
    pole: float | None = None
    independent: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        flaws = FlawList()
        if self.method not in TREATMENTS:
            flaws.add("method", f"'{self.method}' is unknown", nearest(str(self.method), TREATMENTS))
        if self.pole is not None:
            if check_finite(flaws, "pole", self.pole) and self.pole <= 0:
                flaws.add("pole", f"must be positive, is {self.pole:g}")
            if self.method == "projection":
                flaws.add("pole", f"has no effect on the method '{self.method}'", "it belongs to baumgarte")
        if self.independent is not None:
            check_texts(flaws, "independent", self.independent, "joints")
            if self.method != "minimal":
                flaws.add("independent", f"has no effect on the method '{self.method}'", "it belongs to minimal")
        flaws.raise_if_any("treatment")
        keep_floats(self, "pole")
        if self.independent is not None:
            object.__setattr__(self, "independent", tuple(self.independent))
