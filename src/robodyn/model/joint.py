"""Joints and points: how are two bodies joined, and which frames on a body have names?"""

from __future__ import annotations

import math
from collections.abc import Mapping

from robodyn.errors import FlawList
from robodyn.model.description import Description
from robodyn.model.fields import (
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
from robodyn.model.joint_block import JointBlock
from robodyn.model.numbers import Floats, Rows

GROUND = "ground"
KINDS = ("revolute", "prismatic", "fixed")
ARMATURE = {"revolute": "kg m^2", "prismatic": "kg"}
"""Unit of a rotor's inertia as its joint sees it."""
POSITION = {"revolute": "rad", "prismatic": "m"}
EFFORT = {"revolute": "N m", "prismatic": "N"}
DAMPING = {"revolute": "N m s/rad", "prismatic": "N s/m"}
STIFFNESS = {"revolute": "N m/rad", "prismatic": "N/m"}
LIMITS = ("lower_limit", "upper_limit", "speed_limit", "acceleration_limit", "effort_limit")
LOSSES = ("damping", "friction")
STOPS = ("stop_stiffness", "stop_damping")
STOP = {"lower": "lower_limit", "upper": "upper_limit", "stiffness": "stop_stiffness", "damping": "stop_damping"}
ENDLESS = {"end_stop": {"lower": -math.inf, "upper": math.inf}}
"""Parameters of a law -> fields of the joint; and what stands in for limits that there are not."""
NONE = "no limit"


def rate_of(units: Mapping[str, str], time: str) -> dict[str, str]:
    return {kind: f"{unit}/{time}" for kind, unit in units.items()}


class Joint(Description):
    """A joint: at zero position the child's frame stands at `origin`, rotated by `rotation`, in the parent's."""

    NOUN = "joint"

    name: str = part_name()
    kind: str = choice(KINDS, doc="whether it rotates about its axis, slides along it, or does neither")
    parent: str = reference("body", doc='body that carries it, or `"ground"`')
    child: str = reference("body", doc="body it carries")
    origin: Floats = place(
        default=ZERO,
        frame="parent",
        doc="of the child's frame in the parent's; a place of a node where the parent is flexible",
        absent="0, 0, 0, or that of `node`",
    )
    rotation: Rows = rotation_matrix(default=IDENTITY, frame="parent", doc="R_parent_child at zero position")
    axis: Floats = unit_vector(default=Z_AXIS, doc="in the child's frame")
    armature: float = quantity(
        ARMATURE, by="kind", non_negative=True, default=0.0, doc="rotor inertia as the joint sees it"
    )
    node: str | None = text(
        default=None,
        doc="of a flexible parent: the node that carries it, by a rigid bracket where an `origin` is given too",
        absent="the one at `origin`",
    )
    lower_limit: float | None = quantity(POSITION, by="kind", default=None, doc="least position", absent=NONE)
    upper_limit: float | None = quantity(POSITION, by="kind", default=None, doc="largest position", absent=NONE)
    speed_limit: float | None = quantity(
        rate_of(POSITION, "s"), by="kind", positive=True, default=None, doc="largest speed either way", absent=NONE
    )
    acceleration_limit: float | None = quantity(
        rate_of(POSITION, "s^2"), by="kind", positive=True, default=None, doc="the same of acceleration", absent=NONE
    )
    effort_limit: float | None = quantity(
        EFFORT,
        by="kind",
        positive=True,
        default=None,
        doc="largest torque or force that drives may put on it either way; friction, springs and constraints aside",
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

    def check(self, flaws: FlawList) -> None:
        if self.kind == "fixed":
            self._check_fixed(flaws)
            return
        if flaws.concern("lower_limit", "upper_limit"):
            return
        lower, upper = self.lower_limit, self.upper_limit
        if lower is not None and upper is not None and not lower < upper:
            flaws.add("upper_limit", f"must be above lower_limit ({lower:g}), is {upper:g}", "swap the two")
        if self.stop_stiffness is not None and lower is None and upper is None:
            flaws.add("stop_stiffness", "has no effect without a limit", "give lower_limit or upper_limit, or both")
        if self.stop_damping is not None and self.stop_stiffness is None:
            flaws.add("stop_damping", "has no effect without end stops", "give stop_stiffness")

    def _check_fixed(self, flaws: FlawList) -> None:
        if self.axis != Z_AXIS and not flaws.concern("axis"):
            flaws.add("axis", "has no effect on a fixed joint", "turn the child by rotation instead")
        for field in ("armature", *LIMITS, *LOSSES, *STOPS):
            if getattr(self, field) not in (None, 0.0) and not flaws.concern(field):
                flaws.add(field, "has no effect on a fixed joint", "leave it out")

    @property
    def blocks(self) -> tuple[JointBlock, ...]:
        """What damping, friction and end stops are to the machine: laws on this joint, with its own numbers."""
        found = []
        if self.damping is not None:
            found.append(self._block("damping", "viscous_friction", viscous="damping"))
        if self.friction is not None:
            found.append(self._block("friction", "stick_friction", coulomb="friction"))
        if self.stop_stiffness is not None:
            found.append(self._block("end_stop", "end_stop", **STOP))
        return tuple(found)

    def _block(self, name: str, law: str, **fields: str) -> JointBlock:
        """A law whose parameters are fields of this joint; what it does not have limits nothing."""
        given = {key: field for key, field in fields.items() if getattr(self, field) is not None}
        parameters = ENDLESS.get(law, {}) | {key: getattr(self, field) for key, field in given.items()}
        sources = {key: f"{self.name}.{field}" for key, field in given.items()}
        return JointBlock(f"{self.name}.{name}", law, self.name, parameters=parameters, sources=sources)

    def without_blocks(self) -> Joint:
        """The same joint without damping, friction and end stops."""
        return self.replaced(**dict.fromkeys((*LOSSES, *STOPS))) if self.blocks else self

    @property
    def limits(self) -> dict[str, float]:
        """The limits that it has, by field."""
        return {field: getattr(self, field) for field in LIMITS if getattr(self, field) is not None}

    @property
    def tunable(self) -> set[str]:
        """Names of its numbers that are outside of the mechanics: they change without compiling again."""
        given = [field for field in (*LIMITS, *LOSSES, *STOPS) if getattr(self, field) is not None]
        return {f"{self.name}.{field}" for field in given}

    @property
    def rotates(self) -> bool:
        """Whether its position is an angle."""
        return self.kind == "revolute"


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
