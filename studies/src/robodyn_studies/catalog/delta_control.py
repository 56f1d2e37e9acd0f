"""Delta robot under control: PID with gravity compensation, and feedback linearisation of the platform's place.

Controllers know the motors' angles and speeds alone. The other angles come from the forward kinematics: sampled ones
take Newton steps from the last sample's solution, continuous ones the common point of three spheres. Gains, drives and
paths are this project's own choice: the study prints none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from robodyn import symbolic as sym
from robodyn.laws import law
from robodyn.model import Block
from robodyn_studies.catalog.delta_dynamics import holding_torques, inverse_torques
from robodyn_studies.catalog.delta_kinematics import (
    arm_angles,
    distal_angles,
    improve_angles,
    locate_platform,
    motor_angles,
    motor_speeds,
    platform_motion,
)
from robodyn_studies.catalog.delta_parameters import DeltaRobot
from robodyn_studies.catalog.delta_robot import ARMS, MOTORS

SAMPLE = 1e-3
NEWTON_STEPS = 2
DISTAL = ("theta1", "alpha1", "theta2", "alpha2", "theta3", "alpha3")
AXES = ("x", "y", "z")
# Loops of about 25 rad/s on some 0.05 kg m^2 at each motor; 20 rad/s for the platform.
PID = {"proportional": 33.0, "integral": 100.0, "derivative": 2.1}
PLACE_LOOP = {"stiffness": 400.0, "damping": 32.0}
# A geared dc motor: 0.5 N m/A at the joint, current settles in about 1 ms.
MOTOR = {"resistance": 0.5, "inductance": 5e-4, "torque_constant": 0.05, "gear": 10.0, "current_limit": 20.0}
VOLTAGE_LIMIT = 24.0
POSITIONS, SPEEDS = (tuple(f"{motor}.{part}" for motor in MOTORS) for part in ("position", "velocity"))
KNOWN = tuple(f"kinematics.{name}" for name in DISTAL)


@dataclass(frozen=True)
class FollowDistal:
    """Distal angles by Newton's method from those of the last sample."""

    robot: DeltaRobot

    def __call__(self, motors, theta1, alpha1, theta2, alpha2, theta3, alpha3):
        distal = (theta1, alpha1, theta2, alpha2, theta3, alpha3)
        for _ in range(NEWTON_STEPS):
            distal = improve_angles(self.robot, motors, distal)
        return {f"{name}_next": angle for name, angle in zip(DISTAL, distal, strict=True)}


@dataclass(frozen=True)
class LocateDistal:
    """Distal angles in closed form."""

    robot: DeltaRobot

    def __call__(self, motors):
        place = locate_platform(self.robot, motors)
        found = [angle for k in range(3) for angle in distal_angles(self.robot, k, motors[k], place)]
        return dict(zip(DISTAL, found, strict=True))


def kinematics_block(robot: DeltaRobot, place: Sequence[float], period: float | None = SAMPLE) -> Block:
    """Forward kinematics: signals `kinematics.theta1` ... of all distal angles, from the motors' angles.

    Args:
        place: where the platform starts [m]: Newton's method begins there.
        period: sample time [s]; None for the closed form, without memory.
    """
    if period is None:
        return Block("kinematics", LocateDistal(robot), inputs={"motors": POSITIONS})
    motors = motor_angles(robot, place)
    start = [float(angle) for k in range(3) for angle in distal_angles(robot, k, motors[k], place)]
    memory = dict(zip(DISTAL, start, strict=True))
    return Block("kinematics", FollowDistal(robot), inputs={"motors": POSITIONS}, memory=memory, period=period)


@dataclass(frozen=True)
class AimMotors:
    """Angles and speeds of the motors for a place and velocity of the platform."""

    robot: DeltaRobot

    def __call__(self, place, velocity):
        motors = motor_angles(self.robot, place)
        distal = [angle for k in range(3) for angle in distal_angles(self.robot, k, motors[k], place)]
        speeds = motor_speeds(self.robot, arm_angles(motors, distal), velocity)
        return {"position": motors, "velocity": speeds}


def target_block(robot: DeltaRobot, wanted: Sequence[Sequence[Any]], period: float | None) -> Block:
    """Inverse kinematics: angles and speeds of the motors for the wanted place and velocity of the platform."""
    return Block("target", AimMotors(robot), inputs={"place": wanted[0], "velocity": wanted[1]}, period=period)


@dataclass(frozen=True)
class HoldPlatform:
    """Torques that carry the robot and its payload where they are."""

    robot: DeltaRobot

    def __call__(self, motors, distal, *, payload):
        return {"torque": holding_torques(self.robot, payload, arm_angles(motors, distal))}


