"""Recorded references: a signal through samples, held, in straight lines or as a cubic spline, with exact rates."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.base import frozen
from robodyn.base import symbolic as sym
from robodyn.base.units import fill_unit
from robodyn.description.laws.definition import LawInfo
from robodyn.description.laws.references import spline_coefficients

INTERPOLATIONS = ("held", "linear", "cubic")
ENDS = ("natural", "clamped")
AT_TICK = 0.01
"""How far from a tick a sample is at it, by the base period and by the distance of its neighbours: clocks of logs
are rounded to their last digit."""


def place_on_ticks(times: np.ndarray, base: Fraction) -> np.ndarray:
    """Times [s] with those next to a tick exactly at it, to the last bit; base is the period of ticks [s]."""
    gaps = np.diff(times, prepend=-np.inf, append=np.inf)
    ticks = np.rint(times / float(base))
    near = np.abs(times - ticks * float(base)) <= AT_TICK * np.minimum(np.minimum(gaps[1:], gaps[:-1]), float(base))
    exact = np.array([int(tick) * base.numerator / base.denominator for tick in ticks.tolist()])
    return np.where(near, exact, times)


@frozen
class RecordedReference:
    """A law: value, rate and acceleration of a signal through samples; at rest before the first and after the last.

    Attributes:
        times: increasing [s]; points: as many values.
        interpolation: "held" keeps a value until the next sample, "linear" and "cubic" go through them.
        ends: of a cubic spline, "natural" (no acceleration there) or "clamped" (no speed there).
        unit: of the points in SI; None takes the block's own.
        source: where the samples are from, for people.
    """

    times: tuple[float, ...]
    points: tuple[float, ...]
    interpolation: str = "linear"
    ends: str = "natural"
    unit: str | None = None
    source: str = ""

    __name__ = "file_reference"

    @cached_property
    def law_info(self) -> LawInfo:
        own = {"{u}": self.unit or "{u}"}
        units = {"value": "{u}", "rate": "{u}/s", "acceleration": "{u}/s^2"}
        filled = {output: fill_unit(unit, own) for output, unit in units.items()}
        return LawInfo({"time": "s", **filled}, breaks=lambda parameters: self.times)

    def on_ticks(self, base: Fraction) -> "RecordedReference":
        """This reference with held samples exactly at the ticks that they are next to, so that samples there see them.

        Args:
            base: period of ticks [s].
        """
        if self.interpolation != "held":
            return self
        return replace(self, times=tuple(place_on_ticks(np.asarray(self.times), base).tolist()))

    @cached_property
    def coefficients(self) -> np.ndarray:
        """(4, n): value on piece k is `c0 + c1 s + c2 s^2 + c3 s^3`, `s = t - t_k`; after the last sample it stays."""
        t, y = np.asarray(self.times), np.asarray(self.points)
        rows = np.zeros((4, t.size))
        rows[0] = y
        if self.interpolation == "linear":
            rows[1, :-1] = np.diff(y) / np.diff(t)
        elif self.interpolation == "cubic":
            rows[:, :-1] = spline_coefficients(t, y, self.ends)
        return rows

    def __call__(self, time: Any) -> Mapping[str, Any]:
        knots = np.asarray(self.times)
        inside = sym.clip(time, knots[0], knots[-1])
        c0, c1, c2, c3 = (sym.hold_table(inside, knots, row) if row.any() else 0.0 for row in self.coefficients)
        s = inside - sym.hold_table(inside, knots, knots)
        begun = time >= knots[0]
        return {
            "value": c0 + s * (c1 + s * (c2 + s * c3)),
            "rate": sym.where(begun, c1 + s * (2 * c2 + s * 3 * c3), 0.0),
            "acceleration": sym.where(begun, 2 * c2 + 6 * c3 * s, 0.0),
        }
