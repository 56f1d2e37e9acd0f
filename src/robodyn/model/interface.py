"""Where is a machine cut from what it is coupled with, and what comes in there?

An interface is a joint or coordinate (1 row), a point (3 rows: x, y, z) or a point with its body's rotation (6 rows: x,
y, z, rx, ry, rz, about world axes). Its motion and the force of the other side on this one are signals; what comes in
are numbers, so that a run can be given new ones at any time:

- a force, which acts there;
- the motion of the far side, which acts through a stiffness and a damping;
- a model of the far side, `M w' = force - f`: attached there rigidly, or through a stiffness and a damping.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from robodyn.errors import FlawList, nearest
from robodyn.model.frozen import freeze_mappings
from robodyn.model.numbers import XYZ, Number, as_floats, check_finite, check_flag, check_name, check_text

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
"""Of rows along an axis and about one; a joint or coordinate that turns has the second."""


@dataclass(frozen=True)
class Interface:
    """A place at which a machine is coupled with others.

    Attributes:
        takes: what comes in: "force", "motion" or "model".
        on: joint or coordinate; point: a named point; one of the two.
        rotates: whether the rotation of the point's body is coupled too (6 rows).
        stiffness, damping: between this side and the far one, one number for all rows along an axis, or one a row.
        given: what comes in as long as nothing else does, by its name ("force.x").
    """

    name: str
    takes: str
    on: str | None = None
    point: str | None = None
    rotates: bool = False
    stiffness: float | tuple[float, ...] | None = None
    damping: float | tuple[float, ...] | None = None
    given: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_name(flaws, self.name)
        if self.takes not in TAKES:
            flaws.add("takes", f"'{self.takes}' is unknown", nearest(str(self.takes), TAKES))
        freeze_mappings(flaws, self, "given")
        self._check_place(flaws)
        flaws.raise_if_any(f"interface '{self.name}'")
        self._set_rows(flaws, "stiffness")
        self._set_rows(flaws, "damping")
        self._check_elastic(flaws)
        for key, value in self.given.items():
            if check_finite(flaws, f"given.{key}", value) and key not in self._incoming():
                flaws.add(f"given.{key}", "does not come in here", nearest(key, self._incoming()))
        flaws.raise_if_any(f"interface '{self.name}'")

    def _check_place(self, flaws: FlawList) -> None:
        if (self.on is None) == (self.point is None):
            flaws.add("on", "give a joint or coordinate (on), or a point, and only one of them")
        for key in ("on", "point"):
            if getattr(self, key) is not None:
                check_text(flaws, key, getattr(self, key))
        check_flag(flaws, "rotates", self.rotates)
        if self.rotates and self.point is None:
            flaws.add("rotates", "has no effect on a joint or coordinate", "name a point")

    def _check_elastic(self, flaws: FlawList) -> None:
        if self.takes == "force":
            for key in ("stiffness", "damping"):
                if getattr(self, key) is not None:
                    flaws.add(key, "has no effect where a force comes in", "the other side of the cut has it")
        elif self.takes == "motion" and self.stiffness is None:
            flaws.add("stiffness", "is missing", "the motion of the far side acts through it")
        elif self.damping is not None and self.stiffness is None:
            flaws.add("damping", "has no effect without a stiffness", "a model without one is attached rigidly")

    def _set_rows(self, flaws: FlawList, key: str) -> None:
        """One number for each row; one number alone is that of every row along an axis."""
        value = as_floats(getattr(self, key))
        if value is None and not (key == "damping" and self.stiffness is not None):
            return
        rows = value if isinstance(value, tuple) else (0.0 if value is None else value,) * len(self.rows)
        if self.rotates and not isinstance(value, tuple) and value is not None:
            flaws.add(
                key, "must be six numbers: along x, y, z and about them", "the unit of a row about an axis differs"
            )
        elif len(rows) != len(self.rows):
            flaws.add(key, f"must be {len(self.rows)} numbers, has {len(rows)}")
        for k, entry in enumerate(rows):
            if check_finite(flaws, f"{key}[{k}]", entry) and entry < 0:
                flaws.add(f"{key}[{k}]", f"must not be negative, is {entry:g}")
        object.__setattr__(self, key, rows)

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the rows; a joint or coordinate has one without a name."""
        return ("",) if self.point is None else (*XYZ, *(ROTATION if self.rotates else ()))

    @property
    def rigid(self) -> bool:
        """Whether a model is attached without any give."""
        return self.takes == "model" and self.stiffness is None

    def names(self, quantity: str) -> tuple[str, ...]:
        """Full names of a quantity's signals or numbers: a row each; positions have no rotational rows, orientations
        nine entries, inertias the lower triangle."""
        return _full_names(self.name, quantity, self.rows)

    def _incoming(self) -> dict[str, float]:
        """What comes in, by its name without the interface's, with its value as long as nothing else does."""
        wanted = {"force": ("force",), "motion": ("far_position", "far_velocity")}.get(self.takes, ())
        if self.takes == "model":
            wanted = ("far_inertia", "far_force") if self.rigid else ("far_mobility", "far_acceleration")
        if self.rotates and not self.rigid and self.takes != "force":
            wanted = (*wanted, "far_orientation")
        return {tail: _idle(quantity, tail) for quantity in wanted for tail in tails(quantity, self.rows)}

    @property
    def incoming(self) -> tuple[str, ...]:
        """Full names of the numbers that come in."""
        return tuple(f"{self.name}.{tail}" for tail in self._incoming())

    def numbers(self) -> Iterator[Number]:
        for tail, idle in self._incoming().items():
            yield Number(f"{self.name}.{tail}", self.given.get(tail, idle), _unit(tail))
        for key in ("stiffness", "damping"):
            for row, value in zip(self.rows, getattr(self, key) or (), strict=False):
                tail = f"{key}.{row}" if row else key
                yield Number(f"{self.name}.{tail}", value, _unit(tail))

    def with_numbers(self, changes: Mapping[str, float]) -> Interface:
        own = {name.removeprefix(f"{self.name}."): value for name, value in changes.items()}
        given = {tail: own[tail] for tail in self._incoming() if f"{self.name}.{tail}" in changes}
        elastic = {
            key: tuple(changes.get(name, old) for name, old in zip(self.names(key), getattr(self, key), strict=True))
            for key in ("stiffness", "damping")
            if getattr(self, key) is not None
        }
        return dataclasses.replace(self, given=dict(self.given) | given, **elastic)  # type: ignore[arg-type]


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
    """No force, no motion, no turn; no inertia attached rigidly, and none that gives way behind a stiffness."""
    entry = tail.removeprefix(quantity).lstrip(".")
    return float(quantity == "far_orientation" and entry in ("xx", "yy", "zz"))


def _unit(tail: str) -> str:
    quantity, _, row = tail.partition(".")
    return UNITS[quantity][int(row in ROTATION)]
