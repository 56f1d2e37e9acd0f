"""Scenarios: what is simulated? A machine from given start values for a time, with events, recording and a solver."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from robodyn.base.errors import FlawList, nearest
from robodyn.base.lazy import Displayed
from robodyn.description.model.block import Block
from robodyn.description.model.constraint import ConstraintMethod
from robodyn.description.model.description import Description
from robodyn.description.model.event import Event
from robodyn.description.model.fields import (
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
)
from robodyn.description.model.freedom import Freedom
from robodyn.description.model.frozen import FrozenDict
from robodyn.description.model.machine import Machine
from robodyn.description.model.mimic import check_starts, follow
from robodyn.description.model.numbers import Number, check_distinct, check_finite
from robodyn.description.model.obstacle import Obstacle
from robodyn.description.model.recording import Recording, check_duration
from robodyn.description.model.solver import Solver
from robodyn.description.model.start_values import spread_vectors

INITIALISATIONS = ("given", "assembled", "at_rest")


def check_event_names(flaws: FlawList, events: Sequence[str], blocks: Sequence[str]) -> None:
    """Events and blocks share one name space: each has parameters under its name."""
    taken = Counter([*events, *blocks])
    for name in dict.fromkeys(events):
        if taken[name] > 1:
            flaws.add(f"events.{name}", "another event or block has this name", "give each its own name")


def check_nominal(flaws: FlawList, nominal: Mapping[str, Any], joints: Sequence[str]) -> None:
    """A nominal motion names moving joints, and all of them."""
    for joint in nominal:
        if joint not in joints:
            flaws.add(f"nominal.{joint}", "is no moving joint", nearest(str(joint), joints))
    for joint in joints if nominal else ():
        if joint not in nominal:
            flaws.add(f"nominal.{joint}", "is missing", "say which signal is its reference position")


def state_units(freedoms: Iterable[Freedom], blocks: Iterable[Block]) -> dict[str, str]:
    """Units of positions and velocities, and of what blocks integrate and remember."""
    units: dict[str, str] = {}
    for freedom in freedoms:
        units |= freedom.states
    for block in blocks:
        for key in (*block.state_names, *block.memory_names):
            units[f"{block.name}.{key}"] = block.info.units.get(key, "")
    return units


def check_keep(flaws: FlawList, keep: Sequence[str], known: Sequence[str], initialisation: str) -> None:
    """What an assembled start keeps are positions and velocities of moving joints, each named once."""
    if initialisation != "assembled":
        flaws.add(
            "keep",
            f"has no effect on the initialisation '{initialisation}'",
            "say initialisation = 'assembled', or leave it out",
        )
    for name, times in Counter(keep).items():
        if name not in known:
            flaws.add("keep", f"'{name}' is no position or velocity of a moving joint", nearest(name, known))
        elif times > 1:
            flaws.add("keep", f"names '{name}' {times} times", "name it once")


class Scenario(Description, Displayed):
    """A machine, its start and what happens to it.

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
        open=True,
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
        mechanism = self.machine.mechanism
        if not flaws.concern("initial"):
            joints = mechanism.joints if mechanism else ()
            self.set_fields(initial=FrozenDict(spread_vectors(flaws, self.initial, joints)))
            if self.initialisation == "given" and not flaws.concern("initial"):
                check_starts(flaws, self.initial, joints)
        if isinstance(self.nominal, Mapping):
            check_nominal(flaws, self.nominal, [axis.name for axis in mechanism.axes] if mechanism else [])
        if self.keep is not None and not flaws.concern("keep"):
            freedoms = mechanism.freedoms if mechanism else ()
            check_keep(flaws, self.keep, list(state_units(freedoms, ())), self.initialisation)
        if self.initialisation == "at_rest" and not flaws.concern("initial"):
            self._check_rest(flaws)
        check_event_names(flaws, [e.name for e in self.events], [block.name for block in self.machine.all_blocks])
        if not flaws.found:
            check_distinct(flaws, super().numbers(""))

    def _check_rest(self, flaws: FlawList) -> None:
        """What a start at rest cannot keep: speeds, and a past that is not the present."""
        mechanism = self.machine.mechanism
        speeds = {name for freedom in (mechanism.freedoms if mechanism else ()) for name in freedom.velocities}
        for name, value in self.initial.items():
            if name in speeds and value:
                what = f"has no effect: the start is looked for at rest, where speeds are 0, not {value:g}"
                flaws.add(f"initial.{name}", what, "leave it out, or say initialisation = 'given'")
        for delay in self.machine.delays:
            if delay.before is not None:
                what = "has no effect: at rest the signal has long been what it is at the start"
                flaws.add(f"delays.{delay.name}.before", what, "leave it out, or say initialisation = 'given'")

    def raise_if_any(self, flaws: FlawList) -> None:
        """Raise what is found wrong later on, each flaw told where it stands in the scenario's file."""
        file, name = self.written_in or self.machine.written_in, f"scenario '{self.name}'"
        if file is None:
            flaws.raise_if_any(name)
        else:
            FlawList([file.place(flaw) for flaw in flaws.found]).raise_if_any(f"{file.source}: {name}")

    @property
    def start_values(self) -> Mapping[str, float]:
        """Those given, and those of joints that follow others."""
        mechanism = self.machine.mechanism
        return (follow(self.initial, mechanism.joints) if mechanism else {}) | dict(self.initial)

    def __repr__(self) -> str:
        return f"<Scenario {self.name}: {self.machine!r}, {self.duration:g} s>"

    def state_units(self) -> dict[str, str]:
        """Units of the states and the memory that may be given start values, where the description says them."""
        mechanism = self.machine.mechanism
        return state_units(mechanism.freedoms if mechanism else (), self.machine.all_blocks)

    def numbers(self, prefix: str | None = None) -> dict[str, Number]:  # type: ignore[override]
        """Every named number of the scenario."""
        return {number.name: number for number in super().numbers("")}

    def with_numbers(self, changes: Mapping[str, float], prefix: str | None = None) -> Self:
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
        return super().with_numbers(changes, "")
