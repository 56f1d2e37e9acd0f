"""Motions of bodies: how is each oriented, how fast does it rotate? Traced only where they are asked for.

    BODY.orientation            unit quaternion w, x, y, z, world from body, continuous in time
    BODY.angular_velocity       x, y, z in the body's axes [rad/s]
    BODY.angular_acceleration   the same [rad/s^2]

Where a ball or free joint has the body's name, these are names of the joint's own motion.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from robodyn.base.spatial import multiply, quaternion_from_matrix
from robodyn.computation.assembly.contribution import Contribution, define, merge
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.network import SignalInfo
from robodyn.computation.assembly.reactions import is_asked
from robodyn.computation.assembly.tracing import Bindings, placeholder
from robodyn.description.model.freedom import QUATERNION
from robodyn.description.model.numbers import XYZ

ORIENTATION, VELOCITY, ACCELERATION = BODY_MOTIONS = ("orientation", "angular_velocity", "angular_acceleration")
UNITS = {VELOCITY: "rad/s", ACCELERATION: "rad/s^2"}


def define_body_signals(motion: Motion, known: Contribution, patterns: Sequence[str]) -> Contribution:
    """Orientation, angular velocity and acceleration of the bodies that a pattern or something in the machine names."""
    if motion.linear is not None:
        return Contribution()
    meant = [pattern for pattern in patterns if any(word in pattern for word in BODY_MOTIONS)]
    taken = {freedom.name for freedom in motion.freedoms if not freedom.is_single}
    bodies = [body.name for body in motion.mechanism.bodies if body.name not in taken]
    asked = {quantity: [b for b in bodies if is_asked(known, _names(b, quantity), meant)] for quantity in BODY_MOTIONS}
    parts = []
    for body in asked[ORIENTATION]:
        infos = [SignalInfo(name, "") for name in _names(body, ORIENTATION)]
        parts.append(_define(infos, _find_orientation(motion, body)))
    for body in asked[VELOCITY]:
        rates = _names(body, ACCELERATION) if body in asked[ACCELERATION] else [None] * 3
        pairs = zip(_names(body, VELOCITY), rates, strict=True)
        infos = [SignalInfo(name, UNITS[VELOCITY], rate=rate) for name, rate in pairs]
        parts.append(_define(infos, _find_velocity(motion, body)))
    for body in asked[ACCELERATION]:
        infos = [SignalInfo(name, UNITS[ACCELERATION]) for name in _names(body, ACCELERATION)]
        parts.append(_define(infos, *_find_acceleration(motion, _find_velocity(motion, body))))
    return merge(parts)


def _names(body: str, quantity: str) -> list[str]:
    return [f"{body}.{quantity}.{part}" for part in (QUATERNION if quantity == ORIENTATION else XYZ)]


def _define(infos: list[SignalInfo], column: ca.SX, bindings: Bindings | None = None) -> Contribution:
    return define(infos, {info.name: column[k] for k, info in enumerate(infos)}, bindings)


def _find_orientation(motion: Motion, body: str) -> ca.SX:
    place = motion.mechanics.placements[body]
    fixed = quaternion_from_matrix(place.pose.R)
    carrier = motion.quaternions[place.link] if place.link >= 0 else (1.0, 0.0, 0.0, 0.0)
    return ca.vertcat(*(ca.SX(part) for part in multiply(carrier, fixed)))


def _find_velocity(motion: Motion, body: str) -> ca.SX:
    place = motion.mechanics.placements[body]
    return ca.SX(place.pose.R.T) @ (ca.SX(motion.angular_velocities[place.link]) if place.link >= 0 else ca.SX.zeros(3))


def _find_acceleration(motion: Motion, omega: ca.SX) -> tuple[ca.SX, Bindings]:
    """Rates of the components, d omega/dq q_dot + d omega/dv a: in the body's own axes they are those of the vector."""
    bindings: Bindings = {}
    names = [name for freedom in motion.freedoms for name in freedom.accelerations]
    a = ca.vertcat(*(placeholder(f"value of {name}", name, bindings) for name in names))
    return ca.jtimes(omega, motion.q, motion.q_dot) + ca.jtimes(omega, motion.v, a), bindings
