"""Tasks of the delta robot under control: it moves to a place, answers a step, carries a load along a path.

Places, times and the load are this project's own choice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robodyn.base.errors import Flaw, ModelError, nearest
from robodyn.description.model import Block, ConstraintMethod, Scenario, Solver
from robodyn_studies.catalog.delta_control import AXES, MOTOR, PID, SAMPLE, linearising_block, motor_blocks, pid_blocks
from robodyn_studies.catalog.delta_kinematics import arm_angles, check_reach, distal_angles, motor_angles, motor_speeds
from robodyn_studies.catalog.delta_parameters import FITTED, GRAVITY, DeltaRobot
from robodyn_studies.catalog.delta_robot import ARMS, POLE, commanded_torques, delta_machine

Place = tuple[float, float, float]
HIGH: Place = (0.0, 0.0, -0.20)
ASIDE: Place = (0.05, -0.03, -0.26)
# Pick and place: up from one table, across, down to another.
PATH_TIMES = (0.1, 0.3, 0.5, 0.7)
PATH: tuple[Place, ...] = ((-0.10, 0.0, -0.36), (-0.05, 0.03, -0.30), (0.05, 0.03, -0.30), (0.10, 0.0, -0.36))
PAYLOAD = 0.3
SOLVER = Solver("dopri5", rtol=1e-7, atol=1e-9)
DRIVES = ("dc", "ideal")
KINDS = ("position", "velocity", "acceleration")
PID_COMMANDS = tuple(f"{arm}.control.command" for arm in ARMS)
LINEAR_COMMANDS = tuple(f"control.torque.{k}" for k in range(3))


def pose_at(robot: DeltaRobot, place: Sequence[float]) -> dict[str, float]:
    """Joint positions [rad] with the platform at a place [m], elbows outside; out of reach is an error."""
    check_reach(robot, {"place": place})
    motors = motor_angles(robot, place)
    positions = {}
    for k, arm in enumerate(ARMS):
        theta, alpha = distal_angles(robot, k, motors[k], place)
        for joint, angle in (("q1", motors[k]), ("q2", theta - motors[k]), ("q3", alpha)):
            positions[f"{arm}.{joint}.position"] = float(angle)
    return positions


def path_blocks(robot: DeltaRobot, times: Sequence[float], places: Sequence[Place]) -> tuple[Block, ...]:
    """A spline for each axis of the platform: `reference.x.position` and so on; the robot reaches all places."""
    check_reach(robot, {f"places[{k}]": place for k, place in enumerate(places)})
    return tuple(
        Block(
            f"reference.{axis}",
            "spline_reference",
            parameters={"times": times, "points": tuple(place[k] for place in places)},
            unit="m",
        )
        for k, axis in enumerate(AXES)
    )


def path_signals() -> tuple[tuple[str, ...], ...]:
    """Wanted place, velocity and acceleration of the platform."""
    return tuple(tuple(f"reference.{axis}.{kind}" for axis in AXES) for kind in KINDS)


def _drive(commands: Sequence[str], drives: str, period: float | None) -> tuple[Block, ...]:
    if drives not in DRIVES:
        raise ModelError([Flaw("drives", f"'{drives}' is unknown", nearest(str(drives), DRIVES))], "delta robot")
    return motor_blocks(commands, period) if drives == "dc" else commanded_torques(commands)


def torques_at(robot: DeltaRobot, place: Sequence[float], payload: float = 0.0) -> tuple[float, ...]:
    """Motor torques [N m] that hold the platform at a place [m], by virtual work: dU/dphi_k.

    A distal link's centre of mass is between elbow and platform: its share c of the weight is the platform's.
    """
    motors = motor_angles(robot, place)
    arms = arm_angles(motors, [angle for k in range(3) for angle in distal_angles(robot, k, motors[k], place)])
    rises = np.linalg.inv(np.transpose([motor_speeds(robot, arms, axis) for axis in np.eye(3).tolist()]))[2]
    c = robot.distal_com / robot.distal_length
    own = robot.proximal_mass * robot.proximal_com + (1 - c) * robot.distal_mass * robot.proximal_length
    carried = 3 * c * robot.distal_mass + robot.platform_mass + payload
    return tuple(
        float(GRAVITY * (carried * rise - own * math.cos(phi))) for phi, rise in zip(motors, rises, strict=True)
    )


def _currents(robot: DeltaRobot, blocks: Sequence[Block], start: Place, payload: float) -> dict[str, float]:
    """Motor currents [A] that hold the robot at the start."""
    torques = zip(ARMS, torques_at(robot, start, payload), strict=True)
    known = {block.name for block in blocks if block.law == "dc_motor"}
    per_ampere = MOTOR["gear"] * MOTOR["torque_constant"]
    return {f"{arm}.motor.current": torque / per_ampere for arm, torque in torques if f"{arm}.motor" in known}


def _scenario(
    name: str, robot: DeltaRobot, blocks: Sequence[Block], start: Place, duration: float, payload: float, title: str
) -> Scenario:
    return Scenario(
        name,
        delta_machine(robot, payload=payload, drives=blocks),
        duration,
        pose_at(robot, start) | _currents(robot, blocks, start, payload),
        solver=SOLVER,
        title=title,
        constraint_method=ConstraintMethod("baumgarte", POLE),
    )


def delta_pid(
    robot: DeltaRobot = FITTED,
    *,
    start: Place = HIGH,
    target: Place = ASIDE,
    payload: float = 0.0,
    known_payload: float = 0.0,
    drives: str = "dc",
    period: float | None = SAMPLE,
    gains: dict[str, float] | None = None,
) -> Scenario:
    """A delta robot moves under PID control with gravity compensation, from where it is unstable by itself.

    Args:
        known_payload: what the controller takes the payload for [kg].
        drives: "dc" for geared motors, "ideal" for the commanded torques themselves.
        period: sample time of the controllers [s]; None for continuous ones.
    """
    wanted = path_signals()[:2]
    control = pid_blocks(robot, wanted, payload=known_payload, gains=gains, period=period)
    blocks = (*path_blocks(robot, (0.1, 0.5), (start, target)), *control, *_drive(PID_COMMANDS, drives, period))
    title = "Delta robot, PID with gravity compensation at 1 kHz"
    return _scenario("delta-pid", robot, blocks, start, 1.5, payload, title)


def delta_stand(
    robot: DeltaRobot = FITTED,
    *,
    place: Place | None = None,
    drives: str = "ideal",
    period: float | None = SAMPLE,
    gains: dict[str, float] | None = None,
) -> Scenario:
    """A delta robot is held in place by constant torques and PD loops without gravity compensation.

    Below some proportional gain it falls: the case for `find_stability_limit`. Arguments as `delta_pid`; by default the
    motors stand horizontal.
    """
    place = (0.0, 0.0, -robot.distal_length * math.sin(robot.distal_angle(0.0))) if place is None else place
    still, pd = (0.0, 0.0, 0.0), gains or PID | {"integral": 0.0}
    torques = torques_at(robot, place)
    control = pid_blocks(robot, (place, still), gains=pd, feed_forward=torques, period=period)
    blocks = (*control, *_drive(PID_COMMANDS, drives, period))
    title = "Delta robot, PD loops around constant torques at 1 kHz"
    return _scenario("delta-stand", robot, blocks, place, 1.0, 0.0, title)


def delta_linearised(
    robot: DeltaRobot = FITTED,
    *,
    start: Place = HIGH,
    target: Place = (0.0, 0.02, -0.21),
    drives: str = "dc",
    period: float | None = SAMPLE,
) -> Scenario:
    """A delta robot under feedback linearisation answers to a step of its wanted place."""
    check_reach(robot, {"target": target})
    still = (0.0, 0.0, 0.0)
    control = linearising_block(robot, (target, still, still), period=period)
    blocks = (control, *_drive(LINEAR_COMMANDS, drives, period))
    title = "Delta robot, step of the platform's place under feedback linearisation"
    return _scenario("delta-linearised", robot, blocks, start, 0.8, 0.0, title)


def delta_tracking(
    robot: DeltaRobot = FITTED,
    *,
    payload: float = PAYLOAD,
    known_payload: float = 0.0,
    drives: str = "dc",
    period: float | None = SAMPLE,
    pace: float = 1.0,
) -> Scenario:
    """A delta robot under feedback linearisation picks and places a load that its controller may not know.

    Args:
        pace: how many times faster than PATH_TIMES the path is driven.
    """
    control = linearising_block(robot, path_signals(), payload=known_payload, period=period)
    times = tuple(PATH_TIMES[0] + (time - PATH_TIMES[0]) / pace for time in PATH_TIMES)
    blocks = (*path_blocks(robot, times, PATH), control, *_drive(LINEAR_COMMANDS, drives, period))
    title = "Delta robot, pick and place with a load under feedback linearisation at 1 kHz"
    return _scenario("delta-tracking", robot, blocks, PATH[0], 1.2, payload, title)
