"""Delta robot from all its bodies, closed by six ball joints; nothing is lumped.

They are the base, three proximal links, six rods with universal joints and a platform that can rotate. The
parallelograms keep it upright.

With the lumped robot's masses (a pair of rods is its distal link) it moves as that does: the rods of a pair stay
parallel, and the pivots beside each other on the motor's axis move alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from robodyn.base.errors import Flaw, ModelError
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
from robodyn_studies.catalog.delta_robot import (
    ACROSS,
    ARMS,
    POLE,
    UP,
    angle_from_base,
    angle_from_plane,
    constant_torques,
)
from robodyn_studies.catalog.free_bodies import hang_freely

RODS = {"left": 1.0, "right": -1.0}
WIDTH = 0.08
"""Distance between the rods of a pair [m]: this project's choice, the lumped robot has none."""


def delta_rods_machine(
    robot: DeltaRobot = FITTED, *, payload: float = 0.0, drives: Sequence[Block] | None = None, width: float = WIDTH
) -> Machine:
    """21 joints and 18 equations: `armi.q1`, `armi.left.q2` ... of the rods, `platform.x` ... `platform.turn_z`.

    Args:
        drives: motors and controllers; without them, motors with constant torques of 0.
        width: distance between the rods of a pair [m]; without any, nothing would keep the platform upright.
    """
    if not width > 0:
        raise ModelError([Flaw("width", f"must be positive, is {width:g} m")], "delta robot")
    blocks = [*(constant_torques() if drives is None else drives)]
    bodies, joints = _platform(robot, payload)
    points, coordinates, loop_joints = [Point("platform", "platform")], [], []
    for k, arm in enumerate(ARMS):
        turn = about_axis(UP, -2 * math.pi / 3 * k)
        first = robot.proximal_inertia
        bodies.append(Body(f"{arm}.proximal", robot.proximal_mass, (robot.proximal_com, 0.0, 0.0), (0.0, first, first)))
        motor = _turned(turn, (robot.base_radius, 0.0, 0.0))
        joints.append(Joint(f"{arm}.q1", "revolute", GROUND, f"{arm}.proximal", motor, turn, ACROSS))
        points.append(Point(f"{arm}.elbow", f"{arm}.proximal", (robot.proximal_length, 0.0, 0.0)))
        blocks += _damping(f"{arm}", {"q1": robot.damping[0]})
        for side, sign in RODS.items():
            rod, beside = f"{arm}.{side}", sign * width / 2
            bodies += _rod_bodies(robot, rod)
            joints += _rod_joints(robot, arm, rod, beside)
            ball = _turned(turn, (robot.platform_radius, beside, 0.0))
            points += [Point(f"{rod}.end", f"{rod}.rod", (robot.distal_length, 0.0, 0.0))]
            points += [Point(f"{rod}.ball", "platform", ball)]
            loop_joints.append(LoopJoint(f"{rod}.loop_joint", f"{rod}.end", f"{rod}.ball"))
            angles = (f"{arm}.q1", f"{rod}.q2", f"{rod}.q3")
            coordinates.append(FunctionCoordinate(f"{rod}.phi2", angles, angle_from_base, "rad"))
            coordinates.append(FunctionCoordinate(f"{rod}.phi3", angles, angle_from_plane, "rad"))
            blocks += _damping(rod, {"phi2": robot.damping[1] / 2, "phi3": robot.damping[2] / 2})
    return Machine(
        "delta-rods",
        Mechanism("delta-rods", tuple(bodies), tuple(joints), tuple(points), (0.0, 0.0, -GRAVITY)),
        tuple(blocks),
        tuple(coordinates),
        constraints=tuple(loop_joints),
        tunable=("platform.mass", "gravity.*"),
    )


def _turned(turn, vector: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(float(entry) for entry in turn @ vector)


def _damping(name: str, of: dict[str, float]) -> list[Block]:
    return [
        Block(f"{name}.damping.{angle}", "viscous_friction", f"{name}.{angle}", {}, {"viscous": damping})
        for angle, damping in of.items()
        if damping
    ]


def _platform(robot: DeltaRobot, payload: float) -> tuple[list[Body], list[Joint]]:
    """A free body; its inertia, that of a thin disc, never counts, since it does not turn."""
    check_payload(payload)
    moment = robot.platform_mass * robot.platform_radius**2 / 4
    mass = robot.platform_mass + payload
    return hang_freely(Body("platform", mass, inertia=(moment, moment, 2 * moment)))


def _rod_bodies(robot: DeltaRobot, rod: str) -> tuple[Body, ...]:
    moment = robot.distal_inertia / 2
    com = (robot.distal_com, 0.0, 0.0)
    return Body(f"{rod}.pin"), Body(f"{rod}.rod", robot.distal_mass / 2, com, (0.0, moment, moment))


def _rod_joints(robot: DeltaRobot, arm: str, rod: str, beside: float) -> tuple[Joint, ...]:
    elbow = (robot.proximal_length, beside, 0.0)
    return (
        Joint(f"{rod}.q2", "revolute", f"{arm}.proximal", f"{rod}.pin", elbow, axis=ACROSS),
        Joint(f"{rod}.q3", "revolute", f"{rod}.pin", f"{rod}.rod", axis=UP),
    )


def rods_pose(robot: DeltaRobot = FITTED, angle: float = 0.0) -> dict[str, float]:
    """Joint positions where all motors stand at one angle, the elbows outside and the platform below."""
    outwards = robot.distal_angle(angle)
    depth = robot.proximal_length * math.sin(angle) + robot.distal_length * math.sin(outwards)
    pose = {f"{arm}.q1.position": angle for arm in ARMS} | {"platform.z.position": -depth}
    return pose | {f"{arm}.{side}.q2.position": outwards - angle for arm in ARMS for side in RODS}


def delta_rods(
    robot: DeltaRobot = FITTED, *, angle: float = 0.0, payload: float = 0.0, pole: float | None = POLE
) -> Scenario:
    """A delta robot of all its bodies is pushed sideways from rest by unequal torques of its motors."""
    hold = robot.holding_torque(angle, payload)
    return Scenario(
        "delta-rods",
        delta_rods_machine(robot, payload=payload, drives=constant_torques((0.9 * hold, hold, 0.7 * hold))),
        0.5,
        rods_pose(robot, angle),
        solver=Solver("dopri5", rtol=1e-8, atol=1e-10),
        title="Delta robot of six rods and a platform, under unequal constant torques",
        constraint_method=ConstraintMethod("baumgarte", pole),
    )
