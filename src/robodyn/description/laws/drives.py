"""Motors and drives: which torque do they exert on their joint?"""

import math

from robodyn.base import symbolic as sym
from robodyn.description.laws.definition import law


@law(
    voltage="V",
    velocity="{x}/s",
    current="A",
    torque="{F}",
    resistance="ohm",
    inductance="H",
    torque_constant="N m/A",
    gear="",
    torque_factor="",
    current_limit="A",
    states={"current": 1.0},
    limits={"current": ("-current_limit", "current_limit")},
    checks={"inductance": "positive", "resistance": "non-negative", "current_limit": "positive"},
    ideal={"current_limit": math.inf},
)
def dc_motor(
    voltage,
    velocity,
    current,
    *,
    resistance,
    inductance,
    torque_constant,
    gear=1.0,
    torque_factor=1.0,
    current_limit=math.inf,
):
    """Armature circuit of a geared motor, its current limited in the integrator (no wind-up).

        L i_dot = U - kT n w - R i,   |i| <= i_max,   tau = factor n kT i

    Args:
        gear: motor turns per joint turn, n (rad/m for a linear axis).
        torque_factor: sqrt(3)/2 for a three-phase motor whose kT is given per phase amplitude.
    """
    back_emf = torque_constant * gear * velocity
    return {
        "torque": torque_factor * gear * torque_constant * current,
        "current_dot": (voltage - back_emf - resistance * current) / inductance,
    }


@law(
    command="{F}",
    torque="{F}",
    torque_limit="{F}",
    checks={"torque_limit": "positive"},
    ideal={"torque_limit": math.inf},
)
def torque_source(command, *, torque_limit=math.inf):
    """An ideal drive: the commanded torque, clipped to its limit."""
    return {"torque": sym.clip(command, -torque_limit, torque_limit)}


@law(
    current_command="A",
    current="A",
    torque="{F}",
    torque_constant="N m/A",
    gear="",
    current_limit="A",
    checks={"current_limit": "positive"},
    ideal={"current_limit": math.inf},
)
def current_source(current_command, *, torque_constant, gear=1.0, current_limit=math.inf):
    """A motor with an ideal current loop: `tau = n kT i`, i clipped to its limit."""
    current = sym.clip(current_command, -current_limit, current_limit)
    return {"torque": gear * torque_constant * current, "current": current}


@law(
    voltage="V",
    velocity="{x}/s",
    current="A",
    torque="{F}",
    resistance="ohm",
    inductance="H",
    torque_constant="N m/A",
    states={"current": 1.0},
    checks={"inductance": "positive", "resistance": "non-negative"},
)
def servo_motor(voltage, velocity, current, *, resistance, inductance, torque_constant):
    """A servo motor on its own shaft, in the axis that makes torque; its current controller limits the current.

        L i_dot = U - kT w - R i,   tau = kT i

    Gear and rotor inertia belong to the coordinate it acts on (a `LinearCombination`). A permanent-magnet synchronous
    motor looks so in its rotor's frame, with power-invariant quantities and the other axis' current kept at zero.
    """
    return {
        "torque": torque_constant * current,
        "current_dot": (voltage - torque_constant * velocity - resistance * current) / inductance,
    }


@law(
    current_command="A",
    current="A",
    torque="{F}",
    torque_constant="N m/A",
    time_constant="s",
    states={"current": 1.0},
    checks={"time_constant": "positive"},
)
def current_lag(current_command, current, *, torque_constant, time_constant):
    """A servo motor with its closed current loop as a first-order lag: `T i_dot = i_cmd - i`, `tau = kT i`."""
    return {"torque": torque_constant * current, "current_dot": (current_command - current) / time_constant}