def gravity_block(robot: DeltaRobot, payload: float, period: float | None) -> Block:
    """Gravity compensation: `gravity.torque.k` [N m] hold the robot where it is.

    Args:
        payload: that the controller knows of [kg].
    """
    inputs = {"motors": POSITIONS, "distal": KNOWN}
    return Block("gravity", HoldPlatform(robot), inputs=inputs, parameters={"payload": payload}, period=period)


PID_UNITS = {
    **dict.fromkeys(("target", "position"), "rad"),
    **dict.fromkeys(("target_velocity", "velocity"), "rad/s"),
    **dict.fromkeys(("feed_forward", "torque_command"), "N m"),
    **{"proportional": "N m/rad", "integral": "N m/(rad s)", "derivative": "N m s/rad", "error_sum": "rad s"},
}


def _command(error, error_rate, error_sum, feed_forward, proportional, integral, derivative):
    return feed_forward + proportional * error + integral * error_sum + derivative * error_rate


@law(units=PID_UNITS, period="s", memory={"error_sum": 0.0})
def sampled_pid(
    target,
    target_velocity,
    position,
    velocity,
    feed_forward,
    error_sum,
    *,
    proportional,
    integral,
    derivative,
    period,
):
    """Sampled PID control on top of a torque known before: tau = tau_ff + P e + I sum + D e', sum += T e."""
    error, error_rate = target - position, target_velocity - velocity
    command = _command(error, error_rate, error_sum, feed_forward, proportional, integral, derivative)
    return {"torque_command": command, "error_sum_next": error_sum + period * error}


@law(units=PID_UNITS, states={"error_sum": 0.1})
def continuous_pid(
    target, target_velocity, position, velocity, feed_forward, error_sum, *, proportional, integral, derivative
):
    """PID control on top of a torque known before: tau = tau_ff + P e + I sum + D e', sum' = e."""
    error, error_rate = target - position, target_velocity - velocity
    command = _command(error, error_rate, error_sum, feed_forward, proportional, integral, derivative)
    return {"torque_command": command, "error_sum_dot": error}


def pid_blocks(
    robot: DeltaRobot,
    wanted: Sequence[Sequence[Any]],
    *,
    place: Sequence[float],
    payload: float = 0.0,
    gains: dict[str, float] | None = None,
    feed_forward: Sequence[float] | None = None,
    period: float | None = SAMPLE,
) -> tuple[Block, ...]:
    """Inverse and forward kinematics, gravity compensation and PID for each motor: `armi.control.torque_command`.

    Args:
        wanted: place [m] and velocity [m/s] of the platform, three signals or numbers each.
        place: where it starts; payload: that the controller knows of [kg].
        feed_forward: constant torques [N m] instead of gravity compensation.
    """
    pid: Callable[..., Any] = continuous_pid if period is None else sampled_pid
    blocks = [target_block(robot, wanted, period)]
    known: Sequence[Any] = [f"gravity.torque.{k}" for k in range(3)]
    if feed_forward is None:
        blocks += [kinematics_block(robot, place, period), gravity_block(robot, payload, period)]
    else:
        known = feed_forward
    for k, arm in enumerate(ARMS):
        inputs = {"target": f"target.position.{k}", "target_velocity": f"target.velocity.{k}"}
        inputs |= {"position": POSITIONS[k], "velocity": SPEEDS[k], "feed_forward": known[k]}
        blocks.append(Block(f"{arm}.control", pid, inputs=inputs, parameters=gains or PID, period=period))
    return tuple(blocks)


@dataclass(frozen=True)
class LinearisePlatform:
    """Torques under which the platform accelerates as a linear loop wants."""

    robot: DeltaRobot

    def __call__(self, motors, speeds, distal, place, velocity, acceleration, *, stiffness, damping, payload):
        arms = arm_angles(motors, distal)
        found, moving, rates = platform_motion(self.robot, arms, speeds)
        aimed = [
            acceleration[i] + damping * (velocity[i] - moving[i]) + stiffness * (place[i] - found[i]) for i in range(3)
        ]
        return {"torque": inverse_torques(self.robot, payload, arms, rates, aimed)}


def linearising_blocks(
    robot: DeltaRobot,
    wanted: Sequence[Sequence[Any]],
    *,
    place: Sequence[float],
    payload: float = 0.0,
    period: float | None = SAMPLE,
) -> tuple[Block, ...]:
    """Feedback linearisation of the platform's place: w'' = w_ref'' + k2 (w_ref' - w') + k1 (w_ref - w).

    Args:
        wanted: place [m], velocity and acceleration of the platform, three signals or numbers each.
    """
    inputs: dict[str, Any] = {"motors": POSITIONS, "speeds": SPEEDS, "distal": KNOWN}
    inputs |= dict(zip(("place", "velocity", "acceleration"), wanted, strict=True))
    parameters = PLACE_LOOP | {"payload": payload}
    control = Block("control", LinearisePlatform(robot), inputs=inputs, parameters=parameters, period=period)
    return kinematics_block(robot, place, period), control


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
