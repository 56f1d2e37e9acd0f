"""Builder of a system: what has been gathered so far? The one mutable workspace of an assembly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import casadi as ca
import numpy as np

from robodyn.assembly.declarations import BreakRule, DelayInfo, Guard, MemoryInfo, ProblemInfo, StateInfo, Task
from robodyn.assembly.network import Network, SignalInfo
from robodyn.assembly.promises import Promise, Watched
from robodyn.assembly.tracing import Bindings, placeholder
from robodyn.assembly.values import Values, collect_values
from robodyn.errors import FlawList
from robodyn.model import Block, Scenario


@dataclass(frozen=True)
class Deferred:
    """An expression that waits for its placeholders to be resolved."""

    expression: ca.SX
    bindings: Bindings


@dataclass(frozen=True)
class StickElement:
    """Friction that sticks: where it is, and its forces when it slides forth, slides back, or is left out.

    Attributes:
        force: name of the signal of its force.
        limits: largest force that holds it against sliding forth, and against sliding back.
    """

    block: Block
    on: str
    force: str
    direction: ca.SX
    anchor: ca.SX
    forward: ca.SX
    backward: ca.SX
    frictionless: ca.SX
    limits: tuple[ca.SX, ca.SX]
    bindings: Bindings

    @property
    def strength(self) -> ca.SX:
        """Both limits together: zero where nothing holds."""
        return self.limits[0] + self.limits[1]


@dataclass(frozen=True)
class Residuals:
    """Of all constraint equations: h, h', the drift of h'', and whether each holds."""

    h: tuple[Deferred, ...] = ()
    h_dot: tuple[Deferred, ...] = ()
    drift: tuple[Deferred, ...] = ()
    active: tuple[Deferred, ...] = ()


@dataclass
class Builder:
    """States, memory, signals and expressions of a system in the making.

    Attributes:
        spare: how many of the constraint equations follow from the others.
        null_forces: of each constraint force, its part in forces that move nothing, at the motion's `somewhere`.
        guard_values: one entry a guard; applied: joint torques without those of constraints.
        updates, actions: new values by name, of memory after a task, of states and memory after an event; what is not
            named stays. problems: what is solved before actions. projection: like an action, after every step.
        arguments: of calls in Python.
    """

    scenario: Scenario
    values: Values
    flaws: FlawList = field(default_factory=FlawList)
    network: Network = field(default_factory=Network)
    time: ca.SX = field(default_factory=lambda: ca.SX.sym("time"))
    states: list[StateInfo] = field(default_factory=list)
    rates: dict[str, Deferred] = field(default_factory=dict)
    limits: dict[str, tuple[ca.SX, ca.SX]] = field(default_factory=dict)
    memory: list[MemoryInfo] = field(default_factory=list)
    memory_symbols: dict[str, ca.SX] = field(default_factory=dict)
    forces: list[tuple[str, str]] = field(default_factory=list)
    delays: list[DelayInfo] = field(default_factory=list)
    base_period: Fraction | None = None
    tasks: list[Task] = field(default_factory=list)
    arrivals: list[Task] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    breaks: list[BreakRule] = field(default_factory=list)
    sticking: list[StickElement] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    constraint_forces: tuple[str, ...] = ()
    spare: int = 0
    null_forces: dict[str, np.ndarray] = field(default_factory=dict)
    loads: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    watched: list[Watched] = field(default_factory=list)
    watched_values: list[Deferred] = field(default_factory=list)
    delayed: list[Deferred] = field(default_factory=list)
    guard_values: list[Deferred] = field(default_factory=list)
    applied: list[Deferred] = field(default_factory=list)
    residuals: Residuals = Residuals()
    projection: dict[str, Deferred] = field(default_factory=dict)
    arguments: dict[str, list[Deferred]] = field(default_factory=dict)
    updates: dict[str, dict[str, Deferred]] = field(default_factory=dict)
    actions: dict[str, dict[str, Deferred]] = field(default_factory=dict)
    problems: dict[str, tuple[ProblemInfo, list[Deferred]]] = field(default_factory=dict)
    start_problems: tuple[str, ...] = ()

    @property
    def units(self) -> Mapping[str, str]:
        return {name: info.unit for name, info in self.network.infos.items()}

    def add_state(self, info: StateInfo) -> ca.SX:
        """Declare a continuous state; it is a signal under its own name."""
        symbol = ca.SX.sym(info.name)
        self.states.append(info)
        self.network.add_symbol(SignalInfo(info.name, info.unit), symbol)
        return symbol

    def add_memory(self, info: MemoryInfo) -> ca.SX:
        """Declare a discrete state; it is a held signal unless hidden."""
        # Memory is held between ticks and events: a signal by zero-order hold.
        symbol = ca.SX.sym(info.name)
        self.memory.append(info)
        self.memory_symbols[info.name] = symbol
        if not info.hidden:
            self.network.add_symbol(SignalInfo(info.name, info.unit, "held"), symbol)
        return symbol

    def watch(self, promise: Promise, subject: str, unit: str, values: Iterable[Any], bindings: Bindings) -> None:
        """Have runs report whether a promise is kept: see `Watched`."""
        columns = [Deferred(ca.SX(value), bindings) for value in values]
        self.watched_values += columns
        self.watched.append(Watched(promise, subject, unit, len(columns)))

    def add_guard(self, guard: Guard, value: Deferred) -> None:
        """An event where a value crosses zero."""
        self.guards.append(guard)
        self.guard_values.append(value)

    def symbol_of(self, name: str) -> ca.SX:
        return self.network.expressions[name]

    def express(self, waiting: Iterable[Deferred]) -> list[ca.SX]:
        """Expressions in global symbols; what they share stays shared."""
        waiting = list(waiting)
        return self.network.express([p.expression for p in waiting], [p.bindings for p in waiting])


def reference_to(signal: str) -> Deferred:
    """What a signal will turn out to be."""
    bindings: Bindings = {}
    symbol = placeholder(f"value of {signal}", signal, bindings)
    return Deferred(symbol, bindings)


def start_builder(scenario: Scenario) -> Builder:
    """A builder that knows the time and the scenario's numbers."""
    builder = Builder(scenario, collect_values(scenario))
    builder.network.add_symbol(SignalInfo("time", "s"), builder.time)
    return builder
