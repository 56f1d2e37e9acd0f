"""Request of a run: can the engine carry it out, and what are its settings in the engine's own terms?"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.engine.problem import Problem
from robodyn.engine.solver import DEFAULT_FIXED_STEP, method_table
from robodyn.engine.tableaus import SYMPLECTIC

if TYPE_CHECKING:
    from robodyn.model import Solver

NO_LIMIT = np.iinfo(np.int64).max


def check_method(problem: Problem, solver: "Solver") -> None:
    """Refuse a method that needs what the problem does not have."""
    symplectic = method_table(solver.method).family == SYMPLECTIC
    for needed, missing, what in (
        (solver.stiff, problem.jacobian == 0, "Jacobian"),
        (symplectic and problem.n_q > 0, problem.position_rate == 0, "position rates"),
        (solver.implicit_step, problem.step_residual == 0, "equations of a step"),
        (solver.fused_step, problem.fused_step == 0, "whole step"),
    ):
        if needed and missing:
            raise ValueError(f"method: {solver.method} needs the {what}, which the problem does not have")


def check_start(problem: Problem, x0: np.ndarray, m0: np.ndarray) -> None:
    """Refuse states and memory of another size than the problem's."""
    for name, values, size in (("x0", x0, problem.n_x), ("m0", m0, problem.n_m)):
        if np.shape(values) != (size,):
            raise ValueError(f"{name}: must have the shape ({size},), has {np.shape(values)}")


def check_span(times: np.ndarray, t0: float, t_end: float) -> None:
    """Refuse a run that does not end, and instants asked for outside of it."""
    if not (math.isfinite(t0) and math.isfinite(t_end) and t_end >= t0):
        raise ValueError(f"t_end: must be finite and not before t0 = {t0}, is {t_end}")
    if len(times) and (times[0] < t0 or times[-1] > t_end):
        raise ValueError(f"times: must lie in {t0}..{t_end}, are in {times[0]}..{times[-1]}")


def engine_settings(solver: "Solver") -> dict[str, Any]:
    """Settings as the engine counts them: 0 for what it is to choose."""
    return {
        "step": solver.step or (0.0 if solver.adaptive else DEFAULT_FIXED_STEP),
        "min_step": solver.min_step or 0.0,
        "max_steps": solver.max_steps or NO_LIMIT,
    }


def require_shape(name: str, values: np.ndarray, size: int) -> None:
    """Refuse what a callback returned in the wrong shape."""
    if values.shape != (size,):
        raise ValueError(f"{name} must have the shape ({size},), has {values.shape}")
