"""Events: what happens when a guard passes zero?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from robodyn.base import FlawList, frozen

from .description import Description
from .fields import (
    EMPTY,
    choice,
    flag,
    numbers,
    part_name,
    plain_function,
    quantity,
    reference,
    reference_map,
)
from .numbers import FrozenDict

DIRECTIONS = {"rising": 1, "falling": -1, "both": 0}


class Event(Description):
    """An event: what happens when a guard passes zero.

    Guard and action are plain functions of signals and parameters: the guard's zero crossing is located, the action
    returns {state or memory name: new value} and is traced, or called in Python where it is not native.
    """

    NOUN, MARKS = "event", ("guard",)

    name: str = part_name()
    guard: Callable[..., Any] = plain_function(doc='whose zero crossing is located: `"my_laws.py:function"`')
    inputs: Mapping[str, Any] = reference_map(
        "signal", several=True, default=EMPTY, doc="argument of guard or action = signal"
    )
    parameters: Mapping[str, Any] = numbers(under="", infinite=True, default=EMPTY, doc="argument = number")
    direction: str = choice(DIRECTIONS, default="both", doc="in which it is passed")
    action: Callable[..., Any] | None = plain_function(
        default=None, doc="returns new values of states or memory by name", absent="nothing changes"
    )
    terminal: bool = flag(key="stop", default=False, doc="whether the run ends there")
    native: bool = flag(default=True, doc="`false` calls the action in Python")

    def check(self, flaws: FlawList) -> None:
        if not flaws.concern("inputs", "parameters"):
            for key in self.parameters.keys() & self.inputs.keys():
                flaws.add(f"parameters.{key}", "is given as an input too", "give it once")
        if self.action is None and self.native is False:
            flaws.add("native", "has no effect without an action")


def level_crossing(signal: Any, level: Any) -> Any:
    """Guard: the signal passes a level."""
    return signal - level


@frozen
class SetValues:
    """Action: give states or memory new values."""

    values: Mapping[str, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", FrozenDict(self.values))

    def __call__(self) -> dict[str, float]:
        return dict(self.values)


# --------------------------------------------------------------------------------------------------
# Pure delays: how does a signal arrive later?


class Delay(Description):
    """A pure delay of a continuous signal: `output(t) = signal(t - time)`."""

    NOUN = "delay"

    name: str = part_name()
    signal: str = reference("signal", doc="what is delayed; the result is `NAME.output`")
    time: float = quantity("s", positive=True, remedy="leave the delay out where there is none", doc="by how much")
    before: float | None = quantity(default=None, doc="value until then", absent="the signal's start value")
