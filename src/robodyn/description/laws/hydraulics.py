"""Hydraulics: which force does oil exert on a piston or shaft, how does a valve open, what does a circuit measure?

A servovalve lets oil to an actuator. `hydraulic_actuator` needs what can be measured from outside (no-load speed,
compliance, leakage) and serves cylinders and motors alike. From areas, volumes and pressures an actuator is built of
`hydraulic_volumes` and `hydraulic_flows`; `vane_motor` is one with both sides alike. `linearise_cylinder` and
`linearise_vane_motor` of `robodyn.description.laws.hydraulic_linearisation` lead from these to the first.

Symbols: opening x of the valve, positive where it lets the piston out, in the unit of its command; pressures above
the tank's.
"""

import math

import numpy as np

from robodyn.base import symbolic as sym
from robodyn.description.laws.definition import law
from robodyn.description.laws.hydraulic_oil import orifice_flow

# Part of its speeds within which a valve's dead band is passed by what opens it beforehand.
CROSSING = 5e-5


@law(position="{x}", voltage="V", gain="V/{x}", offset="{x}")
def measuring_circuit(position, *, gain, offset=0.0):
    """A position as a voltage: `U = K (s - s0)`."""
    return {"voltage": gain * (position - offset)}


@law(
    target="V",
    measured="V",
    current="A",
    gain="A/V",
    limit="A",
    checks={"limit": "positive"},
    ideal={"limit": math.inf},
)
def valve_controller(target, measured, *, gain, limit):
    """Proportional controller of a valve's coil: `I = clip(K (target - measured))`, held to its limit both ways."""
    return {"current": sym.clip(gain * (target - measured), -limit, limit)}


@law(
    command="{u}",
    opening="{u}",
    opening_rate="{u}/s",
    natural_frequency="rad/s",
    damping="",
    states={"opening": 0.1, "opening_rate": 100.0},
    checks={"natural_frequency": "positive", "damping": "non-negative"},
)
def servovalve(command, opening, opening_rate, *, natural_frequency, damping):
    """Spool of a servovalve as a second-order lag: `x'' = w^2 (u - x) - 2 b w x'`; its pure delay is a Delay.

    The opening is measured by the command that holds it: both have one unit.
    """
    spring = natural_frequency**2 * (command - opening)
    return {"opening_dot": opening_rate, "opening_rate_dot": spring - 2 * damping * natural_frequency * opening_rate}


@law(
    opening="{u}",
    velocity="{x}/s",
    oil_force="{F}",
    force="{F}",
    no_load_speed="{x}/s",
    openings="{u}",
    speeds="{x}/s",
    oil_compliance="{x}/{F}",
    leakage="{x}/({F} s)",
    states={"oil_force": 100.0},
    folded=("openings", "speeds"),
    checks={
        "openings": "increasing",
        "speeds": "non-decreasing, as many as openings",
        "oil_compliance": "positive",
        "leakage": "non-negative",
    },
)
def hydraulic_actuator(opening, velocity, oil_force, *, openings, speeds, oil_compliance, leakage=0.0):
    """Cylinder or motor known from outside: its speed without load, how its oil gives, how it leaks.

        c0 F' = v0(x) - v - F / ch,   v0 piecewise linear through (openings, speeds), held beyond the ends

    Args:
        oil_compliance: c0, movement of the loaded actuator with its ports closed, by force.
        leakage: 1/ch, speed lost by force.
    """
    no_load_speed = sym.table(opening, openings, speeds)
    return {
        "force": oil_force,
        "no_load_speed": no_load_speed,
        "oil_force_dot": (no_load_speed - velocity - leakage * oil_force) / oil_compliance,
    }


@law(
    force="{F}",
    velocity="{x}/s",
    opening="{u}",
    openings="{u}",
    speeds="{x}/s",
    leakage="{x}/({F} s)",
    folded=("openings", "speeds"),
    checks={
        "openings": "increasing",
        "speeds": "non-decreasing, as many as openings",
        "leakage": "non-negative",
    },
)
def actuator_feed_forward(force, velocity=0.0, *, openings, speeds, leakage=0.0):
    """Opening at which a `hydraulic_actuator` exerts a force and moves with a velocity: `v0(x) = v + F / ch`.

    Args:
        force: that the actuator has to exert, such as that of `gravity_compensation`.
    """
    rising = np.array(speeds, float)
    flat = np.flatnonzero(np.diff(rising) <= 0)
    # A table can be inverted where it rises: both ends of a dead band are moved apart.
    rising[flat] -= CROSSING * np.ptp(rising)
    rising[flat + 1] += CROSSING * np.ptp(rising)
    return {"opening": sym.table(velocity + leakage * force, rising, openings)}


@law(
    opening="{u}",
    velocity="rad/s",
    load_pressure="Pa",
    torque="N m",
    flow="m^3/s",
    displacement="m^3/rad",
    volume="m^3",
    bulk_modulus="Pa",
    internal_leakage="m^3/(s Pa)",
    flow_coefficient="m^3/(s {u} Pa^0.5)",
    supply_pressure="Pa",
    states={"load_pressure": 1e6},
    checks={
        "displacement": "positive",
        "volume": "positive",
        "bulk_modulus": "positive",
        "internal_leakage": "non-negative",
        "flow_coefficient": "positive",
        "supply_pressure": "positive",
    },
)
def vane_motor(
    opening,
    velocity,
    load_pressure,
    *,
    displacement,
    volume,
    bulk_modulus,
    internal_leakage,
    flow_coefficient,
    supply_pressure,
):
    """Vane motor: both sides alike, so that the load pressure pL = p1 - p2 is enough.

        V/(4 beta) pL' = Q - D w - C pL,   Q = k x sqrt((ps - sign(x) pL) / 2),   tau = D pL

    Merritt (1967).

    Args:
        displacement: D, oil by angle; volume: V of both sides together.
        flow_coefficient: k = Cd w sqrt(2 / rho), as for a cylinder.
    """
    drop = supply_pressure - sym.where(opening > 0, load_pressure, -load_pressure)
    flow = flow_coefficient * opening * orifice_flow(0.5 * drop)
    swallowed = displacement * velocity + internal_leakage * load_pressure
    return {
        "torque": displacement * load_pressure,
        "flow": flow,
        "load_pressure_dot": 4 * bulk_modulus / volume * (flow - swallowed),
    }
