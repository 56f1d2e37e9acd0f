"""System + Solver -> Run."""

from robodyn.engine import Solver
from robodyn.simulation.compiled import CompiledSystem, compile_system
from robodyn.simulation.settings import make_solver
from robodyn.simulation.simulator import simulate

__all__ = ["CompiledSystem", "Solver", "compile_system", "make_solver", "simulate"]
