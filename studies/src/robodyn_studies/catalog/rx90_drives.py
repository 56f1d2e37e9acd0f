"""RX90B drives: of which blocks are motors, friction and the digital controller made?

    path -> setpoints -+-> position loop (PI) -+-> velocity loop (D) -> current loop (PI) -> motor
                        +-> feedforward -------+        ^
                        encoder of the motor ------------+

at 1 kHz up to the position loop and the feedforward, at 4 kHz behind them and for the encoder.

Six loops that know nothing of each other. Gains follow from crossover frequencies, the rotor's inertia Jr and all
inertia J that a motor feels. At high frequencies an elastic gear leaves the motor alone with its rotor: the velocity
loop crosses at wc there, and at wv = wc Jr / J where the arm moves with it.

    D = Jr wc / kT,   P = D wp,   wp = wv / 2.5,   I = P wp / 5,   current loop: Pc = L w,   Ic = Pc R / L
"""

from __future__ import annotations

import math

from robodyn.description.model import Block
from robodyn_studies.catalog import rx90_parameters as rx
from robodyn_studies.catalog.rx90_arm import turns_of


def friction_blocks() -> tuple[Block, ...]:
    """LuGre friction at all seven places."""
    return tuple(_friction_at(place, numbers) for place, numbers in rx.FRICTIONS.items())


def _friction_at(place: str, numbers: rx.Friction) -> Block:
    forth, back = (numbers.coulomb * (1 + way * rx.ASYMMETRY) for way in (1, -1))
    parameters = {
        "stiffness": numbers.stiffness,
        "damping": numbers.damping,
        "viscous": numbers.viscous,
        "coulomb": forth,
        "static": forth * numbers.static,
        "coulomb_back": back,
        "static_back": back * numbers.static,
        "stribeck_velocity": numbers.stribeck_velocity,
        "exponent": numbers.exponent,
    }
    return Block(f"{place}.friction", "two_way_lugre_friction", on=place, parameters=parameters)


def axis_blocks(k: int) -> tuple[Block, ...]:
    """Encoder, controller and motor of one axis (1 to 6)."""
    return (_encoder(k), _position_loop(k), _feed_forward(k), _velocity_loop(k), _current_loop(k), _motor(k))


def _encoder(k: int) -> Block:
    return Block(
        f"axis{k}.encoder",
        "sampled_encoder",
        inputs={"value": f"motor{k}.position"},
        parameters={"resolution": 2 * math.pi / rx.COUNTS},
        period=rx.FAST,
    )


def _set_points(k: int, quantity: str) -> str | tuple[str, ...]:
    """Signal of the setpoint of the joint that turns a motor; motor 6 has two."""
    return (f"setpoints.{quantity}5", f"setpoints.{quantity}6") if k == 6 else f"setpoints.{quantity}{k}"


def _gears(k: int) -> float | tuple[float, ...]:
    """Their gear ratios."""
    gears = tuple(turns_of(k).values())
    return gears if len(gears) > 1 else gears[0]


def servo_gains(k: int) -> tuple[float, float, float]:
    """P [A/rad], I [A/(rad s)] and D [A s/rad] of an axis, on the motor's side."""
    axis = rx.DRIVES[k - 1]
    crossover = 2 * math.pi * rx.VELOCITY_CROSSOVER
    derivative = axis.rotor * crossover / axis.torque_constant
    slower = crossover * axis.rotor / axis.inertia / rx.POSITION_RATIO
    return derivative * slower, derivative * slower**2 / rx.INTEGRAL_RATIO, derivative


def _position_loop(k: int) -> Block:
    proportional, integral, _ = servo_gains(k)
    return Block(
        f"axis{k}.position_loop",
        "servo_position_loop",
        inputs={
            "targets": _set_points(k, "position"),
            "position": f"axis{k}.encoder.measured",
            "excess": f"axis{k}.velocity_loop.excess",
        },
        parameters={"gears": _gears(k), "proportional": proportional, "integral": integral},
        period=rx.SLOW,
        delay=rx.COMPUTATION,
    )


def _feed_forward(k: int) -> Block:
    """Friction of the axis itself; motor 6 also drives the seventh place. What couples the axes is not known to it."""
    axis = rx.DRIVES[k - 1]
    places = [rx.FRICTIONS[f"joint{k}"], *([rx.FRICTIONS["wrist"]] if k == 6 else [])]
    parameters = {
        "gears": _gears(k),
        "torque_constant": axis.torque_constant,
        "inertia": axis.inertia,
        "coulomb": sum(place.coulomb for place in places) / axis.gear,
        "viscous": sum(place.viscous for place in places) / axis.gear**2,
        "smoothing_velocity": rx.SMOOTHING * axis.gear,
    }
    inputs = {"velocities": _set_points(k, "velocity"), "accelerations": _set_points(k, "acceleration")}
    return Block(
        f"axis{k}.feed_forward",
        "servo_feed_forward",
        inputs=inputs,
        parameters=parameters,
        period=rx.SLOW,
        delay=rx.COMPUTATION,
    )


def _velocity_loop(k: int) -> Block:
    inputs = {
        "position_command": f"axis{k}.position_loop.command",
        "feed_forward": f"axis{k}.feed_forward.current",
        "velocity_ref": f"axis{k}.feed_forward.velocity_ref",
        "velocity": f"axis{k}.encoder.measured_rate",
    }
    parameters = {"derivative": servo_gains(k)[2], "current_limit": rx.DRIVES[k - 1].current_limit}
    return Block(f"axis{k}.velocity_loop", "servo_velocity_loop", inputs=inputs, parameters=parameters, period=rx.FAST)


def _current_loop(k: int) -> Block:
    proportional = rx.INDUCTANCE * 2 * math.pi * rx.CURRENT_CROSSOVER
    return Block(
        f"axis{k}.current_loop",
        "servo_current_loop",
        inputs={"current_command": f"axis{k}.velocity_loop.command", "current": f"axis{k}.drive.current"},
        parameters={
            "proportional": proportional,
            "integral": proportional * rx.RESISTANCE / rx.INDUCTANCE,
            "voltage_limit": rx.VOLTAGE_LIMIT,
        },
        period=rx.FAST,
    )


def _motor(k: int) -> Block:
    return Block(
        f"axis{k}.drive",
        "servo_motor",
        on=f"motor{k}",
        inputs={"voltage": f"axis{k}.current_loop.voltage"},
        parameters={
            "resistance": rx.RESISTANCE,
            "inductance": rx.INDUCTANCE,
            "torque_constant": rx.DRIVES[k - 1].torque_constant,
        },
    )
