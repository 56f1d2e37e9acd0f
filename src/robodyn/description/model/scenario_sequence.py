"""Scenario sequences: what happens one after the other? Each starts where the one before it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Self

from robodyn.base.errors import FlawList, nearest
from robodyn.description.model.description import Description
from robodyn.description.model.fields import children, part_name, text
from robodyn.description.model.numbers import Number
from robodyn.description.model.scenario import Scenario


class ScenarioSequence(Description):
    """Phases of one motion: every state and memory of a phase that the next one has too is handed over by name.

    A phase ends with its terminal event or its duration; time runs on. Machines may differ between phases. Clocks of
    sampled blocks and histories of delays begin anew with each phase.
    """

    NOUN = "sequence"

    name: str = part_name()
    phases: tuple[Scenario, ...] = children(Scenario)
    title: str = text(default="")

    def check(self, flaws: FlawList) -> None:
        if not self.phases:
            flaws.add("phases", "must hold at least one scenario")
        for name, count in Counter(phase.name for phase in self.phases).items():
            if count > 1:
                flaws.add(f"phases.{name}", f"this name is used {count} times", "give each phase its own name")

    @property
    def duration(self) -> float:
        """Longest time all phases can take together [s]."""
        return sum(phase.duration for phase in self.phases)

    def numbers(self, prefix: str | None = None) -> dict[str, Number]:  # type: ignore[override]
        """Every named number of any phase."""
        return {name: number for phase in reversed(self.phases) for name, number in phase.numbers().items()}

    def with_numbers(self, changes: Mapping[str, float], prefix: str | None = None) -> Self:
        """The same sequence with some numbers changed in every phase that has them; an unknown name is an error."""
        flaws = FlawList()
        known = self.numbers()
        for name in changes:
            if name not in known and not name.startswith("initial."):
                flaws.add(name, "no phase has such a number", nearest(name, known))
        flaws.raise_if_any(f"sequence '{self.name}'")
        return self.replaced(phases=tuple(_changed(phase, changes, k) for k, phase in enumerate(self.phases)))


def _changed(phase: Scenario, changes: Mapping[str, float], k: int) -> Scenario:
    """A phase with those numbers changed that are its own; start values belong to the first phase."""
    own = phase.numbers()
    return phase.with_numbers(
        {name: value for name, value in changes.items() if name in own or (k == 0 and name.startswith("initial."))}
    )
