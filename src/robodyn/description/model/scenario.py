"""Scenario: a machine, where it starts, how long it runs, what is recorded; and sequences of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any, Self

import numpy as np

from robodyn.base import Displayed, FlawList, nearest
from robodyn.base.spatial import quaternion_from_rpy

from .block import Block
from .constraint import ConstraintMethod
from .contact import Obstacle
from .coordinate import check_starts, follow
from .description import Description
from .event import Event
from .fields import (
    EMPTY,
    child,
    children,
    choice,
    numbers,
    part_name,
    quantity,
    reference_map,
    text,
    texts,
    vector,
    whole_number,
)
from .joint import Freedom, Joint
from .machine import Machine
from .numbers import Floats, FrozenDict, Number, check_distinct, check_finite
from .solver import Solver

# --------------------------------------------------------------------------------------------------
# Recording: what is kept of a run?


MOST_ROWS = 50_000_000
"""Rows of a recording at a rate, far beyond what can be looked at and within what can be held in memory."""


class Recording(Description):
    """The rows that are recorded of a run: samples at a rate or at given times, or points of every solver step."""

    NOUN = "recording"

    rate: float | None = quantity("Hz", positive=True, default=None, doc="samples a second")
    times: Floats | None = vector("s", None, default=None, doc="or a list of times")
    refine: int | None = whole_number(
        least=1,
        default=None,
        doc="or points a solver step",
        absent="as many as needed, at least 4, for adaptive methods; 1 for others",
    )
    signals: tuple[str, ...] = texts(
        "pattern", empty=False, default=("*",), doc='patterns of the signals kept: `"elbow.*"`'
    )

    def check(self, flaws: FlawList) -> None:
        if sum(choice is not None for choice in (self.rate, self.times, self.refine)) > 1:
            flaws.add("", "gives more than one of rate, times, refine", "give one of them")
        if self.times is None or flaws.concern("times"):
            return
        if not self.times:
            flaws.add("times", "must name at least one time")
        elif list(self.times) != sorted(self.times):
            flaws.add("times", "must be increasing")

    def samples(self, duration: float) -> int:
        """Samples at the rate [1/s] in a time [s], both ends included."""
        assert self.rate is not None
        # The last sample of a whole number of periods must not fall out by rounding.
        return int(duration * self.rate * (1 + 1e-12)) + 1


def check_samples(flaws: FlawList, duration: Any, recording: Recording) -> None:
    """The samples of a recording at a rate can be held."""
    if recording.rate is not None and recording.rate * duration >= MOST_ROWS:
        what = f"{recording.rate:g} Hz for {duration:g} s are {recording.rate * duration:.3g} rows"
        flaws.add("recording.rate", what, f"at most {MOST_ROWS:,} are kept")


def check_duration(flaws: FlawList, duration: Any, recording: Recording | None) -> None:
    """Check that samples lie in the simulated time, and are not too many."""
    if recording:
        check_samples(flaws, duration, recording)
    times = recording.times if recording else None
    if times and not 0 <= times[0] <= times[-1] <= duration:
        what = f"must lie between 0 and the duration {duration:g} s, are {times[0]:g} to {times[-1]:g} s"
        flaws.add("recording.times", what)


# --------------------------------------------------------------------------------------------------
# Start values of ball and free joints: how are orientations, places and velocities given as vectors?
#
# base.orientation        quaternion w, x, y, z of length 1; or roll, pitch, yaw about fixed x, y, z axes [rad]
# base.angular_velocity   x, y, z in the child's axes [rad/s]
# base.position           x, y, z of a free joint [m]
# base.velocity           x, y, z of a free joint [m/s]


ORIENTATION = ".orientation"
UNIT_LENGTH = 1e-6
"""Largest error of a quaternion's length that is taken for rounding: files often print six digits."""


def vector_parts(joints: Iterable[Joint]) -> dict[str, dict[str, str]]:
    """Names of vectors that may be given -> their states and the units of these."""
    parts: dict[str, dict[str, str]] = {}
    for joint in joints:
        balls = [freedom for freedom in joint.freedoms if not freedom.is_single]
        for ball in balls:
            parts[ball.name + ORIENTATION] = ball.positions
            parts[f"{ball.name}.angular_velocity"] = ball.velocities
        if joint.kind == "free":
            slides = [freedom for freedom in joint.freedoms if freedom.is_single]
            parts[f"{joint.name}.position"] = {name: unit for s in slides for name, unit in s.positions.items()}
            parts[f"{joint.name}.velocity"] = {name: unit for s in slides for name, unit in s.velocities.items()}
    return parts


