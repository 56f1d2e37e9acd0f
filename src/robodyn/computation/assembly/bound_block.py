"""Blocks before they are traced: which states and memory has one, and what is its law called with?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import casadi as ca

from robodyn.computation.assembly.contribution import Context, Contribution, declare_memory, declare_state, merge
from robodyn.computation.assembly.control.models import bind_model
from robodyn.computation.assembly.declarations import MemoryInfo, StateInfo
from robodyn.computation.assembly.system import FREE
from robodyn.computation.assembly.tracing import FRICTION, FRICTION_FACTOR, Bindings, Trace, placeholder, trace_law
from robodyn.computation.assembly.units import BlockUnits, unit_of_output, units_of
from robodyn.description.laws import arguments_of
from robodyn.description.model import Block
from robodyn.description.model.block import FORCE_NAMES, single_output


@dataclass(frozen=True)
class BoundBlock:
    """A block, what its law is called with, and its states and memory.

    Attributes:
        known: units of the signals before it, and of its own states and memory.
    """

    context: Context
    block: Block
    arguments: Mapping[str, Any]
    bindings: Bindings
    declared: Contribution
    known: Mapping[str, str]

    @property
    def path(self) -> str:
        """Where its flaws are."""
        return f"blocks.{self.block.name}"

    @cached_property
    def units(self) -> BlockUnits:
        return units_of(self.block, self.known)

    def unit_of_output(self, name: str) -> str:
        return unit_of_output(self.block, name, self.known)

    @property
    def is_complete(self) -> bool:
        """False where its law wants a model of the machine that cannot be made."""
        return self.arguments.get("model", self) is not None

    def trace(self, **changed: Any) -> Trace | None:
        """What its law says, some arguments changed; None and a flaw where it cannot be traced."""
        arguments = {**self.arguments, **changed}
        own = (self.block.function, arguments, self.bindings)
        trace = trace_law(*own, self.path, self.context.flaws, single_output(self.block))
        if trace is not None and self.block.info.disturbance:
            forces = (*FORCE_NAMES, *self.block.acts)
            scaled = {name: FRICTION_FACTOR * trace.results[name] for name in forces if name in trace.results}
            trace = replace(trace, results={**trace.results, **scaled})
        if trace is None or not self.block.takes_model:
            return trace
        # Every function of a model has its own copy of the dynamics: what they share is computed once.
        shared = ca.cse(list(trace.results.values()))
        return replace(trace, results=dict(zip(trace.results, shared, strict=True)))


def bind_block(context: Context, block: Block, units: Mapping[str, str], joints: Mapping[str, ca.SX]) -> BoundBlock:
    """Symbols for its states and memory, placeholders for the signals that it reads.

    Args:
        units: of the signals known so far; joints: symbols of the mechanism's states.
    """
    declared = _declare(context, block, units)
    arguments, bindings = _bind_arguments(context, block, declared.symbols)
    if block.takes_model:
        more, read, added = bind_model(context, block, joints)
        arguments, bindings = arguments | more, bindings | read
        declared += added
    declared = replace(declared, read=(bindings,))
    if block.takes_model or block.info.disturbance:
        bindings = bindings | {FRICTION_FACTOR.name(): (FRICTION_FACTOR, FRICTION, "")}
    return BoundBlock(context, block, arguments, bindings, declared, {**units, **declared.units})


def _declare(context: Context, block: Block, known: Mapping[str, str]) -> Contribution:
    """The block's states and memory."""
    units, initial = units_of(block, known), context.scenario.initial
    parts = []
    for name in block.state_names:
        full = f"{block.name}.{name}"
        start = initial.get(full, block.states.get(name, 0.0))
        unit = units.fill(block.info.units.get(name, ""))
        nominal = block.info.states.get(name, 1.0) * context.size.of(unit)
        parts.append(declare_state(StateInfo(full, unit, start, nominal)))
    for name in block.memory_names:
        full = f"{block.name}.{name}"
        start = initial.get(full, block.memory.get(name, block.info.memory.get(name, 0.0)))
        start = FREE if block.info.sticks and name == "direction" else start
        parts.append(declare_memory(MemoryInfo(full, units.fill(block.info.units.get(name, "")), start)))
    return merge(parts)


def _bind_arguments(context: Context, block: Block, symbols: Mapping[str, ca.SX]) -> tuple[dict[str, Any], Bindings]:
    """What the law is called with: symbols of its own states, placeholders for signals, values of parameters."""
    arguments: dict[str, Any] = {}
    bindings: Bindings = {}
    path = f"blocks.{block.name}"
    for argument in arguments_of(block.function):
        name, source = argument.name, block.source_of(argument)
        if source in ("state", "memory"):
            arguments[name] = symbols[f"{block.name}.{name}"]
        elif source == "input":
            arguments[name] = placeholder(f"{path}.inputs.{name}", block.inputs[name], bindings)
        elif source == "parameter":
            arguments[name] = context.values.parameter(block, name)
        elif source == "time":
            arguments[name] = context.time
        elif source == "on":
            arguments[name] = placeholder(f"{path}.on.{name}", f"{block.on}.{name}", bindings)
    return arguments, bindings
