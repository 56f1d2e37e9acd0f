"""System + Solver -> Run."""

from robodyn.engine import Solver
from robodyn.simulation.closing import Assembled, close_constraints, find_branches
from robodyn.simulation.compiled import CompiledSystem, check_operations, compile_system
from robodyn.simulation.equilibrium import Equilibrium, find_equilibrium
from robodyn.simulation.settings import make_solver
from robodyn.simulation.simulator import simulate

__all__ = [
    "Assembled",
    "CompiledSystem",
    "Equilibrium",
    "Solver",
    "check_operations",
    "close_constraints",
    "compile_system",
    "find_branches",
    "find_equilibrium",
    "make_solver",
    "simulate",
]
