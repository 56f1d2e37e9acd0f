"""Kinematics of the delta robot: where are platform and links? Functions of numbers or symbols, for controllers.

Written by hand from the arms' geometry, apart from the mechanism that is simulated, as a controller's model is.
Each arm k has a frame of its own, turned about z by its azimuth: x outwards, z up. Its angles are phi of the motor
(positive downwards), theta of the distal link in the arm's plane (also from the horizontal) and alpha out of the plane:

    p(a, b) = (r + a cos phi + b cos alpha cos theta,  b sin alpha,  -(a sin phi + b cos alpha sin theta))

is the elbow for (l1, 0) and the platform for (l1, l2), with r = l0 - l3. The joints are q1 = phi, q2 = theta - phi,
q3 = alpha.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from robodyn import symbolic as sym
from robodyn_studies.catalog.delta_parameters import DeltaRobot

Triple = Sequence[Any]
AZIMUTHS = (0.0, -2 * math.pi / 3, 2 * math.pi / 3)


def to_arm(k: int, w: Triple) -> Triple:
    """A world vector in the frame of arm k."""
    c, s = math.cos(AZIMUTHS[k]), math.sin(AZIMUTHS[k])
    return c * w[0] + s * w[1], c * w[1] - s * w[0], w[2]


def to_world(k: int, p: Triple) -> Triple:
    c, s = math.cos(AZIMUTHS[k]), math.sin(AZIMUTHS[k])
    return c * p[0] - s * p[1], c * p[1] + s * p[0], p[2]


def point(angles: Triple, a: float, b: float, offset: float) -> Triple:
    """p(a, b) of an arm's angles (phi, theta, alpha), in its frame [m]."""
    phi, theta, alpha = angles
    along = b * sym.cos(alpha)
    down = a * sym.sin(phi) + along * sym.sin(theta)
    return offset + a * sym.cos(phi) + along * sym.cos(theta), b * sym.sin(alpha), -down


def slopes(angles: Triple, a: float, b: float) -> tuple[Triple, Triple, Triple]:
    """Derivatives of p(a, b) by phi, theta and alpha: the columns of its Jacobian."""
    phi, theta, alpha = angles
    along, across = b * sym.cos(alpha), b * sym.sin(alpha)
    return (
        (-a * sym.sin(phi), 0.0, -a * sym.cos(phi)),
        (-along * sym.sin(theta), 0.0, -along * sym.cos(theta)),
        (-across * sym.cos(theta), along, across * sym.sin(theta)),
    )


def drift(angles: Triple, rates: Triple, a: float, b: float) -> Triple:
    """Acceleration of p(a, b) while the angles do not accelerate [m/s^2]."""
    phi, theta, alpha = angles
    turned, twisted = rates[1] * rates[1] + rates[2] * rates[2], 2 * rates[1] * rates[2]
    along, across, spin = b * sym.cos(alpha), b * sym.sin(alpha), a * rates[0] * rates[0]
    return (
        -spin * sym.cos(phi) - along * sym.cos(theta) * turned + across * sym.sin(theta) * twisted,
        -across * rates[2] * rates[2],
        spin * sym.sin(phi) + along * sym.sin(theta) * turned + across * sym.cos(theta) * twisted,
    )


def combine(columns: Sequence[Triple], factors: Sequence[Any]) -> Triple:
    """sum of columns times factors."""
    return tuple(sum(column[i] * f for column, f in zip(columns, factors, strict=True)) for i in range(3))


def dot(first: Triple, second: Triple) -> Any:
    return sum(x * y for x, y in zip(first, second, strict=True))


def motor_angles(robot: DeltaRobot, w: Triple) -> Triple:
    """Inverse kinematics: motor angles [rad] that bring the platform to w [m], elbows outside.

    With (x, y, z) in the arm's frame, x from the motor: l1 (x cos phi - z sin phi) = (x^2 + y^2 + z^2 + l1^2 - l2^2)/2.
    Where w is out of reach, the nearest angle.
    """
    found = []
    for k in range(3):
        x, y, z = to_arm(k, w)
        x = x - robot.offset
        half = (x * x + y * y + z * z + robot.proximal_length**2 - robot.distal_length**2) / 2
        share = half / (robot.proximal_length * sym.sqrt(x * x + z * z))
        found.append(sym.atan2(-z, x) - sym.acos(sym.clip(share, -1.0, 1.0)))
    return tuple(found)


def distal_angles(robot: DeltaRobot, k: int, phi: Any, w: Triple) -> tuple[Any, Any]:
    """theta and alpha of arm k [rad] whose motor stands at phi and whose tip is at w [m]."""
    tip, elbow = to_arm(k, w), point((phi, 0.0, 0.0), robot.proximal_length, 0.0, robot.offset)
    x, y, z = (t - e for t, e in zip(tip, elbow, strict=True))
    return sym.atan2(-z, x), sym.atan2(y, sym.sqrt(x * x + z * z))


