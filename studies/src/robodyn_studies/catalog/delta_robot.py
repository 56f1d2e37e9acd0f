"""Delta robot: three arms on a base, their tips joined at the platform (closed chains by Baumgarte's method).

Its equations are those of the published study of Baumgarte's method in Modelica: the two distal rods of an arm count as
one thin link, and each arm carries a third of the platform's mass at its tip. World axes: z is up, arm 1 points along
x, the base's centre is the origin, so that the platform is below it. The study's (x1, x2, x3) are (y, x, -z) here:
its gravity along +x3 points down, its arm 2 stands at -120 deg about z.

Joints of arm i: `armi.q1` the motor, 0 horizontal and positive downwards; `armi.q2` the elbow's pin, parallel to the
motor's axis; `armi.q3` across it. The study's angles of the distal link are measured against the base, not against the
proximal link: they are the coordinates `armi.phi2` and `armi.phi3`, on which the study's damping acts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from robodyn import symbolic as sym
from robodyn.base.spatial import about_axis
from robodyn.description.model import (
    GROUND,
    Block,
    Body,
    ConstraintMethod,
    FunctionCoordinate,
    Joint,
    LoopJoint,
    Machine,
    Mechanism,
    Point,
    Scenario,
    Solver,
)
from robodyn_studies.catalog.delta_parameters import FITTED, GRAVITY, DeltaRobot, check_payload

ARMS = ("arm1", "arm2", "arm3")
MOTORS = tuple(f"{arm}.q1" for arm in ARMS)
ACROSS, UP = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
POLE = 5.0
"""Of Baumgarte's method in the study [1/s]."""


def angle_from_base(q1, q2, q3):
    """The study's phi2: between the distal link and the arm's outward direction."""
    return sym.acos(sym.cos(q3) * sym.cos(q1 + q2))


def angle_from_plane(q1, q2, q3):
    """The study's phi3: between the distal link's shadow along the outward direction and the vertical."""
    return sym.atan2(sym.sin(q3), sym.cos(q3) * sym.sin(q1 + q2))


def delta_mechanism(robot: DeltaRobot = FITTED, payload: float = 0.0) -> Mechanism:
    """Three arms; the platform's radius is taken off the base's, so that the arms' tips meet in one point.

    Args:
        payload: mass of a small load at the platform's centre [kg].
    """
    check_payload(payload)
    bodies: list[Body] = []
    joints: list[Joint] = []
    points = [Point("platform", "arm1.distal", (robot.distal_length, 0.0, 0.0))]
    for k, arm in enumerate(ARMS):
        bodies += _arm_bodies(robot, arm, (robot.platform_mass + payload) / 3)
        joints += _arm_joints(robot, arm, -2 * math.pi / 3 * k)
        points += _arm_points(robot, arm)
    return Mechanism("delta", tuple(bodies), tuple(joints), tuple(points), (0.0, 0.0, -GRAVITY))


def _arm_bodies(robot: DeltaRobot, arm: str, share: float) -> tuple[Body, ...]:
    """Links along their x axes; the pin has no mass."""
    first, second = robot.proximal_inertia, robot.distal_inertia
    return (
        Body(f"{arm}.proximal", robot.proximal_mass, (robot.proximal_com, 0.0, 0.0), (0.0, first, first)),
        Body(f"{arm}.pin"),
        Body(f"{arm}.distal", robot.distal_mass, (robot.distal_com, 0.0, 0.0), (0.0, second, second)),
        Body(f"{arm}.share", share),
    )


def _arm_joints(robot: DeltaRobot, arm: str, azimuth: float) -> tuple[Joint, ...]:
    turn = about_axis(UP, azimuth)
    motor = tuple(float(entry) for entry in turn @ (robot.offset, 0.0, 0.0))
    elbow, tip = (robot.proximal_length, 0.0, 0.0), (robot.distal_length, 0.0, 0.0)
    return (
        Joint(f"{arm}.q1", "revolute", GROUND, f"{arm}.proximal", motor, turn, ACROSS),
        Joint(f"{arm}.q2", "revolute", f"{arm}.proximal", f"{arm}.pin", elbow, axis=ACROSS),
        Joint(f"{arm}.q3", "revolute", f"{arm}.pin", f"{arm}.distal", axis=UP),
        Joint(f"{arm}.share_mount", "fixed", f"{arm}.distal", f"{arm}.share", tip),
    )