def vector_units(joints: Iterable[Joint]) -> dict[str, str]:
    """Units of what may be given as a vector."""
    return {name: next(iter(parts.values())) for name, parts in vector_parts(joints).items()}


def list_unit(name: str, unit: str, length: int) -> str:
    """Unit of the entries of a list: an orientation of three is given by angles."""
    return "rad" if name.endswith(ORIENTATION) and length == 3 else unit


def spread_vectors(flaws: FlawList, initial: Mapping[str, Any], joints: Iterable[Joint]) -> dict[str, float]:
    """Start values by state, those given as vectors taken apart."""
    vectors = vector_parts(joints)
    spread: dict[str, float] = {}
    for name, value in initial.items():
        entries = _entries(flaws, name, value, vectors)
        for state in entries.keys() & (spread.keys() | (initial.keys() - {name})):
            flaws.add(f"initial.{state}", "is given twice", f"give it or initial.{name}")
        spread |= entries
    if not flaws.concern("initial"):
        check_orientations(flaws, vectors, spread)
    return spread


def check_orientations(flaws: FlawList, vectors: Mapping[str, Mapping[str, str]], values: Mapping[str, float]) -> None:
    """The quaternions among start values by state.

    Args:
        vectors: what may be given as a vector, with its states.
    """
    for name, parts in vectors.items():
        if name.endswith(ORIENTATION) and any(state in values for state in parts):
            _check_quaternion(flaws, f"initial.{name}", [values.get(state, 0.0) for state in parts])


def _entries(flaws: FlawList, name: str, value: Any, vectors: Mapping[str, Mapping[str, str]]) -> dict[str, float]:
    """The states that a start value is of, with their values."""
    is_vector, parts = isinstance(value, tuple), vectors.get(name)
    if parts is None:
        if is_vector:
            flaws.add(f"initial.{name}", f"must be a number, is {list(value)}", nearest(name, vectors))
            return {}
        return {name: value}
    turned = name.endswith(ORIENTATION)
    noun = "4 numbers w, x, y, z of a quaternion or 3 angles roll, pitch, yaw" if turned else "3 numbers x, y, z"
    if not is_vector or len(value) not in ((3, 4) if turned else (3,)):
        flaws.add(f"initial.{name}", f"must be {noun}, is {list(value) if is_vector else value}")
        return {}
    values = quaternion_from_rpy(*value) if turned and len(value) == 3 else value
    return {state: float(entry) for state, entry in zip(parts, values, strict=True)}


def _check_quaternion(flaws: FlawList, path: str, quaternion: list[float]) -> None:
    """Its length must be 1: another one is more likely a mistake than meant."""
    length = float(np.linalg.norm(quaternion))
    if length == 0:
        flaws.add(path, "is a quaternion of zeros, which is not a rotation", "[1, 0, 0, 0] leaves the body as it is")
    elif abs(length - 1) > UNIT_LENGTH:
        unit = ", ".join(repr(round(entry / length, 12)) for entry in quaternion)
        flaws.add(
            path, f"the quaternion {quaternion} has length {length:.9g}, must have 1", f"normalised it is [{unit}]"
        )


# --------------------------------------------------------------------------------------------------
# Scenarios: what is simulated? A machine from given start values for a time, with events, recording and a solver.


INITIALISATIONS = ("given", "assembled", "at_rest")


def check_event_names(flaws: FlawList, events: Sequence[str], blocks: Sequence[str]) -> None:
    """Events and blocks share one name space: each has parameters under its name."""
    counts = Counter([*events, *blocks])
    for name in dict.fromkeys(events):
        if counts[name] > 1:
            flaws.add(f"events.{name}", "another event or block has this name", "give each its own name")


def check_nominal(flaws: FlawList, nominal: Mapping[str, Any], joints: Sequence[str]) -> None:
    """A nominal motion names moving joints, and all of them."""
    flaws.add_unknown(nominal, joints, "is not a moving joint", "nominal")
    for joint in joints if nominal else ():
        if joint not in nominal:
            flaws.add(f"nominal.{joint}", "is missing", "name the signal of its reference position")


