"""Inverse kinematics of the delta robot: where are motors and links? Functions of numbers or symbols.

Written by hand from the arms' geometry, apart from the mechanism that is simulated.
Each arm k has a frame of its own, turned about z by its azimuth: x outwards, z up. Its angles are phi of the motor
(positive downwards), theta of the distal link in the arm's plane (also from the horizontal) and alpha out of the plane:

    p(a, b) = (r + a cos phi + b cos alpha cos theta,  b sin alpha,  -(a sin phi + b cos alpha sin theta))

is the elbow for (l1, 0) and the platform for (l1, l2), with r = l0 - l3. The joints are q1 = phi, q2 = theta - phi,
q3 = alpha.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from robodyn import symbolic as sym
from robodyn.base.errors import FlawList
from robodyn_studies.catalog.delta_parameters import DeltaRobot

Triple = Sequence[Any]
AZIMUTHS = (0.0, -2 * math.pi / 3, 2 * math.pi / 3)


def to_arm(k: int, w: Triple) -> Triple:
    """A world vector in the frame of arm k."""
    c, s = math.cos(AZIMUTHS[k]), math.sin(AZIMUTHS[k])
    return c * w[0] + s * w[1], c * w[1] - s * w[0], w[2]


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


def dot(first: Triple, second: Triple) -> Any:
    return sum(x * y for x, y in zip(first, second, strict=True))


def motor_angles(robot: DeltaRobot, w: Triple) -> Triple:
    """Inverse kinematics: motor angles [rad] that bring the platform to w [m], elbows outside.

    With (x, y, z) in the arm's frame, x from the motor: l1 (x cos phi - z sin phi) = (x^2 + y^2 + z^2 + l1^2 - l2^2)/2.
    Where w is out of reach, the angle is not a number: a run that comes there ends.
    """
    angles = []
    for k in range(3):
        x, _, z = from_motor(robot, k, w)
        angles.append(sym.atan2(-z, x) - sym.acos(elbow_cosine(robot, k, w)))
    return tuple(angles)


def from_motor(robot: DeltaRobot, k: int, w: Triple) -> Triple:
    """Place of the platform in arm k's frame, from its motor [m]."""
    x, y, z = to_arm(k, w)
    return x - robot.offset, y, z


def elbow_cosine(robot: DeltaRobot, k: int, w: Triple) -> Any:
    """Cosine of the angle between the proximal link of arm k and its plane's way to w; beyond -1 to 1 out of reach."""
    x, y, z = from_motor(robot, k, w)
    half = (x * x + y * y + z * z + robot.proximal_length**2 - robot.distal_length**2) / 2
    return half / (robot.proximal_length * sym.sqrt(x * x + z * z))


def check_reach(robot: DeltaRobot, places: Mapping[str, Sequence[float]]) -> None:
    """Refuse places of the platform [m] that an arm does not reach, each with its name."""
    flaws = FlawList()
    for name, place in places.items():
        beyond = [f"arm {k + 1}" for k in range(3) if not abs(float(elbow_cosine(robot, k, place))) <= 1]
        if beyond:
            shown = ", ".join(f"{value:g}" for value in place)
            what = f"({shown}) m is out of reach of {', '.join(beyond)}"
            flaws.add(name, what, "choose a place nearer to the middle of the workspace")
    flaws.raise_if_any("delta robot")


def distal_angles(robot: DeltaRobot, k: int, phi: Any, w: Triple) -> tuple[Any, Any]:
    """theta and alpha of arm k [rad] whose motor stands at phi and whose tip is at w [m]."""
    tip, elbow = to_arm(k, w), point((phi, 0.0, 0.0), robot.proximal_length, 0.0, robot.offset)
    x, y, z = (t - e for t, e in zip(tip, elbow, strict=True))
    return sym.atan2(-z, x), sym.atan2(y, sym.sqrt(x * x + z * z))


def arm_angles(motors: Triple, distal: Sequence[Any]) -> tuple[Triple, ...]:
    """(phi, theta, alpha) of each arm."""
    return tuple((motors[k], distal[2 * k], distal[2 * k + 1]) for k in range(3))


def rod_direction(angles: Triple) -> Triple:
    """Direction of the distal link, in the arm's frame."""
    return point((0.0, angles[1], angles[2]), 0.0, 1.0, 0.0)


def motor_speeds(robot: DeltaRobot, arms: Sequence[Triple], velocity: Triple) -> tuple[Any, ...]:
    """Speeds of the motors [rad/s] at which the platform moves with a velocity [m/s]: u . elbow' = u . w'."""
    found = []
    for k in range(3):
        rod, elbow = rod_direction(arms[k]), slopes(arms[k], robot.proximal_length, 0.0)[0]
        found.append(dot(rod, to_arm(k, velocity)) / dot(rod, elbow))
    return tuple(found)
