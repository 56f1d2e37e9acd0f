"""Size of a machine: by which length and mass are its thresholds and tolerances measured?

What counts as touching, as at rest or as rounding is a part of a machine's own size, so that a gripper of 1 mm moves as
one of 1 m whose lengths, masses and forces are scaled. Above 1 m and 1 kg nothing grows any more.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import cache

from robodyn.base import frozen, known_unit
from robodyn.description.model import FlexibleBody, Scenario

MECHANICAL = {"m", "N", "J", "W", "kg", "s", "rad", "Hz"}
"""Units whose sizes follow those of a machine; pressures, currents and temperatures do not."""


@frozen
class MachineSize:
    """The largest length of a machine [m] and its mass [kg], each 1 at most, and 1 where there is none."""

    length: float = 1.0
    mass: float = 1.0

    def of(self, unit: str) -> float:
        """How large a quantity of this unit is: of a force `mass length` by 1 s^2; 1 for units of other kinds."""
        of_length, of_mass = _find_powers(unit)
        return float(self.length**of_length * self.mass**of_mass)


@cache
def _find_powers(unit: str) -> tuple[Fraction | int, Fraction | int]:
    """The powers of the metre and of the kilogram."""
    measure = known_unit(unit) if unit else None
    if measure is None or not measure.powers.keys() <= MECHANICAL:
        return 0, 0
    powers = measure.dimension
    return powers.get("m", 0), powers.get("kg", 0)


def size_machine(scenario: Scenario) -> MachineSize:
    """The size of what a scenario moves, as it is described."""
    machine, mechanism = scenario.machine, scenario.machine.mechanism
    if mechanism is None:
        return MachineSize()
    parts = (mechanism, *machine.coordinates, *machine.constraints, *machine.contacts)
    numbers = [number for part in parts for number in part.numbers() if math.isfinite(number.value)]
    # Of places their distance from the origin: a machine that is turned has the same size.
    places: dict[str, list[float]] = {}
    for number in numbers:
        if number.unit == "m":
            places.setdefault(re.sub(r"\.[xyz]$", "", number.name), []).append(number.value)
    lengths = [math.hypot(*values) for values in places.values()]
    # A body without a length has a radius of gyration.
    rigid = [body for body in mechanism.bodies if not isinstance(body, FlexibleBody)]
    lengths += [math.sqrt(abs(sum(body.inertia[:3])) / body.mass) for body in rigid if body.mass > 0]
    lengths += [body.size for body in mechanism.flexible_bodies]
    mass = math.fsum(body.mass for body in mechanism.bodies)
    return MachineSize(min(max(lengths, default=0.0) or 1.0, 1.0), min(mass or 1.0, 1.0))
