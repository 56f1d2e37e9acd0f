"""Controllers and filters: what do they command? Continuous laws have `_dot` states, sampled ones `_next` memory."""

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


@law(value="", output="{u}", gain="")
def amplifier(value, *, gain):
    """Output = gain times input."""
    return {"output": gain * value}


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
