"""Joints and points: how are two bodies joined, and which frames on a body have names?"""

from __future__ import annotations

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
from robodyn.model.numbers import Floats, Rows

GROUND = "ground"
KINDS = ("revolute", "prismatic", "fixed")
ARMATURE = {"revolute": "kg m^2", "prismatic": "kg"}
"""Unit of a rotor's inertia as its joint sees it."""


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

    def check(self, flaws: FlawList) -> None:
        if self.kind != "fixed":
            return
        if self.axis != Z_AXIS and not flaws.concern("axis"):
            flaws.add("axis", "has no effect on a fixed joint", "turn the child by rotation instead")
        if self.armature != 0 and not flaws.concern("armature"):
            flaws.add("armature", "has no effect on a fixed joint", "leave it out")

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
