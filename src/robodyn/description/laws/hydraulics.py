"""Hydraulics: actuators, valves, volumes and flows: which force does oil exert, how does a valve open?

A servovalve lets oil to an actuator. `hydraulic_actuator` needs what can be measured from outside (no-load speed,
compliance, leakage) and serves cylinders and motors alike. From areas, volumes and pressures an actuator is built of
volumes and flows; `vane_motor` is one with both sides alike. `linearise_cylinder` and `linearise_vane_motor` lead from
these to the first.

Symbols: opening x of the valve, positive where it lets the piston out, in the unit of its command; pressures above
the tank's.
"""

from __future__ import annotations

import math

import numpy as np

from robodyn.base import frozen
from robodyn.base import symbolic as sym
from robodyn.base.errors import FlawList, refuse
from robodyn.description.laws.definition import law

# --------------------------------------------------------------------------------------------------
# Hydraulic oil: how much room does it take under a pressure, how stiff is it, how does it pass an edge?
#
# Symbols: pressures p above the atmosphere's, p_a; E bulk modulus of oil without air; x part of the volume that is free
# air at atmospheric pressure; n exponent of its compression (1 slow, 1.4 fast).


ATMOSPHERE = 101_325.0
# Below this drop an orifice's flow turns laminar: Q ~ dp instead of Q ~ sqrt(dp) [Pa].
TRANSITION_PRESSURE = 1e3
# Least absolute pressure that is computed with [Pa]: air then fills 100,000 times its volume.
VACUUM = 1.0


def orifice_flow(pressure_drop):
    """Flow through a sharp edge for a unit coefficient: `sign(dp) sqrt(|dp|)`, smooth through zero.

    dp / (dp^2 + p0^2)^(1/4), less than 3e-7 beside the root for drops above 1 MPa
    """
    return pressure_drop / sym.sqrt(sym.sqrt(pressure_drop**2 + TRANSITION_PRESSURE**2))


def _parts(pressure, bulk_modulus, air, polytropic):
    """Room of the oil and of its air, by the room that both have at atmospheric pressure."""
    absolute = sym.maximum(pressure + ATMOSPHERE, VACUUM)
    return (1 - air) * sym.exp(-pressure / bulk_modulus), air * (ATMOSPHERE / absolute) ** (1 / polytropic), absolute


def specific_volume(pressure, *, bulk_modulus, air=0.0, polytropic=1.4):
    """Room of oil with air, by that at atmospheric pressure: `(1 - x) exp(-p/E) + x (p_a / (p_a + p))^(1/n)`."""
    oil, gas, _ = _parts(pressure, bulk_modulus, air, polytropic)
    return oil + gas


def gas_share(pressure, *, bulk_modulus, air=0.0, polytropic=1.4):
    """Part of the room that is gas: near 1 where the oil has cavitated."""
    oil, gas, _ = _parts(pressure, bulk_modulus, air, polytropic)
    return gas / (oil + gas)


def effective_bulk_modulus(pressure, *, bulk_modulus, air=0.0, polytropic=1.4):
    """Stiffness of oil with air, `-v dp/dv` of its specific volume v: E without air, gas near a vacuum."""
    oil, gas, absolute = _parts(pressure, bulk_modulus, air, polytropic)
    return (oil + gas) / (oil / bulk_modulus + gas / (polytropic * absolute))


# --------------------------------------------------------------------------------------------------
# Actuators: which force does oil exert on a piston or shaft, how does a valve open, what does a circuit measure?


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


# --------------------------------------------------------------------------------------------------
# Volumes of hydraulic circuits: chambers of cylinders, galleries, accumulators: which pressure do flows make there?
#
# Volumes make pressures of flows; what stands between two volumes makes flows of pressures. Each flow
# is INTO the volume that it is named after, as each force acts on its joint, so that a volume takes the sum of what is
# connected. A tank is a constant pressure. Pressures are above the atmosphere's; flows are of oil at the pressure where
# they pass, so that oil counts as much on both sides of an edge: its mass is kept but for dp/E.


