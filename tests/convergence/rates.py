"""Observed orders of convergence."""

import numpy as np
from support.solvers import any_solver

from robodyn.computation.engine import EngineRecording, integrate
from robodyn.description.model import Solver

EMPTY = np.zeros(0)
LOOSE, NEWTON = 1e6, 1e-2
"""A tolerance that never rejects: an adaptive method then steps by its longest step."""


def forced(method: str, step: float) -> Solver:
    """A solver that takes equal steps, whether the method is adaptive or not.

    Newton's iterations stop at a part of the tolerance, so a method that needs them gets one that rejects no step of
    these problems but leaves Newton's error far below the method's.
    """
    if method == "trbdf2":
        return any_solver(method, step=step, max_step=step, rtol=NEWTON, atol=NEWTON)
    return any_solver(method, step=step, max_step=step, rtol=LOOSE, atol=LOOSE)


def final_error(problem, solver, t_end, x0, exact, m0=EMPTY) -> float:
    """Largest error of any state at the end."""
    result = integrate(
        problem, solver, 0.0, t_end, np.array(x0, float), np.array(m0, float), EMPTY, EngineRecording("none")
    )
    assert result.status == 1, result.status
    return float(np.abs(result.x - exact).max())


def observed_order(steps, errors) -> float:
    """Slope of log error over log step by least squares."""
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])
