"""Contact geometry: where do bodies touch, how deep, and how do the points move?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from robodyn.base import Array, frozen
from robodyn.base.spatial import perpendicular_to
from robodyn.base.symbolic import absolute, clip, logical_and, maximum, sqrt, to_column, where
from robodyn.base.symbolic.tables import gather, locate
from robodyn.computation.assembly.machine_size import MachineSize
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.values import Values
from robodyn.computation.dynamics import geometric_jacobian
from robodyn.description.model import XYZ, Box, HeightField, Plane, Rim, Wheel
from robodyn.description.model.contact import AnyContact
from robodyn.description.model.joint import POSITION, Joint

# --------------------------------------------------------------------------------------------------
# Height fields: how far is a ball from uneven ground that is given as a table, and along which normal?
#
# Symbols: h height over x and y, in the axes of the field; u, v = 0..1 the place in a cell of the grid; n the normal, s
# the point of the surface below a ball of radius r about c. It touches where
#
#     c = s + r n(s),    n = (-h_x, -h_y, 1) / |...|


APPROACHES = 3
"""How often the point below a ball is found anew from the normal there: each time better by r times the curvature."""
HERMITE = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [-3.0, 3.0, -2.0, -1.0], [2.0, -2.0, 1.0, 1.0]])
"""Coefficients of 1, u, u^2, u^3 by the values at both ends of a cell and the slopes there."""


def look_at_height_field(field: HeightField, place: SX, radius: SX) -> tuple[SX, SX]:
    """Distance of a place and normal (3,), in the axes of the field."""
    below = place[:2]
    for _ in range(APPROACHES if not radius.is_zero() else 0):
        below = place[:2] - radius * _normal_at(field, below)[1][:2]
    height, normal = _normal_at(field, below)
    return ca.dot(normal, place - ca.vertcat(below, height)), normal


def _normal_at(field: HeightField, below: SX) -> tuple[SX, SX]:
    """Height and normal of the surface."""
    x, y = SX.sym("x"), SX.sym("y")
    height = _height(field, x, y)
    slopes = ca.gradient(height, ca.vertcat(x, y))
    height, slopes = ca.substitute([height, slopes], [ca.vertcat(x, y)], [below])
    upright = ca.vertcat(-slopes, 1)
    return height, upright / ca.sqrt(ca.sumsqr(upright))


def _height(field: HeightField, x: SX, y: SX) -> SX:
    """h = sum over i, j of c_ij u^i v^j, with the coefficients of the cell."""
    xs, ys = np.array(field.x), np.array(field.y)
    # Of each cell, (4, 4, n_x - 1, n_y - 1): Hermite's polynomials along x, then along y.
    along_x = _cells(xs, np.array(field.heights))
    coefficients = np.stack([np.moveaxis(_cells(ys, part.T), 2, 1) for part in along_x])
    row, column = locate(xs[:-1], x), locate(ys[:-1], y)
    u = (clip(x, xs[0], xs[-1]) - gather(xs[:-1], row)) * gather(1 / np.diff(xs), row)
    v = (clip(y, ys[0], ys[-1]) - gather(ys[:-1], column)) * gather(1 / np.diff(ys), column)
    # The number of a cell is located too, so that it is known to stay within the table.
    n_columns = ys.size - 1
    cell = locate(np.arange(float((xs.size - 1) * n_columns)), row * n_columns + column)
    total = SX(0)
    for i in reversed(range(4)):
        inner = SX(0)
        for j in reversed(range(4)):
            inner = inner * v + gather(coefficients[i, j].ravel(), cell)
        total = total * u + inner
    return total


def _cells(knots: Array, values: Array) -> Array:
    """Coefficients (4, n - 1, m) of u = 0..1 in each cell along the first axis of the values (n, m)."""
    h = np.diff(knots)[:, None]
    # Those of the parabolas through each place and its neighbours, at the ends of those beside them, (n, m).
    slopes = np.gradient(values, knots, axis=0, edge_order=2 if len(knots) > 2 else 1)
    ends = np.stack([values[:-1], values[1:], h * slopes[:-1], h * slopes[1:]])
    return np.einsum("ij,jkm->ikm", HERMITE, ends)


# --------------------------------------------------------------------------------------------------
# Contact geometry: how far is a body from a surface, along which normal, and how do they slip where they touch?
#
# Symbols: c the middle of what touches, r its radius, n the normal out of the surface, p = c - r n where they touch, w
# the velocity of the touching body against the surface's body at p. The gap's rate is n . w, exactly.


@frozen
class Surface:
    """A surface as something near it sees it: its distance, and directions in world axes."""

    distance: SX
    normal: SX
    tangents: tuple[SX, SX]


@frozen
class ContactPoint:
    """One place where a contact may touch.

    Attributes:
        name: the contact's, with the corner's behind it for a box.
        gap: [m], negative where they overlap; normal, tangents: (3,) in world axes.
        gradient: of w by the joint velocities (3, n_v); velocity: w; place: p; arm: from c to p; (3,) in world axes.
        travel: speed of the middle of a wheel along its way [m/s], 0 of what is none.
    """

    contact: AnyContact
    name: str
    gap: SX
    normal: SX
    tangents: tuple[SX, SX]
    gradient: SX
    velocity: SX
    place: SX
    arm: SX
    travel: SX

    @property
    def path(self) -> str:
        return f"contacts.{self.name}"

    def restitution(self, values: Values) -> SX:
        return SX(values[f"{self.contact.name}.restitution"])

    def rest_speed(self, values: Values, size: MachineSize) -> SX:
        return SX(values[f"{self.contact.name}.rest_speed"])

    def size(self, size: MachineSize) -> float:
        """The size of its gap: the machine's length [m]."""
        return size.length

    @property
    def rate(self) -> SX:
        """The rate of the gap."""
        return ca.dot(self.normal, self.velocity)

    @property
    def slips(self) -> tuple[SX, SX]:
        """Speeds along the two tangents."""
        first, second = (ca.dot(tangent, self.velocity) for tangent in self.tangents)
        return first, second