# Part of its volume that a chamber keeps: beyond, the pressure would grow without bounds.
LEAST_CHAMBER = 1e-3
END_OF_STROKE = "the piston is at the end of its stroke: give its joint an end stop before that, or change the volume"
TORN = "oil without air cannot cavitate: give it some air, or a check valve from the tank"
EMPTY = "its gas has no room left: choose a larger accumulator, or a relief valve that opens earlier"

OIL_UNITS = {"bulk_modulus": "Pa", "air": "", "polytropic": "", "pressure": "Pa", "absolute_pressure": "Pa"}
FLOW_UNITS = {f"flow_{k}": "m^3/s" for k in range(1, 5)}
OIL_CHECKS = {"bulk_modulus": "positive", "air": "non-negative, below one", "polytropic": "positive"}


def _oil(pressure, volume, growth, flow, oil):
    """Outputs of any room full of oil: `p' = E(p) / V (Q - V')`."""
    return {
        "absolute_pressure": pressure + ATMOSPHERE,
        "gas_volume": volume * gas_share(pressure, **oil),
        "pressure_dot": effective_bulk_modulus(pressure, **oil) / volume * (flow - growth),
    }


@law(
    position="{x}",
    velocity="{x}/s",
    force="{F}",
    area="m^3/{x}",
    volume="m^3",
    middle="{x}",
    spare_volume="m^3",
    gas_volume="m^3",
    states={"pressure": 1e6},
    positive={"spare_volume": END_OF_STROKE, "absolute_pressure": TORN},
    checks={"volume": "positive"} | OIL_CHECKS,
    units=OIL_UNITS | FLOW_UNITS,
)
def piston_chamber(
    flow_1, position, velocity, pressure, flow_2=0.0, flow_3=0.0, flow_4=0.0, *,
    area, volume, bulk_modulus, middle=0.0, air=0.0, polytropic=1.4,
):  # fmt: skip
    """Chamber behind a piston or vane: `p' = E(p) / V (Q - A v)`, `V = V0 + A (s - s0)`, `F = A p`.

    Two of them on one joint make a cylinder; one on a revolute joint pushes a vane. E(p) is that of
    `effective_bulk_modulus`: where the piston leaves the oil behind, its air expands and the pressure stays above 0.

    Args:
        area: A, positive where the pressure pushes forward, negative where it pushes back; by angle of a vane.
        volume: V0 of chamber and lines with the piston at `middle`, s0. A run ends where it is used up.
        bulk_modulus: of oil without air; air: part of the volume that is free air at atmospheric pressure.
    """
    room = volume + area * (position - middle)
    oil = {"bulk_modulus": bulk_modulus, "air": air, "polytropic": polytropic}
    return {
        "force": area * pressure,
        "spare_volume": room - LEAST_CHAMBER * volume,
        **_oil(pressure, room, area * velocity, flow_1 + flow_2 + flow_3 + flow_4, oil),
    }


@law(
    volume="m^3",
    gas_volume="m^3",
    states={"pressure": 1e6},
    positive={"absolute_pressure": TORN},
    checks={"volume": "positive"} | OIL_CHECKS,
    units=OIL_UNITS | FLOW_UNITS,
)
def oil_volume(flow_1, pressure, flow_2=0.0, flow_3=0.0, flow_4=0.0, *, volume, bulk_modulus, air=0.0, polytropic=1.4):
    """A room of its own size, such as a gallery or a piece of line: `p' = E(p) / V Q`."""
    oil = {"bulk_modulus": bulk_modulus, "air": air, "polytropic": polytropic}
    return _oil(pressure, volume, 0.0, flow_1 + flow_2 + flow_3 + flow_4, oil)


