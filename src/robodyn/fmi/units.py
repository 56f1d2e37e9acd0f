"""What is a unit of measure in base units, as model descriptions want to be told?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement

BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
DERIVED = {
    **{name: {name: 1} for name in BASE},
    "N": {"kg": 1, "m": 1, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
    "W": {"kg": 1, "m": 2, "s": -3},
    "Pa": {"kg": 1, "m": -1, "s": -2},
    "Hz": {"s": -1},
    "V": {"kg": 1, "m": 2, "s": -3, "A": -1},
    "ohm": {"kg": 1, "m": 2, "s": -3, "A": -2},
    "H": {"kg": 1, "m": 2, "s": -2, "A": -2},
    "Wb": {"kg": 1, "m": 2, "s": -2, "A": -1},
    "F": {"kg": -1, "m": -2, "s": 4, "A": 2},
    "C": {"s": 1, "A": 1},
    "1": {},
}
FACTOR = re.compile(r"([A-Za-z]+|1)(?:\^(-?\d+))?")


def parse_unit(text: str) -> dict[str, int] | None:
    """Exponents of the base units of, say, `N m s/rad`; None where the text is no product of known units."""
    exponents: dict[str, int] = {}
    for place, part in enumerate(text.replace("(", " ").replace(")", " ").split("/")):
        for factor in part.replace("*", " ").split():
            match = FACTOR.fullmatch(factor)
            if match is None or match[1] not in DERIVED:
                return None
            power = int(match[2] or 1) * (1 if place == 0 else -1)
            for base, exponent in DERIVED[match[1]].items():
                exponents[base] = exponents.get(base, 0) + power * exponent
    return {base: exponent for base, exponent in exponents.items() if exponent}


def add_units(parent: Element, units: Iterable[str]) -> None:
    """The element of all units that variables have, with their base units where these are known."""
    wanted = sorted(set(units) - {""})
    if not wanted:
        return
    definitions = SubElement(parent, "UnitDefinitions")
    for name in wanted:
        unit = SubElement(definitions, "Unit", name=name)
        exponents = parse_unit(name)
        if exponents is not None:
            SubElement(unit, "BaseUnit", {base: str(exponents[base]) for base in BASE if base in exponents})
