"""Joints: how two bodies move against each other, with which limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from robodyn.base import FlawList, frozen
from robodyn.base.spatial import perpendicular_to
from robodyn.base.symbolic import absolute

from .block import JointBlock
from .description import Description
from .fields import (
    IDENTITY,
    Z_AXIS,
    ZERO,
    choice,
    part_name,
    place,
    quantity,
    reference,
    rotation_matrix,
    text,
    unit_vector,
)
from .fields import child as description
from .numbers import XYZ, Floats, Rows, as_floats

# --------------------------------------------------------------------------------------------------
# Limits of joints: which quantity does each bound, and how far is a value beyond it?


BOUNDED = {
    "lower_limit": ("position", -1.0),
    "upper_limit": ("position", 1.0),
    "speed_limit": ("velocity", None),
    "acceleration_limit": ("acceleration", None),
    "effort_limit": ("effort", None),
}
"""Quantity of the joint, and the side on which it is bounded; None for both."""
SLACK, LEAST_SLACK = 1e-6, 1e-9
"""Part of a limit, and least amount [rad, m ...], by which a value may be beyond it: rounding passes no limit."""


def excess(field: str, value: Any, limit: Any) -> Any:
    """How far a value is beyond a limit, positive where it passes it; numbers, arrays or symbols."""
    side = BOUNDED[field][1]
    return (absolute(value) - limit if side is None else side * (value - limit)) - slack(limit)


def slack(limit: Any) -> Any:
    """The amount by which a value may be beyond a limit."""
    return SLACK * absolute(limit) + LEAST_SLACK


def value_beyond(field: str, excess: float, limit: float) -> float:
    """The value that is that far beyond a limit; where both directions are bounded, its magnitude."""
    return limit + (BOUNDED[field][1] or 1.0) * (excess + float(slack(limit)))


# --------------------------------------------------------------------------------------------------
# Degrees of freedom: which elementary motions is a joint made of, and what are their states called?
#
# A joint is a chain of elementary motions. Those along or about an axis are used like joints of their own, under their
# own names: `base.x` of a free joint, `fork.second` of a universal one.


QUATERNION = ("w", "x", "y", "z")


@frozen
class Freedom:
    """An elementary motion.

    Attributes:
        kind: "revolute", "prismatic", "screw" or "ball"; a mode of a flexible body is one of the first two.
        axis: of a joint's, but for a ball.
    """

    name: str
    kind: str
    axis: Floats | None = None

    @property
    def is_single(self) -> bool:
        """Whether it has one position, whose rate is its velocity."""
        return self.kind != "ball"

    @property
    def rotates(self) -> bool:
        """Whether its position is an angle."""
        return self.kind != "prismatic"

    @property
    def positions(self) -> dict[str, str]:
        """Names and units of its positions, the states q."""
        if self.kind == "ball":
            return {f"{self.name}.orientation.{part}": "" for part in QUATERNION}
        return {f"{self.name}.position": self.unit}

    @property
    def origin(self) -> dict[str, float]:
        """Its positions where it has not moved."""
        return {name: float(name.endswith(".w")) for name in self.positions}

    @property
    def velocities(self) -> dict[str, str]:
        """Names and units of its velocities, the states v."""
        return self._rates("velocity", "/s")

    @property
    def states(self) -> dict[str, str]:
        """Names and units of its positions and velocities."""
        return self.positions | self.velocities

    @property
    def accelerations(self) -> dict[str, str]:
        """Names and units of the rates of its velocities."""
        return self._rates("acceleration", "/s^2")

    @property
    def forces(self) -> dict[str, str]:
        """Names and units of the forces or torques on it."""
        name, unit = ("torque", "N m") if self.rotates else ("force", "N")
        if self.kind == "ball":
            return {f"{self.name}.{name}.{axis}": unit for axis in XYZ}
        return {f"{self.name}.{name}": unit}

    @property
    def unit(self) -> str:
        """The unit of its position."""
        return "rad" if self.rotates else "m"

    def _rates(self, quantity: str, suffix: str) -> dict[str, str]:
        if self.kind == "ball":
            return {f"{self.name}.angular_{quantity}.{axis}": f"rad{suffix}" for axis in XYZ}
        return {f"{self.name}.{quantity}": self.unit + suffix}


# --------------------------------------------------------------------------------------------------
# Joints and points: how are two bodies joined, and which frames on a body have names?


GROUND = "ground"
SQUARE = 1e-9
"""Cosine of an angle that is still a right one."""
SINGLE = ("revolute", "prismatic", "screw")
"""Kinds of joints with one position."""
KINDS = (*SINGLE, "fixed", "ball", "free", "planar", "universal", "cylindrical")
ARMATURE = {"revolute": "kg m^2", "prismatic": "kg", "screw": "kg m^2"}
"""Unit of a rotor's inertia as its joint sees it."""
POSITION = {"revolute": "rad", "prismatic": "m", "screw": "rad"}
EFFORT = {"revolute": "N m", "prismatic": "N", "screw": "N m"}
DAMPING = {"revolute": "N m s/rad", "prismatic": "N s/m", "screw": "N m s/rad"}
STIFFNESS = {"revolute": "N m/rad", "prismatic": "N/m", "screw": "N m/rad"}
LIMITS = tuple(BOUNDED)
LOSSES = ("damping", "friction")
STOPS = ("stop_stiffness", "stop_damping", "stop_restitution")
OF_SINGLE = (*LIMITS, *LOSSES, *STOPS)
"""Properties that only joints with one position have."""
STOP = {"lower": "lower_limit", "upper": "upper_limit", "stiffness": "stop_stiffness", "damping": "stop_damping"}
ENDLESS = {"end_stop": {"lower": -math.inf, "upper": math.inf}}
"""Parameters of a law -> fields of the joint; and what stands in for limits that there are not."""
NONE = "no limit"


