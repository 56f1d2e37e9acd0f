"""Methods keep their order across ticks, events and delays."""

import numpy as np
import pytest
from convergence.rates import final_error, forced, observed_order
from support.kernels import kernel, make_problem

from robodyn.description.model import Solver

FIRST = dict.fromkeys(("euler", "symplectic_euler"), 1)
SECOND = dict.fromkeys(("heun", "heun_euler", "trbdf2", "rkc"), 2)
METHODS = FIRST | SECOND | {"rk4": 4, "rodas4": 4, "rodas4p": 4, "dopri5": 5}
ADAPTIVE = ["dopri5", "heun_euler", "rodas4", "rodas4p", "trbdf2", "rkc"]


def plant(t, x, d, m, p, out):
    out[0] = -(x[0] ** 2) + m[0]


def plant_jacobian(t, x, d, m, p, out):
    out[0] = -2 * x[0]


def sample(t, x, d, m, p, out):
    out[0] = (1.0 + x[0]) ** 2


PERIOD, SAMPLES = 0.25, 8


def exact_sampled():
    """x' = u - x^2 with held u: x(s) = w tanh(w s + atanh(x0 / w)), w = sqrt(u)."""
    x = 0.5
    for _ in range(SAMPLES):
        w = 1.0 + x
        x = w * np.tanh(w * PERIOD + np.arctanh(x / w))
    return x


SAMPLED = make_problem(
    kernel(plant),
    1,
    n_m=1,
    jacobian=kernel(plant_jacobian),
    task=np.array([kernel(sample)]),
    task_period=np.array([1]),
    task_offset=np.array([0]),
    base_period=PERIOD,
)


@pytest.mark.parametrize(("method", "order"), METHODS.items())
def test_order_holds_across_ticks(method, order):
    steps = PERIOD / np.array([4, 8, 16])
    errors = [final_error(SAMPLED, forced(method, h), PERIOD * SAMPLES, [0.5], exact_sampled(), [0.0]) for h in steps]
    assert observed_order(steps, errors) == pytest.approx(order, abs=0.4)


@pytest.mark.parametrize("method", ADAPTIVE)
def test_errors_follow_the_tolerance_across_ticks(method):
    tolerances = np.array([1e-4, 1e-6, 1e-8])
    errors = [
        final_error(SAMPLED, Solver(method, rtol=e, atol=e), PERIOD * SAMPLES, [0.5], exact_sampled(), [0.0])
        for e in tolerances
    ]
    # A method of order 2 leaves tolerance^(2/3), higher ones less; ticks cut long steps, so the rate is not
    # sharp.
    assert errors[2] < 1e-2 * errors[0]
    assert np.all(np.array(errors) < 5 * tolerances ** (2 / 3))


def switched(t, x, d, m, p, out):
    out[0] = (1.0 + x[0] * x[0]) * (1.0 - 2.0 * m[0])


def switched_jacobian(t, x, d, m, p, out):
    out[0] = 2.0 * x[0] * (1.0 - 2.0 * m[0])


def thresholds(t, x, d, m, p, out):
    out[0] = x[0] - 1.0
    out[1] = x[0] + 0.5


def threshold_rates(t, x, d, m, p, out):
    out[0] = (1.0 + x[0] * x[0]) * (1.0 - 2.0 * m[0])
    out[1] = out[0]


def reverse(t, x, d, m, p, out):
    out[0] = x[0]
    out[1] = 1.0 - m[0]


TURN = kernel(reverse)
SWITCHED = make_problem(
    kernel(switched),
    1,
    n_m=1,
    n_guards=2,
    guards=kernel(thresholds),
    guard_rates=kernel(threshold_rates),
    jacobian=kernel(switched_jacobian),
    guard_direction=np.array([1, -1]),
    guard_action=np.array([TURN, TURN]),
)
T_SWITCHED = 5.0


def exact_switched():
    """x = tan(phase), with the phase a triangle wave of slope 1 between atan(-0.5) and atan(1)."""
    low, high = np.arctan(-0.5), np.arctan(1.0)
    phase = (T_SWITCHED - low) % (2 * (high - low))
    return np.tan(low + min(phase, 2 * (high - low) - phase))


@pytest.mark.parametrize(("method", "order"), METHODS.items())
def test_order_holds_across_located_events(method, order):
    # Where the last step of a segment is cut varies from one step size to the next: the rate is taken over
    # many.
    steps = T_SWITCHED / np.array([100, 141, 200, 283, 400, 566, 800]) * (1.0 if method != "dopri5" else 2.0)
    errors = [final_error(SWITCHED, forced(method, h), T_SWITCHED, [0.0], exact_switched(), [0.0]) for h in steps]
    assert observed_order(steps, errors) > order - 0.5


@pytest.mark.parametrize("method", ADAPTIVE)
def test_errors_follow_the_tolerance_across_events(method):
    tolerances = np.array([1e-4, 1e-6, 1e-8])
    errors = [
        final_error(SWITCHED, Solver(method, rtol=e, atol=e), T_SWITCHED, [0.0], exact_switched(), [0.0])
        for e in tolerances
    ]
    assert errors[2] < 2e-2 * errors[0] ** 0.6
    assert errors[2] < 3e-5


def delayed_rhs(t, x, d, m, p, out):
    out[0] = -0.5 * x[0] - d[0]


def delayed_jacobian(t, x, d, m, p, out):
    out[0] = -0.5


def signal(t, x, d, m, p, out):
    out[0] = x[0]


DELAYED = make_problem(
    kernel(delayed_rhs),
    1,
    n_d=1,
    jacobian=kernel(delayed_jacobian),
    delayed=kernel(signal),
    delay_times=np.ones(1),
    history_start=np.ones(1),
)
T_DELAYED = 5.0


def exact_delayed():
    """Method of steps: a power series in each unit interval, (n + 1) c_(n+1) = -c_n / 2 - b_n with b the one
    before."""
    terms = 40
    before = np.zeros(terms)
    before[0] = 1.0
    for _ in range(int(T_DELAYED)):
        series = np.zeros(terms)
        series[0] = before.sum()
        for n in range(terms - 1):
            series[n + 1] = (-0.5 * series[n] - before[n]) / (n + 1)
        before = series
    return before.sum()


@pytest.mark.parametrize(("method", "order"), METHODS.items())
def test_order_holds_with_delays(method, order):
    # Steps that do not divide the delay: breakpoints must be met on their own account.
    steps = 1.0 / np.array([4.3, 8.6, 17.2])
    errors = [final_error(DELAYED, forced(method, h), T_DELAYED, [1.0], exact_delayed()) for h in steps]
    assert observed_order(steps, errors) > order - 0.4


@pytest.mark.parametrize("method", ADAPTIVE)
def test_errors_follow_the_tolerance_with_delays(method):
    tolerances = np.array([1e-4, 1e-6, 1e-8])
    errors = [
        final_error(DELAYED, Solver(method, rtol=e, atol=e), T_DELAYED, [1.0], exact_delayed()) for e in tolerances
    ]
    assert errors[2] < 1e-2 * errors[0]
    assert errors[2] < 1e-6
