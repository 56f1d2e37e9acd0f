"""What is simulated? A machine from given start values for a time, with events, recording and a default solver."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from robodyn.errors import FlawList, nearest
from robodyn.model.machine import Machine
from robodyn.model.numbers import Number, as_floats, check_finite, check_name

DIRECTIONS = {"rising": 1, "falling": -1, "both": 0}


@dataclass(frozen=True)
class Event:
    """Something that happens when a guard passes zero.

    Attributes:
        guard: plain function of signals and parameters; its zero crossing is located.
        inputs: argument -> signal (also for the action); parameters: argument -> number.
        direction: "rising", "falling" or "both".
        action: plain function returning {state or memory name: new value}, traced; None does nothing.
        terminal: whether the simulation ends here; native: False calls the action in Python.
    """

    name: str
    guard: Callable[..., Any]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    direction: str = "both"
    action: Callable[..., Any] | None = None
    terminal: bool = False
    native: bool = True

    def __post_init__(self) -> None:
        flaws = FlawList()
        check_name(flaws, self.name)
        if self.direction not in DIRECTIONS:
            flaws.add("direction", f"'{self.direction}' is unknown", nearest(str(self.direction), DIRECTIONS))
        if not callable(self.guard):
            flaws.add("guard", f"must be a function, is {self.guard!r}")
        for key, value in self.parameters.items():
            check_finite(flaws, f"parameters.{key}", value, infinite=True)
        if self.action is None and not self.native:
            flaws.add("native", "has no effect without an action")
        flaws.raise_if_any(f"event '{self.name}'")

    def numbers(self) -> Iterator[Number]:
        for key, value in self.parameters.items():
            yield Number(f"{self.name}.{key}", value, "")

    def with_numbers(self, changes: Mapping[str, float]) -> Event:
        values = {key: changes.get(f"{self.name}.{key}", value) for key, value in self.parameters.items()}
        return dataclasses.replace(self, parameters=values)


@dataclass(frozen=True)
class Recording:
    """What is kept of a run.

    Attributes:
        rate: samples a second [Hz]; times: given times [s]; neither: every solver step, `refine` points each
            (None: 1 for fixed-step methods, 4 for adaptive ones).
        signals: patterns of the signals kept ("*" all, "elbow.*").
    """

    rate: float | None = None
    times: tuple[float, ...] | None = None
    refine: int | None = None
    signals: tuple[str, ...] = ("*",)

    def __post_init__(self) -> None:
        flaws = FlawList()
        if self.rate is not None and check_finite(flaws, "rate", self.rate) and self.rate <= 0:
            flaws.add("rate", f"must be positive, is {self.rate:g} Hz")
        if sum(choice is not None for choice in (self.rate, self.times, self.refine)) > 1:
            flaws.add("", "give one of rate, times, refine")
        if self.times is not None and list(self.times) != sorted(self.times):
            flaws.add("times", "must be increasing")
        if self.refine is not None and (not isinstance(self.refine, int) or self.refine < 1):
            flaws.add("refine", f"must be a whole number of at least 1, is {self.refine}")
        if not self.signals:
            flaws.add("signals", "must name at least one pattern", "'*' keeps all")
        flaws.raise_if_any("recording")
        object.__setattr__(self, "times", None if self.times is None else as_floats(self.times))
        object.__setattr__(self, "signals", tuple(self.signals))


@dataclass(frozen=True)
class Scenario:
    """A machine, its start and what happens to it.

    Attributes:
        duration: [s]; start values by signal name (`elbow.position`, `motor.current`), the rest starts at 0.
        solver: default settings (method, step, rtol, ...).
    """

    name: str
    machine: Machine
    duration: float
    initial: Mapping[str, float] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    recording: Recording = Recording()
    solver: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", tuple(self.events))
        flaws = FlawList()
        check_name(flaws, self.name)
        if check_finite(flaws, "duration", self.duration) and self.duration <= 0:
            flaws.add("duration", f"must be positive, is {self.duration:g} s")
        for key, value in self.initial.items():
            check_finite(flaws, f"initial.{key}", value)
        names = Counter([event.name for event in self.events] + [block.name for block in self.machine.blocks])
        for event in self.events:
            if names[event.name] > 1:
                flaws.add(f"events.{event.name}", "another event or block has this name", "give each its own name")
        flaws.raise_if_any(f"scenario '{self.name}'")

    def numbers(self) -> dict[str, Number]:
        """Every named number of the scenario."""
        found = {number.name: number for number in self.machine.numbers()}
        for event in self.events:
            found.update({number.name: number for number in event.numbers()})
        found["duration"] = Number("duration", self.duration, "s")
        found.update({f"initial.{key}": Number(f"initial.{key}", value, "") for key, value in self.initial.items()})
        return found

    def with_numbers(self, changes: Mapping[str, float]) -> Scenario:
        """The same scenario with some numbers changed; an unknown name is an error."""
        flaws = FlawList()
        known = self.numbers()
        for name in changes:
            if name not in known:
                flaws.add(name, "there is no such number", nearest(name, known))
        flaws.raise_if_any(f"scenario '{self.name}'")
        return dataclasses.replace(
            self,
            machine=self.machine.with_numbers(changes),
            events=tuple(event.with_numbers(changes) for event in self.events),
            duration=changes.get("duration", self.duration),
            initial={key: changes.get(f"initial.{key}", value) for key, value in self.initial.items()},
        )
