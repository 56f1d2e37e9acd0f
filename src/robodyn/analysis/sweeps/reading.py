"""Parsing of ranges and distributions: what do `1:2:5`, `1,2,5` or `scale:0.8:1.2` mean?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.analysis.sweeps.grid import Factors
from robodyn.analysis.sweeps.sampling import KINDS, Distribution
from robodyn.base.errors import nearest
from robodyn.base.units import UnitError
from robodyn.description.files.units import read_quantity

SPAN = "must be written as first:last:count, first:last:count:log or scale:first:last:count"
MOST_PLACES = 1_000_000


def read_span(text: str, unit: str = "", written: str = "") -> Sequence[float] | Factors:
    """Equally spaced values `first:last:count`, by factors with `:log`, as multiples of the number with `scale:`.

    Args:
        unit: of the number in SI; first and last may have other units of the same kind.
        written: unit of the number in its file, as of `read_quantity`.
    """
    parts = [part.strip() for part in text.split(":")]
    relative = parts[0] == "scale"
    parts = parts[1:] if relative else parts
    spaced = parts[3:] != ["log"]
    if len(parts) != (3 if spaced else 4):
        raise UnitError(SPAN)
    given = ("", "") if relative else (unit, written)
    first, last = (read_quantity(part, *given, bare=True) for part in parts[:2])
    count = _read_count(parts[2])
    if not spaced and not (first > 0 and last > 0):
        raise UnitError("values spaced by factors must be positive")
    places = np.linspace(first, last, count) if spaced else np.geomspace(first, last, count)
    return Factors(tuple(places.tolist())) if relative else places.tolist()


def _read_count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_PLACES:
        raise UnitError(f"the count must be a whole number from 1 to {MOST_PLACES}, is '{text}'")
    return int(text)


def read_list(text: str, unit: str = "", written: str = "") -> list[float]:
    """Values with commas between them, each with a unit where wished."""
    return [read_quantity(part.strip(), unit, written, bare=True) for part in text.split(",")]


def read_distribution(text: str, unit: str = "", written: str = "") -> Distribution:
    """`normal:mean:deviation`, `uniform:lower:upper`, `scale:lower:upper` or `lognormal:deviation`."""
    kind, *arguments = (part.strip() for part in text.split(":"))
    if kind not in KINDS:
        raise UnitError(f"the distribution '{kind}' is unknown ({nearest(kind, KINDS)})")
    wanted = KINDS[kind].arguments
    if len(arguments) != len(wanted):
        raise UnitError(f"must be written as {':'.join((kind, *wanted))}")
    given = ("", "") if KINDS[kind].relative else (unit, written)
    return Distribution(kind, tuple(read_quantity(argument, *given, bare=True) for argument in arguments))
