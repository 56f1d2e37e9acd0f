"""Stiff methods take long steps on stiff problems and are still accurate."""

import numpy as np
import pytest
from convergence.rates import EMPTY, final_error, forced, observed_order
from support.kernels import kernel, make_problem

from robodyn.computation.engine import EngineRecording, Status, integrate
from robodyn.description.model import Solver

STIFF = ["rodas4", "rodas4p", "trbdf2"]
MU = 1000.0


def van_der_pol(t, x, d, m, p, out):
    out[0] = x[1]
    out[1] = MU * (1 - x[0] ** 2) * x[1] - x[0]


def van_der_pol_jacobian(t, x, d, m, p, out):
    out[0] = 0.0
    out[1] = -2 * MU * x[0] * x[1] - 1
    out[2] = 1.0
    out[3] = MU * (1 - x[0] ** 2)


def zeros(t, x, d, m, p, out):
    out[0] = 0.0
    out[1] = 0.0


@pytest.mark.parametrize("method", STIFF)
def test_van_der_pol_ends_at_the_published_values(method, proof):
    problem = make_problem(kernel(van_der_pol), 2, jacobian=kernel(van_der_pol_jacobian), time_derivative=kernel(zeros))
    solver = Solver(method, rtol=1e-7, atol=1e-7)
    result = integrate(problem, solver, 0.0, 2000.0, np.array([2.0, 0.0]), EMPTY, EMPTY, EngineRecording("none"))
    assert result.status is Status.FINISHED
    # Mazzia and Magherini, Test Set for IVP Solvers 2.4 (2008), problem vdpol: epsilon = 1e-6 in scaled time.
    # The second-order method leaves more of its tolerance.
    published = np.array([1.706167732170483, -8.928097010247975e-4])
    within = 1e-3 if method == "trbdf2" else 1e-5
    apart = float(np.max(np.abs(result.x / published - 1)))
    what, source = (
        f"stiff van der Pol equation at its end, {method} at rtol 1e-7",
        "Test Set for IVP Solvers 2.4, vdpol",
    )
    proof(what, kind="published", source=source, deviation=apart, within=within, relative=True)
    assert result.counters.steps < (40_000 if method == "trbdf2" else 3_000)
    # Newton's method keeps its derivatives while it converges; a Rosenbrock step needs them anew.
    steps, jacobians = result.counters.steps, result.counters.jacobians
    assert jacobians < steps / 4 if method == "trbdf2" else jacobians >= steps


RATE = -1e6


def follower(t, x, d, m, p, out):
    out[0] = RATE * (x[0] - np.sin(t[0])) + np.cos(t[0])


def follower_jacobian(t, x, d, m, p, out):
    out[0] = RATE


def follower_slope(t, x, d, m, p, out):
    out[0] = -RATE * np.cos(t[0]) - np.sin(t[0])


FOLLOWER = make_problem(kernel(follower), 1, jacobian=kernel(follower_jacobian), time_derivative=kernel(follower_slope))


@pytest.mark.parametrize(("method", "order", "counts"), [("rodas4", 1, (20, 40, 80)), ("rodas4p", 3, (5, 10, 20))])
def test_a_stiff_follower_shows_the_known_loss_of_order(method, order, counts):
    # Prothero and Robinson (1974): far beyond h |lambda| = 1 the classical order 4 is not seen, and only the last
    # step counts. RODASP was made to lose less. Its counts are small because at 80 steps it reaches rounding.
    steps = 1.0 / np.array(counts)
    errors = [final_error(FOLLOWER, forced(method, h), 1.0, [0.0], np.sin(1.0)) for h in steps]
    assert observed_order(steps, errors) == pytest.approx(order, abs=0.2)
    assert max(errors) < 1e-8


@pytest.mark.parametrize("method", STIFF)
def test_a_wrong_start_is_forgotten_at_once(method):
    # One step of h |lambda| = 1e5 from far off the equilibrium: an L-stable method is there after a step or
    # two.
    solver = Solver(method, step=0.1, max_step=0.1, rtol=1e-3, atol=1e6)
    assert final_error(FOLLOWER, solver, 1.0, [1e3], np.sin(1.0)) < 1.0


def test_stages_of_rkc_grow_as_the_root_of_the_stiffness():
    """x_i' = -r_i (x_i - cos t): two that settle at 1/s and at 1e3 to 1e5/s; no derivatives are given."""

    def settling(t, x, d, m, p, out):
        out[0] = np.cos(t[0]) - x[0]
        out[1] = p[0] * (np.cos(t[0]) - x[1])

    problem, solver = make_problem(kernel(settling), 2), Solver("rkc", rtol=1e-4, atol=1e-4)
    rates, evaluations = [1e3, 1e4, 1e5], []
    for rate in rates:
        start, p = np.array([0.5, 1.0]), np.array([rate])
        result = integrate(problem, solver, 0.0, 10.0, start, EMPTY, p, EngineRecording("none"))
        exact = np.array([0.5 * (np.cos(10.0) + np.sin(10.0)), np.cos(10.0)])
        assert np.max(np.abs(result.x - exact)) < 1e-3
        evaluations.append(result.counters.evaluations)
    # Euler's method is stable up to two time constants of the fastest: a tenth of its evaluations.
    assert observed_order(rates, evaluations) == pytest.approx(0.5, abs=0.15)
    assert evaluations[-1] < 0.1 * 10.0 * rates[-1] / 2.0
