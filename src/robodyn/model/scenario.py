"""What is simulated? A machine from given start values for a time, with events, recording and a solver."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from robodyn.errors import FlawList, nearest
from robodyn.model.constraint import Treatment
from robodyn.model.frozen import freeze_mappings
from robodyn.model.machine import Machine
from robodyn.model.numbers import (
    Number,
    check_callable,
    check_distinct,
    check_finite,
    check_flag,
    check_name,
    check_text,
    check_texts,
    keep_floats,
)
from robodyn.model.obstacle import Obstacle

DIRECTIONS = {"rising": 1, "falling": -1, "both": 0}
STARTS = ("given", "assembled", "equilibrium")


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
        check_callable(flaws, "guard", self.guard)
        if self.action is not None:
            check_callable(flaws, "action", self.action)
        check_flag(flaws, "terminal", self.terminal)
        check_flag(flaws, "native", self.native)
        freeze_mappings(flaws, self, "inputs", "parameters")
        flaws.raise_if_any(f"event '{self.name}'")
        for key, value in self.parameters.items():
            check_finite(flaws, f"parameters.{key}", value, infinite=True)
            if key in self.inputs:
                flaws.add(f"parameters.{key}", "is given as an input too", "give it once")
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
            (None: 1 for fixed-step methods; for adaptive ones 4, and more where signals between them need it).
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
            flaws.add("", "gives more than one of rate, times, refine", "give one of them")
        self._check_times(flaws)
        if self.refine is not None and (not isinstance(self.refine, int) or self.refine < 1):
            flaws.add("refine", f"must be a whole number of at least 1, is {self.refine}")
        if check_texts(flaws, "signals", self.signals, "patterns") and not self.signals:
            flaws.add("signals", "must name at least one pattern", "'*' keeps all")
        flaws.raise_if_any("recording")
        keep_floats(self, "rate", "times")
        object.__setattr__(self, "signals", tuple(self.signals))

    def _check_times(self, flaws: FlawList) -> None:
        if self.times is None:
            return
        times = list(self.times)
        usable = [check_finite(flaws, f"times[{k}]", time) for k, time in enumerate(times)]
        if not times:
            flaws.add("times", "must name at least one time")
        elif all(usable) and times != sorted(times):
            flaws.add("times", "must be increasing")


def check_duration(flaws: FlawList, duration: Any, recording: Recording | None) -> None:
    """The simulated time is positive, and what is to be recorded lies in it."""
    if not check_finite(flaws, "duration", duration):
        return
    if duration <= 0:
        flaws.add("duration", f"must be positive, is {duration:g} s")
    times = recording.times if recording else None
    if times and not 0 <= times[0] <= times[-1] <= duration:
        what = f"must lie between 0 and the duration {duration:g} s, are {times[0]:g} to {times[-1]:g} s"
        flaws.add("recording.times", what)


def check_event_names(flaws: FlawList, events: Sequence[str], blocks: Sequence[str]) -> None:
    """Events and blocks share one name space: each has parameters under its name."""
    taken = Counter([*events, *blocks])
    for name in dict.fromkeys(events):
        if taken[name] > 1:
            flaws.add(f"events.{name}", "another event or block has this name", "give each its own name")


def check_nominal(flaws: FlawList, nominal: Mapping[str, Any], joints: Sequence[str]) -> None:
    """A nominal motion names moving joints, and all of them."""
    for joint, signal in nominal.items():
        if joint not in joints:
            flaws.add(f"nominal.{joint}", "is no moving joint", nearest(str(joint), joints))
        check_text(flaws, f"nominal.{joint}", signal)
    for joint in joints if nominal else ():
        if joint not in nominal:
            flaws.add(f"nominal.{joint}", "is missing", "say which signal is its reference position")


def check_keep(flaws: FlawList, keep: Sequence[str], joints: Sequence[str], start: str) -> None:
    """What an assembled start keeps are positions and velocities of moving joints, each named once."""
    if start != "assembled":
        flaws.add("keep", f"has no effect on a start '{start}'", "say start = 'assembled', or leave it out")
    known = [f"{joint}.{quantity}" for joint in joints for quantity in ("position", "velocity")]
    for name, times in Counter(keep).items():
        if name not in known:
            flaws.add("keep", f"'{name}' is no position or velocity of a moving joint", nearest(name, known))
        elif times > 1:
            flaws.add("keep", f"names '{name}' {times} times", "name it once")


@dataclass(frozen=True)
class Scenario:
    """A machine, its start and what happens to it.

    Attributes:
        duration: [s].
        initial: start values by signal name (`elbow.position`, `motor.current`), the rest starts at 0.
        start: "given" starts there; "assembled" where all constraints are met, with what is given as it is and the
            rest near to it; "equilibrium" at the rest nearest to there. Both are found before the run.
        keep: positions and velocities (`drive.velocity`) that an assembled start leaves as they are, all others are
            guesses; None keeps the velocities that `initial` gives, and of its positions the first ones, as many as
            the constraints leave free.
        treatment: how constraints are kept.
        solver: default settings (method, step, rtol, ...).
        obstacles: boxes that pictures and replays show.
        nominal: moving joint -> signal that is its reference position, a function of time and numbers alone; all moving
            joints or none. Along this motion the equations can be linearised.
    """

    name: str
    machine: Machine
    duration: float
    initial: Mapping[str, float] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    recording: Recording = Recording()
    solver: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    obstacles: tuple[Obstacle, ...] = ()
    start: str = "given"
    treatment: Treatment = Treatment()
    nominal: Mapping[str, str] = field(default_factory=dict)
    keep: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", tuple(self.events))
        object.__setattr__(self, "obstacles", tuple(self.obstacles))
        flaws = FlawList()
        check_name(flaws, self.name)
        freeze_mappings(flaws, self, "initial", "solver", "nominal")
        flaws.raise_if_any(f"scenario '{self.name}'")
        check_duration(flaws, self.duration, self.recording)
        if self.start not in STARTS:
            flaws.add("start", f"{self.start!r} is unknown", nearest(str(self.start), STARTS))
        if self.treatment != Treatment() and not self.machine.constraints:
            flaws.add("treatment", "has no effect", "the machine has no constraints")
        for key, value in self.initial.items():
            check_finite(flaws, f"initial.{key}", value)
        mechanism = self.machine.mechanism
        joints = [joint.name for joint in mechanism.moving_joints] if mechanism else []
        check_nominal(flaws, self.nominal, joints)
        if self.keep is not None and check_texts(flaws, "keep", self.keep, "names"):
            moving = [*joints, *(mode.name for mode in (mechanism.modes if mechanism else ()))]
            check_keep(flaws, self.keep, moving, self.start)
            object.__setattr__(self, "keep", tuple(self.keep))
        check_event_names(flaws, [e.name for e in self.events], [block.name for block in self.machine.blocks])
        if not flaws.found:
            check_distinct(flaws, self._all_numbers())
        flaws.raise_if_any(f"scenario '{self.name}'")
        keep_floats(self, "duration")

    def _all_numbers(self) -> Iterator[Number]:
        yield from self.machine.numbers()
        for event in self.events:
            yield from event.numbers()
        yield from self.treatment_numbers()
        yield Number("duration", self.duration, "s")
        for key, value in self.initial.items():
            yield Number(f"initial.{key}", value, "")

    def treatment_numbers(self) -> Iterator[Number]:
        """The pole of Baumgarte's method, where it is given and there is something to keep."""
        if self.machine.constraints and self.treatment.pole is not None:
            yield Number("treatment.pole", self.treatment.pole, "1/s")

    def numbers(self) -> dict[str, Number]:
        """Every named number of the scenario."""
        return {number.name: number for number in self._all_numbers()}

    def with_numbers(self, changes: Mapping[str, float]) -> Scenario:
        """The same scenario with some numbers changed; an unknown name is an error.

        `initial.<state>` may name any state, also one that starts at its default so far.
        """
        if not changes:
            return self
        flaws = FlawList()
        known = self.numbers()
        for name, value in changes.items():
            check_finite(flaws, name, value, infinite=True)
            if name not in known and not name.startswith("initial."):
                flaws.add(name, "there is no such number", nearest(name, known))
        flaws.raise_if_any(f"scenario '{self.name}'")
        given = changes.items()
        starts = {name.removeprefix("initial."): value for name, value in given if name.startswith("initial.")}
        return dataclasses.replace(
            self,
            machine=self.machine.with_numbers(changes),
            events=tuple(event.with_numbers(changes) for event in self.events),
            duration=changes.get("duration", self.duration),
            initial=dict(self.initial) | starts,
            treatment=dataclasses.replace(self.treatment, pole=changes.get("treatment.pole", self.treatment.pole)),
        )
