"""Units of axes: in which unit would a person read these numbers, micrometres or metres?

Units that were asked for go first. Otherwise lengths, times and angles that are small get a prefix: an error of
3e-5 m is drawn as 30 um. All other quantities are drawn as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robodyn.base.errors import nearest
from robodyn.base.units import UnitError, known_unit, parse_unit

_SMALL = (("m", 1e-3, 0.1), ("u", 1e-6, 1e-4), ("n", 1e-9, 1e-7))
"""Prefix, its value, and below which largest value [SI] it is taken."""
_WITH_PREFIX = ("m", "s", "rad", "m/s", "rad/s")


@dataclass(frozen=True)
class AxisUnit:
    """What an axis is labelled with, and what one of it is in SI."""

    name: str
    size: float = 1.0


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
