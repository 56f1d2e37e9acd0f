"""Rigid end stops of joints: which rows do they add to those of rigid contacts?

    lower: gap = s - lower,    upper: gap = upper - s

A joint that comes to its limit is hit as a body is that comes to a surface, and rests there until it is pulled away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca

from robodyn.assembly.contact_geometry import ContactPoint
from robodyn.assembly.contribution import Contribution, define, merge
from robodyn.assembly.motion import Motion
from robodyn.assembly.network import SignalInfo
from robodyn.assembly.tracing import Bindings
from robodyn.assembly.values import Values
from robodyn.model.fields import EMPTY
from robodyn.model.joint import EFFORT, Joint

ENDS = {"lower": 1.0, "upper": -1.0}
"""Ends of a joint's travel, and the direction in which their stops push."""
REST_SPEED = 1e-3
"""Speed [rad/s or m/s] below which a joint stays at its stop; this project's own choice, as that of contacts."""


@dataclass(frozen=True)
class EndStop:
    """One end of a joint's travel, where a contact has its description."""

    joint: Joint
    end: str
    friction: None = None
    sticks: bool = False
    laws: Mapping[str, Any] = EMPTY

    @property
    def name(self) -> str:
        return f"{self.joint.name}.{self.end}_stop"


@dataclass(frozen=True)
class StopPoint:
    """The one place where an end stop touches: a contact point that has no place in space."""

    contact: EndStop
    gap: ca.SX
    rate: ca.SX
    normal: ca.SX = field(default_factory=lambda: ca.SX.zeros(3))
    velocity: ca.SX = field(default_factory=lambda: ca.SX.zeros(3))
    slips: tuple[ca.SX, ca.SX] = (ca.SX(0), ca.SX(0))

    @property
    def name(self) -> str:
        return self.contact.name

    @property
    def path(self) -> str:
        return f"joints.{self.contact.joint.name}.{self.contact.end}_limit"

    def restitution(self, values: Values) -> ca.SX:
        return ca.SX(values[f"{self.contact.joint.name}.stop_restitution"])

    def rest_speed(self, values: Values) -> ca.SX:
        return ca.SX(REST_SPEED)


RigidPoint = ContactPoint | StopPoint


def find_end_stops(motion: Motion) -> list[StopPoint]:
    """Both ends of each joint that has rigid stops, or the one that it has."""
    mechanism, found = motion.context.scenario.machine.mechanism, []
    for joint in mechanism.rigid_stops if mechanism else ():
        for end, side in ENDS.items():
            if f"{end}_limit" in joint.limits:
                limit, position = motion.context.values[f"{joint.name}.{end}_limit"], motion.positions[joint.name]
                rate = side * motion.coordinate_rates[joint.name]
                found.append(StopPoint(EndStop(joint, end), side * (position - limit), rate))
    return found


def define_stop_forces(forces: list[tuple[StopPoint, ca.SX]], bindings: Bindings) -> Contribution:
    """What the stops of each joint put on it, as a signal."""
    total: dict[Joint, ca.SX] = {}
    for point, force in forces:
        joint = point.contact.joint
        total[joint] = total.get(joint, ca.SX(0)) + ENDS[point.contact.end] * force
    named = {stop_force(joint): (EFFORT[joint.kind], force) for joint, force in total.items()}
    return merge(define([SignalInfo(name, unit)], {name: force}, bindings) for name, (unit, force) in named.items())


def stop_force(joint: Joint) -> str:
    """The signal of the force of a joint's stops, as that of elastic ones."""
    return f"{joint.name}.end_stop.force"
