"""Units for people: in which unit would a person read these numbers, micrometres or metres?

Units that were asked for go first. Otherwise lengths, times and angles that are small get a prefix: an error of
3e-5 m is drawn as 30 um. All other quantities are drawn as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from robodyn.base.errors import nearest
from robodyn.base.units import UnitError, known_unit, parse_unit

NOTHING = 1e-9
"""Part of a total that is rounding, and not shown."""
_SMALL = (("m", 1e-3, 0.1), ("u", 1e-6, 1e-4), ("n", 1e-9, 1e-7))
"""Prefix, its value, and below which largest value [SI] it is taken."""
_WITH_PREFIX = ("m", "s", "rad", "m/s", "rad/s")
_DEVIATIONS = {"m": ("um", 1e6), "rad": ("urad", 1e6), "s": ("ms", 1e3), "m/s": ("mm/s", 1e3), "1": ("%", 100.0)}
"""How deviations are read whatever their size, so that tables can be compared."""
_SPACES = ((5e-5, "um", 1e6), (5e-2, "mm", 1e3), (5e4, "m", 1.0), (math.inf, "km", 1e-3))
"""Largest edge of a space that is shown [m], its unit, and how many of it are a metre."""


@dataclass(frozen=True)
class AxisUnit:
    """What an axis is labelled with, and what one of it is in SI."""

    name: str
    size: float = 1.0


def with_unit(text: str, unit: str) -> str:
    """A label with its unit in brackets; nothing there for numbers without one."""
    return f"{text} [{unit}]" if unit else text


def deviation_unit(unit: str) -> tuple[str, float]:
    """The unit that deviations are read in, and how many of it are one of the signal's own."""
    return _DEVIATIONS.get(unit, (unit, 1.0))


def show_deviation(value: float, unit: str) -> str:
    """A deviation with the unit in which people read it."""
    name, factor = deviation_unit(unit)
    return f"{factor * value:.4g} {name}"


def space_unit(edge: float) -> tuple[str, float]:
    """The unit of axes in space whose largest edge is so long [m], and how many of it are a metre."""
    return next((name, factor) for largest, name, factor in _SPACES if edge <= largest)


def choose_unit(unit: str, largest: float, wanted: Sequence[str] = ()) -> AxisUnit:
    """The unit of an axis whose numbers [unit, of SI] reach `largest`."""
    for name in wanted:
        if _fits(name, unit):
            return AxisUnit(name, parse_unit(name).factor)
    fitting = [(prefix, size) for prefix, size, bound in _SMALL if 0 < largest < bound]
    if unit not in _WITH_PREFIX or not fitting:
        return AxisUnit(unit)
    prefix, size = fitting[-1]
    return AxisUnit(f"{prefix}{unit}", size)


def check_units(wanted: Sequence[str], drawn: Sequence[str]) -> None:
    """Every unit that is asked for is one, and that of something drawn."""
    for name in wanted:
        try:
            parse_unit(name)
        except UnitError as error:
            raise ValueError(f"unit {name!r}: {error}") from error
        if not any(_fits(name, unit) for unit in drawn):
            raise ValueError(f"unit {name!r}: nothing that is drawn is measured in it ({nearest(name, drawn)})")


def _fits(name: str, unit: str) -> bool:
    """Whether a signal's unit, which may be none or of a law of one's own, measures what the named one does."""
    known = known_unit(unit) if unit else None
    return known is not None and parse_unit(name).measures_like(known)
