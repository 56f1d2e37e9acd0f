"""Variables of an imported FMU: which numbers does it have? Scalar signals, one for each element of an array."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from robodyn.base.errors import FlawList

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


@dataclass(frozen=True, eq=False)
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


class Signal(NamedTuple):
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
    flaws, found, room = FlawList(), [], MOST_ELEMENTS
    for variable in description.modelVariables:
        if variable.type not in NUMBERS:
            continue
        try:
            shape = tuple(_extent(dimension, sizes) for dimension in variable.dimensions)
            room -= math.prod(shape)
            if min(shape, default=0) < 0 or room < 0:
                raise ValueError(f"an array of {shape} elements, at most {MOST_ELEMENTS} are taken of all variables")
            found.append(_read(variable, elements[(variable.alias or variable).name], shape))
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
            flaws.add(f"variable '{variable.name}'", f"cannot be used: {error}", "export the unit again")
    flaws.raise_if_any("unit")
    return found


def list_signals(variables: list[UnitVariable], unit: str) -> dict[str, Signal]:
    """All elements of all variables by name; two of one name are refused."""
    flaws = FlawList()
    found: dict[str, Signal] = {}
    for variable in variables:
        for place, name in enumerate(variable.elements):
            if name in found:
                flaws.add(name, "is an element of an array and another variable too", "rename one in the unit")
            found[name] = Signal(variable, place)
    flaws.raise_if_any(f"unit '{unit}'")
    return found


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
    """Of one dimension: a number, or that of a structural parameter."""
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
