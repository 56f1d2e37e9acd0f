"""Nominal motion: is a scenario's one? Each of its signals is there, and a function of time and numbers alone."""

from __future__ import annotations

import casadi as ca

from robodyn.computation.assembly.contribution import Context, Contribution
from robodyn.computation.assembly.network import Resolved
from robodyn.computation.assembly.tracing import Bindings, placeholder


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
    moving = ca.vertcat(ca.SX(0, 1), *(whole.symbols[info.name] for info in infos))  # type: ignore[attr-defined]
    for joint, signal in context.scenario.nominal.items():
        read = [s.name() for s in ca.symvar(resolved.expressions[signal]) if ca.depends_on(s, moving)]
        if read:
            what = f"'{signal}' depends on {', '.join(read[:3])}"
            context.flaws.add(f"nominal.{joint}", what, "take a continuous reference, a function of time alone")
