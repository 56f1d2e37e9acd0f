"""System + Solver -> Run."""

from robodyn.engine import Solver
from robodyn.simulation.compiled import CompiledSystem, check_operations, compile_system
from robodyn.simulation.settings import make_solver
from robodyn.simulation.simulator import simulate

__all__ = ["CompiledSystem", "Solver", "check_operations", "compile_system", "make_solver", "simulate"]
