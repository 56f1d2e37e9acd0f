"""Rigid end stops of joints: which rows do they add to those of rigid contacts?

    lower: gap = s - lower,    upper: gap = upper - s

A joint that comes to its limit is hit as a body is that comes to a surface, and rests there until it is pulled away.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from robodyn.computation.assembly.contact_geometry import ContactPoint
from robodyn.computation.assembly.contribution import Contribution, define, merge
from robodyn.computation.assembly.machine_size import MachineSize
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.network import SignalInfo
from robodyn.computation.assembly.tracing import Bindings
from robodyn.computation.assembly.values import Values
from robodyn.description.model.joint import EFFORT, POSITION, Joint

ENDS = {"lower": 1.0, "upper": -1.0}
"""Ends of a joint's travel, and the direction in which their stops push."""
REST_SPEED = 1e-3
"""Speed [rad/s, or m/s of a machine of 1 m] below which a joint stays at its stop; own choice, as that of contacts."""


@dataclass(frozen=True, eq=False)
class EndStop:
    """One end of a joint's travel: a contact and its one contact point, that has no place in space."""

    joint: Joint
    end: str
    gap: ca.SX
    rate: ca.SX

    @property
    def contact(self) -> EndStop:
        return self

    @property
    def name(self) -> str:
        return f"{self.joint.name}.{self.end}_stop"

    @property
    def path(self) -> str:
        return f"joints.{self.joint.name}.{self.end}_limit"

    def restitution(self, values: Values) -> ca.SX:
        return ca.SX(values[f"{self.joint.name}.stop_restitution"])

    def rest_speed(self, values: Values, size: MachineSize) -> ca.SX:
        return ca.SX(REST_SPEED * self.size(size))

    def size(self, size: MachineSize) -> float:
        """Of its gap: 1 rad, or the machine's length [m]."""
        return size.of(POSITION[self.joint.kind])


RigidPoint = ContactPoint | EndStop


def find_end_stops(motion: Motion) -> list[EndStop]:
    """Both ends of each joint that has rigid stops, or the one that it has."""
    mechanism, found = motion.context.scenario.machine.mechanism, []
    for joint in mechanism.rigid_stops if mechanism else ():
        for end, side in ENDS.items():
            if f"{end}_limit" in joint.limits:
                limit, position = motion.context.values[f"{joint.name}.{end}_limit"], motion.positions[joint.name]
                rate = side * motion.coordinate_rates[joint.name]
                found.append(EndStop(joint, end, side * (position - limit), rate))
    return found


def define_stop_forces(forces: list[tuple[EndStop, ca.SX]], bindings: Bindings) -> Contribution:
    """What the stops of each joint put on it, as a signal."""
    total: dict[Joint, ca.SX] = {}
    for stop, force in forces:
        total[stop.joint] = total.get(stop.joint, ca.SX(0)) + ENDS[stop.end] * force
    named = {stop_force(joint): (EFFORT[joint.kind], force) for joint, force in total.items()}
    return merge(define([SignalInfo(name, unit)], {name: force}, bindings) for name, (unit, force) in named.items())


def stop_force(joint: Joint) -> str:
    """The signal of the force of a joint's stops, as that of elastic ones."""
    return f"{joint.name}.end_stop.force"
