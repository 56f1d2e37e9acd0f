"""Units of measure: what is `N m/A`, `mm/rev` or `kg cm^2` in SI, and do two units measure the same?

    unit     = product { "/" factor }             "N m/A", "m/s/s"
    product  = factor { (" " | "*") factor }      "kg m^2"
    factor   = [prefix] name [power] | "(" unit ")" [power] | "1"
    power    = ("^" | "**") number, or superscripts

Angles count: rad is a base unit here, so that rad/s is no frequency and N m/rad no torque. What `N m/rad s` means is
not clear and refused. J and N m have the same dimension and are distinguished by their names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from functools import lru_cache

from .errors import nearest
from .records import frozen

LONGEST = 100
"""Letters of a unit."""
HIGHEST_POWER = 12

Powers = Mapping[str, Fraction]

BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
# Coherent units of SI, by their powers of the base units.
COHERENT: dict[str, dict[str, int]] = {
    **{name: {name: 1} for name in BASE},
    "N": {"kg": 1, "m": 1, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
    "W": {"kg": 1, "m": 2, "s": -3},
    "Pa": {"kg": 1, "m": -1, "s": -2},
    "Hz": {"s": -1},
    "V": {"kg": 1, "m": 2, "s": -3, "A": -1},
    "ohm": {"kg": 1, "m": 2, "s": -3, "A": -2},
    "S": {"kg": -1, "m": -2, "s": 3, "A": 2},
    "H": {"kg": 1, "m": 2, "s": -2, "A": -2},
    "Wb": {"kg": 1, "m": 2, "s": -2, "A": -1},
    "T": {"kg": 1, "s": -2, "A": -1},
    "F": {"kg": -1, "m": -2, "s": 4, "A": 2},
    "C": {"s": 1, "A": 1},
}
ENERGY = {"kg": 1, "m": 2, "s": -2}
PREFIXES = {"T": 12, "G": 9, "M": 6, "k": 3, "h": 2, "d": -1, "c": -2, "m": -3, "u": -6, "n": -9, "p": -12}
# Other units: factor, power of pi in the factor, and the coherent unit. The first ones take prefixes.
PREFIXED = {
    "g": ("1/1000", 0, "kg"),
    "l": ("1/1000", 0, "m^3"),
    "L": ("1/1000", 0, "m^3"),
    "bar": ("1e5", 0, "Pa"),
    "Wh": ("3600", 0, "J"),
    "Nm": ("1", 0, "N m"),
}
OTHERS = {
    "t": ("1000", 0, "kg"),
    "min": ("60", 0, "s"),
    "h": ("3600", 0, "s"),
    "deg": ("1/180", 1, "rad"),
    "arcmin": ("1/10800", 1, "rad"),
    "arcsec": ("1/648000", 1, "rad"),
    "rev": ("2", 1, "rad"),
    "rpm": ("1/30", 1, "rad/s"),
    "inch": ("0.0254", 0, "m"),
    "in": ("0.0254", 0, "m"),
    "ft": ("0.3048", 0, "m"),
    "lb": ("0.45359237", 0, "kg"),
    "lbf": ("4.4482216152605", 0, "N"),
    "psi": ("4.4482216152605/0.00064516", 0, "Pa"),
    "Nmm": ("1/1000", 0, "N m"),
    "Ncm": ("1/100", 0, "N m"),
    "Nms": ("1", 0, "N m s"),
    "%": ("1/100", 0, ""),
}
SPELLINGS = {"\u00b5": "u", "\u03bc": "u", "Ω": "ohm", "\u2126": "ohm", "°": "deg"}
SPELLINGS |= {"·": " ", "\u22c5": " ", "**": "^", "*": " "}
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
TOKEN = re.compile(r"\s*(?:([A-Za-z%]+|1(?![\d.]))|(/)|(\()|(\))|\^\s*(?:\((-?\d+)(?:/(\d+))?\)|(-?\d+(?:\.\d+)?)))\s*")


class UnitError(ValueError):
    """A unit or quantity that cannot be read; the message says why."""


@frozen
class UnitOfMeasure:
    """A product of powers of coherent units with a factor `ratio pi^turns`; multiplied and compared like a number.

    Attributes:
        powers: of the coherent units that it is written with, `N m` is {N: 1, m: 1}.
    """

    powers: Powers = field(default_factory=dict)
    ratio: Fraction = Fraction(1)
    turns: int = 0

    @property
    def factor(self) -> float:
        """One such unit in the coherent unit."""
        if abs(self.turns) == 1:
            pi = (math.pi, 1.0) if self.turns == 1 else (1.0, math.pi)
            return pi[0] * self.ratio.numerator / (self.ratio.denominator * pi[1])
        return float(self.ratio) * math.pi**self.turns

    @property
    def name(self) -> str:
        """The coherent unit, as text."""
        above = [_write(name, power) for name, power in self.powers.items() if power > 0]
        below = [_write(name, -power) for name, power in self.powers.items() if power < 0]
        if not below:
            return " ".join(above)
        return f"{' '.join(above) or '1'}/{below[0] if len(below) == 1 else '(' + ' '.join(below) + ')'}"

    @property
    def dimension(self) -> dict[str, Fraction]:
        """Powers of the base units."""
        powers: dict[str, Fraction] = {}
        for name, power in self.powers.items():
            for base, exponent in COHERENT[name].items():
                powers[base] = powers.get(base, Fraction(0)) + power * exponent
        return {base: power for base, power in powers.items() if power}

    def measures_like(self, other: UnitOfMeasure) -> bool:
        """Whether both are units of one quantity; an energy is no torque."""
        if self.dimension != other.dimension:
            return False
        return self.dimension != ENERGY or ("J" in self.powers) == ("J" in other.powers)

    def __mul__(self, other: UnitOfMeasure) -> UnitOfMeasure:
        powers = {
            name: self.powers.get(name, Fraction(0)) + other.powers.get(name, Fraction(0))
            for name in dict.fromkeys([*self.powers, *other.powers])
        }
        nonzero = {name: power for name, power in powers.items() if power}
        return UnitOfMeasure(nonzero, self.ratio * other.ratio, self.turns + other.turns)

    def __truediv__(self, other: UnitOfMeasure) -> UnitOfMeasure:
        return self * other ** Fraction(-1)

    def __pow__(self, power: Fraction) -> UnitOfMeasure:
        powers = {name: exponent * power for name, exponent in self.powers.items() if power}
        if power.denominator == 1:
            return UnitOfMeasure(powers, self.ratio**power.numerator, self.turns * power.numerator)
        if self.ratio != 1 or self.turns:
            raise UnitError(f"a root is taken of units of SI only, such as {UnitOfMeasure(powers).name}")
        return UnitOfMeasure(powers)


def _write(name: str, power: Fraction) -> str:
    return name if power == 1 else f"{name}^{power if power.denominator == 1 else f'{float(power):g}'}"


@lru_cache(maxsize=1000)
def parse_unit(text: str) -> UnitOfMeasure:
    """The unit that a text names; empty is that of a plain number.

    Raises:
        UnitError: for unknown names, and for texts that are no unit.
    """
    if len(text) > LONGEST:
        raise UnitError(f"a unit has at most {LONGEST} letters")
    plain = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda found: f"^{found[0].translate(SUPERSCRIPTS)}", text)
    for letters, spelling in SPELLINGS.items():
        plain = plain.replace(letters, spelling)
    tokens = list(_split(plain, text))
    unit, rest = _read_unit(tokens, 0, text)
    if rest < len(tokens):
        raise UnitError(f'"{text}" has a parenthesis too many')
    return unit


def known_unit(text: str) -> UnitOfMeasure | None:
    """The unit that a text names, None where there is no such unit."""
    try:
        return parse_unit(text)
    except UnitError:
        return None


def same_quantity(first: str, second: str) -> bool:
    """Whether two units measure the same, as far as they are known."""
    units = known_unit(first), known_unit(second)
    return first == second if units[0] is None or units[1] is None else units[0].measures_like(units[1])


def fill_unit(unit: str, placeholders: Mapping[str, str]) -> str:
    """A unit with its placeholders, such as {x}, filled in."""
    filled = unit
    for placeholder, own in placeholders.items():
        filled = filled.replace(placeholder, f"({own})" if {" ", "/"} & set(own) else own)
    if "(" not in filled or filled == unit:
        return filled
    unit_there = known_unit(filled)
    return unit_there.name or "1" if unit_there else filled


def split_heading(heading: str) -> tuple[str, str]:
    """Name and unit of 'name [unit]', or of 'name (unit)' with a known one; the unit is empty where there is none."""
    heading = heading.strip()
    name, bracket, unit = heading.removesuffix("]").rpartition("[")
    # `position[0]` is an element of a list.
    if bracket and heading.endswith("]") and not unit.strip().isdigit():
        return name.rstrip(), unit
    name, bracket, unit = heading.removesuffix(")").rpartition("(")
    if bracket and heading.endswith(")") and name.strip() and unit and known_unit(unit) is not None:
        return name.rstrip(), unit
    return heading, ""


def _split(plain: str, text: str) -> Iterator[re.Match[str]]:
    at = 0
    while at < len(plain):
        match = TOKEN.match(plain, at)
        if match is None:
            raise UnitError(f'"{text}" is not a unit: "{plain[at:].strip()}" is not understood')
        yield match
        at = match.end()


def _read_unit(tokens: list[re.Match[str]], at: int, text: str) -> tuple[UnitOfMeasure, int]:
    """A unit up to the end or to the parenthesis that closes it, and the token there."""
    unit, divided, slash = UnitOfMeasure(), False, False
    while at < len(tokens) and not tokens[at][4]:
        if tokens[at][2]:
            if slash or at == 0:
                raise UnitError(f'"{text}" is not a unit: nothing precedes "/"')
            slash, at = True, at + 1
            continue
        factor, at = _read_factor(tokens, at, text)
        if divided and not slash:
            raise UnitError(f'"{text}" can be understood in two ways: put what is below "/" in parentheses')
        unit = unit / factor if slash else unit * factor
        divided, slash = divided or slash, False
    if slash:
        raise UnitError(f'"{text}" is not a unit: nothing follows "/"')
    return unit, at


def _read_factor(tokens: list[re.Match[str]], at: int, text: str) -> tuple[UnitOfMeasure, int]:
    if tokens[at][3]:
        unit, at = _read_unit(tokens, at + 1, text)
        if at == len(tokens):
            raise UnitError(f'"{text}" lacks a parenthesis')
    elif tokens[at][1]:
        unit = _find(tokens[at][1])
    else:
        raise UnitError(f'"{text}" is not a unit: a power of nothing')
    at += 1
    if at < len(tokens) and (tokens[at][5] or tokens[at][7]):
        token = tokens[at]
        power = Fraction(int(token[5]), int(token[6] or 1) or 1) if token[5] else Fraction(token[7])
        if abs(power) > HIGHEST_POWER or power.denominator > HIGHEST_POWER:
            raise UnitError(f'"{text}" has a power above {HIGHEST_POWER}')
        unit, at = unit**power, at + 1
    return unit, at


def _find(word: str) -> UnitOfMeasure:
    """A unit by its name, with a prefix or without."""
    if word == "1":
        return UnitOfMeasure()
    if word in COHERENT:
        return UnitOfMeasure({word: Fraction(1)})
    if word in OTHERS or word in PREFIXED:
        ratio, turns, coherent = OTHERS.get(word) or PREFIXED[word]
        above, _, below = ratio.partition("/")
        return UnitOfMeasure(parse_unit(coherent).powers, Fraction(above) / Fraction(below or 1), turns)
    prefix, name = word[0], word[1:]
    if prefix in PREFIXES and name != "kg" and (name in COHERENT or name in PREFIXED):
        unit = _find(name)
        return UnitOfMeasure(unit.powers, unit.ratio * Fraction(10) ** PREFIXES[prefix], unit.turns)
    raise UnitError(_unknown(word))


def _unknown(word: str) -> str:
    if word in ("degC", "degF"):
        return f'unit "{word}" is unknown; temperatures are in K'
    names = [*COHERENT, *PREFIXED, *OTHERS]
    names += [prefix + name for prefix in PREFIXES for name in (*COHERENT, *PREFIXED) if name != "kg"]
    alike = [name for name in names if name.lower() == word.lower()]
    return f'unit "{word}" is unknown; {nearest(alike[0], alike) if alike else nearest(word, names)}'


# Units for people: in which unit is a number read, and how is that unit written? The one home of this for the shell,
# tables, pictures, sheets, notebooks and pages, whose script gets SHOWN. Files and JSON stay in SI.

SHOWN: dict[str, tuple[tuple[float, str], ...]] = {
    "m": ((0.0, "nm"), (1e-7, "µm"), (1e-3, "mm"), (1.0, "m"), (1e4, "km")),
    "s": ((0.0, "ns"), (1e-7, "µs"), (1e-3, "ms"), (1.0, "s")),
    "rad": ((0.0, "µrad"), (1e-3, "mrad"), (0.02, "deg")),
    "m/s": ((0.0, "µm/s"), (1e-3, "mm/s"), (0.5, "m/s")),
    "rad/s": ((0.0, "µrad/s"), (1e-3, "mrad/s"), (0.02, "deg/s"), (60.0, "rpm")),
    "m/s^2": ((0.0, "mm/s²"), (0.1, "m/s²")),
    "N": ((0.0, "mN"), (0.1, "N"), (1e4, "kN")),
    "N m": ((0.0, "mN m"), (0.1, "N m"), (1e4, "kN m")),
    "J": ((0.0, "mJ"), (0.1, "J"), (1e4, "kJ")),
    "W": ((0.0, "mW"), (0.1, "W"), (1e4, "kW")),
    "Pa": ((0.0, "Pa"), (1e4, "bar")),
    "A": ((0.0, "mA"), (0.1, "A")),
    "V": ((0.0, "mV"), (0.1, "V"), (1e4, "kV")),
    "Hz": ((0.0, "mHz"), (0.01, "Hz"), (1e4, "kHz")),
}
"""Unit of SI -> from which largest magnitude on [SI] which unit is shown."""
ROUNDING = 1e-9
"""Share of the largest number beside it below which a number is what rounding leaves, and shown as 0."""
SMALLEST = 1e-12
"""Magnitude [SI] below which a number is shown as 0 whatever stands beside it."""
RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


@frozen
class ShownUnit:
    """A unit in which numbers are shown: what it is called, and what one of it is in SI."""

    name: str
    size: float = 1.0

    def scale(self, value: float, digits: int = 4) -> str:
        """A number of SI in this unit, as text."""
        return show_number(value / self.size, digits)


@lru_cache(maxsize=1000)
def write_unit(unit: str) -> str:
    """A unit as it is printed: µm, N m, m/s², Ω."""
    text = re.sub(r"\^(-?\d+)(?![\d.])", lambda power: power[1].translate(RAISED), unit)
    text = re.sub(r"\bu(?=(?:m|s|rad|g|N|A|V|W|F|H|J|Pa|ohm)\b)", "µ", text)
    return re.sub(r"ohm\b", "Ω", text)


def with_unit(text: str, unit: str) -> str:
    """A label with its unit in brackets; nothing there for numbers without one."""
    return f"{text} [{write_unit(unit)}]" if unit else text


def choose_unit(unit: str, largest: float, wanted: Sequence[str] = ()) -> ShownUnit:
    """The unit in which numbers [unit, of SI] of at most this magnitude are shown; one that is wanted goes first."""
    for name in wanted:
        if _measures(name, unit):
            return ShownUnit(write_unit(name), parse_unit(name).factor)
    if unit not in SHOWN or not SMALLEST <= largest < math.inf:
        return ShownUnit(write_unit(unit))
    name = [name for least, name in SHOWN[unit] if least <= largest][-1]
    return ShownUnit(name, parse_unit(name).factor)


def check_units(wanted: Sequence[str], units: Sequence[str]) -> None:
    """Every unit that is asked for is one, and measures something of these units."""
    for name in wanted:
        try:
            parse_unit(name)
        except UnitError as error:
            raise ValueError(f"unit {name!r}: {error}") from error
        if not any(_measures(name, unit) for unit in units):
            raise ValueError(f"unit {name!r}: nothing that is drawn is measured in it ({nearest(name, units)})")


def _measures(name: str, unit: str) -> bool:
    """Whether a signal's unit, which may be none or of a law of one's own, measures what the named one does."""
    unit_there = known_unit(unit) if unit else None
    return unit_there is not None and parse_unit(name).measures_like(unit_there)


def show_number(value: float, digits: int = 4) -> str:
    """A number with so many digits; 0 for what rounding leaves of it, without a sign, and no power of ten below 1e5."""
    if abs(value) < SMALLEST:
        return "0"
    text = f"{value:.{digits}g}"
    return f"{float(text):.5g}" if "e+" in text and abs(float(text)) < 1e5 else text


def show_quantity(value: float, unit: str, digits: int = 4) -> str:
    """A number of SI with its unit, both as a person reads them: 31.2 µm."""
    shown = choose_unit(unit, abs(value))
    return f"{shown.scale(value, digits)} {shown.name}".rstrip()


def show_quantities(values: Sequence[float], unit: str, digits: int = 4) -> tuple[list[str], str]:
    """Numbers of SI in one unit that suits the largest, and that unit; what is rounding beside it is 0."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    shown = choose_unit(unit, largest)
    return [shown.scale(value if abs(value) >= ROUNDING * largest else 0.0, digits) for value in values], shown.name
