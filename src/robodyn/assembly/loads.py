"""Loads: which torques on the joints are the forces on bodies, constant or driven by signals?

J^T (torque, force), in world axes; what is given in a body's axes rotates with it
"""

from __future__ import annotations

import casadi as ca

from robodyn.assembly.builder import Builder
from robodyn.assembly.motion import Motion
from robodyn.assembly.tracing import Bindings, placeholder
from robodyn.dynamics import geometric_jacobian
from robodyn.model import Load
from robodyn.model.machine import BODY
from robodyn.model.numbers import XYZ


def add_loads(builder: Builder, motion: Motion, bindings: dict[str, tuple[ca.SX, str, str]]) -> tuple[ca.SX, ca.SX]:
    """Joint torques of the constant loads, and of those that signals drive, which are noted in the bindings."""
    constant, driven = ca.SX.zeros(motion.v.numel()), ca.SX.zeros(motion.v.numel())
    for load in builder.scenario.machine.loads:
        link, pose = motion.point_pose(load.point)
        if link < 0:
            builder.flaws.add(
                f"loads.{load.name}.point", f"'{load.point}' is on the ground", "a load there has no effect"
            )
            continue
        force, torque = find_wrench(motion, load)
        J = ca.SX(geometric_jacobian(motion.mechanics.tree, motion.q, link, pose.p))
        tau = J.T @ ca.vertcat(torque, force)
        if load.times is None:
            constant = constant + tau
        else:
            driven = driven + tau * _factor(builder, load, bindings)
    return constant, driven


def find_wrench(motion: Motion, load: Load) -> tuple[ca.SX, ca.SX]:
    """Force and torque of a load in world axes, without the signal that it is multiplied by."""
    values = motion.builder.values
    force, torque = (ca.vertcat(*values.vector(f"{load.name}.{part}", XYZ)) for part in ("force", "torque"))
    if load.frame != BODY:
        return force, torque
    R = motion.point_rotation(load.point)
    return R @ force, R @ torque


def _factor(builder: Builder, load: Load, bindings: dict[str, tuple[ca.SX, str, str]]) -> ca.SX:
    own: Bindings = {}
    factor: ca.SX = placeholder(f"loads.{load.name}.times", load.times, own)
    builder.network.refer(own)
    bindings.update(own)
    return factor
