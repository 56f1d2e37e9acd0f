"""Loads: which torques on the joints are the forces on bodies, constant or driven by signals?

J^T (torque, force), in world axes; what is given in a body's axes rotates with it
"""

from __future__ import annotations

import casadi as ca

from robodyn.computation.assembly.contribution import Deferred
from robodyn.computation.assembly.motion import Motion
from robodyn.computation.assembly.tracing import Bindings, placeholder
from robodyn.computation.dynamics import geometric_jacobian
from robodyn.description.model import Load
from robodyn.description.model.machine import BODY
from robodyn.description.model.numbers import XYZ


def trace_loads(motion: Motion) -> tuple[ca.SX, Deferred]:
    """Joint torques of the constant loads, and of those that signals drive."""
    constant, driven = ca.SX.zeros(motion.v.numel()), ca.SX.zeros(motion.v.numel())
    bindings: Bindings = {}
    for load in motion.context.scenario.machine.loads:
        link, pose = motion.point_pose(load.point)
        if link < 0:
            what = f"'{load.point}' is on the ground"
            motion.context.flaws.add(f"loads.{load.name}.point", what, "a load there has no effect")
            continue
        force, torque = find_wrench(motion, load)
        J = ca.SX(geometric_jacobian(motion.mechanics.tree, motion.q, link, pose.p))
        tau = J.T @ ca.vertcat(torque, force)
        if load.times is None:
            constant = constant + tau
        else:
            driven = driven + tau * placeholder(f"loads.{load.name}.times", load.times, bindings)
    return constant, Deferred(driven, bindings)


def find_wrench(motion: Motion, load: Load) -> tuple[ca.SX, ca.SX]:
    """Force and torque of a load in world axes, without the signal that it is multiplied by."""
    values = motion.context.values
    force, torque = (ca.vertcat(*values.vector(f"{load.name}.{part}", XYZ)) for part in ("force", "torque"))
    if load.frame != BODY:
        return force, torque
    R = motion.point_rotation(load.point)
    return R @ force, R @ torque
