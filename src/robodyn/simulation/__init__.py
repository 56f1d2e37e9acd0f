"""Simulation, System + Solver -> Run: compile, assemble the start, integrate, check, record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.lazy import load_when_used

if TYPE_CHECKING:
    from robodyn.model import Solver
    from robodyn.simulation.compiled import CompiledSystem
    from robodyn.simulation.equilibrium import Equilibrium, find_equilibrium
    from robodyn.simulation.kept import close_constraints
    from robodyn.simulation.loop_assembly import Assembled, find_branches
    from robodyn.simulation.many import simulate_many
    from robodyn.simulation.rollout import Rollout, compile_rollout
    from robodyn.simulation.run_functions import check_operations, compile_system
    from robodyn.simulation.simulator import simulate

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
    "simulate",
    "simulate_many",
]

__getattr__, __dir__ = load_when_used(
    __name__,
    {
        "robodyn.model": "Solver",
        "robodyn.simulation.loop_assembly": "Assembled find_branches",
        "robodyn.simulation.compiled": "CompiledSystem",
        "robodyn.simulation.run_functions": "check_operations compile_system",
        "robodyn.simulation.equilibrium": "Equilibrium find_equilibrium",
        "robodyn.simulation.kept": "close_constraints",
        "robodyn.simulation.many": "simulate_many",
        "robodyn.simulation.rollout": "Rollout compile_rollout",
        "robodyn.simulation.simulator": "simulate",
    },
)
