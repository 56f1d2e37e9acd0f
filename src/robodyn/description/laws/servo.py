"""Digital servo loops: what does an axis controller command? PI position, D velocity, feedforward, current loop.

    i_cmd = clip(P e + I sum(e) + D (w_ref - w) + i_ff),   U = clip(Pc (i_cmd - i) + Ic sum(i_cmd - i))

Position and feedforward are sampled slowly, velocity and current fast. Positions are those of the motor: with coupled
gears its setpoint is a weighted sum of the joints', `phi_ref = sum n_i q_i`. No sum winds up while its output is
limited.
"""

import math

from robodyn.base import symbolic as sym
from robodyn.description.laws.definition import law

UNITS = {
    "targets": "{x}",
    "velocities": "{x}/s",
    "accelerations": "{x}/s^2",
    "gears": "",
    "position": "{x}",
    "velocity": "{x}/s",
    "velocity_ref": "{x}/s",
    "command": "A",
    "feed_forward": "A",
    "excess": "A",
    "error": "{x}",
    "period": "s",
}


def weighted_sum(values, weights):
    """`sum n_i q_i` of several values, or of a single one."""
    if not isinstance(values, (tuple, list)):
        return weights * values
    return sum(weight * value for value, weight in zip(values, weights, strict=True))


def hold_at_limit(total, step, excess):
    """The next sum: it takes no step towards the side on which the output is beyond its limit already."""
    return total + sym.where(excess * step > 0, 0.0, step)


@law(
    units=UNITS,
    proportional="A/{x}",
    integral="A/({x} s)",
    held="A",
    memory={"held": 0.0},
    checks={"period": "positive"},
    ideal={"excess": 0.0},
)
def servo_position_loop(targets, position, excess, held, *, gears, proportional, integral, period):
    """PI on the position error: `i_k = P e_k + h_k`, `h_{k+1} = h_k + I T e_k` unless the axis is at its limit.

    Args:
        targets: setpoint of the joint that turns this motor, or of several; gears: motor turns per turn of each.
        excess: what the axis' current command last was beyond its limit.
    """
    error = weighted_sum(targets, gears) - position
    return {
        "command": proportional * error + held,
        "error": error,
        "held_next": hold_at_limit(held, integral * period * error, excess),
    }


@law(
    units=UNITS,
    current="A",
    torque_constant="N m/A",
    inertia="kg m^2",
    coulomb="{F}",
    viscous="{F} s/{x}",
    smoothing_velocity="{x}/s",
    checks={"torque_constant": "positive", "smoothing_velocity": "positive"},
    ideal={"coulomb": 0.0, "viscous": 0.0},
)
def servo_feed_forward(
    velocities, accelerations, *, gears, torque_constant, inertia=0.0, coulomb=0.0, viscous=0.0, smoothing_velocity=1.0
):
    """Current for the wanted acceleration and against the friction expected: `i = (J a + Tc s(w) + B w) / kT`.

    The sign function s(w) rises linearly from -1 to 1 between -w0 and w0 (motor speeds): no jump at standstill.

    Args:
        velocities, accelerations: setpoints of the joint that turns this motor, or of several.
        inertia: [kg m^2] and friction on the motor's side; smoothing_velocity: w0.
    """
    velocity = weighted_sum(velocities, gears)
    acceleration = weighted_sum(accelerations, gears)
    dry = coulomb * sym.clip(velocity / smoothing_velocity, -1.0, 1.0)
    torque = inertia * acceleration + dry + viscous * velocity
    return {"current": torque / torque_constant, "velocity_ref": velocity}


@law(
    units=UNITS,
    position_command="A",
    derivative="A s/{x}",
    current_limit="A",
    checks={"current_limit": "positive"},
    ideal={"current_limit": math.inf},
)
def servo_velocity_loop(position_command, feed_forward, velocity_ref, velocity, *, derivative, current_limit=math.inf):
    """D on the velocity error, the sum of all commands limited: `i = clip(i_PI + i_ff + D (w_ref - w))`.

    `excess` is what was cut off.
    """
    wanted = position_command + feed_forward + derivative * (velocity_ref - velocity)
    command = sym.clip(wanted, -current_limit, current_limit)
    return {"command": command, "excess": wanted - command}


@law(
    units=UNITS,
    current_command="A",
    current="A",
    voltage="V",
    held="V",
    proportional="V/A",
    integral="V/(A s)",
    voltage_limit="V",
    memory={"held": 0.0},
    checks={"voltage_limit": "positive", "period": "positive"},
    ideal={"voltage_limit": math.inf},
)
def servo_current_loop(current_command, current, held, *, proportional, integral, period, voltage_limit=math.inf):
    """PI on the motor's current: `U_k = clip(P e_k + h_k)`, `h_{k+1} = h_k + I T e_k` unless U is at its limit."""
    error = current_command - current
    wanted = proportional * error + held
    voltage = sym.clip(wanted, -voltage_limit, voltage_limit)
    return {"voltage": voltage, "held_next": hold_at_limit(held, integral * period * error, wanted - voltage)}