def rate_of(units: Mapping[str, str], time: str) -> dict[str, str]:
    return {kind: f"{unit}/{time}" for kind, unit in units.items()}


class Mimic(Description):
    """A joint that follows another one: `position = ratio leader + offset`."""

    NOUN = "mimic"

    joint: str = reference("moving joint", doc="the one it follows, its leader")
    ratio: float = quantity(named=False, default=1.0, doc="its motion per motion of its leader")
    offset: float = quantity(default=0.0, doc="its position where its leader's is 0")

    def check(self, flaws: FlawList) -> None:
        if self.ratio == 0 and not flaws.concern("ratio"):
            flaws.add("ratio", "must not be 0: it would not follow", 'for a joint that stands still use "fixed"')


class Joint(Description):
    """A joint: at zero position the child's frame stands at `origin`, rotated by `rotation`, in the parent's."""

    NOUN = "joint"

    name: str = part_name()
    kind: str = choice(KINDS, doc="which [motion](machines.md#joints) it allows")
    parent: str = reference("body", doc='body that carries it, or `"ground"`')
    child: str = reference("body", doc="body it carries")
    origin: Floats = place(
        default=ZERO,
        frame="parent",
        doc="of the child's frame in the parent's; a place of a node where the parent is flexible",
        absent="0, 0, 0, or that of `node`",
    )
    rotation: Rows = rotation_matrix(default=IDENTITY, frame="parent", doc="R_parent_child at zero position")
    axis: Floats = unit_vector(default=Z_AXIS, doc="in the child's frame; of a planar joint its normal")
    armature: float = quantity(
        ARMATURE, by="kind", non_negative=True, default=0.0, doc="rotor inertia as the joint sees it"
    )
    node: str | None = text(
        default=None,
        doc="of a flexible parent: the node that carries it, by a rigid bracket where an `origin` is given too",
        absent="the one at `origin`",
    )
    second_axis: Floats | None = unit_vector(
        default=None,
        doc="perpendicular to `axis`: a universal joint's second axis, in the child's frame; a planar joint's `x`",
        absent="any that is",
    )
    pitch: float = quantity(
        {"screw": "m/rad"}, by="kind", default=0.0, doc="of a screw: how far it advances per angle", absent="none"
    )
    lower_limit: float | None = quantity(POSITION, by="kind", default=None, doc="least position", absent=NONE)
    upper_limit: float | None = quantity(POSITION, by="kind", default=None, doc="largest position", absent=NONE)
    speed_limit: float | None = quantity(
        rate_of(POSITION, "s"),
        by="kind",
        positive=True,
        default=None,
        doc="largest speed in either direction",
        absent=NONE,
    )
    acceleration_limit: float | None = quantity(
        rate_of(POSITION, "s^2"), by="kind", positive=True, default=None, doc="the same of acceleration", absent=NONE
    )
    effort_limit: float | None = quantity(
        EFFORT,
        by="kind",
        positive=True,
        default=None,
        doc="largest torque or force of drives in either direction; without friction, springs and constraints",
        absent=NONE,
    )
    damping: float | None = quantity(
        DAMPING, by="kind", non_negative=True, default=None, doc="viscous damping", absent="none"
    )
    friction: float | None = quantity(
        EFFORT, by="kind", non_negative=True, default=None, doc="dry friction that sticks and slides", absent="none"
    )
    stop_stiffness: float | None = quantity(
        STIFFNESS, by="kind", positive=True, default=None, doc="of end stops at its limits", absent="no end stops"
    )
    stop_damping: float | None = quantity(
        DAMPING, by="kind", non_negative=True, default=None, doc="of the end stops", absent="0"
    )
    stop_restitution: float | None = quantity(
        within=(0.0, 1.0),
        default=None,
        doc="of rigid end stops at its limits: speed after over speed before an impact, 0 to 1",
        absent="no rigid ones",
    )
    mimic: Mimic | None = description(
        Mimic,
        default=None,
        doc="table of the joint it [follows](machines.md#mimic-joints), a `ratio` and an `offset`",
        absent="it follows none",
    )

    def check(self, flaws: FlawList) -> None:
        no_effect = {
            "axis": self.kind in ("fixed", "ball", "free") and self.axis != Z_AXIS,
            "armature": self.kind not in SINGLE and self.armature != 0,
            "pitch": self.kind != "screw" and self.pitch != 0,
            "mimic": self.kind not in SINGLE and self.mimic is not None,
            "second_axis": self.kind not in ("universal", "planar") and self.second_axis is not None,
        }
        no_effect |= {field: self.kind not in SINGLE and getattr(self, field) is not None for field in OF_SINGLE}
        for field in (field for field, stated in no_effect.items() if stated and not flaws.concern(field)):
            flaws.add(field, f"has no effect on a {self.kind} joint", "leave it out")
        if self.kind == "screw" and self.pitch == 0 and not flaws.concern("pitch"):
            flaws.add(
                "pitch", "a screw must have one", 'give how far it advances, such as "5 mm/rev", or kind "revolute"'
            )
        if self.second_axis is not None and abs(np.dot(self.axis, self.second_axis)) > SQUARE:
            flaws.add("second_axis", "must be perpendicular to axis", "for other angles use two revolute joints")
        if self.kind in SINGLE and not flaws.concern("lower_limit", "upper_limit"):
            lower, upper = self.lower_limit, self.upper_limit
            if lower is not None and upper is not None and not lower < upper:
                flaws.add("upper_limit", f"must be above lower_limit ({lower:g}), is {upper:g}", "swap the two")
            for stop in ("stop_stiffness", "stop_restitution") if lower is None and upper is None else ():
                if getattr(self, stop) is not None:
                    flaws.add(stop, "has no effect without a limit", "give lower_limit or upper_limit, or both")
            if self.stop_restitution is not None and self.stop_stiffness is not None:
                flaws.add(
                    "stop_restitution",
                    "is for rigid end stops, stop_stiffness for elastic ones",
                    "leave one of them out",
                )
            if self.stop_damping is not None and self.stop_stiffness is None:
                flaws.add("stop_damping", "has no effect without end stops", "give stop_stiffness")

    @property
    def blocks(self) -> tuple[JointBlock, ...]:
        """Damping, friction and end stops as the machine takes them: laws on this joint, with its own numbers."""
        parts = []
        if self.damping is not None:
            parts.append(self._block("damping", "viscous_friction", viscous="damping"))
        if self.friction is not None:
            parts.append(self._block("friction", "stick_friction", coulomb="friction"))
        if self.stop_stiffness is not None:
            parts.append(self._block("end_stop", "end_stop", **STOP))
        return tuple(parts)

    def _block(self, name: str, law: str, **fields: str) -> JointBlock:
        """A law whose parameters are fields of this joint; what it does not have limits nothing."""
        properties = {key: field for key, field in fields.items() if getattr(self, field) is not None}
        parameters = ENDLESS.get(law, {}) | {key: getattr(self, field) for key, field in properties.items()}
        sources = {key: f"{self.name}.{field}" for key, field in properties.items()}
        return JointBlock(f"{self.name}.{name}", law, self.name, parameters=parameters, sources=sources)

    def without_blocks(self) -> Joint:
        """This joint without damping, friction and end stops."""
        return self.replaced(**dict.fromkeys((*LOSSES, *STOPS))) if self.blocks else self

    @property
    def limits(self) -> dict[str, float]:
        """The limits that it has, by field."""
        return {field: getattr(self, field) for field in LIMITS if getattr(self, field) is not None}

    @property
    def tunable(self) -> set[str]:
        """Names of its numbers that are outside of the mechanics: they change without compiling again."""
        properties = [field for field in OF_SINGLE if getattr(self, field) is not None]
        return {f"{self.name}.{field}" for field in properties}

    @property
    def rotates(self) -> bool:
        """Whether its position is an angle."""
        return self.kind in ("revolute", "screw")

    @property
    def unit(self) -> str:
        """The unit of its position."""
        return "rad" if self.rotates else "m"

    @property
    def effort_unit(self) -> str:
        """The unit of what drives it."""
        return "N m" if self.rotates else "N"

    @property
    def derived(self) -> dict[str, Any]:
        """The motions of a joint of several: name, kind and axis of each."""
        if self.kind in (*SINGLE, "fixed"):
            return {}
        return {"motions": [[freedom.name, freedom.kind, list(freedom.axis or Z_AXIS)] for freedom in self.freedoms]}

    @property
    def freedoms(self) -> tuple[Freedom, ...]:
        """The elementary motions that it is made of, from the parent to the child."""
        if self.kind in SINGLE:
            return (Freedom(self.name, self.kind, self.axis),)
        return tuple(
            Freedom(f"{self.name}{suffix}", kind, axis) for suffix, kind, axis in CHAINS[self.kind](*self._directions)
        )

    @property
    def _directions(self) -> tuple[Floats, Floats, Floats]:
        """Axis, second axis, and what is perpendicular to both."""
        second = np.array(self.second_axis or -perpendicular_to(np.array(self.axis))[1])
        return self.axis, as_floats(second), as_floats(np.cross(self.axis, second))


