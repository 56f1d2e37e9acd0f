"""Quantities: how is a number written with a unit in a file, and what is it in SI?"""

from __future__ import annotations

import math
import re

from robodyn.base.units import LONGEST, UnitError, UnitOfMeasure, fill_unit, known_unit, parse_unit

ROTARY = {"{x}": "rad", "{F}": "N m", "{I}": "kg m^2"}
LINEAR = {"{x}": "m", "{F}": "N", "{I}": "kg"}
COMMANDS = ("V", "A", "N m", "N", "rad", "m", "rad/s", "m/s")

QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf)\s*((?<=\s)1\s*/.*?|[^\s\d.].*?)?\s*")


def read_quantity(value: object, expected: str = "", written: str = "", *, bare: bool = False) -> float:
    """A number in SI from a plain number (already SI) or from text such as "90 deg".

    Args:
        expected: SI unit the number must have; empty or "{u}" accepts any known unit, "1" none. "{x}", "{F}" and "{I}"
            in it stand for rad, N m and kg m^2 or for m, N and kg, and "{u}" for whatever a command may be.
        written: unit other than of SI that the same number is written with in its file: text must then have one too.
        bare: whether text may leave the unit out, as on the command line, where everything is text.
    """
    expected = "" if expected == "{u}" else expected
    if isinstance(value, bool) or not isinstance(value, (int, float, str)) or value != value:
        raise UnitError(f'must be a number or text like "90 deg", is {value!r}')
    if not isinstance(value, str):
        return _plain(value)
    number, text = split_quantity(value)
    if not text:
        _check_bare(value.strip(), number, expected, written, bare)
        return _finite(float(number), value, infinite=number.endswith("inf"))
    allowed = _alternatives(expected)
    factor = 1.0 if text in allowed else _read_unit(value, text, allowed if expected else []).factor
    return _finite(float(number) * factor, value, infinite=number.endswith("inf"))


def split_quantity(text: str) -> tuple[str, str]:
    """Number and unit of a quantity, as texts; the unit is empty where there is none."""
    match = QUANTITY.fullmatch(text) if len(text) <= LONGEST else None
    if match is None:
        raise UnitError(f'"{text}" is not a number with a unit')
    return match[1], match[2] or ""


def is_quantity(text: str) -> bool:
    """Whether a text begins like a number, and so is no name."""
    return len(text) <= LONGEST and QUANTITY.fullmatch(text) is not None


def _check_bare(text: str, number: str, expected: str, written: str, bare: bool) -> None:
    """A number in quotes has no unit: SI is meant only where everything is text."""
    if not float(number) or number.endswith("inf"):
        return
    if written:
        own = parse_unit(written).name
        raise UnitError(f'the file gives it in {written}: write "{number} {written}", or "{number} {own}"')
    if expected not in ("", "1") and not bare:
        units = " or ".join(f'"{text} {unit}"' for unit in _alternatives(expected)[:2])
        raise UnitError(f'"{text}" has no unit: write {units}, or {text} without quotes, which is SI')


def _read_unit(value: str, text: str, allowed: list[str]) -> UnitOfMeasure:
    """The unit of a quantity, one of a quantity that is allowed."""
    try:
        unit = parse_unit(text)
    except UnitError as error:
        raise UnitError(str(error).replace(f'unit "{text}"', f'unit "{text}" of "{value}"')) from error
    if allowed == ["1"] and unit.dimension:
        raise UnitError(f'"{value}" must be a plain number, without a unit')
    if allowed and not any(other is not None and unit.measures_like(other) for other in map(known_unit, allowed)):
        raise UnitError(f'"{value}" must be in {" or ".join(allowed)}')
    return unit


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
    meanings = [kind | {"{u}": own} for own in COMMANDS for kind in (ROTARY, LINEAR)]
    return list(dict.fromkeys(fill_unit(expected, meaning) for meaning in meanings))