@law(
    pressure="Pa",
    oil="m^3",
    flow="m^3/s",
    gas_pressure="Pa",
    gas_left="m^3",
    gas_volume="m^3",
    precharge="Pa",
    polytropic="",
    flow_coefficient="m^3/(s Pa^0.5)",
    poppet="",
    lost_power="W",
    states={"oil": 1e-4},
    positive={"gas_left": EMPTY},
    checks={
        "gas_volume": "positive",
        "precharge": "non-negative",
        "polytropic": "positive",
        "flow_coefficient": "positive",
        "poppet": "positive, below one",
    },
)
def gas_accumulator(pressure, oil, *, gas_volume, precharge, flow_coefficient, polytropic=1.2, poppet=0.02):
    """Oil behind a bladder of gas: `oil' = k sqrt(p - p_g)`, `p_g + p_a = (p_0 + p_a) (V / (V - oil))^n`.

    Args:
        pressure: of the volume that it is connected to; `flow` is into that.
        gas_volume: V, of the gas at its `precharge`, p_0; flow_coefficient: k of its neck.
        poppet: part of V: below so much oil the outlet closes, so that it empties but no further.
    """
    room = sym.maximum(gas_volume - oil, LEAST_CHAMBER * gas_volume)
    gas_pressure = (precharge + ATMOSPHERE) * (gas_volume / room) ** polytropic - ATMOSPHERE
    drop = pressure - gas_pressure
    neck = sym.where(drop > 0, 1.0, sym.clip(oil / (poppet * gas_volume), 0.0, 1.0))
    taken = flow_coefficient * neck * orifice_flow(drop)
    return {
        "flow": -taken,
        "gas_pressure": gas_pressure,
        "gas_left": (1 - LEAST_CHAMBER) * gas_volume - oil,
        "lost_power": taken * drop,
        "oil_dot": taken,
    }


# --------------------------------------------------------------------------------------------------
# Flows of hydraulic circuits: edges, valves, gaps, lines, pumps: which flow passes between two pressures?
#
# Each stands between two volumes or a volume and a tank: `flow_in` is into the volume before it,
# `flow_out` into the one behind it. `lost_power` is what heats the oil.


def _edge(opening, drop, flow_coefficient, leakage):
    """Flow through one edge of a valve and the power that is lost there."""
    flow = flow_coefficient * sym.maximum(opening, 0.0) * orifice_flow(drop) + leakage * drop
    return flow, flow * drop


EDGE_UNITS = {"flow_coefficient": "m^3/(s {u} Pa^0.5)", "leakage": "m^3/(s Pa)", "lost_power": "W", "opening": "{u}"}
PORT_UNITS = {"pressure_in": "Pa", "pressure_out": "Pa", "flow_in": "m^3/s", "flow_out": "m^3/s"}


LAMINAR, TURBULENT, BLASIUS = 2300.0, 4000.0, 0.3164
"""Reynolds numbers up to which flow in a line is laminar, and from which on turbulent; coefficient of Blasius' law."""
SLOWEST = 1e-9
"""Speed [m/s] below which a root of it is not looked at: its slope has no end at 0."""


def _between(flow, lost_power):
    return {"flow_in": -flow, "flow_out": flow, "lost_power": lost_power}


@law(
    overlap="{u}",
    checks={"flow_coefficient": "positive", "leakage": "non-negative"},
    units=EDGE_UNITS | PORT_UNITS,
)
def valve_edge(opening, pressure_in, pressure_out=0.0, *, flow_coefficient, overlap=0.0, leakage=0.0):
    """One edge of a valve: `Q = k max(x - x0, 0) sqrt(dp) + C dp`.

    Args:
        overlap: x0, way until the edge opens; negative where it is open in the middle.
        leakage: C, laminar flow past the edge, also where it is closed.
    """
    return _between(*_edge(opening - overlap, pressure_in - pressure_out, flow_coefficient, leakage))


