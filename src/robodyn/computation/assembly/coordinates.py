"""Coordinates of a machine: where is each, as a function of the joint positions, and when does it leave its range?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from robodyn.base.symbolic import cos, minimum, sqrt
from robodyn.computation.assembly.contribution import Contribution, Deferred
from robodyn.computation.assembly.declarations import Ending, Guard
from robodyn.description.model import Distance, FunctionCoordinate, LinearCombination, PointCoordinate, TriangleLength

if TYPE_CHECKING:
    from robodyn.computation.assembly.motion import Motion


def express_coordinate(
    motion: Motion, coordinate: LinearCombination | Distance | TriangleLength | PointCoordinate | FunctionCoordinate
) -> tuple[str, ca.SX]:
    """Unit and position of a coordinate as a function of q."""
    index = motion.places
    if isinstance(coordinate, LinearCombination):
        first = next(freedom for freedom in motion.freedoms if freedom.name == next(iter(coordinate.of)))
        return first.unit, _weighted_sum(motion, coordinate, index)
    if isinstance(coordinate, Distance):
        apart = motion.point_position(coordinate.end) - motion.point_position(coordinate.start)
        return "m", sqrt(ca.sumsqr(apart))
    if isinstance(coordinate, TriangleLength):
        a, b = motion.context.values.vector(f"{coordinate.name}.sides", ("a", "b"))
        phi = _weighted_sum(motion, coordinate, index) + motion.context.values[f"{coordinate.name}.offset"]
        return "m", sqrt(a * a + b * b - 2 * a * b * cos(phi))
    if isinstance(coordinate, PointCoordinate):
        return "m", ca.dot(ca.DM(coordinate.direction), motion.point_position(coordinate.point))
    return coordinate.unit, _linkage_position(motion, coordinate, [motion.q[index[name]] for name in coordinate.of])


def _weighted_sum(motion: Motion, coordinate: LinearCombination | TriangleLength, index: dict[str, int]) -> ca.SX:
    return sum((weight * motion.q[index[name]] for name, weight in coordinate.of.items()), ca.SX(0))


def _linkage_position(motion: Motion, linkage: FunctionCoordinate, positions: list[ca.SX]) -> ca.SX:
    """The user's function of joint positions, traced; what it raises is reported as a flaw of that linkage."""
    try:
        return ca.SX(linkage.function(*positions))
    except Exception as error:  # noqa: BLE001  a user's function may raise anything
        what = f"its function cannot be traced: {type(error).__name__}: {str(error).splitlines()[0][:200]}"
        motion.context.flaws.add(f"coordinates.{linkage.name}", what, "take functions from robodyn.symbolic")
        return positions[0]


def guard_ranges(motion: Motion) -> Contribution:
    """A terminal guard for each coordinate that has a range; a start outside is a flaw."""
    guards = []
    for coordinate in motion.context.scenario.machine.coordinates:
        if coordinate.range is None:
            continue
        lower, upper = coordinate.range
        position = motion.positions[coordinate.name]
        start = motion.value_at_start(motion.exact[coordinate.name])
        if not lower <= start <= upper:
            what = f"the start position {start:.6g} is out of reach, allowed is {lower:g} to {upper:g}"
            motion.context.flaws.add(f"coordinates.{coordinate.name}.range", what, "change initial or the range")
        # Positive within the range, zero at both of its ends: it falls through zero where the range is left.
        inside = minimum(position - lower, upper - position)
        guard = Guard(f"{coordinate.name}.range", -1, Ending.OUT_OF_REACH, coordinate=coordinate.name)
        guards.append((guard, Deferred(inside, {})))
    return Contribution(guards=tuple(guards))
