"""Implicit steps whose matrix is singular, or whose Newton iteration leaves the numbers, are made shorter."""

import numpy as np
import pytest
from support.kernels import kernel, make_problem

from robodyn.computation.engine import EngineRecording, Status, integrate
from robodyn.computation.engine.tableaus import METHODS
from robodyn.description.model import Solver

EMPTY = np.zeros(0)


def zero(t, x, d, m, p, out):
    out[0] = 0.0


def run(rhs, jacobian, solver, duration):
    tables = {"jacobian": kernel(jacobian), "time_derivative": kernel(zero)}
    problem = make_problem(kernel(rhs), 1, **tables)
    return integrate(problem, solver, 0.0, duration, np.zeros(1), EMPTY, EMPTY, EngineRecording())


@pytest.mark.parametrize("method", ["rodas4", "rodas4p", "trbdf2"])
def test_a_step_with_a_singular_matrix_is_made_shorter(method):
    """x' = rate x + 1: I - gamma h rate is zero in the first step."""
    first = 0.125
    rate = 1.0 / (METHODS[method]().gamma * first)

    def rhs(t, x, d, m, p, out):
        out[0] = rate * x[0] + 1.0

    def slope(t, x, d, m, p, out):
        out[0] = rate

    done = run(rhs, slope, Solver(method, step=first, rtol=1e-8, atol=1e-10), 0.25)
    assert done.status == Status.FINISHED
    assert done.counters.rejected >= 1
    # The solution grows with its errors, of which each step makes some 1e-8.
    assert done.y[-1, 0] == pytest.approx((np.exp(rate * 0.25) - 1.0) / rate, rel=1e-5)


@pytest.mark.parametrize("beyond", [np.nan, np.inf])
def test_an_iteration_that_leaves_the_numbers_ends_and_the_step_is_made_shorter(beyond):
    """x' = 1000 (1 - x), which is not a number above 1.5, with a matrix that knows nothing of the 1000."""

    def rhs(t, x, d, m, p, out):
        out[0] = 1e3 * (1.0 - x[0]) if x[0] < 1.5 else beyond

    done = run(rhs, zero, Solver("trbdf2", step=0.1, rtol=1e-6, atol=1e-8), 0.005)
    assert done.status == Status.FINISHED
    assert done.y[-1, 0] == pytest.approx(1.0 - np.exp(-5.0), abs=1e-5)
