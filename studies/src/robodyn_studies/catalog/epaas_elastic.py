"""EPAAS robot whose upper arm and gripper give way, as the author of the published study suspected.

The gripper bends at its root in the plane of the arm and sideways; the upper arm bends sideways and stretches along
itself. Springs at a root that bends the upper arm in its plane would stand in series with the oil of L3 and make no
mode of their own (see `epaas_flexible`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Unpack

from robodyn.description.model import Block, Body, Joint, Machine, Mechanism, Scenario
from robodyn_studies.catalog.epaas import SOLVER, Options, epaas_machine, guess_rest

# Frame -> what gives way before it: name, kind, axis in the hub's frame.
ROOTS = {
    "joint2_frame": (
        ("upper_arm_bend", "revolute", (0.0, 1.0, 0.0)),
        ("upper_arm_stretch", "prismatic", (1.0, 0.0, 0.0)),
    ),
    "joint5_frame": (("gripper_pitch", "revolute", (0.0, 1.0, 0.0)), ("gripper_yaw", "revolute", (1.0, 0.0, 0.0))),
}
STIFFNESS = {"upper_arm_bend": 5.7e4, "upper_arm_stretch": 3.33e5, "gripper_pitch": 50.3, "gripper_yaw": 56.9}
"""[N m/rad and N/m], with which the measured modes come out (`epaas_flexible`)."""
STUB = {"joint4": 7e-5}
"""What L1 turns before the gripper's root, 1 % of the gripper [kg m^2]: none is printed."""
DAMPING_TIME = 1e-4
"""Damping by stiffness [s]: 1 % of critical damping at 32 Hz."""


def give_way_at_roots(mechanism: Mechanism | None) -> Mechanism:
    """The same mechanism with joints before two of its frames."""
    if mechanism is None:
        raise ValueError("the robot has a mechanism")
    joints, bodies = [], list(mechanism.bodies)
    for joint in mechanism.joints:
        parent = joint.parent
        for name, kind, axis in ROOTS.get(joint.name, ()):
            bodies.append(Body(f"{name}_root"))
            joints.append(Joint(name, kind, parent, f"{name}_root", axis=axis))
            parent = f"{name}_root"
        joints.append(replace(joint, parent=parent, armature=STUB.get(joint.name, joint.armature)))
    return replace(mechanism, bodies=tuple(bodies), joints=tuple(joints))


def epaas_elastic_machine(stiffness: Mapping[str, float] = STIFFNESS, **options: Unpack[Options]) -> Machine:
    """The robot with springs at its roots.

    Args:
        stiffness: joint -> [N m/rad or N/m]; options: as for `epaas_machine`.
    """
    rigid = epaas_machine(**options)
    springs = tuple(
        Block(f"{name}.spring", "spring", on=name, parameters={"stiffness": k, "damping": DAMPING_TIME * k})
        for name, k in stiffness.items()
    )
    return replace(rigid, mechanism=give_way_at_roots(rigid.mechanism), blocks=(*rigid.blocks, *springs))


def epaas_elastic(duration: float = 0.5, **options: Unpack[Options]) -> Scenario:
    """The EPAAS robot with elastic links rests, its weight balanced."""
    chosen: Options = {"weight": False, **options}
    machine = epaas_elastic_machine(**chosen)
    title = "EPAAS robot at rest, upper arm and gripper elastic"
    rest = guess_rest(chosen, {})
    return Scenario("epaas-elastic", machine, duration, rest, solver=SOLVER, initialisation="at_rest", title=title)
