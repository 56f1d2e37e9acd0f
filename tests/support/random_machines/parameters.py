"""Which values may a law's parameters have? Magnitudes from their units, bounds from the law's own checks.

A unit such as "{F} s/{x}" has the natural scale of its factors: force times time by length of machines of about 1 kg
and 0.3 m. So a law that is added later gets sensible values by itself.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from robodyn.description.laws import Argument, LawInfo

DURATION = 0.25
"""Simulated time [s]."""
FACTORS = {"rad": 1.0, "m": 0.3, "N": 10.0, "s": 0.1, "A": 3.0, "V": 10.0, "ohm": 1.0, "H": 3e-3, "Hz": 10.0, "kg": 1.0}
# Oil has pressures, areas and flows far from those of the mechanism it moves.
OIL = {"Pa": 2e6, "m^2": 3e-5, "m^3": 2e-4, "m^3/rad": 3e-6, "m^3/(s Pa)": 1e-12}
SPREAD = (0.1, 2.0)
SPREADS = {
    "stiffness": (1.0, 300.0),
    "smoothing_velocity": (3e-3, 0.1),
    "stribeck_velocity": (1e-2, 0.3),
    "gap": (1e-3, 0.05),
    "resolution": (1e-4, 1e-2),
    "bulk_modulus": (50.0, 300.0),
    "exponent": (1.0, 3.0),
    "load_loss": (0.01, 0.3),
    "time_constant": (0.01, 1.0),
    "top_acceleration": (0.3, 3.0),
}
"""Range of a parameter as factors of its unit's scale, by name where the unit says too little."""
GAINS = ("proportional", "integral", "derivative", "gain", "gear", "gears", "torque_constant", "torque_factor")
GAINS += ("frequency", "inertia", "coulomb", "viscous")
"""Parameters without a rule that are positive in any sensible machine."""
COUNT = 4
"""Entries of a table."""


def scale_of(unit: str) -> float:
    """Natural magnitude of a unit; 1 for one whose factors are unknown."""
    if unit in OIL:
        return OIL[unit]
    above, _, below = unit.partition("/")
    return _product(above) / _product(below.strip("()"))


def _product(factors: str) -> float:
    value = 1.0
    for name, power in re.findall(r"([A-Za-z]+)(?:\^([\d.]+))?", factors):
        value *= {**FACTORS, "Pa": OIL["Pa"]}.get(name, 1.0) ** float(power or 1)
    return value


def draw_parameters(rng: np.random.Generator, arguments: list[Argument], info: LawInfo, units: Any) -> dict[str, Any]:
    """Values of a law's parameters; every second one with a default keeps it.

    Args:
        units: has `fill`, which replaces the placeholders of a law's units.
    """
    values: dict[str, Any] = {}
    for argument in arguments:
        if argument.has_default and rng.random() < 0.5:
            continue
        scale = scale_of(units.fill(info.units.get(argument.name, "")))
        time = info.units.get(argument.name) == "s" and not info.checks.get(argument.name, "").startswith("positive")
        values[argument.name] = _draw(rng, argument.name, info.checks.get(argument.name, ""), scale, time, values)
    if {"thigh", "shank", "height"} <= values.keys():
        # A leg reaches the ground, neither stretched nor folded.
        thigh = values["thigh"]
        values |= {"shank": thigh, "height": 1.5 * thigh, "stride": 0.3 * thigh, "lift": 0.3 * thigh}
    return values


def _draw(rng: np.random.Generator, name: str, rule: str, scale: float, time: bool, others: dict[str, Any]) -> Any:
    """One value that obeys its rule.

    Args:
        time: whether it is an instant of the run; others: values drawn so far.
    """
    if "increasing" in rule or "non-decreasing" in rule or "as many as" in rule:
        return _draw_table(rng, rule, scale, time)
    low, high = SPREADS.get(name, SPREAD)
    size = float(scale * np.exp(rng.uniform(np.log(low), np.log(high))))
    if "whole" in rule:
        return float(rng.integers(1, 1000))
    if "below one" in rule:
        return float(rng.uniform(0.0, 0.95))
    if rule == "within 90 deg":
        return float(rng.uniform(-1.4, 1.4))
    if rule.startswith("above"):
        # A lower bound that kept its default is 0 or minus infinity.
        return float(max(others.get(rule.split()[-1], 0.0), -scale)) + size
    if time:
        return float(rng.uniform(0.0, DURATION))
    if rule == "non-negative":
        return 0.0 if rng.random() < 0.15 else size
    # A gain is positive like a size; a place, a force or an amplitude may have either sign.
    return size if rule or name in GAINS else size * float(rng.choice([-1.0, 1.0]))


def _draw_table(rng: np.random.Generator, rule: str, scale: float, time: bool) -> tuple[float, ...]:
    if time:
        return tuple(np.cumsum(rng.uniform(0.1, 1.0, COUNT)) * DURATION / COUNT)
    values = rng.uniform(-1.0, 1.0, COUNT) * scale
    if "increasing" in rule:
        return tuple(np.cumsum(np.abs(values) + 0.1 * scale) - scale)
    return tuple(np.sort(values) if "non-decreasing" in rule else values)
