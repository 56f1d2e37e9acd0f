"""Simulation, System + Solver -> Run: compile, assemble the start, integrate, check, record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.base.lazy import load_when_used

if TYPE_CHECKING:
    from robodyn.computation.simulation.certificate import interpolation_errors
    from robodyn.computation.simulation.compiled import CompiledSystem
    from robodyn.computation.simulation.equilibrium import Equilibrium, find_equilibrium
    from robodyn.computation.simulation.loop_assembly import Assembled, close_constraints, find_branches
    from robodyn.computation.simulation.many import simulate_many
    from robodyn.computation.simulation.rollout import Rollout, compile_rollout
    from robodyn.computation.simulation.run_functions import check_operations, compile_system
    from robodyn.computation.simulation.simulator import simulate
    from robodyn.description.model import Solver

__all__ = [
    "Assembled",
    "CompiledSystem",
    "Equilibrium",
    "Rollout",
    "Solver",
    "check_operations",
    "close_constraints",
    "compile_rollout",
    "compile_system",
    "find_branches",
    "find_equilibrium",
    "interpolation_errors",
    "simulate",
    "simulate_many",
]

__getattr__, __dir__ = load_when_used(
    __name__,
    {
        "robodyn.description.model": "Solver",
        "robodyn.computation.simulation.loop_assembly": "Assembled close_constraints find_branches",
        "robodyn.computation.simulation.certificate": "interpolation_errors",
        "robodyn.computation.simulation.compiled": "CompiledSystem",
        "robodyn.computation.simulation.run_functions": "check_operations compile_system",
        "robodyn.computation.simulation.equilibrium": "Equilibrium find_equilibrium",
        "robodyn.computation.simulation.many": "simulate_many",
        "robodyn.computation.simulation.rollout": "Rollout compile_rollout",
        "robodyn.computation.simulation.simulator": "simulate",
    },
)
