"""Cooperating delta robots: two carry one beam, by constraints between machines and grips that let go.

A grip holds as long as the beam does not pull at it with more than a limit. The values of the beam, the control and
the grips are this project's choice.
"""

from __future__ import annotations

import math

import numpy as np

from robodyn.base.spatial import Pose, about_axis
from robodyn.description.model import (
    Block,
    Body,
    ConstraintMethod,
    Event,
    LoopJoint,
    Machine,
    Mechanism,
    Point,
    Scenario,
    SetValues,
    Solver,
    combine,
)
from robodyn_studies.catalog.delta_parameters import FITTED, GRAVITY, DeltaRobot
from robodyn_studies.catalog.delta_robot import ARMS, POLE, UP, constant_torques, delta_machine, symmetric_pose
from robodyn_studies.catalog.free_bodies import hang_freely

ROBOTS = ("left", "right")
SPAN = 1.0
"""Distance of the robots' centres, and of the beam's handles [m]."""
BEAM_MASS = 0.6
HANDLE = 0.05
"""Height of the handles above the beam's centre of mass [m]: it hangs, and swings about the line between them."""
STIFFNESS, DAMPING = 60.0, 3.0
"""Of the motors' control [N m/rad, N m s/rad]."""


def beam_machine() -> Machine:
    """A beam along x that moves freely, with a handle for each robot."""
    moment = BEAM_MASS * SPAN**2 / 12
    # On one handle alone it swings about y, as far as it likes.
    bodies, joints = hang_freely(Body("body", BEAM_MASS, inertia=(0.02 * moment, moment, moment)), turns="yzx")
    points = [Point(robot, "body", (x, 0.0, HANDLE)) for robot, x in zip(ROBOTS, (-SPAN / 2, SPAN / 2), strict=True)]
    gravity = (0.0, 0.0, -GRAVITY)
    return Machine("beam", Mechanism("beam", tuple(bodies), tuple(joints), tuple(points), gravity))


def lifting_drives(robot: DeltaRobot, start: float, end: float, payload: float) -> tuple[Block, ...]:
    """Motors that hold the robot's weight and that of its payload, and follow one move from angle to angle [rad]."""
    move = {"start": start, "target": end, "speed": 1.0, "top_acceleration": 4.0, "begin": 0.1}
    gains = {"proportional": STIFFNESS, "derivative": DAMPING}
    hold = robot.holding_torque(start, payload)
    blocks = [Block("move", "trapezoid_reference", parameters=move, unit="rad"), *constant_torques((hold,) * 3)]
    for arm in ARMS:
        follow = Block(f"{arm}.control", "pd_control", f"{arm}.q1", {"target": "move.position"}, gains, unit="N m")
        servo = Block(f"{arm}.servo", "torque_source", f"{arm}.q1", {"command": f"{arm}.control.command"})
        blocks += [follow, servo]
    return tuple(blocks)


def delta_pair_machine(robot: DeltaRobot = FITTED, start: float = 0.7, end: float = 0.35) -> Machine:
    """The robots `left` and `right` face each other; `left.grip` and `right.grip` tie the `beam` to their platforms."""
    drives = lifting_drives(robot, start, end, BEAM_MASS / 2)
    carrier = delta_machine(robot, drives=drives)
    places = {"left": Pose.translation((-SPAN / 2, 0.0, 0.0))}
    places["right"] = Pose(about_axis(UP, math.pi), np.array([SPAN / 2, 0.0, 0.0]))
    grips = [LoopJoint(f"{name}.grip", f"{name}.platform", f"beam.{name}") for name in ROBOTS]
    machines = {"left": carrier, "right": carrier, "beam": beam_machine()}
    return combine("delta-pair", machines, places=places, constraints=grips)


def pull_beyond(pull, limit):
    """How much the pull at a grip, downwards on the platform, exceeds what it holds [N]."""
    return -pull - limit


def let_go(robot: str, limit: float) -> Event:
    """Loss of contact: the grip no longer holds once the beam pulls at it with more than the limit [N]."""
    signal, memory = f"{robot}.grip.force.z", f"{robot}.grip.active"
    inputs, parameters = {"pull": signal}, {"limit": limit}
    return Event(f"{robot}.loss", pull_beyond, inputs, parameters, "rising", action=SetValues({memory: 0.0}))


def delta_pair(
    robot: DeltaRobot = FITTED,
    *,
    grips: tuple[float, float] = (6.0, 6.0),
    duration: float = 1.5,
    pole: float | None = POLE,
) -> Scenario:
    """Two delta robots lift a beam together.

    Args:
        grips: pull that the left and the right grip hold [N]; each carries 2.9 N of the beam at rest.
    """
    start, end = 0.7, 0.35
    outwards = robot.distal_angle(start)
    depth = robot.proximal_length * math.sin(start) + robot.distal_length * math.sin(outwards)
    pose = symmetric_pose(robot, start)
    initial = {f"{name}.{joint}": value for name in ROBOTS for joint, value in pose.items()}
    return Scenario(
        "delta-pair",
        delta_pair_machine(robot, start, end),
        duration,
        initial | {"beam.body.z.position": -depth - HANDLE},
        events=tuple(let_go(name, limit) for name, limit in zip(ROBOTS, grips, strict=True)),
        solver=Solver("dopri5", rtol=1e-7, atol=1e-9),
        title="Two delta robots lift one beam; a grip lets go when the beam pulls too hard",
        constraint_method=ConstraintMethod("baumgarte", pole),
    )
