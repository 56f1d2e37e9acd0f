"""Is a Rosenbrock step in one function that which the engine composes?"""

import casadi as ca
import numpy as np
import pytest
from support.kernels import make_problem

from robodyn.computation.engine import EngineRecording, integrate
from robodyn.computation.engine.tableaus import method_number, method_table
from robodyn.computation.native import compile_kernels
from robodyn.computation.simulation.step_equations import trace_step
from robodyn.description.model import Solver

EMPTY = np.zeros(0)
START = np.array([2.0, 0.0, 0.0])


def both(f, x, t, method, **others):
    """Problems of x_dot = f(t, x): with steps in one function, and with composed ones."""
    rest = [ca.SX.sym(name, 0) for name in "dmp"]
    column, result = trace_step(method_table(method), t, x, f)
    functions = {"rhs": f, "jacobian": ca.densify(ca.jacobian(f, x)), "slope": ca.densify(ca.jacobian(f, t))}
    functions = {name: ca.Function(name, [t, x, *rest], [ca.densify(each)]) for name, each in functions.items()}
    functions["step"] = ca.Function("step", [t, column, *rest], [result])
    module = compile_kernels(functions, cache=False)
    at = {name: kernel.address for name, kernel in module.kernels.items()}
    given = {"jacobian": at["jacobian"], "time_derivative": at["slope"], **others}
    number = method_number(method)
    traced = make_problem(at["rhs"], x.numel(), **given, rosenbrock_step=at["step"], rosenbrock_method=number)
    return (traced, traced.replaced(rosenbrock_step=0)), module


@pytest.mark.parametrize("method", ["rodas4", "rodas4p"])
def test_a_traced_step_is_the_composed_one(method):
    """Stiff, driven by time, with a force that sets in at a break: both take the same steps to the same states."""
    t, x = ca.SX.sym("t"), ca.SX.sym("x", 3)
    force = ca.if_else(t < 1.0, 0.0, 3.0)
    f = ca.vertcat(x[1], 300.0 * (1 - x[0] ** 2) * x[1] - x[0] + force, -1e4 * (x[2] - ca.sin(5 * t)) + x[0])
    problems, module = both(f, x, t, method, breaks=np.array([1.0]), autonomous=0)
    # One step, to rounding: states of 1e-2 to 2 are sums of stages of about their size.
    loose = Solver(method, step=5e-3, rtol=1e6)
    one, other = (integrate(each, loose, 0.0, 5e-3, START, EMPTY, EMPTY, EngineRecording("none")) for each in problems)
    assert one.counters.steps == 1
    np.testing.assert_allclose(one.x, other.x, rtol=1e-13)
    solver = Solver(method, rtol=1e-7, atol=1e-9)
    ours, composed = (
        integrate(each, solver, 0.0, 2.0, START, EMPTY, EMPTY, EngineRecording("none")) for each in problems
    )
    assert (ours.counters.steps, ours.counters.rejected) == (composed.counters.steps, composed.counters.rejected)
    assert ours.counters.evaluations != composed.counters.evaluations  # The slope is not kept after a rejection.
    # Rounding makes some steps longer by a little, which changes the error of a step by far less than its tolerance.
    np.testing.assert_allclose(ours.x, composed.x, rtol=1e-9)
    assert ours.x.tobytes() != composed.x.tobytes()
    del module


def test_where_pivots_are_needed_the_engine_takes_the_step():
    """The first pivot, 1 / (gamma h) - J_00 = 8 - 8, is zero; the next step is half as long."""
    t, x = ca.SX.sym("t"), ca.SX.sym("x", 2)
    problems, module = both(ca.vertcat(8.0 * x[0] + x[1], x[0] - 2.0 * x[1]), x, t, "rodas4")
    solver = Solver("rodas4", step=0.5, rtol=1e6)
    ends = [
        integrate(problem, solver, 0.0, 0.5, np.array([1.0, 2.0]), EMPTY, EMPTY, EngineRecording("none")).x
        for problem in problems
    ]
    assert np.all(np.isfinite(ends[0]))
    assert ends[0].tobytes() == ends[1].tobytes()
    del module