def find_contact_points(motion: Motion, contact: AnyContact) -> list[ContactPoint]:
    """The one of a ball or a rim, or those of a box's eight corners."""
    middle, omega = motion.point_position(contact.touching.point), motion.turning_of(contact.touching.point)[0]
    points = []
    for name, arm, radius in _places(motion, contact):
        surface = _look(motion, contact, middle + arm, radius)
        # The point of the touching body nearest to the surface.
        arm, gap = arm - radius * surface.normal, surface.distance - radius
        if isinstance(contact.touching, Rim):
            surface, arm = _roll(motion, contact.touching, surface, radius)
            gap = surface.distance + ca.dot(surface.normal, arm)
        p = middle + arm
        # w = v_1 + omega_1 x r_1 - v_2 - omega_2 x r_2, both at the same place.
        J = motion.relative_jacobian(contact.touching.point, contact.against.point, p)
        w = J @ motion.v
        travel = ca.dot(surface.tangents[0], w - ca.cross(omega, arm))
        points.append(ContactPoint(contact, name, gap, surface.normal, surface.tangents, J, w, p, arm, travel))
    return points


def find_drifts(motion: Motion, point: ContactPoint, directions: Sequence[SX]) -> SX:
    """Rates of e . w along unit vectors e while the joints do not accelerate, e . dw/dt + de/dt . w, (m,)."""
    drift = _find_drift(motion, point)
    turned = [ca.dot(motion.velocity_of(e), point.velocity) for e in directions]
    return to_column(ca.dot(e, drift) + more for e, more in zip(directions, turned, strict=True))


def _find_drift(motion: Motion, point: ContactPoint) -> SX:
    """dw/dt while the joints do not accelerate, (3,).

    c'' + alpha x r + omega x r'  of the touching body at r = p - c, less the same of the surface's at p
    """
    touching, base = point.contact.touching.point, point.contact.against.point
    (omega, alpha), moved = motion.turning_of(touching), motion.velocity_of(point.arm)
    drift = motion.point_drift(touching) + ca.cross(alpha, point.arm) + ca.cross(omega, moved)
    if motion.point_pose(base)[0] < 0:
        return drift
    (omega, alpha), apart = motion.turning_of(base), point.place - motion.point_position(base)
    moved = motion.point_velocity(touching) + moved - motion.point_velocity(base)
    return drift - motion.point_drift(base) - ca.cross(alpha, apart) - ca.cross(omega, moved)