Chain = list[tuple[str, str, Floats | None]]
CHAINS: dict[str, Callable[[Floats, Floats, Floats], Chain]] = {
    "fixed": lambda axis, second, third: [],
    "ball": lambda axis, second, third: [("", "ball", None)],
    "free": lambda axis, second, third: [*_slides(XYZ, IDENTITY), ("", "ball", None)],
    "planar": lambda axis, second, third: [*_slides("xy", (second, third)), (".angle", "revolute", axis)],
    "universal": lambda axis, second, third: [(".first", "revolute", axis), (".second", "revolute", second)],
    "cylindrical": lambda axis, second, third: [(".angle", "revolute", axis), (".slide", "prismatic", axis)],
}
"""Names, kinds and axes of the motions that a joint of several is made of, by its axis and two perpendicular to it."""


def name_axes(joint: str, kind: str) -> list[str]:
    """Names of the motions along or about an axis of a joint; of one of unknown kind, the joint itself."""
    chain = CHAINS[kind](Z_AXIS, Z_AXIS, Z_AXIS) if kind in CHAINS else [("", kind, None)]
    return [joint + suffix for suffix, own, _ in chain if own != "ball"]


def _slides(names: Iterable[str], axes: Iterable[Floats]) -> Chain:
    return [(f".{name}", "prismatic", axis) for name, axis in zip(names, axes, strict=True)]


class Point(Description):
    """A named point of a body: its world position and velocity become signals, forces can act there."""

    NOUN = "point"

    name: str = part_name()
    body: str = reference("body", doc="the body it is on")
    origin: Floats = place(
        default=ZERO,
        frame="body",
        doc="in the body's frame; a place of a node where the body is flexible",
        absent="0, 0, 0, or that of `node`",
    )
    node: str | None = text(
        default=None,
        doc="of a flexible body: the node that carries it, as for joints",
        absent="the one at `origin`",
    )