@law(
    supply_pressure="Pa",
    pressure_1="Pa",
    pressure_2="Pa",
    tank_pressure="Pa",
    supply_flow="m^3/s",
    tank_flow="m^3/s",
    flow_1="m^3/s",
    flow_2="m^3/s",
    stroke="{u}",
    overlap_s1="{u}",
    overlap_1t="{u}",
    overlap_s2="{u}",
    overlap_2t="{u}",
    checks={"flow_coefficient": "positive", "leakage": "non-negative", "stroke": "positive"},
    ideal={"stroke": math.inf},
    units=EDGE_UNITS,
)
def four_way_valve(
    opening, supply_pressure, pressure_1, pressure_2, tank_pressure=0.0, *,
    flow_coefficient, overlap_s1=0.0, overlap_1t=0.0, overlap_s2=0.0, overlap_2t=0.0, leakage=0.0, stroke=math.inf,
):  # fmt: skip
    """Four edges on one spool: a positive opening lets oil from the supply to chamber 1 and from chamber 2 to the tank.

        Q1 = k [x - o_s1]+ sqrt(ps - p1) - k [-x - o_1t]+ sqrt(p1 - pt)
        Q2 = k [-x - o_s2]+ sqrt(ps - p2) - k [x - o_2t]+ sqrt(p2 - pt)

    Merritt (1967). Equal overlaps are a dead band, unequal ones a null that is moved; negative ones are open in the
    middle. Its dynamics are those of a `servovalve` before it.

    Args:
        flow_coefficient: k = Cd w sqrt(2 / rho): discharge coefficient, width of the edge, density of the oil.
        leakage: laminar flow past each edge; stroke: greatest opening to both sides.
    """
    x = sym.clip(opening, -stroke, stroke)
    openings_and_drops = (
        (x - overlap_s1, supply_pressure - pressure_1),
        (-x - overlap_1t, pressure_1 - tank_pressure),
        (-x - overlap_s2, supply_pressure - pressure_2),
        (x - overlap_2t, pressure_2 - tank_pressure),
    )
    edges = [_edge(way, drop, flow_coefficient, leakage) for way, drop in openings_and_drops]
    (s1, _), (t1, _), (s2, _), (t2, _) = edges
    return {
        "flow_1": s1 - t1,
        "flow_2": s2 - t2,
        "supply_flow": -s1 - s2,
        "tank_flow": t1 + t2,
        "lost_power": sum(lost for _, lost in edges),
    }


@law(
    leakage="m^3/(s Pa)",
    lost_power="W",
    checks={"leakage": "non-negative"},
    units=PORT_UNITS,
)
def laminar_gap(pressure_in, pressure_out=0.0, *, leakage):
    """A narrow gap, such as that beside a piston: `Q = C dp`."""
    drop = pressure_in - pressure_out
    return _between(leakage * drop, leakage * drop**2)


@law(
    cracking_pressure="Pa",
    override="Pa",
    flow_coefficient="m^3/(s Pa^0.5)",
    opening="",
    lost_power="W",
    checks={
        "cracking_pressure": "non-negative",
        "override": "positive",
        "flow_coefficient": "positive",
    },
    units=PORT_UNITS,
)
def relief_valve(pressure_in, pressure_out=0.0, *, cracking_pressure, override, flow_coefficient):
    """A valve that the drop opens against a spring: `Q = k y sqrt(dp)`, `y = clip((dp - pc) / po, 0, 1)`.

    With a low cracking pressure it is a check valve, from the tank to a chamber one against cavitation.

    Args:
        cracking_pressure: pc, at which it begins to open; override: po, what it takes beyond that to open it wholly.
    """
    drop = pressure_in - pressure_out
    opening = sym.clip((drop - cracking_pressure) / override, 0.0, 1.0)
    flow = flow_coefficient * opening * orifice_flow(drop)
    return {"opening": opening, **_between(flow, flow * drop)}


