"""Signals that no block computes: formulas, what comes from outside, and what joints should follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import casadi as ca

from robodyn.base import nearest, parse_unit
from robodyn.base.symbolic import to_column
from robodyn.description.model.formula import FormulaError, evaluate, infer_unit, may_be_in

from .contribution import (
    Context,
    Contribution,
    declare_memory,
    define_signal,
    merge,
)
from .declarations import MemoryInfo
from .network import Resolved
from .tracing import Bindings, placeholder

# --------------------------------------------------------------------------------------------------
# Signals by formula: their expressions in the graph, and their units.


def trace_formulas(context: Context, signal_units: Mapping[str, str]) -> Contribution:
    """Every formula once, with symbols for what it reads.

    Args:
        signal_units: units of the signals before.
    """
    parts, units = [], dict(signal_units)
    for signal in context.machine.signals:
        path = f"signals.{signal.name}"
        if signal.name in units:
            context.flaws.add(path, f"there is a signal '{signal.name}' already", "choose another name")
            continue
        values: dict[str, Any] = {key: context.values.parameter(signal, key) for key in signal.parameters}
        bindings: Bindings = {}
        for name in signal.signals:
            symbol = ca.SX.sym(f"@{path}.{name}")
            bindings[symbol.name()] = (symbol, name, f"{path}.formula")
            values[name] = symbol
        units[signal.name] = signal.find_unit(units)
        defined = define_signal(signal.name, units[signal.name], evaluate(signal.tree, values), bindings)
        parts.append(replace(defined, read=(bindings,)))
    return merge(parts)


def check_formula_units(context: Context, units: Mapping[str, str]) -> None:
    """Refuse formulas that add or compare unlike quantities, and results that are in another unit than is said."""
    for signal in context.machine.signals:
        path = f"signals.{signal.name}"
        try:
            unit = infer_unit(signal.tree, {**units, **signal.parameter_units})
        except FormulaError as error:
            context.flaws.add(f"{path}.formula", error.tell(signal.formula), error.remedy)
            continue
        if signal.unit is not None and unit is not None and not may_be_in(unit, parse_unit(signal.unit)):
            what = f"is '{signal.unit}', but the formula is in {unit.name or 'plain numbers'}"
            context.flaws.add(f"{path}.unit", what, "numbers that have units are parameters")


# --------------------------------------------------------------------------------------------------
# Inputs of a system: which signals of a scenario come from outside?
#
# A block's output that is declared an input is no longer computed: it is held in memory, which whoever runs the system
# writes at communication points. What reads the signal, a force on a joint included, does not notice.


def open_inputs(context: Context, whole: Contribution, inputs: Mapping[str, float]) -> Contribution:
    """All contributions, some outputs of blocks made inputs of the system."""
    possible = _find_possible(context, whole)
    for name, start in inputs.items():
        if name not in possible:
            what = "cannot be an input: it is not an output of a block"
            context.flaws.add(f"inputs.{name}", what, nearest(name, possible))
        elif name in whole.definitions:
            whole = _replace(whole, name, start)
        else:
            whole = _hold(whole, name, start)
    return whole


def _find_possible(context: Context, whole: Contribution) -> set[str]:
    """Outputs of blocks; states, their rates and memory of their own left out."""
    blocks = context.machine.all_blocks
    of_blocks = {f"{block.name}.{name}" for block in blocks for name in (*block.state_names, *block.memory_names)}
    of_blocks |= {f"{name}_dot" for name in of_blocks} | {info.name for info in whole.memory if info.hidden}
    owners = tuple(f"{block.name}." for block in blocks)
    candidates = (*whole.definitions, *(info.name for info in whole.memory))
    return {name for name in candidates if name.startswith(owners)} - of_blocks


def _hold(whole: Contribution, name: str, start: float) -> Contribution:
    """A sampled block's output: nothing in the system writes it any more."""
    updates, actions = (
        {key: {to: value for to, value in update.items() if to != name} for key, update in columns.items()}
        for columns in (whole.updates, whole.actions)
    )
    memory = tuple(replace(info, start=start, outside=True) if info.name == name else info for info in whole.memory)
    return replace(whole, updates=updates, actions=actions, memory=memory)


def _replace(whole: Contribution, name: str, start: float) -> Contribution:
    """A continuous block's output: memory stands in for what it was defined by."""
    definitions = {other: definition for other, definition in whole.definitions.items() if other != name}
    held = declare_memory(MemoryInfo(name, whole.signals[name].unit, start, outside=True))
    return replace(whole, definitions=definitions) + held


# --------------------------------------------------------------------------------------------------
# Nominal motion: is a scenario's one? Each of its signals is there, and a function of time and numbers alone.


def refer_to_nominal(context: Context) -> Contribution:
    """The signals that joints should follow are read, so that unknown names are reported."""
    bindings: Bindings = {}
    for joint, signal in context.scenario.nominal.items():
        placeholder(f"nominal.{joint}", signal, bindings)
    return Contribution(read=(bindings,))


def check_nominal_depends(context: Context, whole: Contribution, resolved: Resolved) -> None:
    """Report signals that depend on more than time and numbers; not where something else is wrong already."""
    if context.flaws.found:
        return
    infos = (*whole.states, *whole.delays, *whole.memory)
    moving = to_column(whole.symbols[info.name] for info in infos)  # type: ignore[attr-defined]
    for joint, signal in context.scenario.nominal.items():
        read = [s.name() for s in ca.symvar(resolved.expressions[signal]) if ca.depends_on(s, moving)]
        if read:
            what = f"'{signal}' depends on {', '.join(read[:3])}"
            context.flaws.add(f"nominal.{joint}", what, "use a continuous reference, a function of time alone")
