"""Contributions: what does one part of a machine add to a system?

Every part is traced by a function that returns a frozen `Contribution`; nothing is written to but the list of flaws.
What a part needs of others is an argument: their contributions, merged, or expressions. Signals may be read before they
are known: a symbol stands for them (`Deferred`), and what it stands for is found when all contributions are there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import casadi as ca
from casadi import SX

from robodyn.base import FlawList, frozen
from robodyn.description.model import EMPTY, Block, Machine, Scenario

from .declarations import (
    BreakRule,
    DelayInfo,
    Guard,
    Invariant,
    MemoryInfo,
    ProblemInfo,
    SampledTask,
    StateInfo,
    Watched,
)
from .machine_size import MachineSize, size_machine
from .network import Deferred as Deferred
from .network import Definition, SignalInfo
from .tracing import Bindings, placeholder
from .values import Values, collect_values

if TYPE_CHECKING:
    from .control.models import ModelInfo


# --------------------------------------------------------------------------------------------------
# Base period: of which time are all sample times of a scenario whole multiples? Ticks are counted, never compared.


SMALLEST_BASE = Fraction(1, 10**9)


def as_fraction(seconds: float) -> Fraction:
    """The simple fraction a decimal time stands for (0.00025 is 1/4000)."""
    return Fraction(seconds).limit_denominator(10**9)


def find_base_period(scenario: Scenario, flaws: FlawList) -> Fraction | None:
    """The longest time of which all periods, offsets and delays of sampled blocks are multiples."""
    times = [
        as_fraction(time)
        for block in scenario.machine.blocks
        if block.period is not None
        for time in (block.period, block.offset, block.delay)
        if time > 0
    ]
    if not times:
        return None
    if min(times) == 0:
        flaws.add("blocks", "a sample time is below 1 ns", "leave the delay or offset out")
        return None
    # gcd(a/b, c/d) = gcd(a d, c b) / (b d): exact, ticks are whole numbers.
    base = times[0]
    for time in times[1:]:
        base = Fraction(
            math.gcd(base.numerator * time.denominator, time.numerator * base.denominator),
            base.denominator * time.denominator,
        )
    if base < SMALLEST_BASE:
        shown = ", ".join(sorted({f"{float(time):g} s" for time in times}))
        flaws.add("blocks", f"sample times {shown} have no common base period above 1 ns", "round them to multiples")
        return None
    return base


# --------------------------------------------------------------------------------------------------
# Contributions of all parts, and what these are traced with.


@frozen
class Context:
    """The scenario that all parts are traced with, its numbers as values or symbols, the symbol of time.

    Attributes:
        base_period: of which all sample times are multiples.
        flaws: what is found to be wrong, as in every check of a description; an assembly with any ends in `ModelError`.
    """

    scenario: Scenario
    values: Values
    time: SX
    base_period: Fraction | None
    flaws: FlawList

    @property
    def machine(self) -> Machine:
        """The machine of the scenario."""
        return self.scenario.machine

    @cached_property
    def size(self) -> MachineSize:
        """The size that thresholds and tolerances are parts of."""
        return size_machine(self.scenario)


@frozen
class StickElement:
    """Friction that sticks: where it is, and its forces when it slides forth, slides back, or is left out.

    Attributes:
        force: name of the signal of its force.
        limits: largest force that holds it against sliding forth, and against sliding back.
    """

    block: Block
    on: str
    force: str
    direction: SX
    anchor: SX
    forward: SX
    backward: SX
    frictionless: SX
    limits: tuple[SX, SX]
    bindings: Bindings

    @property
    def strength(self) -> SX:
        """Both limits together: zero where nothing holds."""
        return self.limits[0] + self.limits[1]


@frozen
class Contribution:
    """All that a part adds to a system.

    Attributes:
        signals: all that has a name and a unit; symbols: of those that are themselves inputs of the system's functions
            (time, states, memory, delayed signals), and of hidden memory; definitions: what the others are made of.
        read: placeholders of signals that are read, so that unknown names are reported.
        rates, limits: of states, by name; delayed: what is delayed, one entry a delay.
        forces: (joint or coordinate, signal of a force on it); sticking: friction whose force is found with all others.
        arrivals: tasks before all others of their tick.
        updates, actions: new values by name, of memory after a task, of states and memory after an event; what is not
            named stays. problems: what is solved before actions. arguments: of calls in Python.
        guards, watched: each with its values; models: of controllers.
    """

    signals: Mapping[str, SignalInfo] = EMPTY
    symbols: Mapping[str, SX] = EMPTY
    definitions: Mapping[str, Definition] = EMPTY
    read: tuple[Bindings, ...] = ()
    states: tuple[StateInfo, ...] = ()
    rates: Mapping[str, Deferred] = EMPTY
    limits: Mapping[str, tuple[SX, SX]] = EMPTY
    memory: tuple[MemoryInfo, ...] = ()
    delays: tuple[DelayInfo, ...] = ()
    delayed: tuple[Deferred, ...] = ()
    forces: tuple[tuple[str, str], ...] = ()
    sticking: tuple[StickElement, ...] = ()
    tasks: tuple[SampledTask, ...] = ()
    arrivals: tuple[SampledTask, ...] = ()
    updates: Mapping[str, Mapping[str, Deferred]] = EMPTY
    arguments: Mapping[str, tuple[Deferred, ...]] = EMPTY
    guards: tuple[tuple[Guard, Deferred], ...] = ()
    actions: Mapping[str, Mapping[str, Deferred]] = EMPTY
    problems: Mapping[str, tuple[ProblemInfo, Deferred]] = EMPTY
    watched: tuple[tuple[Watched, tuple[Deferred, ...]], ...] = ()
    breaks: tuple[BreakRule, ...] = ()
    warnings: tuple[str, ...] = ()
    models: tuple[ModelInfo, ...] = ()

    def __add__(self, other: Contribution) -> Contribution:
        return merge((self, other))

    @cached_property
    def names_read(self) -> frozenset[str]:
        """Signals that something reads."""
        return frozenset(signal for bindings in self.read for _, signal, _ in bindings.values())

    @property
    def units(self) -> dict[str, str]:
        """The units of all signals."""
        return {name: info.unit for name, info in self.signals.items()}

    @property
    def targets(self) -> list[str]:
        """Everything that an action can change, in the order of [x, m]."""
        return [*(info.name for info in self.states), *(info.name for info in self.memory)]


NAMES = tuple(one.name for one in fields(Contribution))
TWO_LEVELS = ("updates", "actions")


def merge(parts: Iterable[Contribution]) -> Contribution:
    """Everything in the order of the parts; of what has one name, what came last. Actions of one name are united."""
    contents = [vars(part) for part in parts]
    merged: dict[str, Any] = {}
    for name in NAMES:
        values = [part[name] for part in contents if part[name]]
        if len(values) == 1:
            merged[name] = values[0]
        elif values:
            merged[name] = tuple(chain(*values)) if isinstance(values[0], tuple) else _unite(values, name in TWO_LEVELS)
    return Contribution(**merged)


def _unite(mappings: list[Mapping[str, Any]], two_levels: bool) -> dict[str, Any]:
    united: dict[str, Any] = {}
    for mapping in mappings:
        both = {key: {**united[key], **mapping[key]} for key in united.keys() & mapping.keys()} if two_levels else {}
        united.update(mapping)
        united.update(both)
    return united


def declare_state(info: StateInfo, rate: Deferred | None = None) -> Contribution:
    """A continuous state; it is a signal under its own name."""
    return Contribution(
        signals={info.name: SignalInfo(info.name, info.unit)},
        symbols={info.name: SX.sym(info.name)},
        states=(info,),
        rates={info.name: rate} if rate else EMPTY,
    )


def declare_memory(info: MemoryInfo) -> Contribution:
    """A discrete state; it is a signal by zero-order hold unless hidden."""
    return Contribution(
        signals=EMPTY if info.hidden else {info.name: SignalInfo(info.name, info.unit, "held")},
        symbols={info.name: SX.sym(info.name)},
        memory=(info,),
    )


def define(infos: Iterable[SignalInfo], outputs: Mapping[str, SX], bindings: Bindings | None = None) -> Contribution:
    """Signals defined together."""
    definition = Definition(outputs, bindings or {})
    signals = {info.name: info for info in infos}
    return Contribution(signals=signals, definitions=dict.fromkeys(signals, definition))


def define_signal(
    name: str, unit: str, value: Any, bindings: Bindings | None = None, *, note: str = ""
) -> Contribution:
    """A signal by itself."""
    return define([SignalInfo(name, unit, note=note)], {name: SX(value)}, bindings)


def define_column(infos: Iterable[SignalInfo], column: SX, bindings: Bindings | None = None) -> Contribution:
    """The entries of a column as signals, defined together."""
    infos = list(infos)
    return define(infos, dict(zip((info.name for info in infos), ca.vertsplit(column), strict=True)), bindings)


def watch(invariant: Invariant, subject: str, unit: str, values: Iterable[Any], bindings: Bindings) -> Contribution:
    """Have runs report whether an invariant holds: see `Watched`."""
    columns = tuple(Deferred(SX(value), bindings) for value in values)
    return Contribution(watched=((Watched(invariant, subject, unit, len(columns)), columns),))


def start_context(scenario: Scenario) -> Context:
    """Numbers named, time a symbol."""
    flaws = FlawList()
    return Context(scenario, collect_values(scenario), SX.sym("time"), find_base_period(scenario, flaws), flaws)


def reference_to(signal: str) -> Deferred:
    """The value that a signal will turn out to have."""
    bindings: Bindings = {}
    symbol = placeholder(f"value of {signal}", signal, bindings)
    return Deferred(symbol, bindings)
