"""Acceptance test of an FMU: it is written only if it gives the simulation's numbers, in every use of it."""

from __future__ import annotations

from pathlib import Path

from robodyn.base.errors import Flaw, ModelError
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.exchange.codegen.comparison import TOLERANCE, Agreement
from robodyn.exchange.codegen.model import Model
from robodyn.exchange.fmi.exchange_checking import compare_exchange, compare_motion, compare_unit

MOTION_TIME = 10.0
"""Longest time that the motion of a model-exchange unit is followed by another solver [s]."""
COMPARISONS = {"CoSimulation": compare_unit, "ModelExchange": compare_exchange}


def check_unit(
    path: Path, uses: tuple[str, ...], model: Model, compiled: CompiledSystem
) -> tuple[Agreement, Agreement | None]:
    """The larger difference of all uses, and that of the motion by another solver, where there is one.

    Raises:
        ModelError: where a difference is too large.
    """
    found = [COMPARISONS[use](path, model, compiled) for use in uses]
    for agreement in found:
        _require_good(agreement, model)
    motion = compare_motion(path, model, compiled, MOTION_TIME) if model.exchange else None
    return max(found, key=lambda agreement: agreement.error), motion


def _require_good(found: Agreement, model: Model) -> None:
    if found.good:
        return
    what = f"differs from the simulation by {found.error:.3g} in '{found.signal}' at {found.time:g} s"
    what = what if found.ends else "ends at another time than the simulation"
    remedy = f"allowed is {TOLERANCE:g}: a chaotic motion, or a step at the edge of stability?"
    raise ModelError([Flaw("", f"the unit {what}", remedy)], f"unit of '{model.system.scenario.name}'")
