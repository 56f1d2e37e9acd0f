"""Hydraulics: which force does oil exert on a piston or shaft, how does a valve open, what does a circuit measure?

A servovalve lets oil to an actuator. Two descriptions of the actuator stand beside each other: `hydraulic_actuator`
needs what can be measured from outside (no-load speed, compliance, leakage) and serves cylinders and motors alike;
`hydraulic_cylinder` and `vane_motor` are built from areas, volumes and pressures. `linearise_cylinder` and
`linearise_vane_motor` of `robodyn.laws.hydraulic_linearisation` lead from the second to the first.

Symbols: opening x of the valve, positive where it lets the piston out, in the unit of its command; pressures above
the tank's.
"""

import math

import numpy as np

from robodyn import symbolic as sym
from robodyn.laws.definition import law

# Below this drop an orifice's flow turns laminar: Q ~ dp instead of Q ~ sqrt(dp) [Pa].
TRANSITION_PRESSURE = 1e3
# Part of its volume that a chamber keeps: beyond, the pressure would grow without bounds.
LEAST_CHAMBER = 1e-3
# Part of its speeds within which a valve's dead band is passed by what opens it beforehand.
CROSSING = 5e-5
END_OF_STROKE = "the piston is at the end of its stroke: give its joint an end stop before that, or change the volumes"


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


def orifice_flow(pressure_drop):
    """Flow through a sharp edge for a unit coefficient: `sign(dp) sqrt(|dp|)`, smooth through zero.

    dp / (dp^2 + p0^2)^(1/4), less than 3e-7 beside the root for drops above 1 MPa
    """
    return pressure_drop / sym.sqrt(sym.sqrt(pressure_drop**2 + TRANSITION_PRESSURE**2))


@law(
    opening="{u}",
    position="m",
    velocity="m/s",
    pressure_1="Pa",
    pressure_2="Pa",
    force="N",
    flow_1="m^3/s",
    flow_2="m^3/s",
    area="m^2",
    area_ratio="",
    volume_1="m^3",
    volume_2="m^3",
    middle="m",
    bulk_modulus="Pa",
    internal_leakage="m^3/(s Pa)",
    flow_coefficient="m^3/(s {u} Pa^0.5)",
    supply_pressure="Pa",
    stroke_in="m",
    stroke_out="m",
    states={"pressure_1": 1e6, "pressure_2": 1e6},
    positive={"stroke_in": END_OF_STROKE, "stroke_out": END_OF_STROKE},
    checks={
        "area": "positive",
        "area_ratio": "positive",
        "volume_1": "positive",
        "volume_2": "positive",
        "bulk_modulus": "positive",
        "internal_leakage": "non-negative",
        "flow_coefficient": "positive",
        "supply_pressure": "positive",
    },
)
def hydraulic_cylinder(
    opening,
    position,
    velocity,
    pressure_1,
    pressure_2,
    *,
    area,
    area_ratio,
    volume_1,
    volume_2,
    middle,
    bulk_modulus,
    internal_leakage,
    flow_coefficient,
    supply_pressure,
):
    """Two chambers of a cylinder with unequal areas, each fed or drained through one edge of the valve.

        V1/beta p1' = Q1 - A v - C (p1 - p2),   V2/beta p2' = a A v - Q2 + C (p1 - p2),   F = A (p1 - a p2)
        x > 0:  Q1 = k x sqrt(ps - p1),  Q2 = k x sqrt(p2);   x < 0:  Q1 = k x sqrt(p1),  Q2 = k x sqrt(ps - p2)

    With Q2 = a Q1 (a piston in steady motion, no leakage) these are Walters' relations for the load pressure
    pL = p1 - a p2: Q1 = k x sqrt((ps - pL) / (1 + a^3)) and Q2 = k x sqrt((ps + pL/a) / (1 + a^-3)).
    Walters (1967); Merritt (1967).

    Args:
        area: A of the piston's full side, chamber 1; area_ratio: a, the rod's side by the full side.
        volume_1, volume_2: of chambers and lines with the piston at `middle`; they change as it moves. `stroke_in` and
            `stroke_out` are what is left until one is used up: a run ends there.
        flow_coefficient: k = Cd w sqrt(2 / rho): discharge coefficient, width of the edge, density of the oil.
    """
    opened = opening > 0
    flow_1 = flow_coefficient * opening * orifice_flow(sym.where(opened, supply_pressure - pressure_1, pressure_1))
    flow_2 = flow_coefficient * opening * orifice_flow(sym.where(opened, pressure_2, supply_pressure - pressure_2))
    across = internal_leakage * (pressure_1 - pressure_2)
    chamber_1 = volume_1 + area * (position - middle)
    chamber_2 = volume_2 - area_ratio * area * (position - middle)
    return {
        "force": area * (pressure_1 - area_ratio * pressure_2),
        "flow_1": flow_1,
        "flow_2": flow_2,
        "stroke_in": (chamber_1 - LEAST_CHAMBER * volume_1) / area,
        "stroke_out": (chamber_2 - LEAST_CHAMBER * volume_2) / (area_ratio * area),
        "pressure_1_dot": bulk_modulus / chamber_1 * (flow_1 - area * velocity - across),
        "pressure_2_dot": bulk_modulus / chamber_2 * (area_ratio * area * velocity - flow_2 + across),
    }


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
