"""Signals by formula: their expressions in the graph, and their units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import casadi as ca

from robodyn.base.units import parse_unit
from robodyn.computation.assembly.contribution import Context, Contribution, define, merge
from robodyn.computation.assembly.network import SignalInfo
from robodyn.computation.assembly.tracing import Bindings
from robodyn.description.model.formula import FormulaError, evaluate, infer_unit, may_be_in


def trace_formulas(context: Context, known: Mapping[str, str]) -> Contribution:
    """Every formula once, with symbols for what it reads.

    Args:
        known: units of the signals before.
    """
    parts, units = [], dict(known)
    for signal in context.scenario.machine.signals:
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
        info, value = SignalInfo(signal.name, units[signal.name]), ca.SX(evaluate(signal.tree, values))
        parts.append(replace(define([info], {signal.name: value}, bindings), read=(bindings,)))
    return merge(parts)


def check_formula_units(context: Context, units: Mapping[str, str]) -> None:
    """Refuse formulas that add or compare unlike quantities, and results that are in another unit than is said."""
    for signal in context.scenario.machine.signals:
        path = f"signals.{signal.name}"
        try:
            found = infer_unit(signal.tree, {**units, **signal.parameter_units})
        except FormulaError as error:
            context.flaws.add(f"{path}.formula", error.tell(signal.formula), error.remedy)
            continue
        if signal.unit is not None and found is not None and not may_be_in(found, parse_unit(signal.unit)):
            what = f"is '{signal.unit}', but the formula is in {found.name or 'plain numbers'}"
            context.flaws.add(f"{path}.unit", what, "numbers that have units are parameters")
