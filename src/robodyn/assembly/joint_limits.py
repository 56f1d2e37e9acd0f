"""Limits of joints: what does a run watch to tell when a motion passes one, and what is the effort of drives?"""

from __future__ import annotations

import casadi as ca

from robodyn.assembly.builder import Builder
from robodyn.assembly.motion import Motion
from robodyn.assembly.network import Definition, SignalInfo
from robodyn.assembly.promises import Promise
from robodyn.assembly.tracing import Bindings, placeholder
from robodyn.model.joint import EFFORT, Joint
from robodyn.model.limits import BOUNDED, excess


def add_joint_limits(builder: Builder, motion: Motion) -> None:
    """Watch every limit of every joint; efforts that are limited become signals."""
    mechanism = builder.scenario.machine.mechanism
    limited = mechanism.limited_joints if mechanism else ()
    _define_efforts(builder, motion, [joint for joint in limited if joint.effort_limit is not None])
    for joint in limited:
        for field in joint.limits:
            bindings: Bindings = {}
            signal = f"{joint.name}.{BOUNDED[field][0]}"
            value = placeholder(f"joints.{joint.name}.{field}", signal, bindings)
            beyond = excess(field, value, builder.values[f"{joint.name}.{field}"])
            subject, unit = f"{joint.name}.{field}", builder.network.infos[signal].unit
            builder.watch(Promise.WITHIN, subject, unit, [beyond], bindings)


def _define_efforts(builder: Builder, motion: Motion, joints: list[Joint]) -> None:
    """What drives put on joints: all forces of blocks but those that only store or lose energy."""
    idle = {block.name for block in builder.scenario.machine.all_blocks if block.info.passive or block.info.disturbance}
    velocities = [name for freedom in motion.freedoms for name in freedom.velocities]
    bindings: Bindings = {}
    forces: dict[str, ca.SX] = {}
    for target, signal in builder.forces if joints else ():
        if signal.rpartition(".")[0] not in idle:
            force = placeholder(f"{target}.effort from {signal}", signal, bindings)
            forces[target] = forces.get(target, 0) + force
    effort = ca.densify(motion.joint_forces(forces))
    for joint in joints:
        info = SignalInfo(f"{joint.name}.effort", EFFORT[joint.kind])
        own = effort[velocities.index(f"{joint.name}.velocity")]
        builder.network.define([info], Definition({info.name: own}, bindings))