def _arm_points(robot: DeltaRobot, arm: str) -> tuple[Point, ...]:
    return (
        Point(f"{arm}.elbow", f"{arm}.proximal", (robot.proximal_length, 0.0, 0.0)),
        Point(f"{arm}.tip", f"{arm}.distal", (robot.distal_length, 0.0, 0.0)),
    )


def constant_torques(torques: Sequence[float] = (0.0, 0.0, 0.0)) -> tuple[Block, ...]:
    """Motors with constant torques [N m]: blocks `armi.motor`, tunable numbers `armi.motor.value`."""
    return tuple(
        Block(f"{arm}.motor", "constant_force", f"{arm}.q1", parameters={"value": torque})
        for arm, torque in zip(ARMS, torques, strict=True)
    )


def commanded_torques(signals: Sequence[str], limit: float = math.inf) -> tuple[Block, ...]:
    """Motors that follow a controller's commands [N m]: blocks `armi.motor`, with a limit of the torque."""
    return tuple(
        Block(f"{arm}.motor", "torque_source", f"{arm}.q1", {"command": signal}, {"torque_limit": limit})
        for arm, signal in zip(ARMS, signals, strict=True)
    )


def delta_machine(
    robot: DeltaRobot = FITTED,
    *,
    payload: float = 0.0,
    drives: Sequence[Block] | None = None,
) -> Machine:
    """The robot with damping, its tips joined by `loop_joint2` and `loop_joint3` (six equations, nine joints).

    Args:
        drives: motors and controllers; without them, motors with constant torques of 0.
    """
    blocks = [*(constant_torques() if drives is None else drives)]
    coordinates = []
    for arm in ARMS:
        joints = tuple(f"{arm}.q{k}" for k in (1, 2, 3))
        coordinates.append(FunctionCoordinate(f"{arm}.phi2", joints, angle_from_base, "rad"))
        coordinates.append(FunctionCoordinate(f"{arm}.phi3", joints, angle_from_plane, "rad"))
        for angle, damping in zip(("q1", "phi2", "phi3"), robot.damping, strict=True):
            block = Block(f"{arm}.damping.{angle}", "viscous_friction", f"{arm}.{angle}", {}, {"viscous": damping})
            blocks += [block] if damping else []
    return Machine(
        "delta",
        delta_mechanism(robot, payload),
        tuple(blocks),
        tuple(coordinates),
        constraints=tuple(LoopJoint(f"loop_joint{k}", "arm1.tip", f"arm{k}.tip") for k in (2, 3)),
        tunable=("*.share.mass", "gravity.*"),
    )


def symmetric_pose(robot: DeltaRobot = FITTED, angle: float = 0.0) -> dict[str, float]:
    """Joint positions [rad] where all motors stand at one angle, the elbows outside and the platform below."""
    elbow = robot.distal_angle(angle) - angle
    return {f"{arm}.{joint}.position": value for arm in ARMS for joint, value in (("q1", angle), ("q2", elbow))}


def delta_fall(
    robot: DeltaRobot = FITTED, *, angle: float = 0.0, payload: float = 0.0, pole: float | None = POLE
) -> Scenario:
    """A delta robot falls from rest without torques."""
    return Scenario(
        "delta-fall",
        delta_machine(robot, payload=payload),
        3.0,
        symmetric_pose(robot, angle),
        solver=Solver("dopri5", rtol=1e-8, atol=1e-10),
        title="Delta robot let go from rest",
        constraint_method=ConstraintMethod("baumgarte", pole),
    )


def delta_hold(
    robot: DeltaRobot = FITTED, *, angle: float = 0.0, payload: float = 0.0, pole: float | None = POLE
) -> Scenario:
    """A delta robot is held by constant torques; with horizontal links it is unstable."""
    torque = robot.holding_torque(angle, payload)
    return Scenario(
        "delta-hold",
        delta_machine(robot, payload=payload, drives=constant_torques((torque,) * 3)),
        2.0,
        symmetric_pose(robot, angle),
        solver=Solver("dopri5", rtol=1e-8, atol=1e-10),
        title="Delta robot held by constant motor torques",
        initialisation="at_rest",
        constraint_method=ConstraintMethod("baumgarte", pole),
    )
