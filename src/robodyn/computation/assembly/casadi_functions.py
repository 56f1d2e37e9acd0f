"""CasADi functions of a system: how do optimisers and model-predictive controllers of other packages get its equations?

All have the same five arguments: time t (1), states x, delayed signals d, memory m (what sampled blocks and friction
hold) and tunable parameters p, in the order of `system.states`, `delays`, `memory` and `parameters`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from robodyn.base.errors import Flaw, ModelError, nearest
from robodyn.base.symbolic.tables import spell_out
from robodyn.computation.assembly.functions import INPUTS

if TYPE_CHECKING:
    from robodyn.computation.assembly.system import System

COLUMNS = {"rates": "rhs", "outputs": "outputs", "guards": "guards", "delayed": "delayed", "constraints": "constraints"}
"""Name here -> name of the column: rates of x, all signals, guards of events, what is delayed, constraint residuals."""
UPDATE = "update:"


def make_casadi(system: System, what: str, by: str = "") -> ca.Function:
    """A function (t, x, d, m, p) -> column, or its exact Jacobian by one of the arguments.

    Args:
        what: rates, outputs, guards, delayed, constraints, or `update:BLOCK`, the memory after a sampled block.
        by: t, x, d, m or p; empty for the column itself.
    """
    column = _find(system, what)
    if by and by not in INPUTS:
        raise ModelError([Flaw("by", f"must be one of {', '.join(INPUTS)}, is '{by}'")], "casadi")
    # Look-ups are spelled out before they are differentiated: CasADi does not know their slopes otherwise.
    plain = spell_out(ca.Function("plain", [*system.symbols], [ca.densify(column)]))
    symbols = plain.sx_in()
    result = plain(*symbols)
    if by:
        result = ca.densify(ca.jacobian(result, symbols[INPUTS.index(by)]))
    name = _name(what, by)
    return ca.Function(name, symbols, [result], list(INPUTS), [name])


def _find(system: System, what: str) -> ca.SX:
    tasks = {f"{UPDATE}{task.name}": task for task in system.discrete.tasks if task.function}
    if what in COLUMNS:
        found: ca.SX = vars(system.expressions)[COLUMNS[what]]
        return found
    if what in tasks:
        return system.memory_after(tasks[what])
    raise ModelError([Flaw("what", f"'{what}' is unknown", nearest(what, [*COLUMNS, *tasks]))], "casadi")


def _name(what: str, by: str) -> str:
    plain = what.replace(":", "_").replace(".", "_")
    return f"{plain}_by_{by}" if by else plain
