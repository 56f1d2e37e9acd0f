"""Nominal motion: is a scenario's one? Each of its signals is there, and a function of time and numbers alone."""

from __future__ import annotations

import casadi as ca

from robodyn.assembly.builder import Builder
from robodyn.assembly.tracing import Bindings, placeholder


def refer_to_nominal(builder: Builder) -> None:
    """Note the signals that joints should follow, so that unknown names are reported."""
    bindings: Bindings = {}
    for joint, signal in builder.scenario.nominal.items():
        placeholder(f"nominal.{joint}", signal, bindings)
    builder.network.refer(bindings)


def check_nominal_depends(builder: Builder) -> None:
    """Report signals that depend on more than time and numbers; all signals must be resolved."""
    if builder.flaws.found:
        return
    names = [info.name for info in builder.states] + [info.name for info in builder.delays]
    moving = ca.vertcat(ca.SX(0, 1), *map(builder.symbol_of, names), *builder.memory_symbols.values())
    for joint, signal in builder.scenario.nominal.items():
        expression = builder.network.expressions[signal]
        read = [symbol.name() for symbol in ca.symvar(expression) if ca.depends_on(symbol, moving)]
        if read:
            what = f"'{signal}' depends on {', '.join(read[:3])}"
            builder.flaws.add(f"nominal.{joint}", what, "take a continuous reference, a function of time alone")
