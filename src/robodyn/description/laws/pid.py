"""Sampled PID control: what does a digital axis controller command, and what does its sum do at the limit (wind-up)?

    u = P e + I s + D (w_ref - w) + u_ff,   e = target - position,   s the sum of T e

Three ways that keep the sum from winding up while the output is limited: it stands still (`sampled_pid`), it is drawn
back (`back_calculation_pid`), or there is none, since only changes are summed (`incremental_pid`).
"""

import math

from robodyn.base import symbolic as sym
from robodyn.description.laws.definition import law

UNITS = {
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
CHECKS = {"limit": "positive", "period": "positive"}


@law(units=UNITS, memory={"error_sum": 0.0}, checks=CHECKS, ideal={"limit": math.inf})
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
    units=UNITS,
    memory={"error_sum": 0.0},
    checks=CHECKS | {"integral": "positive", "tracking_time": "positive"},
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
    units=UNITS,
    memory={"last_command": 0.0, "last_error": 0.0, "last_velocity_error": 0.0, "last_feed_forward": 0.0},
    checks=CHECKS,
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
