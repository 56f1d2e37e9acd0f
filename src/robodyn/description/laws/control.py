"""Controllers (PD, PID, cascades, servo loops): what do they command? Sampled laws have `_next` memory."""

import math

from robodyn.base import symbolic as sym
from robodyn.description.laws.definition import law

PD_UNITS = {
    **dict.fromkeys(("target", "position"), "{x}"),
    **dict.fromkeys(("velocity", "target_velocity"), "{x}/s"),
    **dict.fromkeys(("command", "limit", "feed_forward"), "{u}"),
}


@law(
    units=PD_UNITS,
    proportional="{u}/{x}",
    derivative="{u} s/{x}",
    checks={"limit": "positive"},
    ideal={"limit": math.inf},
)
def pd_control(target, position, velocity, *, proportional, derivative, limit=math.inf):
    """Proportional-derivative control with a limited output: `U = clip(P (target - q) - D w)`."""
    command = proportional * (target - position) - derivative * velocity
    return {"command": sym.clip(command, -limit, limit)}


@law(
    units=PD_UNITS,
    proportional="{u}/{x}",
    integral="{u}/({x} s)",
    derivative="{u} s/{x}",
    error_sum="{x} s",
    states={"error_sum": 1.0},
    checks={"limit": "positive"},
    ideal={"limit": math.inf},
)
def pid_control(
    target,
    position,
    velocity,
    error_sum,
    target_velocity=0.0,
    feed_forward=0.0,
    *,
    proportional,
    integral,
    derivative,
    limit=math.inf,
):
    """PID control whose integral stops while the output is limited (no wind-up).

    U = clip(P e + I s + D (w_ref - w) + U_ff),   s_dot = e unless that drives U further beyond its limit
    """
    error = target - position
    wanted = feed_forward + proportional * error + integral * error_sum + derivative * (target_velocity - velocity)
    command = sym.clip(wanted, -limit, limit)
    winding = sym.logical_and(sym.absolute(wanted) > limit, wanted * integral * error > 0)
    return {"command": command, "error_sum_dot": sym.where(winding, 0.0, error)}


@law(
    target="{x}",
    position="{x}",
    feed_forward="{x}/s",
    velocity_command="{x}/s",
    proportional="1/s",
    limit="{x}/s",
    checks={"limit": "positive"},
    ideal={"limit": math.inf},
)
def position_loop(target, position, feed_forward, *, proportional, limit=math.inf):
    """Outer loop of a cascade: `w_cmd = clip(w_ref + P (target - q))`."""
    command = feed_forward + proportional * (target - position)
    return {"velocity_command": sym.clip(command, -limit, limit)}


@law(
    velocity_command="{x}/s",
    velocity="{x}/s",
    torque_command="{F}",
    proportional="{F} s/{x}",
    integral="{F}/{x}",
    period="s",
    error_sum="{x}",
    limit="{F}",
    memory={"error_sum": 0.0},
    checks={"limit": "positive", "period": "positive"},
    ideal={"limit": math.inf},
)
def sampled_velocity_loop(velocity_command, velocity, error_sum, *, proportional, integral, period, limit=math.inf):
    """Inner loop of a cascade, sampled: PI on the velocity error, the sum held while the output is limited.

    tau_k = clip(P e_k + I s_k),   s_{k+1} = s_k + T e_k unless that drives tau further beyond its limit
    """
    error = velocity_command - velocity
    wanted = proportional * error + integral * error_sum
    winding = sym.logical_and(sym.absolute(wanted) > limit, wanted * integral * error > 0)
    return {
        "torque_command": sym.clip(wanted, -limit, limit),
        "error_sum_next": error_sum + sym.where(winding, 0.0, period * error),
    }


@law(value="", output="{u}", error="{u}", gain="")
def amplifier(value, error=0.0, *, gain):
    """Output = gain times input, minus what its own measurement reads too much (offset and noise of a current loop)."""
    return {"output": gain * value - error}


@law(
    value="{u}",
    output="{u}",
    lower="{u}",
    upper="{u}",
    checks={"upper": "above lower"},
    ideal={"lower": -math.inf, "upper": math.inf},
)
def saturation(value, *, lower, upper):
    """The input clipped to [lower, upper]."""
    return {"output": sym.clip(value, lower, upper)}


@law(
    rate="{u}/s",
    value="{u}",
    output="{u}",
    lower="{u}",
    upper="{u}",
    states={"value": 1.0},
    limits={"value": ("lower", "upper")},
    checks={"upper": "above lower"},
    ideal={"lower": -math.inf, "upper": math.inf},
)
def limited_integrator(rate, value, *, lower=-math.inf, upper=math.inf):
    """An integrator whose state cannot leave [lower, upper]: it does not wind up."""
    return {"output": value, "value_dot": rate}


@law(
    value="{u}",
    output="{u}",
    time_constant="s",
    filtered="{u}",
    states={"filtered": 1.0},
    checks={"time_constant": "positive"},
)
def low_pass(value, filtered, *, time_constant):
    """First-order lag: `T y_dot = u - y`."""
    return {"output": filtered, "filtered_dot": (value - filtered) / time_constant}


@law(
    value="",
    output="{u}",
    filtered="",
    gain="",
    zero="rad/s",
    pole="rad/s",
    states={"filtered": 1.0},
    checks={"zero": "non-negative", "pole": "positive"},
)
def lead_compensator(value, filtered, *, gain, pole, zero=0.0):
    """Phase lead where `pole` is above `zero`, phase lag where it is below: `y = K (s + z) / (s + p) u`.

    x_dot = u - p x,   y = K (u - (p - z) x)
    """
    return {"output": gain * (value - (pole - zero) * filtered), "filtered_dot": value - pole * filtered}


