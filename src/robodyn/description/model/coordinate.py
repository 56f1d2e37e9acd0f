"""Coordinates and mimic joints: lengths and angles that joints make."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.base import FlawList, nearest

from .constraint import LinearConstraint, check_ends
from .description import Description
from .fields import (
    X_AXIS,
    Z_AXIS,
    choice,
    part_name,
    plain_function,
    quantity,
    reference,
    references,
    unit_vector,
    vector,
    weights,
)
from .joint import Joint, Mimic
from .kinds import WORLD, Vector
from .numbers import Floats

# --------------------------------------------------------------------------------------------------
# Coordinates: along which lengths and angles of a mechanism can forces act? Named scalars s(q).
#
# A coordinate has signals `position` and `velocity`; a force f on it reaches the joints by the transpose of its
# gradient: `tau = (ds/dq)^T f`. Each joint is such a coordinate already.
#
# A coordinate may have a `range`, its stroke: (lower, upper) in its own unit. A start outside is an error; a run that
# leaves it ends there, out of reach.


class Stroke(Vector):
    """A stroke goes from a lower to an upper end."""

    def settle(self, flaws: FlawList, path: str, value: Any) -> Any:
        value = super().settle(flaws, path, value)
        if not flaws.concern(path) and not value[0] < value[1]:
            flaws.add(path, f"must go from lower to upper, is {value[0]:g} to {value[1]:g}")
        return value


def _stroke(unit: str) -> Any:
    doc = "lower and upper end of its travel; leaving it ends the run, out of reach"
    return vector(unit, 2, default=None, make=Stroke, doc=doc, absent="none")


class LinearCombination(Description):
    """A weighted sum of joint positions (coupled gears): `s = sum c_i q_i`."""

    NOUN, MARKS = "coordinate", ("of",)

    name: str = part_name()
    of: Mapping[str, float] = weights(
        "moving joint", doc="table of joints with their weights: a weighted sum, in their unit"
    )
    inertia: float = quantity(
        "kg m^2", written="{I}", non_negative=True, default=0.0, doc="of a rotor that rotates with it"
    )
    range: tuple[float, float] | None = _stroke("{x}")


class Distance(Description):
    """The distance between two points (a strut, a spring, a cylinder) [m]."""

    NOUN, MARKS = "coordinate", ("between",)

    name: str = part_name()
    start: str = reference("point", key="between[0]", doc="two points: their distance")
    end: str = reference("point", key="between[1]")
    range: tuple[float, float] | None = _stroke("m")

    def check(self, flaws: FlawList) -> None:
        check_ends(flaws, self, "start", "end")


class TriangleLength(Description):
    """The third side of a triangle whose two other sides turn with the joints: a cylinder beside a hinge [m].

        s = sqrt(a^2 + b^2 - 2 a b cos(phi)),   phi = sum c_i q_i + offset

    For pictures alone it may have a place: the point at the hinge, the direction of side b and the hinge's axis; side a
    is the arm turned about the axis by phi.
    """

    NOUN, MARKS = "coordinate", ("of", "sides")

    name: str = part_name()
    of: Mapping[str, float] = weights("moving joint", doc="table of joints with their weights: the angle")
    sides: tuple[float, float] = vector(
        "m", 2, suffixes=("a", "b"), positive=True, doc="two lengths; the coordinate is the third side"
    )
    offset: float = quantity("rad", default=0.0, doc="added to that angle")
    range: tuple[float, float] | None = _stroke("m")
    at: str | None = reference(
        "point", default=None, doc="the point at the hinge, where pictures draw the cylinder", absent="not drawn"
    )
    arm: Floats = vector(
        "",
        suffixes=(),
        zero=False,
        default=X_AXIS,
        frame="at",
        doc="with `at`: direction of the second side, in that point's body",
    )
    axis: Floats = vector(
        "", suffixes=(), zero=False, default=Z_AXIS, frame="at", doc="with `at`: the hinge's axis, likewise"
    )

    @property
    def reach(self) -> tuple[float, float]:
        """Shortest and longest possible length [m]: `|a - b|` and `a + b`."""
        a, b = self.sides
        return abs(a - b), a + b

    def check(self, flaws: FlawList) -> None:
        if self.range is not None and not flaws.concern("sides", "range"):
            self._check_reach(flaws, *self.range)
        if not flaws.concern("arm", "axis"):
            for field in self.stated("arm", "axis") if self.at is None else ():
                flaws.add(field, "has no effect without at", "name the point at the hinge")
            if self.at is not None and not np.any(np.cross(self.arm, self.axis)):
                flaws.add(
                    "arm", "is parallel to the axis", "the arm rotates about the axis: make it perpendicular to it"
                )

    def _check_reach(self, flaws: FlawList, lower: float, upper: float) -> None:
        shortest, longest = self.reach
        if not shortest <= lower < upper <= longest:
            what = f"{lower:g} to {upper:g} m is out of reach of the sides"
            flaws.add("range", what, f"they allow {shortest:.6g} to {longest:.6g} m")


class PointCoordinate(Description):
    """The world position of a point along a fixed direction (a force in that direction acts there) [m]."""

    NOUN, MARKS = "coordinate", ("point",)

    name: str = part_name()
    point: str = reference("point", doc="a point: its world position along `direction`")
    direction: Floats = unit_vector(frame=WORLD, doc="in world axes")
    range: tuple[float, float] | None = _stroke("m")


class FunctionCoordinate(Description):
    """Any scalar function of joint positions, written as a plain function; its derivatives are exact."""

    NOUN, MARKS = "coordinate", ("of", "function")

    name: str = part_name()
    of: tuple[str, ...] = references("moving joint", doc="list of joints, whose positions the function takes")
    function: Callable[..., Any] = plain_function(doc='of their positions: `"my_laws.py:function"`')
    unit: str = choice(("m", "rad"), default="m", doc="what it returns")
    range: tuple[float, float] | None = _stroke("{x}")


Coordinate = LinearCombination | Distance | TriangleLength | PointCoordinate | FunctionCoordinate
COORDINATES = (LinearCombination, Distance, TriangleLength, PointCoordinate, FunctionCoordinate)


def coordinate_unit(coordinate: Coordinate, joints: Mapping[str, str]) -> str:
    """Unit of a coordinate's position, "rad" or "m"; empty for a sum of angles and lengths.

    Args:
        joints: unit of each joint's position.
    """
    if isinstance(coordinate, LinearCombination):
        return common_unit(coordinate.of, joints)
    return coordinate.unit if isinstance(coordinate, FunctionCoordinate) else "m"


def common_unit(names: Iterable[Any], units: Mapping[str, str]) -> str:
    """The unit that all positions of these names have; empty where they differ or are not known."""
    distinct = {units.get(str(name), "") for name in names}
    return distinct.pop() if len(distinct) == 1 else ""


# --------------------------------------------------------------------------------------------------
# Mimic joints: which constraints and start values follow from joints that follow others?


CONTRADICTS = 1e-9
"""Difference, absolute and relative, beyond which a given start value contradicts the one that follows."""


def followers(joints: Sequence[Joint]) -> dict[str, Mimic]:
    """Joints that follow another one."""
    return {joint.name: joint.mimic for joint in joints if joint.mimic is not None}


def mimic_constraints(joints: Sequence[Joint]) -> tuple[LinearConstraint, ...]:
    """`follower - ratio leader = offset`, one a follower, each by the name `<joint>.mimic`."""
    return tuple(
        LinearConstraint(f"{name}.mimic", {name: 1.0, mimic.joint: -mimic.ratio}, mimic.offset)
        for name, mimic in followers(joints).items()
    )


def check_mimics(flaws: FlawList, joints: Sequence[Joint]) -> None:
    """Leaders are axes of joints, and no joint follows itself through others."""
    axes = [freedom.name for joint in joints for freedom in joint.freedoms if freedom.is_single]
    fixed = [joint.name for joint in joints if joint.kind == "fixed"]
    mimics = followers(joints)
    for name, mimic in mimics.items():
        path = f"joints.{name}.mimic.joint"
        if mimic.joint in fixed:
            flaws.add(path, f"'{mimic.joint}' is fixed", "a fixed joint cannot lead; make this one fixed too")
        elif mimic.joint not in axes:
            flaws.add(path, f"there is no moving joint '{mimic.joint}'", nearest(mimic.joint, axes))
        elif name in _leaders(name, mimics):
            round_trip = " -> ".join([name, *_leaders(name, mimics)])
            flaws.add(path, f"the joint follows itself: {round_trip}", "remove the mimic of one of them")
    if not flaws.found:
        _check_reach(flaws, joints)


def _check_reach(flaws: FlawList, joints: Sequence[Joint]) -> None:
    """Check that a joint's leader can bring it to positions within its own limits."""
    ranges = {joint.name: _range(joint) for joint in joints}
    for name, mimic in followers(joints).items():
        # Axes of joints of several motions have no limits.
        least, most = sorted(mimic.ratio * end + mimic.offset for end in ranges.get(mimic.joint, (-math.inf, math.inf)))
        own_least, own_most = ranges[name]
        if least > own_most or most < own_least:
            what = f"'{mimic.joint}' brings the joint to {least:g} to {most:g}, its own limits are {own_least:g} to"
            flaws.add(
                f"joints.{name}.mimic",
                f"{what} {own_most:g}",
                "change the ratio, the offset or the limits of one of them",
            )


