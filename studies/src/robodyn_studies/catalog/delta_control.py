"""Delta robot under control: PID with gravity compensation, and feedback linearisation of the platform's place.

Both are made from the robot's model: the library's laws, which know the motors' angles and speeds, and a payload that
may be another than the robot's. Gains, drives and paths are this project's own choice: the study prints none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from robodyn import symbolic as sym
from robodyn.description.laws import law
from robodyn.description.model import Block, ControlModel
from robodyn_studies.catalog.delta_kinematics import arm_angles, distal_angles, motor_angles, motor_speeds
from robodyn_studies.catalog.delta_parameters import DeltaRobot
from robodyn_studies.catalog.delta_robot import ARMS, MOTORS

SAMPLE = 1e-3
AXES = ("x", "y", "z")
PLACE = tuple(f"platform.position.{axis}" for axis in AXES)
# Loops of about 25 rad/s on some 0.05 kg m^2 at each motor; 20 rad/s for the platform.
PID = {"proportional": 33.0, "integral": 100.0, "derivative": 2.1}
PLACE_LOOP = {"stiffness": 400.0, "damping": 32.0}
# A geared dc motor: 0.5 N m/A at the joint, current settles in about 1 ms.
MOTOR = {"resistance": 0.5, "inductance": 5e-4, "torque_constant": 0.05, "gear": 10.0, "current_limit": 20.0}
VOLTAGE_LIMIT = 24.0


def known_robot(robot: DeltaRobot, payload: float, **fields: Any) -> ControlModel:
    """The robot with its damping and a payload that the controller knows of [kg]."""
    shares = {f"{arm}.share.mass": (robot.platform_mass + payload) / 3 for arm in ARMS}
    return ControlModel(axes=MOTORS, friction=True, changes=shares, **fields)


@dataclass(frozen=True)
class AimMotors:
    """Angles and speeds of the motors for a place and velocity of the platform."""

    robot: DeltaRobot

    def __call__(self, place, velocity):
        motors = motor_angles(self.robot, place)
        distal = [angle for k in range(3) for angle in distal_angles(self.robot, k, motors[k], place)]
        speeds = motor_speeds(self.robot, arm_angles(motors, distal), velocity)
        return {"position": motors, "velocity": speeds}


def pid_blocks(
    robot: DeltaRobot,
    wanted: Sequence[Sequence[Any]],
    *,
    payload: float = 0.0,
    gains: dict[str, float] | None = None,
    feed_forward: Sequence[float] | None = None,
    period: float | None = SAMPLE,
) -> tuple[Block, ...]:
    """Inverse kinematics, gravity compensation and PID for each motor: `armi.control.command`.

    Args:
        wanted: place [m] and velocity [m/s] of the platform, three signals or numbers each.
        payload: that the controller knows of [kg].
        feed_forward: constant torques [N m] instead of gravity compensation.
    """
    aim = Block("target", AimMotors(robot), inputs={"place": wanted[0], "velocity": wanted[1]}, period=period)
    gravity = Block("gravity", "gravity_compensation", model=known_robot(robot, payload), period=period)
    known: Sequence[Any] = feed_forward or [f"gravity.torque.{k}" for k in range(3)]
    blocks = [aim, *((gravity,) if feed_forward is None else ())]
    for k, (arm, motor) in enumerate(zip(ARMS, MOTORS, strict=True)):
        inputs = {"target": f"target.position.{k}", "target_velocity": f"target.velocity.{k}"}
        inputs |= {"position": f"{motor}.position", "velocity": f"{motor}.velocity", "feed_forward": known[k]}
        pid = "pid_control" if period is None else "sampled_pid"
        blocks.append(Block(f"{arm}.control", pid, None, inputs, gains or PID, period=period, unit="N m"))
    return tuple(blocks)


def linearising_block(
    robot: DeltaRobot, wanted: Sequence[Sequence[Any]], *, payload: float = 0.0, period: float | None = SAMPLE
) -> Block:
    """Feedback linearisation of the platform's place: w'' = w_ref'' + k2 (w_ref' - w') + k1 (w_ref - w).

    Args:
        wanted: place [m], velocity and acceleration of the platform, three signals or numbers each.
    """
    inputs = dict(zip(("target", "target_velocity", "target_acceleration"), wanted, strict=True))
    model = known_robot(robot, payload, task=PLACE)
    return Block("control", "operational_space_control", None, inputs, PLACE_LOOP, period=period, model=model)


@law(
    torque="N m",
    velocity="rad/s",
    voltage="V",
    resistance="ohm",
    torque_constant="N m/A",
    gear="",
    limit="V",
    checks={"limit": "positive"},
)
def motor_voltage(torque, velocity, *, resistance, torque_constant, gear, limit):
    """Voltage at which a geared motor settles at a torque: U = clip(R tau / (n kT) + n kT w)."""
    constant = gear * torque_constant
    return {"voltage": sym.clip(resistance * torque / constant + constant * velocity, -limit, limit)}


def motor_blocks(commands: Sequence[str], period: float | None = SAMPLE) -> tuple[Block, ...]:
    """Geared dc motors, their voltages set for the commanded torques: `armi.amplifier`, `armi.motor`."""
    known = {key: MOTOR[key] for key in ("resistance", "torque_constant", "gear")} | {"limit": VOLTAGE_LIMIT}
    blocks = []
    for arm, motor, command in zip(ARMS, MOTORS, commands, strict=True):
        inputs = {"torque": command, "velocity": f"{motor}.velocity"}
        blocks.append(Block(f"{arm}.amplifier", motor_voltage, inputs=inputs, parameters=known, period=period))
        blocks.append(Block(f"{arm}.motor", "dc_motor", motor, {"voltage": f"{arm}.amplifier.voltage"}, MOTOR))
    return tuple(blocks)
