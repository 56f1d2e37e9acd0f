"""Limits of joints: what does a run watch to tell when a motion passes one, and what is the effort of drives?"""

from __future__ import annotations

import casadi as ca

from robodyn.computation.assembly.contribution import Contribution, define, merge, watch
from robodyn.computation.assembly.invariants import Invariant
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.network import SignalInfo
from robodyn.computation.assembly.tracing import Bindings, placeholder
from robodyn.description.model.joint import EFFORT, Joint
from robodyn.description.model.limits import BOUNDED, excess


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
