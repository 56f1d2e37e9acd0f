"""Linearisation of hydraulics: which `hydraulic_actuator` behaves like a physical cylinder or motor near a point?"""

from __future__ import annotations

import math
from dataclasses import dataclass

from robodyn.base.errors import FlawList


@dataclass(frozen=True)
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
    for name, value in values.items():
        if not value > 0:
            flaws.add(name, f"must be positive, is {value:g}")
    flaws.raise_if_any("linearisation")


def _root(drop: float) -> float:
    flaws = FlawList()
    if not drop > 0:
        flaws.add("load", f"leaves the valve a pressure drop of {drop:g} Pa", "the supply must press harder than it")
    flaws.raise_if_any("linearisation")
    return math.sqrt(drop)
