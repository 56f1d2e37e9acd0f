"""Signals by formula: their expressions in the graph, and their units."""

from __future__ import annotations

from typing import Any

import casadi as ca

from robodyn.assembly.builder import Builder
from robodyn.assembly.network import Definition, SignalInfo
from robodyn.assembly.tracing import Bindings
from robodyn.model.formula import FormulaError, evaluate
from robodyn.model.formula_units import infer_unit, may_be_in
from robodyn.units import parse_unit


def add_formulas(builder: Builder) -> None:
    """Trace every formula once, with symbols for what it reads."""
    for signal in builder.scenario.machine.signals:
        path = f"signals.{signal.name}"
        if signal.name in builder.network.infos:
            builder.flaws.add(path, f"there is a signal '{signal.name}' already", "choose another name")
            continue
        values: dict[str, Any] = {key: builder.values.parameter(signal, key) for key in signal.parameters}
        bindings: Bindings = {}
        for name in signal.signals:
            symbol = ca.SX.sym(f"@{path}.{name}")
            bindings[symbol.name()] = (symbol, name, f"{path}.formula")
            values[name] = symbol
        builder.network.refer(bindings)
        info = SignalInfo(signal.name, signal.find_unit(builder.units))
        builder.network.define([info], Definition({signal.name: ca.SX(evaluate(signal.tree, values))}, bindings))


def check_formula_units(builder: Builder) -> None:
    """Refuse formulas that add or compare unlike quantities, and results that are in another unit than is said."""
    for signal in builder.scenario.machine.signals:
        path = f"signals.{signal.name}"
        try:
            found = infer_unit(signal.tree, {**builder.units, **signal.parameter_units})
        except FormulaError as error:
            builder.flaws.add(f"{path}.formula", error.tell(signal.formula), error.remedy)
            continue
        if signal.unit is not None and found is not None and not may_be_in(found, parse_unit(signal.unit)):
            what = f"is '{signal.unit}', but the formula is in {found.name or 'plain numbers'}"
            builder.flaws.add(f"{path}.unit", what, "numbers that have units are parameters")
