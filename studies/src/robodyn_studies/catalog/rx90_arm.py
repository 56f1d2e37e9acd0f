"""RX90B arm: of which bodies and coordinates is it made, and which torques hold it at rest?

    joints -> motors: phi = T q, T diagonal, but motor 6 turns with axes 5 and 6

The balance spring is a strut of zero free length between the shoulder's column and the upper arm:
`tau2 = k r h cos(q2)`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping

import numpy as np

from robodyn.base.spatial import Pose, about_axis
from robodyn.description.catalog import six_axis_mechanism
from robodyn.description.catalog.six_axis import FLANGE
from robodyn.description.model import (
    GROUND,
    Block,
    Body,
    Coordinate,
    CylinderLook,
    Distance,
    Joint,
    LinearCombination,
    Mechanism,
    Point,
)
from robodyn_studies.catalog import rx90_parameters as rx


def rx90_mechanism(payload: float = 0.0) -> Mechanism:
    """The arm with its welding head; point `tool` is the head's tip.

    Args:
        payload: [kg] at the tip, which nothing in the controller knows of.
    """
    arm = six_axis_mechanism(rotors=False)
    head = Body("head", rx.HEAD_MASS, (0.0, 0.0, rx.HEAD_COM), rx.HEAD_INERTIA, looks=_torch())
    tip = (0.0, 0.0, FLANGE + rx.HEAD_TIP)
    points = (
        Point("tool", "link6", tip),
        Point("spring_top", "link1", (0.0, 0.0, rx.SPRING_HEIGHT)),
        Point("spring_foot", "link2", (rx.SPRING_ARM, 0.0, 0.0)),
    )
    arm = dataclasses.replace(arm, name="rx90", points=points).with_joints(*_limited_joints(arm))
    return arm.with_payload(head, "link6", (0.0, 0.0, FLANGE)).with_payload(Body("payload", payload), "link6", tip)


def _torch() -> tuple[CylinderLook, ...]:
    """What the welding head looks like: a body and a nozzle that ends at the tip; its drawing is not published."""
    body, nozzle = 0.7 * rx.HEAD_TIP, 0.3 * rx.HEAD_TIP
    end = (0.0, 0.0, body + nozzle / 2)
    return (
        CylinderLook(name="torch", radius=0.022, length=body, origin=(0.0, 0.0, body / 2), colour="#3d4a57"),
        CylinderLook(name="nozzle", radius=0.009, length=nozzle, origin=end, colour="#c08a3e"),
    )


def _limited_joints(arm: Mechanism) -> Iterator[Joint]:
    """The joints with their published ranges and top speeds."""
    for name, (lower, upper), speed in zip(rx.JOINTS, rx.RANGES, rx.SPEEDS, strict=True):
        first, last, fastest = map(math.radians, (lower, upper, speed))
        yield dataclasses.replace(arm.joint(name), lower_limit=first, upper_limit=last, speed_limit=fastest)


def turns_of(motor: int, joints: tuple[str, ...] = rx.JOINTS) -> dict[str, float]:
    """Joints that turn a motor (1 to 6), with their gear ratios: a row of T."""
    gear = rx.DRIVES[motor - 1].gear
    return {joints[4]: gear, joints[5]: gear} if motor == 6 else {joints[motor - 1]: gear}


def coupling_matrix() -> np.ndarray:
    """T of phi = T q."""
    return np.array([[turns_of(motor).get(joint, 0.0) for joint in rx.JOINTS] for motor in rx.AXES])


def rx90_coordinates() -> tuple[Coordinate, ...]:
    """Motors, the seventh place of friction, and the balance spring."""
    motors = tuple(LinearCombination(f"motor{k}", turns_of(k), rx.DRIVES[k - 1].rotor) for k in rx.AXES)
    wrist = LinearCombination("wrist", {"joint5": 1.0, "joint6": 1.0})
    return (*motors, wrist, Distance("balance", "spring_top", "spring_foot"))


def balance_spring() -> Block:
    """The spring on the coordinate `balance`."""
    return Block("balance.spring", "spring", on="balance", parameters={"stiffness": rx.SPRING_STIFFNESS})


def holding_torques(mechanism: Mechanism, angles: Mapping[str, float]) -> np.ndarray:
    """Joint torques that hold the arm at rest against gravity and the balance spring [N m], (6,).

    tau_k = -axis_k . sum over the bodies beyond (c - p_k) x m g,   less the spring's k r h cos(q2)
    """
    places = place_bodies(mechanism, angles)
    gravity = np.array(mechanism.gravity)
    held = []
    for joint in (joint for joint in mechanism.ordered_joints if joint.freedoms):
        hinge, moment = places[joint.child], np.zeros(3)
        for body in bodies_beyond(mechanism, joint.child):
            moment += np.cross(places[body.name].apply(body.com) - hinge.p, body.mass * gravity)
        held.append(-(hinge.R @ joint.axis) @ moment)
    held[1] -= rx.SPRING_STIFFNESS * rx.SPRING_HEIGHT * rx.SPRING_ARM * np.cos(angles["joint2"])
    return np.array(held)


def place_bodies(mechanism: Mechanism, angles: Mapping[str, float]) -> dict[str, Pose]:
    """Pose of each body's frame in the world."""
    places = {GROUND: Pose.identity()}
    for joint in mechanism.ordered_joints:
        turn = about_axis(np.array(joint.axis), angles[joint.name]) if joint.kind != "fixed" else np.eye(3)
        places[joint.child] = places[joint.parent] @ Pose(np.array(joint.rotation) @ turn, joint.origin)
    return places


def bodies_beyond(mechanism: Mechanism, first: str) -> list[Body]:
    """A body and all that it carries."""
    carried = [first]
    for joint in mechanism.ordered_joints:
        if joint.parent in carried:
            carried.append(joint.child)
    return [mechanism.body(name) for name in carried]
