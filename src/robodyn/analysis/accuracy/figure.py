"""Figure of a sheet: what is it called, how is it defined, what is its value, and because of what?"""

from __future__ import annotations

from dataclasses import dataclass

from robodyn.analysis.accuracy.causes import Cause


@dataclass(frozen=True)
class Figure:
    """One figure: its symbol, name, formula, cycles, value in a unit, causes [same unit], and the pose it is of."""

    symbol: str
    name: str
    formula: str
    cycles: int
    value: float
    unit: str
    causes: tuple[Cause, ...] = ()
    pose: str = ""