# --------------------------------------------------------------------------------------------------
# Sampled PID control: what does a digital axis controller command, and what does its sum do at the limit (wind-up)?
#
#     u = P e + I s + D (w_ref - w) + u_ff,   e = target - position,   s the sum of T e
#
# Three ways that keep the sum from winding up while the output is limited: it stands still (`sampled_pid`), it is drawn
# back (`back_calculation_pid`), or there is none, since only changes are summed (`incremental_pid`).


PID_UNITS = {
    **dict.fromkeys(("target", "position", "error"), "{x}"),
    **dict.fromkeys(("target_velocity", "velocity", "last_velocity_error"), "{x}/s"),
    **dict.fromkeys(("command", "feed_forward", "limit", "last_command", "last_feed_forward"), "{u}"),
    "last_error": "{x}",
    "error_sum": "{x} s",
    "proportional": "{u}/{x}",
    "integral": "{u}/({x} s)",
    "derivative": "{u} s/{x}",
    "period": "s",
    "tracking_time": "s",
}
PID_CHECKS = {"limit": "positive", "period": "positive"}


@law(units=PID_UNITS, memory={"error_sum": 0.0}, checks=PID_CHECKS, ideal={"limit": math.inf})
def sampled_pid(
    target,
    position,
    velocity,
    error_sum,
    target_velocity=0.0,
    feed_forward=0.0,
    *,
    proportional,
    integral,
    derivative,
    period,
    limit=math.inf,
):
    """PID whose sum stands still while it would drive the output further beyond its limit (conditional integration).

    u_k = clip(P e_k + I s_k + D e'_k + u_ff),   s_{k+1} = s_k + T e_k
    """
    error = target - position
    wanted = feed_forward + proportional * error + integral * error_sum + derivative * (target_velocity - velocity)
    winding = sym.logical_and(sym.absolute(wanted) > limit, wanted * integral * error > 0)
    return {
        "command": sym.clip(wanted, -limit, limit),
        "error_sum_next": error_sum + sym.where(winding, 0.0, period * error),
    }


@law(
    units=PID_UNITS,
    memory={"error_sum": 0.0},
    checks=PID_CHECKS | {"integral": "positive", "tracking_time": "positive"},
    ideal={"limit": math.inf},
)
def back_calculation_pid(
    target,
    position,
    velocity,
    error_sum,
    target_velocity=0.0,
    feed_forward=0.0,
    *,
    proportional,
    integral,
    derivative,
    period,
    tracking_time,
    limit=math.inf,
):
    """PID whose sum is drawn back by what the limit cuts off (Astrom and Hagglund 2006, section 3.5).

    s_{k+1} = s_k + T e_k + (1 - exp(-T / Tt)) (u_k - u_wanted) / I

    Args:
        tracking_time: Tt, in which the sum forgets what was cut off.
    """
    error = target - position
    wanted = feed_forward + proportional * error + integral * error_sum + derivative * (target_velocity - velocity)
    command = sym.clip(wanted, -limit, limit)
    back = (1.0 - sym.exp(-period / tracking_time)) * (command - wanted) / integral
    return {"command": command, "error_sum_next": error_sum + period * error + back}


@law(
    units=PID_UNITS,
    memory={"last_command": 0.0, "last_error": 0.0, "last_velocity_error": 0.0, "last_feed_forward": 0.0},
    checks=PID_CHECKS,
    ideal={"limit": math.inf},
)
def incremental_pid(
    target,
    position,
    velocity,
    last_command,
    last_error,
    last_velocity_error,
    last_feed_forward,
    target_velocity=0.0,
    feed_forward=0.0,
    *,
    proportional,
    integral,
    derivative,
    period,
    limit=math.inf,
):
    """PID in velocity form, which adds changes to its last, limited output: nothing can wind up.

    u_k = clip(u_{k-1} + P (e_k - e_{k-1}) + I T e_{k-1} + D (e'_k - e'_{k-1}) + u_ff,k - u_ff,k-1)
    """
    error, velocity_error = target - position, target_velocity - velocity
    change = proportional * (error - last_error) + integral * period * last_error
    change = change + derivative * (velocity_error - last_velocity_error) + feed_forward - last_feed_forward
    command = sym.clip(last_command + change, -limit, limit)
    return {
        "command": command,
        "last_command_next": command,
        "last_error_next": error,
        "last_velocity_error_next": velocity_error,
        "last_feed_forward_next": feed_forward,
    }


# --------------------------------------------------------------------------------------------------
# Digital servo loops: what does an axis controller command? PI position, D velocity, feedforward, current loop.
#
#     i_cmd = clip(P e + I sum(e) + D (w_ref - w) + i_ff),   U = clip(Pc (i_cmd - i) + Ic sum(i_cmd - i))
#
# Position and feedforward are sampled slowly, velocity and current fast. Positions are those of the motor: with coupled
# gears its setpoint is a weighted sum of the joints', `phi_ref = sum n_i q_i`. No sum winds up while its output is
# limited.


SERVO_UNITS = {
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
    units=SERVO_UNITS,
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
    units=SERVO_UNITS,
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
    units=SERVO_UNITS,
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
    units=SERVO_UNITS,
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