def locate_platform(robot: DeltaRobot, motors: Triple) -> Triple:
    """Forward kinematics in closed form: the lower common point of three spheres of radius l2 about the elbows [m].

    |w - e_k| = l2: the plane of the three elbows' circumcentre, and the height below it.
    """
    elbows = [to_world(k, point((motors[k], 0.0, 0.0), robot.proximal_length, 0.0, robot.offset)) for k in range(3)]
    first, second = (tuple(e[i] - elbows[0][i] for i in range(3)) for e in elbows[1:])
    normal = _cross(first, second)
    # Circumcentre from a corner with edges a, b, n = a x b: (|b|^2 n x a + |a|^2 b x n) / (2 |n|^2).
    square = dot(normal, normal)
    parts = (_cross(normal, first), _cross(second, normal))
    centre = combine(parts, (dot(second, second) / (2 * square), dot(first, first) / (2 * square)))
    height = sym.sqrt((robot.distal_length**2 - dot(centre, centre)) / square)
    # The elbows go clockwise seen from above, so that their normal points down.
    return tuple(elbows[0][i] + centre[i] + height * normal[i] for i in range(3))


def _cross(a: Triple, b: Triple) -> Triple:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def improve_angles(robot: DeltaRobot, motors: Triple, distal: Sequence[Any]) -> tuple[Any, ...]:
    """Forward kinematics, one Newton step: (theta1, alpha1, theta2, alpha2, theta3, alpha3) nearer to a closed robot.

    Closed: the tips of arms 2 and 3 are where that of arm 1 is (six equations).
    """
    arms = arm_angles(motors, distal)
    tips = [to_world(k, point(arms[k], robot.proximal_length, robot.distal_length, robot.offset)) for k in range(3)]
    columns = [_distal_columns(robot, arms[k], k) for k in range(3)]
    matrix, right = [], []
    for k in (1, 2):
        for i in range(3):
            other = [[0.0, 0.0], [0.0, 0.0]]
            other[k - 1] = [-columns[k][0][i], -columns[k][1][i]]
            matrix.append([columns[0][0][i], columns[0][1][i], *other[0], *other[1]])
            right.append(tips[k][i] - tips[0][i])
    steps = sym.solve_linear(matrix, right)
    return tuple(angle + step for angle, step in zip(distal, steps, strict=True))


def _distal_columns(robot: DeltaRobot, angles: Triple, k: int) -> tuple[Triple, Triple]:
    """World motion of an arm's tip with its theta and its alpha."""
    _, theta, alpha = slopes(angles, robot.proximal_length, robot.distal_length)
    return to_world(k, theta), to_world(k, alpha)


def arm_angles(motors: Triple, distal: Sequence[Any]) -> tuple[Triple, ...]:
    """(phi, theta, alpha) of each arm."""
    return tuple((motors[k], distal[2 * k], distal[2 * k + 1]) for k in range(3))


def platform_motion(
    robot: DeltaRobot, arms: Sequence[Triple], speeds: Triple
) -> tuple[Triple, Triple, tuple[Triple, ...]]:
    """Place w [m] and velocity [m/s] of the platform, and the rates of all angles, from the motors' speeds [rad/s].

    A rod keeps its length: its direction u has u . w' = u . elbow'.
    """
    lengths = robot.proximal_length, robot.distal_length
    rods = [rod_direction(arms[k]) for k in range(3)]
    elbows = [tuple(entry * speeds[k] for entry in slopes(arms[k], robot.proximal_length, 0.0)[0]) for k in range(3)]
    rows = [to_world(k, rods[k]) for k in range(3)]
    velocity = sym.solve_linear(rows, [dot(rods[k], elbows[k]) for k in range(3)])
    rates = tuple(distal_rates(robot, arms[k], to_arm(k, velocity), elbows[k], speeds[k]) for k in range(3))
    return to_world(0, point(arms[0], *lengths, robot.offset)), velocity, rates


def rod_direction(angles: Triple) -> Triple:
    """Direction of the distal link, in the arm's frame."""
    return point((0.0, angles[1], angles[2]), 0.0, 1.0, 0.0)


def distal_rates(robot: DeltaRobot, angles: Triple, tip: Triple, elbow: Triple, speed: Any) -> Triple:
    """Rates (phi', theta', alpha') from the velocities of an arm's tip and elbow, in its frame."""
    _, theta, alpha = angles
    x, y, z = ((t - e) / (robot.distal_length * sym.cos(alpha)) for t, e in zip(tip, elbow, strict=True))
    return speed, -(x * sym.sin(theta) + z * sym.cos(theta)), y


def motor_speeds(robot: DeltaRobot, arms: Sequence[Triple], velocity: Triple) -> tuple[Any, ...]:
    """Speeds of the motors [rad/s] at which the platform moves with a velocity [m/s]: u . elbow' = u . w'."""
    found = []
    for k in range(3):
        rod, elbow = rod_direction(arms[k]), slopes(arms[k], robot.proximal_length, 0.0)[0]
        found.append(dot(rod, to_arm(k, velocity)) / dot(rod, elbow))
    return tuple(found)
