"""Events of units: what happened during a macro step, and where should it have ended?"""

from __future__ import annotations

import math
from collections.abc import Mapping

from robodyn.computation.cosimulation.capabilities import TellsEvents, can_restore, can_vary_steps, has_events
from robodyn.computation.cosimulation.unit import Unit, UnitEvent
from robodyn.computation.results import Outcome, OutcomeKind

CLOSE = 1e-9
"""Part of a macro step by which an event is away from its end that does not cut it."""


class UnitEvents:
    """Events of the present macro step.

    Attributes:
        can_cut: whether a macro step can be cut at an event: all units must be able to go back and to stop there.
    """

    def __init__(self, units: Mapping[str, Unit]) -> None:
        self.tellers = {name: unit for name, unit in units.items() if isinstance(unit, TellsEvents)}
        self.found: dict[str, list[UnitEvent]] = {}
        parts = units.values()
        self.can_cut = (
            any(has_events(unit) for unit in parts)
            and all(can_restore(unit) for unit in parts)
            and all(can_vary_steps(unit) for unit in parts)
        )

    def clear(self) -> None:
        """A macro step begins."""
        self.found = {}

    def collect(self, name: str) -> None:
        """What a unit reports."""
        if name in self.tellers:
            self.found[name] = self.tellers[name].take_events()

    def of(self, unit: str) -> list[UnitEvent]:
        """Events of a unit."""
        return self.found.get(unit, [])

    def find_cut(self, begin: float, end: float) -> float | None:
        """Where the macro step should have ended, for an event inside it [s]; one at its very end is no reason.

        One at its beginning, where a unit found by rounding that it was not there yet, makes it as short as can be.
        """
        if not self.can_cut:
            return None
        events = [event for message in self.found.values() for event in message if event.before is not None]
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
