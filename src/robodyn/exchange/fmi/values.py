"""Typed values of FMI: which value does a variable take? What it does not take is refused, never clipped."""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable
from typing import Any

from robodyn.base.units import UnitError, known_unit
from robodyn.description.files.units import is_quantity, read_quantity, split_quantity
from robodyn.exchange.fmi.unit_variables import REALS, UnitVariable, Value

FLAGS: dict[Any, bool] = {"false": False, "0": False, 0: False, "true": True, "1": True, 1: True}


class ValueRefused(ValueError):
    """A value that a variable does not take; the sentence says what it takes."""


def read_value(variable: UnitVariable, given: Any) -> Value:
    """A number or text as the interface wants it: float, int or bool."""
    if variable.kind == "Boolean":
        return _read_flag(given)
    if variable.items:
        return _read_item(variable, given)
    if variable.kind not in REALS:
        return _in_range(variable, _read_whole(variable, given), given)
    if isinstance(given, str):
        return _in_range(variable, _read_real(variable, given.strip()), given)
    if not _is_number(given):
        raise ValueRefused(f"must be a number, is {_told(given)}")
    return _in_range(variable, float(given), given)


def _is_number(given: Any) -> bool:
    return isinstance(given, numbers.Real) and not isinstance(given, bool)


def _in_range(variable: UnitVariable, value: Any, given: Any) -> Any:
    low, high = variable.low, variable.high
    if variable.kind in REALS and math.isinf(low) and math.isinf(high):
        return value
    if not low <= value <= high:
        bounds = (f"at least {low}" if low > -math.inf else "", f"at most {high}" if high < math.inf else "")
        whole = "" if variable.kind in REALS else "a whole number "
        raise ValueRefused(f"must be {whole}{' and '.join(filter(None, bounds))}, is {_told(given)}")
    return value


def _read_real(variable: UnitVariable, text: str) -> float:
    """A number with a unit of measure, in the one that the variable is measured in, which need not be of SI."""
    number, unit = split_quantity(text) if is_quantity(text) else ("", "")
    if number and unit in ("", variable.unit):
        return float(number)
    if number and not variable.unit:
        raise ValueRefused(f'"{text}" has a unit of measure, and the variable none: give a plain number')
    own = known_unit(variable.unit)
    si, factor = (own.name or "1", own.factor) if own else (variable.unit, 1.0)
    try:
        return read_quantity(text, si) / factor
    except UnitError as error:
        raise ValueRefused(str(error)) from error


def _read_whole(variable: UnitVariable, given: Any) -> int:
    """Integers of 64 bits are not all floats: text and whole numbers are kept as they are."""
    try:
        if isinstance(given, str):
            return int(given)
        if _is_number(given) and given == int(given):
            return int(given)
    except (ValueError, OverflowError):
        pass
    raise ValueRefused(f"must be a whole number from {variable.low} to {variable.high}, is {_told(given)}")


def _read_flag(given: Any) -> bool:
    key = given.strip().lower() if isinstance(given, str) else given
    if isinstance(key, Hashable) and key in FLAGS:
        return FLAGS[key]
    raise ValueRefused(f"must be true or false (1 or 0), is {_told(given)}")


def _read_item(variable: UnitVariable, given: Any) -> int:
    """An item of an enumeration, by name or number."""
    allowed = {name: k for name, k in variable.items.items() if variable.low <= k <= variable.high}
    if isinstance(given, str) and given.strip() in allowed:
        return allowed[given.strip()]
    message = ", ".join(f"{name} ({k})" for name, k in allowed.items())
    try:
        number = _read_whole(variable, given)
    except ValueRefused:
        number = None
    if number is None or number not in allowed.values():
        raise ValueRefused(f"must be one of {message}, is {_told(given)}")
    return number


def _told(given: Any) -> str:
    return f'"{given}"' if isinstance(given, str) else f"{given}"