def _roll(motion: Motion, rim: Rim, surface: Surface, radius: SX) -> tuple[Surface, SX]:
    """The surface with tangents along and across the way of a wheel, and the arm to where the wheel is lowest."""
    n, a = surface.normal, motion.point_rotation(rim.point) @ ca.DM(rim.axis)
    # -(n - (n.a) a) leads down within the wheel, a x n along its way.
    upright, ahead = n - ca.dot(n, a) * a, ca.cross(a, n)
    ahead = ahead / ca.norm_2(ahead)
    return replace(surface, tangents=(ahead, ca.cross(n, ahead))), -radius * upright / ca.norm_2(upright)


def _places(motion: Motion, contact: AnyContact) -> Iterator[tuple[str, SX, SX]]:
    """Name, arm from the middle in world axes and radius of each place that may touch."""
    values, shape = motion.values, contact.touching
    if not isinstance(shape, Box):
        yield contact.name, SX.zeros(3), SX(values[f"{contact.name}.radius"])
        return
    R = motion.point_rotation(shape.point) @ np.array(shape.rotation)
    half = 0.5 * ca.vertcat(*values.vector(f"{contact.name}.size", XYZ))
    for k, signs in enumerate(product((-1.0, 1.0), repeat=3)):
        yield f"{contact.name}.corner{k}", R @ (ca.DM(signs) * half), SX(0)


def _look(motion: Motion, contact: AnyContact, place: SX, radius: SX) -> Surface:
    """The surface seen from a place, by a ball of a radius."""
    shape = contact.against
    apart = place - motion.point_position(shape.point)
    R = motion.point_rotation(shape.point)
    if isinstance(shape, Plane):
        first, second = perpendicular_to(np.array(shape.normal))
        normal = R @ ca.DM(shape.normal)
        return Surface(ca.dot(normal, apart), normal, (R @ ca.DM(first), R @ ca.DM(second)))
    R = R @ np.array(shape.rotation)
    if isinstance(shape, HeightField):
        distance, normal = look_at_height_field(shape, R.T @ apart, radius)
        tangent = ca.cross(ca.DM([0.0, 1.0, 0.0]), normal)
        tangent = tangent / ca.norm_2(tangent)
        return Surface(distance, R @ normal, (R @ tangent, R @ ca.cross(normal, tangent)))
    half = [0.5 * length for length in motion.values.vector(f"{contact.name}.against.size", XYZ)]
    distance, normal, tangent = _look_at_box(ca.vertsplit(R.T @ apart), half)
    return Surface(distance, R @ normal, (R @ tangent, R @ ca.cross(normal, tangent)))


def _look_at_box(place: list[SX], half: list[SX]) -> tuple[SX, SX, SX]:
    """Distance, normal and one tangent of a box in its own axes: from outside to its nearest point, from inside to the
    nearest face.

    beyond_k = |x_k| - a_k,   distance = |max(beyond, 0)| outside, max beyond inside
    """
    beyond = [absolute(x) - a for x, a in zip(place, half, strict=True)]
    signs = [where(x < 0, -1.0, 1.0) for x in place]
    over = [maximum(b, 0.0) for b in beyond]
    squared = sum((o * o for o in over), SX(0))
    outside = squared > 0
    length = ca.sqrt(where(outside, squared, 1.0))
    # Inside the box the way out is through the nearest face.
    faces = _largest(beyond)
    distance = where(outside, length, sum((f * b for f, b in zip(faces, beyond, strict=True)), SX(0)))
    normal = [s * where(outside, o / length, f) for s, o, f in zip(signs, over, faces, strict=True)]
    # Beside the nearest face's own axis the next one is never parallel to the normal.
    across = ca.vertcat(faces[2], faces[0], faces[1])
    n = ca.vertcat(*normal)
    tangent = across - n * ca.dot(n, across)
    return distance, n, tangent / ca.sqrt(ca.sumsqr(tangent))


