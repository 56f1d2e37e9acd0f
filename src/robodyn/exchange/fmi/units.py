"""Unit definitions of FMI: what is a unit of measure in base units, as model descriptions want it?"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement

from robodyn.base.units import BASE, known_unit


def add_units(parent: Element, units: Iterable[str]) -> None:
    """The element of all units that variables have, with their base units where these are known."""
    wanted = sorted(set(units) - {""})
    if not wanted:
        return
    definitions = SubElement(parent, "UnitDefinitions")
    for name in wanted:
        unit = SubElement(definitions, "Unit", name=name)
        known = known_unit(name)
        if known is not None and all(power.denominator == 1 for power in known.dimension.values()):
            exponents = {base: str(known.dimension[base]) for base in BASE if base in known.dimension}
            SubElement(unit, "BaseUnit", exponents | ({"factor": repr(known.factor)} if known.factor != 1 else {}))