@law(
    flow="m^3/s",
    length="m",
    diameter="m",
    density="kg/m^3",
    viscosity="Pa s",
    loss_coefficient="",
    turbulence="",
    lost_power="W",
    states={"flow": 1e-4},
    checks={
        "length": "positive",
        "diameter": "positive",
        "density": "positive",
        "viscosity": "non-negative",
        "loss_coefficient": "non-negative",
    },
    units=PORT_UNITS,
)
def hydraulic_line(
    pressure_in, flow, pressure_out=0.0, *, length, diameter, density=870.0, viscosity=0.03, loss_coefficient=0.0
):
    """Oil moving in a pipe: `rho l/A Q' = dp - f l/d rho v|v|/2 - zeta rho v|v|/2`, `v = Q/A`.

    Laminar flow up to a Reynolds number `rho |v| d / mu` of 2300, where `f = 64/Re`; turbulent flow in a smooth pipe
    from 4000 on, where `f = 0.3164/Re^0.25` (Blasius, to about 1e5); between the two a straight line by Re. Its own
    compressibility belongs to the volumes at its ends, half to each; several in a row carry waves.

    Args:
        viscosity: mu, dynamic; loss_coefficient: zeta of bends and ends.
    """
    section = math.pi / 4 * diameter**2
    speed = sym.absolute(flow) / section
    viscous = viscosity > 0
    reynolds = density * speed * diameter / sym.where(viscous, viscosity, 1.0)
    laminar = 128 * viscosity * length / (math.pi * diameter**4) * flow
    # 0.3164 / Re^0.25 l/d rho v|v|/2 without a division by Re or by the viscosity.
    dynamic = 0.5 * density * speed / section * flow
    blasius = BLASIUS * sym.power(viscosity, 0.25) / sym.power(density * diameter, 0.25)
    fast = sym.power(sym.maximum(speed, SLOWEST), 0.75)
    turbulent = blasius * length / diameter * 0.5 * density / section * fast * flow
    turbulence = sym.where(viscous, sym.clip((reynolds - LAMINAR) / (TURBULENT - LAMINAR), 0.0, 1.0), 1.0)
    lost = laminar + turbulence * (turbulent - laminar) + loss_coefficient * dynamic
    drop = pressure_in - pressure_out - lost
    flow_dot = section / (density * length) * drop
    return {"flow_dot": flow_dot, "turbulence": turbulence, **_between(flow, flow * lost)}


@law(
    velocity="rad/s",
    torque="N m",
    displacement="m^3/rad",
    leakage="m^3/(s Pa)",
    drag="N m s/rad",
    lost_power="W",
    checks={"displacement": "positive", "leakage": "non-negative", "drag": "non-negative"},
    units=PORT_UNITS,
)
def hydraulic_pump(velocity, pressure_out, pressure_in=0.0, *, displacement, leakage=0.0, drag=0.0):
    """Pump, or motor, of fixed displacement: `Q = D w - C dp` out of it, `tau = -D dp - B w` on its shaft.

    On a revolute joint it loads that; without one its speed is an input, such as that of a motor that holds it.
    """
    rise = pressure_out - pressure_in
    torque = -displacement * rise - drag * velocity
    between = _between(displacement * velocity - leakage * rise, leakage * rise**2 + drag * velocity**2)
    return {"torque": torque, **between}


# --------------------------------------------------------------------------------------------------
# Linearisation of hydraulics: which `hydraulic_actuator` behaves like a physical cylinder or motor near a point?


@frozen
class LinearActuator:
    """A linear actuator, `c0 F' = g x - v - F / ch`.

    Attributes:
        gain: g, speed without load by opening.
        leakage: 1/ch, speed lost by force [m/(N s) or rad/(N m s)].
        oil_compliance: c0 [m/N or rad/(N m)].
    """

    gain: float
    leakage: float
    oil_compliance: float