def _largest(values: list[SX]) -> list[SX]:
    """1 for the largest of three, 0 for the others."""
    x, y, z = values
    first = logical_and(x >= y, x >= z)
    second = where(first, 0.0, y >= z)
    return [where(first, 1.0, 0.0), second, 1.0 - where(first, 1.0, 0.0) - second]


# --------------------------------------------------------------------------------------------------
# Rigid end stops of joints: which rows do they add to those of rigid contacts?
#
#     lower: gap = s - lower,    upper: gap = upper - s
#
# A joint that comes to its limit is hit as a body is that comes to a surface, and rests there until it is pulled away.


ENDS = {"lower": 1.0, "upper": -1.0}
"""Ends of a joint's travel, and the direction in which their stops push."""
STOP_SPEED = 1e-3
"""Speed [rad/s, or m/s of a machine of 1 m] below which a joint stays at its stop; own choice, as that of contacts."""


@frozen(eq=False)
class EndStop:
    """One end of a joint's travel: a contact and its one contact point, that has no place in space."""

    joint: Joint
    end: str
    gap: SX
    rate: SX

    @property
    def contact(self) -> EndStop:
        return self

    @property
    def name(self) -> str:
        return f"{self.joint.name}.{self.end}_stop"

    @property
    def path(self) -> str:
        return f"joints.{self.joint.name}.{self.end}_limit"

    def restitution(self, values: Values) -> SX:
        return SX(values[f"{self.joint.name}.stop_restitution"])

    def rest_speed(self, values: Values, size: MachineSize) -> SX:
        return SX(STOP_SPEED * self.size(size))

    def size(self, size: MachineSize) -> float:
        """The size of its gap: 1 rad, or the machine's length [m]."""
        return size.of(POSITION[self.joint.kind])


RigidPoint = ContactPoint | EndStop


def find_end_stops(motion: Motion) -> list[EndStop]:
    """Both ends of each joint that has rigid stops, or the one that it has."""
    stops = []
    for joint in motion.mechanism.rigid_stops:
        for end, side in ENDS.items():
            if f"{end}_limit" in joint.limits:
                limit, position = motion.values[f"{joint.name}.{end}_limit"], motion.positions[joint.name]
                rate = side * motion.coordinate_rates[joint.name]
                stops.append(EndStop(joint, end, side * (position - limit), rate))
    return stops


def stop_force(joint: Joint) -> str:
    """The signal of the force of a joint's stops, as that of elastic ones."""
    return f"{joint.name}.end_stop.force"


# --------------------------------------------------------------------------------------------------
# Rolling wheels: where does a wheel touch its plane, and how fast does its rim move there?
#
# Symbols: n normal of the plane, a axis of the wheel, p its centre and r its radius. The rim is lowest along
#
#     d = -(n - (n.a) a) / |...|,   c = p + r d,   u = p' + omega x r d
#
# where it touches at c with the velocity u of the material there: without slipping it is zero. Its part along the
# normal follows from a position, n.c = height; the two others follow from none (non-holonomic).


@frozen
class Touch:
    """Where a wheel touches.

    Attributes:
        place: in the world [m]; velocity: of the rim there [m/s]; height: of the place above the plane [m].
        directions: along, across and normal, unit vectors of the world.
    """

    place: SX
    velocity: SX
    height: SX
    directions: tuple[SX, SX, SX]

    @property
    def slips(self) -> list[SX]:
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
    reach = motion.values[f"{wheel.name}.radius"] * down
    place = motion.point_position(wheel.center) + reach
    link, pose = motion.point_pose(wheel.center)
    q: Any = motion.q
    J = SX(geometric_jacobian(motion.mechanics.tree, q, link, pose.p))
    omega, u = SX(J[:3, :] @ motion.v), SX(J[3:, :] @ motion.v)
    height = ca.dot(n, place) - motion.values[f"{wheel.name}.height"]
    return Touch(place, u + ca.cross(omega, reach), height, (ahead, ca.cross(n, ahead), SX(n)))
