"""Does balanced truncation keep what matters, and everything where nothing is left out?"""

import numpy as np
import pytest
from scipy.linalg import solve_continuous_lyapunov

from robodyn.analysis.linear.linear_model import DelayedSignal, LinearModel
from robodyn.analysis.linear.poles import factor_gramian, split_stable, truncate
from robodyn.base.errors import ModelError

OMEGA = np.logspace(-2, 2, 80)


def random_model(n=8, rightmost=-0.3, seed=0):
    generator = np.random.default_rng(seed)
    A = generator.standard_normal((n, n))
    A += (rightmost - np.linalg.eigvals(A).real.max()) * np.eye(n)
    return LinearModel(A, generator.standard_normal((n, 2)), generator.standard_normal((3, n)), np.ones((3, 2)))


def largest_error(first, second):
    """Greatest singular value of the difference over all frequencies."""
    difference = first.frequency_response(OMEGA) - second.frequency_response(OMEGA)
    return np.linalg.norm(difference, 2, axis=(1, 2)).max()


def test_factors_of_gramians_solve_lyapunovs_equation():
    model = random_model()
    L = factor_gramian(model.A, model.B)
    # Rounding of numbers of order one.
    np.testing.assert_allclose(L @ L.T, solve_continuous_lyapunov(model.A, -model.B @ model.B.T), atol=1e-12)


def test_hankel_values_are_those_of_both_gramians():
    model = random_model()
    P = solve_continuous_lyapunov(model.A, -model.B @ model.B.T)
    Q = solve_continuous_lyapunov(model.A.T, -model.C.T @ model.C)
    expected = np.sqrt(np.sort(np.linalg.eigvals(P @ Q).real))[::-1]
    np.testing.assert_allclose(truncate(model).hankel_values, expected, rtol=1e-8)


@pytest.mark.parametrize("order", [2, 4, 6, 7])
def test_the_error_stays_within_its_bound_and_comes_near_it(order):
    model = random_model()
    found = truncate(model, order)
    assert found.model.order == order
    error = largest_error(model, found.model)
    assert error <= found.error_bound
    # No model of that order is nearer than the first value left out.
    assert error >= 0.99 * found.hankel_values[order]


def test_nothing_is_lost_where_all_states_are_kept():
    model = random_model()
    found = truncate(model)
    assert found.model.order == 8
    assert largest_error(model, found.model) < 1e-12
    assert found.error_bound == 0.0


@pytest.mark.parametrize("rightmost", [0.0, 0.5, 2.0])
def test_poles_that_are_not_stable_are_kept_as_they_are(rightmost):
    model = random_model(rightmost=rightmost)
    poles = np.linalg.eigvals(model.A)
    others = poles[poles.real > -1e-9]
    found = truncate(model, len(others) + 2)
    assert found.unstable == len(others)
    distances = np.abs(others[:, None] - found.model.poles()[None, :]).min(axis=1)
    assert distances.max() < 1e-10
    # The part that is truncated is stable: its bound holds for the whole model too.
    assert largest_error(model, found.model) <= found.error_bound


def test_the_two_parts_add_up_to_the_model():
    model = random_model(rightmost=1.0)
    parts = split_stable(model)
    total = parts.stable.frequency_response(OMEGA) + parts.others.frequency_response(OMEGA)
    np.testing.assert_allclose(total, model.frequency_response(OMEGA), atol=1e-12)
    assert parts.stable.poles().real.max() < 0 <= parts.others.poles().real.min()


def test_states_that_inputs_do_not_reach_have_values_of_rounding_size():
    hidden = LinearModel(np.diag([-1.0, -2.0, -3.0]), [[1.0], [1.0], [0.0]], [[1.0, 1.0, 1.0]])
    values = truncate(hidden).hankel_values
    # Not of the size of a root of rounding, as from Gramians themselves.
    assert values[2] < 1e-15 * values[0]
    assert truncate(hidden).model.order == 2


def test_a_model_without_stable_poles_is_all_kept():
    integrators = LinearModel([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], [[1.0, 0.0]])
    found = truncate(integrators)
    assert (found.model.order, found.unstable, found.hankel_values.size) == (2, 2, 0)
    np.testing.assert_allclose(found.model.transfer(2j), integrators.transfer(2j), rtol=1e-14)


def test_orders_out_of_range_and_delays_are_refused():
    with pytest.raises(ModelError, match="must be from 0 .* to 8, is 9"):
        truncate(random_model(), 9)
    late = LinearModel([[-1.0]], [[1.0]], [[1.0]], E=[[1.0]], F=[[1.0]], delays=(DelayedSignal("late", 0.1),))
    with pytest.raises(ModelError, match="infinitely many states"):
        truncate(late)