def state_units(freedoms: Iterable[Freedom], blocks: Iterable[Block]) -> dict[str, str]:
    """Units of positions and velocities, and of what blocks integrate and remember."""
    units: dict[str, str] = {}
    for freedom in freedoms:
        units |= freedom.states
    for block in blocks:
        for key in (*block.state_names, *block.memory_names):
            units[f"{block.name}.{key}"] = block.info.units.get(key, "")
    return units


def check_keep(flaws: FlawList, keep: Sequence[str], states: Sequence[str], initialisation: str) -> None:
    """Check that an assembled start keeps positions and velocities of moving joints, each named once."""
    if initialisation != "assembled":
        flaws.add(
            "keep",
            f"has no effect on the initialisation '{initialisation}'",
            "set initialisation = 'assembled', or leave it out",
        )
    for name, times in Counter(keep).items():
        if name not in states:
            flaws.add("keep", f"'{name}' is not a position or velocity of a moving joint", nearest(name, states))
        elif times > 1:
            flaws.add("keep", f"names '{name}' {times} times", "name it once")


class Scenario(Description, Displayed):
    """A machine with its start, duration and reference motion.

    A start that is "assembled" or "at_rest" is found before the run, anew for every changed number: where all
    constraints are met, with what is given as it is and the rest near to it; or at the standstill under load nearest to
    what is given, controllers settled. An assembled start keeps the velocities that `initial` gives, and of its
    positions the first ones, as many as the constraints leave free, unless `keep` names others. Along a nominal motion
    the equations can be linearised.
    """

    NOUN = "scenario"

    name: str = part_name(
        doc="name in summaries and reports; results are called after the file", absent="the file's name"
    )
    machine: Machine = child(Machine, inline=True)
    duration: float = quantity("s", positive=True, doc="simulated time")
    initial: Mapping[str, float] = numbers(
        "state",
        dotted=True,
        lists=True,
        under="initial",
        default=EMPTY,
        absent="0",
        doc="start values of states and memory by signal name; of ball and free joints "
        "[also as vectors](machines.md#start-values), `base.orientation`",
    )
    events: tuple[Event, ...] = children(Event, default=())
    recording: Recording = child(
        Recording, default=Recording(), numbered=False, doc="[what is kept](#recording)", absent="every step"
    )
    solver: Solver = child(Solver, default=Solver(), numbered=False, doc="[settings](#solver)", absent="`auto`")
    title: str = text(default="", doc="a sentence for people")
    path_limit: float | None = quantity(
        "m", positive=True, default=None, doc="largest miss of the path that is allowed; reports judge by it"
    )
    obstacles: tuple[Obstacle, ...] = children(Obstacle, default=())
    initialisation: str = choice(
        INITIALISATIONS,
        default="given",
        doc='`"given"`: as `initial` says; `"assembled"`: all constraints met, what is given '
        '[kept](constraints.md#assembly), the rest near to that; `"at_rest"`: '
        "[standing still](hybrid.md#a-start-at-rest) under load nearest to that, with controllers, filters and delays "
        "settled",
    )
    constraint_method: ConstraintMethod = child(
        ConstraintMethod,
        default=ConstraintMethod(),
        doc="[how constraints are kept](#constraint-method)",
        absent="Baumgarte's method",
    )
    nominal: Mapping[str, str] = reference_map(
        "signal",
        keys_to="moving joint",
        default=EMPTY,
        absent="none",
        doc="signal of the reference position of each moving joint, a function of time: the "
        "[nominal motion](perturbation.md)",
    )
    keep: tuple[str, ...] | None = texts(
        "name",
        default=None,
        absent="the velocities given, and the first positions given, as many as are free",
        doc='with `initialisation = "assembled"`: names of the start values that stay, such as `["drive.position"]`; '
        "all others are guesses",
    )

    def check(self, flaws: FlawList) -> None:
        if flaws.concern("machine", "events"):
            return
        if not flaws.concern("duration", "recording"):
            check_duration(flaws, self.duration, self.recording)
        if self.constraint_method != ConstraintMethod() and not self.machine.all_constraints:
            flaws.add("constraint_method", "has no effect", "the machine has no constraints")
        mechanism = self.machine.any_mechanism
        if not flaws.concern("initial"):
            self.set_fields(initial=FrozenDict(spread_vectors(flaws, self.initial, mechanism.joints)))
            if self.initialisation == "given" and not flaws.concern("initial"):
                check_starts(flaws, self.initial, mechanism.joints)
        if isinstance(self.nominal, Mapping):
            check_nominal(flaws, self.nominal, [axis.name for axis in mechanism.axes])
        if self.keep is not None and not flaws.concern("keep"):
            check_keep(flaws, self.keep, list(state_units(mechanism.freedoms, ())), self.initialisation)
        if self.initialisation == "at_rest" and not flaws.concern("initial"):
            self._check_rest(flaws)
        check_event_names(flaws, [e.name for e in self.events], [block.name for block in self.machine.all_blocks])
        if not flaws.found:
            check_distinct(flaws, super().numbers(""))

    def _check_rest(self, flaws: FlawList) -> None:
        """Report what a start at rest cannot keep: speeds, and a past that is not the present."""
        speeds = {name for freedom in self.machine.any_mechanism.freedoms for name in freedom.velocities}
        for name, value in self.initial.items():
            if name in speeds and value:
                what = f"has no effect: the start is searched for at rest, where speeds are 0, not {value:g}"
                flaws.add(f"initial.{name}", what, "leave it out, or set initialisation = 'given'")
        for delay in self.machine.delays:
            if delay.before is not None:
                what = "has no effect: at rest the signal had its start value all along"
                flaws.add(f"delays.{delay.name}.before", what, "leave it out, or set initialisation = 'given'")

    def raise_if_any(self, flaws: FlawList) -> None:
        """Raise what is found wrong later on, each flaw reported where it stands in the scenario's file."""
        file, name = self.written_in or self.machine.written_in, f"scenario '{self.name}'"
        if file is None:
            flaws.raise_if_any(name)
        else:
            FlawList([file.place(flaw) for flaw in flaws.found]).raise_if_any(f"{file.source}: {name}")

    @property
    def start_values(self) -> Mapping[str, float]:
        """Those given, and those of joints that follow others."""
        return follow(self.initial, self.machine.any_mechanism.joints) | dict(self.initial)

    def __repr__(self) -> str:
        return f"<Scenario {self.name}: {self.machine!r}, {self.duration:g} s>"

    def state_units(self) -> dict[str, str]:
        """Units of the states and the memory that may be given start values, where the description says them."""
        return state_units(self.machine.any_mechanism.freedoms, self.machine.all_blocks)

    def numbers(self, prefix: str | None = None) -> dict[str, Number]:  # type: ignore[override]
        """Every named number of the scenario."""
        return {number.name: number for number in super().numbers("")}

    def with_numbers(self, changes: Mapping[str, float], prefix: str | None = None) -> Self:
        """This scenario with some numbers changed; an unknown name is an error.

        `initial.<state>` may name any state, also one that starts at its default so far.
        """
        if not changes:
            return self
        flaws = FlawList()
        numbers = self.numbers()
        for name, value in changes.items():
            check_finite(flaws, name, value, infinite=True)
            if name not in numbers and not name.startswith("initial."):
                flaws.add(name, "there is no such number", nearest(name, numbers))
        flaws.raise_if_any(f"scenario '{self.name}'")
        # Start values that were not there yet join the others, to be changed and checked with them.
        fresh = (name.removeprefix("initial.") for name in changes if name not in numbers)
        scenario = copy(self)
        scenario.set_fields(initial={**self.initial, **dict.fromkeys(fresh, math.nan)})
        return super(Scenario, scenario).with_numbers(changes, "")


# --------------------------------------------------------------------------------------------------
# Scenario sequences: what happens one after the other? Each starts where the one before it ended.


class ScenarioSequence(Description):
    """Phases of one motion: states and memory are handed over by name to the next phase.

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
        """This sequence with some numbers changed in every phase that has them; an unknown name is an error."""
        flaws = FlawList()
        numbers = self.numbers()
        for name in changes:
            if name not in numbers and not name.startswith("initial."):
                flaws.add(name, "no phase has such a number", nearest(name, numbers))
        flaws.raise_if_any(f"sequence '{self.name}'")
        return self.replaced(phases=tuple(_changed(phase, changes, k) for k, phase in enumerate(self.phases)))


def _changed(phase: Scenario, changes: Mapping[str, float], k: int) -> Scenario:
    """A phase with those numbers changed that are its own; start values belong to the first phase."""
    own = phase.numbers()
    return phase.with_numbers(
        {name: value for name, value in changes.items() if name in own or (k == 0 and name.startswith("initial."))}
    )
