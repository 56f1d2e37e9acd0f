"""What happened in the units during a macro step, and where should it have ended?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from robodyn.cosimulation.unit import UnitEvent
from robodyn.results import Outcome, OutcomeKind

CLOSE = 1e-9
"""Part of a macro step by which an event is away from its end that does not cut it."""


class UnitEvents:
    """Events of the present macro step.

    Attributes:
        can_cut: whether a macro step can be cut at an event: all units must be able to go back and to stop there.
    """

    def __init__(self, units: Mapping[str, Any]) -> None:
        self.units = units
        self.found: dict[str, list[UnitEvent]] = {}
        parts = units.values()
        self.can_cut = (
            any(getattr(unit, "has_events", False) for unit in parts)
            and all(getattr(unit, "can_restore", False) for unit in parts)
            and all(getattr(unit, "variable_step", True) for unit in parts)
        )

    def clear(self) -> None:
        """A macro step begins."""
        self.found = {}

    def collect(self, name: str) -> None:
        """What a unit tells."""
        if hasattr(self.units[name], "take_events"):
            self.found[name] = self.units[name].take_events()

    def of(self, unit: str) -> list[UnitEvent]:
        """Events of a unit."""
        return self.found.get(unit, [])

    def find_cut(self, begin: float, end: float) -> float | None:
        """Where the macro step should have ended, for an event inside it [s]; one at its very end is no reason.

        One at its beginning, where a unit found by rounding that it was not there yet, makes it as short as can be.
        """
        if not self.can_cut:
            return None
        events = [event for told in self.found.values() for event in told if event.before is not None]
        first = min((event.time for event in events), default=end)
        cut = max(first, math.nextafter(begin, math.inf))
        return cut if cut < end - CLOSE * (end - begin) else None

    def arrived(self, unit: str, outputs: Mapping[str, float]) -> Mapping[str, float]:
        """Outputs at the end of a macro step; where it is cut at an event, those before it: the jump comes after."""
        sides = (event.before for event in self.of(unit) if self.can_cut)
        return next((before for before in sides if before is not None), outputs)


def all_arrive(outcome: Outcome, begin: float, end: float) -> bool:
    """Whether a run is ended by an event at the end of the macro step, to which the other units can go too."""
    return outcome.kind is OutcomeKind.STOPPED and abs(outcome.time - end) <= CLOSE * (end - begin)
