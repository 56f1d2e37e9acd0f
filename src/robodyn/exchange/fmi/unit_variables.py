"""Variables of an imported FMU: which numbers does it have, and which values do they take?

A signal is a scalar; an array has one for each element.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from robodyn.base import FlawList, UnitError, frozen, known_unit, nearest
from robodyn.description.files.units import is_quantity, read_quantity, split_quantity

Value = float | int | bool
REALS = ("Real", "Float64", "Float32")
WHOLE = {
    "Integer": (-(2**31), 2**31 - 1),
    **{f"Int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"UInt{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
}
"""Smallest and largest value of each type of integers."""
NUMBERS = (*REALS, *WHOLE, "Boolean", "Enumeration")
MOST_ELEMENTS = 10**6
"""Of the arrays of a unit together."""
LARGEST_FLOAT32 = 3.4028234663852886e38


@frozen(eq=False)
class UnitVariable:
    """A variable of a unit.

    Attributes:
        kind: its type, by the interface's name. shape: () for a scalar.
        low, high: declared range, or that of its type. items: number of each item of an enumeration.
        start: of all elements, row by row; empty where the unit gives none.
    """

    name: str
    reference: int
    kind: str
    causality: str
    variability: str
    initial: str | None
    unit: str
    shape: tuple[int, ...]
    low: float
    high: float
    items: Mapping[str, int]
    start: tuple[Value, ...]

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def elements(self) -> list[str]:
        """Names of its signals: `name`, or `name[i,j]` counted from 1, the last index running fastest."""
        if not self.shape:
            return [self.name]
        places = product(*(range(1, n + 1) for n in self.shape))
        return [f"{self.name}[{','.join(map(str, place))}]" for place in places]

    @property
    def held(self) -> bool:
        """Whether it changes at events only."""
        return self.variability != "continuous" or self.kind not in REALS

    @property
    def settable(self) -> bool:
        """Whether its value before the start can be chosen."""
        return self.variability != "constant" and (self.causality == "input" or self.initial in ("exact", "approx"))


class FmuSignal(NamedTuple):
    """An element of a variable."""

    variable: UnitVariable
    place: int


def read_variables(description: Any, root: Element, sizes: Mapping[str, int]) -> list[UnitVariable]:
    """All variables that are numbers.

    Args:
        description: by FMPy; root: of the same file, since FMPy reads no range of unsigned integers.
        sizes: structural parameters that differ from their start values, which arrays are sized by.
    """
    elements = {element.get("name"): element for element in root.iterfind("ModelVariables/*")}
    flaws, numbers, room = FlawList(), [], MOST_ELEMENTS
    for variable in description.modelVariables:
        if variable.type not in NUMBERS:
            continue
        try:
            shape = tuple(_extent(dimension, sizes) for dimension in variable.dimensions)
            room -= math.prod(shape)
            if min(shape, default=0) < 0 or room < 0:
                raise ValueError(f"an array of {shape} elements, at most {MOST_ELEMENTS} are taken of all variables")
            numbers.append(_read(variable, elements[(variable.alias or variable).name], shape))
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
            flaws.add(f"variable '{variable.name}'", f"cannot be used: {error}", "export the unit again")
    flaws.raise_if_any("unit")
    return numbers


def list_signals(variables: list[UnitVariable], unit: str) -> dict[str, FmuSignal]:
    """All elements of all variables by name; two of one name are refused."""
    flaws = FlawList()
    signals: dict[str, FmuSignal] = {}
    for variable in variables:
        for place, name in enumerate(variable.elements):
            if name in signals:
                flaws.add(name, "is an element of an array and another variable too", "rename one in the unit")
            signals[name] = FmuSignal(variable, place)
    flaws.raise_if_any(f"unit '{unit}'")
    return signals


def find_bad_starts(variables: list[UnitVariable]) -> Iterator[str]:
    """A sentence for each start value that is out of the range which the unit itself declares."""
    for v in variables:
        for name, value in zip(v.elements, v.start, strict=False):
            if v.settable and not v.low <= value <= v.high:
                yield f"'{name}' starts at {value:g}, out of the range {v.low:g} to {v.high:g} that the unit declares"


def find_ignored(description: Any) -> Iterator[str]:
    """A sentence for what comes in and out of a unit and is no number."""
    for variable in description.modelVariables:
        if variable.type == "Clock":
            yield f"'{variable.name}' is a clock: it is not ticked, and what depends on it does not change"
        elif variable.type not in NUMBERS and variable.causality in ("input", "output"):
            yield f"'{variable.name}' is a {variable.type}, no signal: it is left as it is"


def _read(variable: Any, element: Element, shape: tuple[int, ...]) -> UnitVariable:
    declared = variable.declaredType
    least, most = (declared.min, declared.max) if declared else (None, None)
    limits = [
        next((text for text in texts if text is not None), None)
        for texts in ((variable.min or element.get("min"), least), (variable.max or element.get("max"), most))
    ]
    low, high = WHOLE.get(variable.type, (-math.inf, math.inf))
    if variable.type == "Float32":
        low, high = -LARGEST_FLOAT32, LARGEST_FLOAT32
    number = float if variable.type in REALS else int
    return UnitVariable(
        name=variable.name,
        reference=variable.valueReference,
        kind=variable.type,
        causality=variable.causality,
        variability=variable.variability,
        initial=variable.initial,
        unit=variable.unit or (declared and declared.unit) or "",
        shape=shape,
        low=low if limits[0] is None else max(low, number(limits[0])),
        high=high if limits[1] is None else min(high, number(limits[1])),
        items={item.name: int(item.value) for item in (declared.items if declared else ())},
        start=_read_start(variable, math.prod(shape)),
    )


def _extent(dimension: Any, sizes: Mapping[str, int]) -> int:
    """The extent of one dimension: a number, or that of a structural parameter."""
    if dimension.start is not None:
        return int(dimension.start)
    return sizes.get(dimension.variable.name, int(dimension.variable.start))


def _read_start(variable: Any, size: int) -> tuple[Value, ...]:
    """One value stands for all elements; values for other sizes of an array than it has now are none."""
    texts = str(variable.start).split() if variable.start is not None else []
    texts = texts * size if len(texts) == 1 else texts
    if len(texts) != size:
        return ()
    if variable.type == "Boolean":
        return tuple(text in ("true", "1") for text in texts)
    return tuple((float if variable.type in REALS else int)(text) for text in texts)


# --------------------------------------------------------------------------------------------------
# Values: which does a variable take? What it does not take is refused, never clipped.

FLAGS: dict[Any, bool] = {"false": False, "0": False, 0: False, "true": True, "1": True, 1: True}


class ValueRefused(ValueError):
    """A value that a variable does not take; the sentence says what it takes."""


def read_value(variable: UnitVariable, value: Any) -> Value:
    """A number or text as the interface wants it: float, int or bool."""
    if variable.kind == "Boolean":
        key = value.strip().lower() if isinstance(value, str) else value
        if isinstance(key, Hashable) and key in FLAGS:
            return FLAGS[key]
        raise ValueRefused(f"must be true or false (1 or 0), is {_quoted(value)}")
    if variable.items:
        # An item of an enumeration, by name or number.
        allowed = {name: k for name, k in variable.items.items() if variable.low <= k <= variable.high}
        if isinstance(value, str) and value.strip() in allowed:
            return allowed[value.strip()]
        message = ", ".join(f"{name} ({k})" for name, k in allowed.items())
        try:
            number = _read_whole(variable, value)
        except ValueRefused:
            number = None
        if number is None or number not in allowed.values():
            raise ValueRefused(f"must be one of {message}, is {_quoted(value)}")
        return number
    if variable.kind not in REALS:
        return _in_range(variable, _read_whole(variable, value), value)
    if isinstance(value, str):
        return _in_range(variable, _read_real(variable, value.strip()), value)
    if not _is_number(value):
        raise ValueRefused(f"must be a number, is {_quoted(value)}")
    return _in_range(variable, float(value), value)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _in_range(variable: UnitVariable, value: Any, given: Any) -> Any:
    low, high = variable.low, variable.high
    if variable.kind in REALS and math.isinf(low) and math.isinf(high):
        return value
    if not low <= value <= high:
        bounds = (f"at least {low}" if low > -math.inf else "", f"at most {high}" if high < math.inf else "")
        whole = "" if variable.kind in REALS else "a whole number "
        raise ValueRefused(f"must be {whole}{' and '.join(filter(None, bounds))}, is {_quoted(given)}")
    return value


def _read_real(variable: UnitVariable, text: str) -> float:
    """A number with a unit of measure, in the one that the variable is measured in, which need not be of SI."""
    number, unit = split_quantity(text) if is_quantity(text) else ("", "")
    if number and unit in ("", variable.unit):
        return float(number)
    if number and not variable.unit:
        raise ValueRefused(f'"{text}" has a unit of measure, and the variable none: give a plain number')
    measure = known_unit(variable.unit)
    si, factor = (measure.name or "1", measure.factor) if measure else (variable.unit, 1.0)
    try:
        return read_quantity(text, si) / factor
    except UnitError as error:
        raise ValueRefused(str(error)) from error


def _read_whole(variable: UnitVariable, value: Any) -> int:
    """Integers of 64 bits are not all floats: text and whole numbers are kept as they are."""
    try:
        if isinstance(value, str):
            return int(value)
        if _is_number(value) and value == int(value):
            return int(value)
    except (ValueError, OverflowError):
        pass
    raise ValueRefused(f"must be a whole number from {variable.low} to {variable.high}, is {_quoted(value)}")


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else f"{value}"


# --------------------------------------------------------------------------------------------------
# Settings: what may be set before a unit starts? Parameters, start values and inputs, each checked.


def check_settings(
    signals: Mapping[str, FmuSignal], all_variables: Sequence[Any], settings: Mapping[str, Any], unit: str
) -> dict[str, Value]:
    """Values as the interface wants them; all that cannot be set is reported at once."""
    names = [name for name, signal in signals.items() if _can_set(signal)]
    others = {variable.name: variable for variable in all_variables if variable.name not in signals}
    flaws = FlawList()
    values: dict[str, Value] = {}
    for name, value in settings.items():
        path = f"parameters.{name}"
        if name in names:
            try:
                values[name] = read_value(signals[name].variable, value)
            except ValueRefused as error:
                flaws.add(path, str(error))
        elif name in others and others[name].dimensions:
            flaws.add(path, "is an array", f"set its elements, '{name}[1]' or '{name}[1,1]' and so on")
        elif name in others:
            flaws.add(path, f"is a {others[name].type}", "only numbers, booleans and enumerations can be set")
        elif name in signals:
            flaws.add(path, "is computed by the unit", nearest(name, names))
        else:
            flaws.add(path, "is not a parameter of the unit", nearest(name, names))
    flaws.raise_if_any(f"unit '{unit}'")
    return values


def _can_set(signal: FmuSignal) -> bool:
    return signal.variable.settable or signal.variable.causality in ("parameter", "structuralParameter")


def find_sizes(variables: Sequence[UnitVariable], settings: Mapping[str, Any], unit: str) -> dict[str, int]:
    """Structural parameters that are set, since sizes of arrays depend on them."""
    chosen = [v for v in variables if v.causality == "structuralParameter" and v.name in settings]
    signals = {variable.name: FmuSignal(variable, 0) for variable in chosen}
    sizes = check_settings(signals, (), {name: settings[name] for name in signals}, unit)
    return {name: int(value) for name, value in sizes.items()}
