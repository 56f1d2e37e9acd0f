"""Every method has its order on a smooth, nonlinear, non-autonomous problem."""

import dataclasses

import numpy as np
import pytest
from convergence.rates import EMPTY, final_error, forced, observed_order
from support.kernels import kernel, make_problem

from robodyn.analysis.mechanics.hamiltonian import simulate_symplectic
from robodyn.computation.engine import EngineRecording, integrate
from robodyn.computation.simulation import simulate
from robodyn.description.catalog import double_pendulum
from robodyn.description.model import Solver

T_END = 3.0
EXACT = np.array([np.sin(T_END), np.cos(T_END)])


def rhs(t, x, d, m, p, out):
    out[0] = x[1]
    out[1] = -(x[0] ** 3) + np.sin(t[0]) ** 3 - np.sin(t[0])


def jacobian(t, x, d, m, p, out):
    out[0] = 0.0
    out[1] = -3 * x[0] ** 2
    out[2] = 1.0
    out[3] = 0.0


def time_derivative(t, x, d, m, p, out):
    out[0] = 0.0
    out[1] = 3 * np.sin(t[0]) ** 2 * np.cos(t[0]) - np.cos(t[0])


def position_rate(t, x, d, m, p, out):
    out[0] = x[1]


PROBLEM = make_problem(
    kernel(rhs),
    2,
    n_q=1,
    jacobian=kernel(jacobian),
    time_derivative=kernel(time_derivative),
    position_rate=kernel(position_rate),
)
START = (0.0, 1.0)
FIXED = [name for name in Solver.names() if not (Solver(name).adaptive or Solver(name).contact_step)]


@pytest.mark.parametrize(
    "method", ["euler", "symplectic_euler", "heun", "heun_euler", "rk4", "dopri5", "rodas4", "rodas4p", "rkc"]
)
def test_equal_steps_have_the_methods_order(method):
    steps = T_END / np.array([40, 80, 160])
    errors = [final_error(PROBLEM, forced(method, h), T_END, START, EXACT) for h in steps]
    # The next term of the error expansion changes the slope by a few tenths at these steps.
    assert observed_order(steps, errors) == pytest.approx(Solver(method).order, abs=0.35)


@pytest.mark.parametrize("method", FIXED)
def test_fixed_steps_of_a_double_pendulum_have_the_order_that_is_said(method):
    """A mechanism whose mass matrix and inertia forces change with position and speed: what a whole step leaves out
    of its Jacobian must not cost it its order."""
    falling = dataclasses.replace(double_pendulum(0.5), solver=Solver())
    states = [f"{joint}.{quantity}" for joint in ("shoulder", "elbow") for quantity in ("position", "velocity")]
    exact = simulate(falling, Solver("dopri5", rtol=1e-12, atol=1e-14))
    steps, errors = 0.5 / np.array([50, 100, 200]), []
    for step in steps:
        symplectic = method == "rattle"
        run = simulate_symplectic(falling, step) if symplectic else simulate(falling, Solver(method, step=step))
        errors.append(max(abs(float(run[name](0.5)) - float(exact[name](0.5))) for name in states))
    # The next term of Euler's error changes its slope by 0.1.
    assert observed_order(steps, errors) == pytest.approx(Solver(method).order, abs=0.15)


def test_differences_replace_a_missing_time_derivative():
    steps = T_END / np.array([40, 80, 160])
    problem = PROBLEM.replaced(time_derivative=0)
    errors = [final_error(problem, forced("rodas4", h), T_END, START, EXACT) for h in steps]
    assert observed_order(steps, errors) == pytest.approx(4, abs=0.35)


def test_trbdf2_has_order_two_by_its_number_of_steps():
    # Its Newton iteration needs a meaningful tolerance, so the steps are chosen by the tolerance.
    counts, errors = [], []
    for tolerance in (1e-5, 1e-6, 1e-7, 1e-8):
        solver = Solver("trbdf2", rtol=tolerance, atol=tolerance)
        result = integrate(PROBLEM, solver, 0.0, T_END, np.array(START), EMPTY, EMPTY, EngineRecording("none"))
        counts.append(result.counters.steps)
        errors.append(np.abs(result.x - EXACT).max())
    assert observed_order(1 / np.array(counts), errors) == pytest.approx(2, abs=0.3)


@pytest.mark.parametrize("method", ["heun_euler", "dopri5", "rodas4", "rodas4p", "trbdf2", "rkc"])
def test_errors_follow_the_tolerance(method):
    tolerances = np.array([1e-4, 1e-6, 1e-8])
    errors = [final_error(PROBLEM, Solver(method, rtol=e, atol=e), T_END, START, EXACT) for e in tolerances]
    # Error per step is controlled: the final error goes as tolerance^(p / (p + 1)), which is 2/3 for order 2;
    # a method of low order adds up more steps.
    assert observed_order(tolerances, errors) > 0.6
    assert errors[-1] < 1e-5


@pytest.mark.parametrize(
    ("method", "order"), [("heun", 3), ("rk4", 4), ("dopri5", 5), ("rodas4", 4), ("trbdf2", 3), ("rkc", 3)]
)
def test_polynomials_between_steps_keep_up(method, order):
    errors, steps = [], T_END / np.array([20, 40, 80])
    for h in steps:
        solver = forced(method, h) if method != "trbdf2" else Solver(method, step=h, max_step=h, rtol=1e-3, atol=1e-3)
        result = integrate(PROBLEM, solver, 0.0, h, np.array(START), EMPTY, EMPTY, EngineRecording(refine=4))
        exact = np.stack([np.sin(result.time), np.cos(result.time)], axis=1)
        errors.append(np.abs(result.y - exact).max())
    # Within one step from exact values: one power more than the order of the polynomial, or than the
    # method's.
    assert observed_order(steps, errors) > order - 0.3
