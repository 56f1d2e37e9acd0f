"""Rolling wheels: where does a wheel touch its plane, and how fast does its rim move there?

Symbols: n normal of the plane, a axis of the wheel, p its centre and r its radius. The rim is lowest along

    d = -(n - (n.a) a) / |...|,   c = p + r d,   u = p' + omega x r d

where it touches at c with the velocity u of the material there: without slipping it is zero. Its part along the normal
follows from a position, n.c = height; the two others follow from none (non-holonomic).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from robodyn.base.symbolic import sqrt
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.dynamics import geometric_jacobian
from robodyn.description.model import Wheel


@dataclass(frozen=True)
class Touch:
    """Where a wheel touches.

    Attributes:
        place: in the world [m]; velocity: of the rim there [m/s]; height: of the place above the plane [m].
        directions: along, across and normal, unit vectors of the world.
    """

    place: ca.SX
    velocity: ca.SX
    height: ca.SX
    directions: tuple[ca.SX, ca.SX, ca.SX]

    @property
    def slips(self) -> list[ca.SX]:
        """Velocities along and across [m/s]."""
        return [ca.dot(direction, self.velocity) for direction in self.directions[:2]]


def find_touch(motion: Motion, wheel: Wheel) -> Touch:
    """The touch of a wheel on its plane."""
    n = ca.DM(wheel.normal)
    a = motion.point_rotation(wheel.center) @ ca.DM(wheel.axis)
    upright = n - ca.dot(n, a) * a
    down = -upright / sqrt(ca.sumsqr(upright))
    ahead = ca.cross(a, n)
    ahead = ahead / sqrt(ca.sumsqr(ahead))
    reach = motion.context.values[f"{wheel.name}.radius"] * down
    place = motion.point_position(wheel.center) + reach
    link, pose = motion.point_pose(wheel.center)
    q: Any = motion.q
    J = ca.SX(geometric_jacobian(motion.mechanics.tree, q, link, pose.p))
    omega, u = ca.SX(J[:3, :] @ motion.v), ca.SX(J[3:, :] @ motion.v)
    height = ca.dot(n, place) - motion.context.values[f"{wheel.name}.height"]
    return Touch(place, u + ca.cross(omega, reach), height, (ahead, ca.cross(n, ahead), ca.SX(n)))
