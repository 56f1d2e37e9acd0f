"""Interfaces: where is a machine cut from what it is coupled with, and what comes in there?

An interface is a joint or coordinate (1 row), a point (3 rows: x, y, z, or those of them that are chosen) or a point
with its body's rotation (6 rows: x, y, z, rx, ry, rz, about world axes). Its motion and the force of the other side on
this one are signals; what comes in are numbers, so that a run can be given new ones at any time:

- a force, which acts there;
- the motion of the far side, which acts through a stiffness and a damping;
- a model of the far side, `M w' = force - f`: attached there rigidly, or through a stiffness and a damping.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Self

from robodyn.base import FlawList

from .description import Description
from .fields import EMPTY, choice, flag, numbers, part_name, quantities, reference, texts
from .kinds import NumberMap
from .numbers import XYZ, Floats, Number

TAKES = ("force", "motion", "model")
ROTATION = ("rx", "ry", "rz")
MATRIX = tuple(f"{a}{b}" for a in XYZ for b in XYZ)
UNITS = {
    "stiffness": ("N/m", "N m/rad"),
    "damping": ("N s/m", "N m s/rad"),
    "force": ("N", "N m"),
    "far_force": ("N", "N m"),
    "far_acceleration": ("m/s^2", "rad/s^2"),
    "far_position": ("m", "rad"),
    "far_velocity": ("m/s", "rad/s"),
    "far_orientation": ("", ""),
    "far_inertia": ("", ""),
    "far_mobility": ("", ""),
}
"""Of rows along an axis and about one; a joint or coordinate that rotates has the second."""


class Interface(Description):
    """An interface at which a machine is coupled with others."""

    NOUN = "interface"

    name: str = part_name()
    takes: str = choice(TAKES, doc="what comes in")
    on: str | None = reference("joint or coordinate", default=None, doc="a joint or coordinate; or:")
    point: str | None = reference("point", default=None, doc="a named point")
    rotates: bool = flag(default=False, doc="with `point`: whether the rotation of its body is coupled too")
    rows: tuple[str, ...] | None = texts(
        "row",
        default=None,
        empty=False,
        options=XYZ,
        doc="with `point`, without its rotation: directions that are coupled, for a planar machine those of its plane",
        absent='`"x"`, `"y"`, `"z"`',
    )
    stiffness: float | Floats | None = quantities(
        default=None,
        non_negative=True,
        written="{F}/{x}",
        absent="none: a model is attached rigidly",
        doc="between this side and the far one: a number for all rows along an axis, or one for each row",
    )
    damping: float | Floats | None = quantities(
        default=None, non_negative=True, written="{F} s/{x}", doc="likewise", absent="0"
    )
    given: Mapping[str, float] = numbers(
        dotted=True, default=EMPTY, doc="table of what comes in as long as nothing else does: `force = 3.0`"
    )

    def check(self, flaws: FlawList) -> None:
        if (self.on is None) == (self.point is None):
            flaws.add("on", "give a joint or coordinate (on), or a point, and only one of them")
        if self.rotates and self.point is None:
            flaws.add("rotates", "has no effect on a joint or coordinate", "name a point")
        if self.rows is not None and not flaws.concern("rows"):
            if self.point is None:
                flaws.add("rows", "has no effect on a joint or coordinate", "name a point")
            if self.rotates:
                flaws.add("rows", "cannot be chosen where the rotation is coupled too", "leave out rows, or rotates")
        if flaws.found:
            return
        self._set_row_values(flaws, "stiffness")
        self._set_row_values(flaws, "damping")
        if self.takes == "force":
            for key in ("stiffness", "damping"):
                if getattr(self, key) is not None:
                    flaws.add(key, "has no effect where a force comes in", "the other side of the cut has it")
        elif self.takes == "motion" and self.stiffness is None:
            flaws.add("stiffness", "is missing", "the motion of the far side acts through it")
        elif self.damping is not None and self.stiffness is None:
            flaws.add("damping", "has no effect without a stiffness", "a model without one is attached rigidly")
        flaws.add_unknown(self.given, self._incoming(), "does not come in here", "given")

    def _set_row_values(self, flaws: FlawList, key: str) -> None:
        """One number for each row; one number alone is that of every row along an axis."""
        value = getattr(self, key)
        if value is None and not (key == "damping" and self.stiffness is not None):
            return
        rows = value if isinstance(value, tuple) else (0.0 if value is None else value,) * len(self.row_names)
        if self.rotates and not isinstance(value, tuple) and value is not None:
            flaws.add(
                key, "must be six numbers: along x, y, z and about them", "the unit of a row about an axis differs"
            )
        elif len(rows) != len(self.row_names):
            flaws.add(key, f"must be {len(self.row_names)} numbers, has {len(rows)}")
        self.set_fields(**{key: rows})

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows, those of a point in the order x, y, z; a joint or coordinate has one without a name."""
        if self.point is None:
            return ("",)
        if self.rows is not None:
            return tuple(row for row in XYZ if row in self.rows)
        return (*XYZ, *(ROTATION if self.rotates else ()))

    @property
    def rigid(self) -> bool:
        """Whether a model is attached rigidly."""
        return self.takes == "model" and self.stiffness is None

    def names(self, quantity: str) -> tuple[str, ...]:
        """Full names of a quantity's signals or numbers: a row each; positions have no rotational rows, orientations
        nine entries, inertias the lower triangle."""
        return _full_names(self.name, quantity, self.row_names)

    def _incoming(self) -> dict[str, float]:
        """Numbers that come in, by their names without the interface's, with their values as long as nothing else
        comes."""
        quantities = {"force": ("force",), "motion": ("far_position", "far_velocity")}.get(self.takes, ())
        if self.takes == "model":
            quantities = ("far_inertia", "far_force") if self.rigid else ("far_mobility", "far_acceleration")
        if self.rotates and not self.rigid and self.takes != "force":
            quantities = (*quantities, "far_orientation")
        return {tail: _idle(quantity, tail) for quantity in quantities for tail in tails(quantity, self.row_names)}

    @property
    def incoming(self) -> tuple[str, ...]:
        """Full names of the numbers that come in."""
        return tuple(f"{self.name}.{tail}" for tail in self._incoming())

    def map_numbers(self, change: NumberMap, prefix: str | None = None) -> Self:
        """Inputs are numbers, given or not; of stiffness and damping there is one for each row."""
        changed: dict[str, Any] = {}
        for tail, idle in self._incoming().items():
            number = Number(f"{self.name}.{tail}", self.given.get(tail, idle), _unit(tail))
            if (value := change(number)) != number.value:
                changed["given"] = {**changed.get("given", self.given), tail: value}
        for key in ("stiffness", "damping"):
            old = getattr(self, key) or ()
            named = zip(tails(key, self.row_names), old, strict=False)
            rows = tuple(change(Number(f"{self.name}.{tail}", value, _unit(tail))) for tail, value in named)
            changed |= {key: rows} if rows != old else {}
        return self.replaced(**changed)


@cache
def _full_names(name: str, quantity: str, rows: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{name}.{tail}" for tail in tails(quantity, rows))


def tails(quantity: str, rows: Sequence[str]) -> tuple[str, ...]:
    """Names of a quantity's entries after the interface's own name."""
    if quantity in ("far_inertia", "far_mobility"):
        pairs = [(a, b) for i, a in enumerate(rows) for b in rows[: i + 1]]
        return tuple(f"{quantity}.{a}_{b}" if a else quantity for a, b in pairs)
    if quantity.endswith("orientation"):
        return tuple(f"{quantity}.{entry}" for entry in MATRIX)
    if quantity.endswith("position"):
        rows = rows[:3]
    return tuple(f"{quantity}.{row}" if row else quantity for row in rows)


def _idle(quantity: str, tail: str) -> float:
    """No force, no motion, no rotation; no inertia attached rigidly, and none that gives way behind a stiffness."""
    entry = tail.removeprefix(quantity).lstrip(".")
    return float(quantity == "far_orientation" and entry in ("xx", "yy", "zz"))


def _unit(tail: str) -> str:
    quantity, _, row = tail.partition(".")
    return UNITS[quantity][int(row in ROTATION)]
