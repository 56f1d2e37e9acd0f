"""End stops and joint limits."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from robodyn.computation.assembly.contact.geometry import ContactPoint
from robodyn.computation.assembly.contribution import Contribution, define, merge, watch
from robodyn.computation.assembly.invariants import Invariant
from robodyn.computation.assembly.machine_size import MachineSize
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.network import SignalInfo
from robodyn.computation.assembly.tracing import Bindings, placeholder
from robodyn.computation.assembly.values import Values
from robodyn.description.model.joint import BOUNDED, EFFORT, POSITION, Joint, excess

# --------------------------------------------------------------------------------------------------
# Limits of joints: what does a run watch to tell when a motion passes one, and what is the effort of drives?


def watch_joint_limits(motion: Motion, known: Contribution) -> Contribution:
    """Watch every limit of every joint; efforts that are limited become signals."""
    limited = motion.mechanism.limited_joints
    efforts = _define_efforts(motion, known, [joint for joint in limited if joint.effort_limit is not None])
    signals, parts = {**known.signals, **efforts.signals}, [efforts]
    for joint in limited:
        for field in joint.limits:
            bindings: Bindings = {}
            signal = f"{joint.name}.{BOUNDED[field][0]}"
            value = placeholder(f"joints.{joint.name}.{field}", signal, bindings)
            beyond = excess(field, value, motion.context.values[f"{joint.name}.{field}"])
            parts.append(watch(Invariant.WITHIN, f"{joint.name}.{field}", signals[signal].unit, [beyond], bindings))
    return merge(parts)


def _define_efforts(motion: Motion, known: Contribution, joints: list[Joint]) -> Contribution:
    """What drives put on joints: all forces of blocks but those that only store or lose energy."""
    blocks = motion.context.scenario.machine.all_blocks
    idle = {block.name for block in blocks if block.info.passive or block.info.disturbance}
    velocities = [name for freedom in motion.freedoms for name in freedom.velocities]
    bindings: Bindings = {}
    forces: dict[str, ca.SX] = {}
    for target, signal in known.forces if joints else ():
        if signal.rpartition(".")[0] not in idle:
            force = placeholder(f"{target}.effort from {signal}", signal, bindings)
            forces[target] = forces.get(target, 0) + force
    effort, parts = ca.densify(motion.joint_forces(forces)), []
    for joint in joints:
        info = SignalInfo(f"{joint.name}.effort", EFFORT[joint.kind])
        own = effort[velocities.index(f"{joint.name}.velocity")]
        parts.append(define([info], {info.name: own}, bindings))
    return merge(parts)


# --------------------------------------------------------------------------------------------------
# Rigid end stops of joints: which rows do they add to those of rigid contacts?
#
#     lower: gap = s - lower,    upper: gap = upper - s
#
# A joint that comes to its limit is hit as a body is that comes to a surface, and rests there until it is pulled away.


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
