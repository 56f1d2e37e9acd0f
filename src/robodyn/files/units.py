"""How is a number written with a unit in a file, and what is it in SI?"""

from __future__ import annotations

import math
import re

from robodyn.errors import nearest

LENGTHS = {"um": ("m", 1e-6), "mm": ("m", 1e-3), "cm": ("m", 1e-2), "km": ("m", 1e3)}
MASSES = {"g": ("kg", 1e-3), "t": ("kg", 1e3)}
TIMES = {"ms": ("s", 1e-3), "us": ("s", 1e-6), "min": ("s", 60.0), "h": ("s", 3600.0)}
ANGLES = {"deg": ("rad", math.pi / 180), "mrad": ("rad", 1e-3), "rev": ("rad", 2 * math.pi)}
RATES = {
    "deg/s": ("rad/s", math.pi / 180),
    "rpm": ("rad/s", math.pi / 30),
    "mm/s": ("m/s", 1e-3),
    "deg/s^2": ("rad/s^2", math.pi / 180),
    "mm/s^2": ("m/s^2", 1e-3),
    "kHz": ("Hz", 1e3),
}
ELECTRIC = {"mA": ("A", 1e-3), "mV": ("V", 1e-3), "kV": ("V", 1e3), "mH": ("H", 1e-3), "kohm": ("ohm", 1e3)}
FORCES = {"kN": ("N", 1e3), "N mm": ("N m", 1e-3), "kN m": ("N m", 1e3), "kJ": ("J", 1e3)}
INERTIAS = {"kg mm^2": ("kg m^2", 1e-6), "kg cm^2": ("kg m^2", 1e-4), "g mm^2": ("kg m^2", 1e-9)}
PRESSURES = {"kPa": ("Pa", 1e3), "MPa": ("Pa", 1e6), "GPa": ("Pa", 1e9), "bar": ("Pa", 1e5)}
SECTIONS = {
    "mm^2": ("m^2", 1e-6),
    "cm^2": ("m^2", 1e-4),
    "mm^4": ("m^4", 1e-12),
    "cm^4": ("m^4", 1e-8),
    "g/cm^3": ("kg/m^3", 1e3),
}
CONVERTED = LENGTHS | MASSES | TIMES | ANGLES | RATES | ELECTRIC | FORCES | INERTIAS | PRESSURES | SECTIONS
COMPOSED = {"1/s", "N m s/rad", "N s/m", "N m/rad", "N/m", "N m/A", "N m^2", "kg/m"}
SI = {si for si, _ in CONVERTED.values()} | COMPOSED

COMMANDS = ("V", "A", "N m", "N", "rad", "m", "rad/s", "m/s")

QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf)\s*((?<=\s)1/\w+|[^\s\d.].*?)?\s*")


LONGEST = 100
"""Letters of a number with its unit."""


class UnitError(ValueError):
    """A quantity that cannot be read; the message says why."""


def read_quantity(value: object, expected: str = "", written: str = "") -> float:
    """A number in SI from a plain number (already SI) or from text such as "90 deg".

    Args:
        expected: SI unit the number must have; empty or "{u}" accepts any known unit. "{x}", "{F}" and "{I}" in it
            stand for rad, N m and kg m^2 or for m, N and kg, and "{u}" for whatever a command may be.
        written: unit other than of SI that the same number is written with in its file: text must then have one too.
    """
    expected = "" if expected == "{u}" else expected
    if isinstance(value, bool) or not isinstance(value, (int, float, str)) or value != value:
        raise UnitError(f'must be a number or text like "90 deg", is {value!r}')
    if not isinstance(value, str):
        return _plain(value)
    match = QUANTITY.fullmatch(value) if len(value) <= LONGEST else None
    if not match:
        raise UnitError(f'"{value}" is not a number with a unit')
    number, unit = float(match[1]), match[2] or ""
    if written and number and not unit:
        own = CONVERTED[written][0]
        raise UnitError(f'the file gives it in {written}: say "{match[1]} {written}", or "{match[1]} {own}"')
    si, factor = CONVERTED.get(unit, (unit, 1.0))
    if unit and unit not in CONVERTED and unit not in SI and unit not in _alternatives(expected):
        raise UnitError(f'unit "{unit}" of "{value}" is unknown; {nearest(unit, CONVERTED)}')
    if unit and expected and si not in _alternatives(expected):
        raise UnitError(f'"{value}" must be in {" or ".join(_alternatives(expected))}')
    return _finite(number * factor, value, infinite=match[1].endswith("inf"))


def _plain(value: float) -> float:
    try:
        return float(value)
    except OverflowError as error:  # whole numbers of a file have any length
        raise UnitError("is too large for a number") from error


def _finite(number: float, value: str, infinite: bool) -> float:
    """Texts such as "1e400" are not meant to be infinite."""
    if math.isinf(number) and not infinite:
        raise UnitError(f'"{value}" is too large for a number')
    return number


def _alternatives(expected: str) -> list[str]:
    """The unit with its placeholders filled in for an angle and for a length."""
    rotary = expected.replace("{x}", "rad").replace("{F}", "N m").replace("{I}", "kg m^2")
    linear = expected.replace("{x}", "m").replace("{F}", "N").replace("{I}", "kg")
    return list(dict.fromkeys(unit.replace("{u}", own) for own in COMMANDS for unit in (rotary, linear)))
