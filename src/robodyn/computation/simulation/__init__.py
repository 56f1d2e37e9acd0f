"""Simulation, System + Solver -> Run: compile, assemble the start, integrate, check, record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.base import load_when_used

if TYPE_CHECKING:
    from ...description.model import Solver
    from .certificate import interpolation_errors
    from .compiled import CompiledSystem
    from .equilibrium import Equilibrium, find_equilibrium
    from .loop_assembly import Assembled, close_constraints, find_branches
    from .many import simulate_many
    from .rollout import Rollout, compile_rollout
    from .run_functions import check_operations, compile_system
    from .simulator import simulate

__getattr__, __dir__, __all__ = load_when_used(__name__)
