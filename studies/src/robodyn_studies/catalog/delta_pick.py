"""Delta robot of all its bodies at work: along the path of pick and place, and stacking one block on another.

Blocks, places and gains are this project's own choice; the study's library has such tasks and prints none of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from robodyn.description.model import (
    GROUND,
    Body,
    Box,
    ConstraintMethod,
    Contact,
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
from robodyn_studies.catalog.delta_control import pid_blocks
from robodyn_studies.catalog.delta_parameters import FITTED, GRAVITY, DeltaRobot
from robodyn_studies.catalog.delta_robot import ARMS, POLE, commanded_torques
from robodyn_studies.catalog.delta_rods import RODS, delta_rods_machine
from robodyn_studies.catalog.delta_tasks import (
    PATH,
    PATH_TIMES,
    PAYLOAD,
    PID_COMMANDS,
    Place,
    path_blocks,
    path_signals,
    pose_at,
    torques_at,
)
from robodyn_studies.catalog.free_bodies import hang_freely

SOLVER = Solver("dopri5", rtol=1e-6, atol=1e-8)
# The block's edges [m] and mass [kg]; where it is put down [m]; how far below its place the robot aims [m].
BLOCK, BLOCK_MASS, SITE, PRESSED = (0.04, 0.04, 0.03), 0.1, (0.06, 0.02, -0.34), 2e-4
# The block below: wider, since corners that meet edges slide off them.
BASE = (0.08, 0.08, 0.03)
# Down, still for 0.4 s, up; points close to each other are where it is at rest.
STACK_TIMES = (0.1, 0.6, 0.62, 0.98, 1.0, 1.3)
# Of ideal motors without delay: stiffer than those of the sampled loops.
FIRM = {"proportional": 400.0, "integral": 2000.0, "derivative": 12.0}
HARDNESS = {"stiffness": 5e3, "damping": 20.0}
RELEASED = 2.0
"""Force on the block below at which the gripper opens, by the block's weight."""


def follow_path(times: Sequence[float], places: Sequence[Place], payload: float, robot: DeltaRobot = FITTED) -> Machine:
    """The robot along a path of its platform: PID at each motor, ideal torques, those of the start fed forward."""
    held = torques_at(robot, places[0], payload)
    control = pid_blocks(robot, path_signals()[:2], feed_forward=held, gains=FIRM, period=None)
    blocks = (*path_blocks(robot, times, places), *control, *commanded_torques(PID_COMMANDS))
    return delta_rods_machine(robot, payload=0.0, drives=blocks)


def rods_pose_at(place: Place, robot: DeltaRobot = FITTED) -> dict[str, float]:
    """Joint positions with the platform at a place, both rods of a pair alike."""
    lumped = pose_at(robot, place)
    pose = {f"{arm}.q1.position": lumped[f"{arm}.q1.position"] for arm in ARMS}
    for arm in ARMS:
        for side in RODS:
            pose |= {f"{arm}.{side}.{q}.position": lumped[f"{arm}.{q}.position"] for q in ("q2", "q3")}
    return pose | {f"platform.{axis}.position": value for axis, value in zip("xyz", place, strict=True)}


def delta_rods_pick(payload: float = PAYLOAD, robot: DeltaRobot = FITTED) -> Scenario:
    """A delta robot of six rods picks and places: what load does each rod carry?"""
    machine = follow_path(PATH_TIMES, PATH, payload, robot)
    return Scenario(
        "delta-rods-pick",
        machine.with_numbers({"platform.mass": robot.platform_mass + payload}),
        1.2,
        rods_pose_at(PATH[0], robot),
        solver=SOLVER,
        title="Delta robot of six rods, pick and place with a load",
        constraint_method=ConstraintMethod("baumgarte", POLE),
    )


def press_beyond(force, limit):
    """How much the block below is pressed more than the gripper waits for [N]."""
    return force - limit


def delta_stack(robot: DeltaRobot = FITTED) -> Scenario:
    """A delta robot sets a block on another one, lets go when it feels the contact, and rises without it.

    Once open, the gripper does not touch the block any more: it may reach 0.3 mm into it before it rises.
    """
    high = (SITE[0], SITE[1], SITE[2] + 0.05)
    down = (SITE[0], SITE[1], SITE[2] - PRESSED)
    carrier = follow_path(STACK_TIMES, (high, down, down, down, down, high), BLOCK_MASS, robot)
    moment = tuple(BLOCK_MASS / 12 * (sum(e**2 for e in BLOCK) - BLOCK[k] ** 2) for k in range(3))
    bodies, joints = hang_freely(Body("body", BLOCK_MASS, inertia=moment))
    site = Point("site", GROUND, (SITE[0], SITE[1], SITE[2] - 1.5 * BLOCK[2]))
    points = (Point("middle", "body"), Point("top", "body", (0.0, 0.0, BLOCK[2] / 2)), site)
    block = Machine("block", Mechanism("block", tuple(bodies), tuple(joints), points, (0.0, 0.0, -GRAVITY)))
    grip = LoopJoint("grip", "robot.platform", "block.top", "fixed")
    machine = combine("delta-stack", {"robot": carrier, "block": block}, constraints=[grip])
    box = Box("block.middle", BLOCK)
    touch = Contact("stack", box, Box("block.site", BASE), law="kelvin_voigt", parameters=HARDNESS)
    start = {f"robot.{name}": value for name, value in rods_pose_at(high, robot).items()}
    places = dict(zip("xyz", (high[0], high[1], high[2] - BLOCK[2] / 2), strict=True))
    limit = {"limit": RELEASED * BLOCK_MASS * GRAVITY}
    release = Event(
        "release",
        press_beyond,
        {"force": "stack.force.normal"},
        limit,
        "rising",
        action=SetValues({"grip.active": 0.0}),
    )
    return Scenario(
        "delta-stack",
        dataclasses.replace(machine, contacts=(touch,)),
        1.5,
        start | {f"block.body.{axis}.position": value for axis, value in places.items()},
        events=(release,),
        solver=SOLVER,
        title="Delta robot setting a block on another, letting go and leaving it",
        constraint_method=ConstraintMethod("baumgarte", POLE),
    )
