"""Calls of units: what if a user's unit raises an error? It is reported with the unit's name, and ends the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from robodyn.computation.cosimulation.unit import UnitRefusal
from robodyn.computation.results import Outcome, OutcomeKind

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


class UnitFailure(RuntimeError):
    """What a unit raised, reported with its name."""

    def __init__(self, unit: str, error: Exception) -> None:
        super().__init__(f"unit '{unit}' raised {type(error).__name__}", str(error))

    def outcome(self, time: float) -> Outcome:
        if isinstance(self.__cause__, UnitRefusal):
            return Outcome(OutcomeKind.FAILED, f"at {time:.6g} s: {self.args[1]}", time)
        return Outcome(OutcomeKind.FAILED, f"{self.args[0]} at {time:.6g} s: {self.args[1]}", time)


def ask(name: str, method: Callable[Given, Answer], *given: Given.args, **further: Given.kwargs) -> Answer:
    """Call a method of the unit of a name; a user's unit may raise anything."""
    try:
        return method(*given, **further)
    except Exception as error:
        raise UnitFailure(name, error) from error


def name_unit(name: str, outcome: Any, time: float) -> Outcome:
    """The outcome of a unit, with its name."""
    if not isinstance(outcome, Outcome):
        sentence = f"unit '{name}' returned {outcome!r} from advance at {time:.6g} s: an Outcome is wanted, or None"
        return Outcome(OutcomeKind.FAILED, sentence, time)
    return Outcome(outcome.kind, f"unit '{name}': {outcome.sentence}", outcome.time)
