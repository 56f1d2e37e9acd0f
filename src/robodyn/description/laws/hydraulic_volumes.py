"""Volumes of hydraulic circuits: chambers of cylinders, galleries, accumulators: which pressure do flows make there?

Volumes make pressures of flows; what stands between two volumes makes flows of pressures (`hydraulic_flows`). Each flow
is INTO the volume that it is named after, as each force acts on its joint, so that a volume takes the sum of what is
connected. A tank is a constant pressure. Pressures are above the atmosphere's; flows are of oil at the pressure where
they pass, so that oil counts as much on both sides of an edge: its mass is kept but for dp/E.
"""

from robodyn.base import symbolic as sym
from robodyn.description.laws.definition import law
from robodyn.description.laws.hydraulic_oil import ATMOSPHERE, effective_bulk_modulus, gas_share, orifice_flow

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