def linearise_cylinder(
    opening: float,
    *,
    area: float,
    area_ratio: float,
    volume_1: float,
    volume_2: float,
    bulk_modulus: float,
    internal_leakage: float,
    flow_coefficient: float,
    supply_pressure: float,
    load: float = 0.0,
) -> LinearActuator:
    """The linear actuator that stands for a `four_way_valve` and two `piston_chamber`s near a steady motion.

        extending:   dp = (ps - pL) / (1 + a^3),      g = k sqrt(dp) / A,      Kc1 = k x / (2 sqrt(dp))
        retracting:  dp = (ps + pL/a) / (1 + a^-3),   g = k sqrt(dp) / (a A),  Kc1 = a k |x| / (2 sqrt(dp))
        c0 = V1 V2 / (beta A^2 (V2 + a^2 V1))
        1/ch = (Kc1 V2^2 + a Kc1 V1^2 + C (V2 + a V1)^2) / (A (V2 + a^2 V1))^2

    Two chambers make one state here: the values are the first terms for oscillations faster than the chambers leak,
    and exact for V2 = V1/a, C = 0. With V2 = a V1 the compliance is V1 / ((1 + a) beta A^2), for equal areas the known
    V / (2 beta A^2). The mean pressures are those of Walters' relations, without leakage.
    Walters (1967); Merritt (1967).

    Args:
        opening: of the valve; its sign says whether the cylinder extends (0 counts as extending).
        load: force of the steady motion [N], A pL.
    """
    a, extending = area_ratio, opening >= 0
    _check_positive(
        area=area,
        area_ratio=a,
        volume_1=volume_1,
        volume_2=volume_2,
        bulk_modulus=bulk_modulus,
        flow_coefficient=flow_coefficient,
        supply_pressure=supply_pressure,
    )
    pressure = load / area
    drop = (supply_pressure - pressure) / (1 + a**3) if extending else (supply_pressure + pressure / a) / (1 + a**-3)
    root = _root(drop)
    fading = flow_coefficient * abs(opening) / (2 * root) * (1 if extending else a)
    both = volume_2 + a**2 * volume_1
    lost = fading * volume_2**2 + a * fading * volume_1**2 + internal_leakage * (volume_2 + a * volume_1) ** 2
    return LinearActuator(
        gain=flow_coefficient * root / (area if extending else a * area),
        leakage=lost / (area * both) ** 2,
        oil_compliance=volume_1 * volume_2 / (bulk_modulus * area**2 * both),
    )


def linearise_vane_motor(
    opening: float,
    *,
    displacement: float,
    volume: float,
    bulk_modulus: float,
    internal_leakage: float,
    flow_coefficient: float,
    supply_pressure: float,
    load: float = 0.0,
) -> LinearActuator:
    """The linear actuator that stands for a `vane_motor` near a steady motion.

        g = k sqrt(dp) / D,   1/ch = (C + Kc) / D^2,   c0 = V / (4 beta D^2)
        dp = (ps - sign(x) pL) / 2,   Kc = k |x| / (4 sqrt(dp))

    Merritt (1967).

    Args:
        load: torque of the steady motion [N m], D pL.
    """
    _check_positive(
        displacement=displacement,
        volume=volume,
        bulk_modulus=bulk_modulus,
        flow_coefficient=flow_coefficient,
        supply_pressure=supply_pressure,
    )
    pressure = load / displacement
    root = _root((supply_pressure - (pressure if opening >= 0 else -pressure)) / 2)
    fading = flow_coefficient * abs(opening) / (4 * root)
    return LinearActuator(
        gain=flow_coefficient * root / displacement,
        leakage=(internal_leakage + fading) / displacement**2,
        oil_compliance=volume / (4 * bulk_modulus * displacement**2),
    )


def _check_positive(**values: float) -> None:
    flaws = FlawList()
    flaws.add_unless_positive(**values)
    flaws.raise_if_any("linearisation")


def _root(drop: float) -> float:
    if not drop > 0:
        what = f"leaves the valve a pressure drop of {drop:g} Pa"
        refuse("load", what, "the supply pressure must be higher", "linearisation")
    return math.sqrt(drop)