def _range(joint: Joint) -> tuple[float, float]:
    lower, upper = joint.limits.get("lower_limit", -math.inf), joint.limits.get("upper_limit", math.inf)
    return lower, upper


def _leaders(name: str, mimics: Mapping[str, Mimic]) -> list[str]:
    """Whom a joint follows, whom that one follows, and so on until one follows none or comes again."""
    chain: list[str] = []
    while name in mimics and mimics[name].joint not in chain:
        name = mimics[name].joint
        chain.append(name)
    return chain


def follow(initial: Mapping[str, float], joints: Sequence[Joint]) -> dict[str, float]:
    """Start values of all followers, as their leaders' say; given ones of followers lead those that follow them."""
    mimics = followers(joints)
    starts: dict[str, float] = {}

    def start(name: str, quantity: str) -> float:
        key = f"{name}.{quantity}"
        if name in mimics and key not in starts:
            mimic = mimics[name]
            own = mimic.ratio * start(mimic.joint, quantity) + (mimic.offset if quantity == "position" else 0.0)
            starts[key] = own
        return initial.get(key, starts.get(key, 0.0))

    for name in mimics:
        for motion in ("position", "velocity"):
            start(name, motion)
    return starts


def check_starts(flaws: FlawList, initial: Mapping[str, float], joints: Sequence[Joint]) -> None:
    """Given start values of followers must be those that follow from their leaders'."""
    for key, value in follow(initial, joints).items():
        start, name = initial.get(key, value), key.rpartition(".")[0]
        begins = initial.get(f"{name}.mimic.active", 1.0) != 0
        if begins and abs(start - value) > CONTRADICTS * max(1.0, abs(value)):
            leader = followers(joints)[name].joint
            flaws.add(
                f"initial.{key}", f"is {start:g}, but it follows '{leader}' and begins at {value:.9g}", "leave it out"
            )
