"""Flows of hydraulic circuits: edges, valves, gaps, lines, pumps: which flow passes between two pressures?

Each stands between two volumes (`hydraulic_volumes`) or a volume and a tank: `flow_in` is into the volume before it,
`flow_out` into the one behind it. `lost_power` is what heats the oil.
"""

import math

from robodyn.base import symbolic as sym
from robodyn.description.laws.definition import law
from robodyn.description.laws.hydraulic_oil import orifice_flow


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
