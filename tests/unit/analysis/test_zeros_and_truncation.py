"""Are zeros, hidden motions and models of lower order those of closed forms?"""

import numpy as np
import pytest
from scipy.linalg import solve_continuous_lyapunov

from robodyn.analysis.linear.linear_model import DelayedSignal, LinearModel
from robodyn.analysis.linear.poles import (
    factor_gramian,
    find_cancelled_pairs,
    find_hidden_poles,
    find_minimal,
    find_zeros,
    split_stable,
    truncate,
)
from robodyn.base.errors import ModelError

# --------------------------------------------------------------------------------------------------
# Are zeros those of the numerators, and do pole-zero pairs that cancel show?


control = pytest.importorskip("control")


def ordered(values):
    return np.sort_complex(np.round(np.asarray(values, complex), 6))


@pytest.mark.parametrize(
    ("zeros", "poles"),
    [
        ((-2, -3), (-1, -4, -5)),
        ((-1 + 2j, -1 - 2j), (-1, -2, -3, -4)),
        ((2, -3), (-1, -4)),
        ((), (-1, -2, -3)),
        ((0,), (0, 0, 1)),
    ],
)
def test_zeros_of_one_channel_are_roots_of_its_numerator(zeros, poles):
    model = LinearModel.from_control(control.ss(control.zpk(zeros, poles, 7.0)))
    np.testing.assert_allclose(ordered(find_zeros(model)), ordered(zeros), atol=1e-6)


@pytest.mark.parametrize("through", [0.0, 1.0])
@pytest.mark.parametrize("channels", [(2, 2), (3, 3)])
def test_the_system_matrix_loses_rank_at_each_zero_of_several_channels(channels, through):
    generator = np.random.default_rng(5)
    A, B, C = (generator.standard_normal(shape) for shape in ((7, 7), (7, channels[0]), (channels[1], 7)))
    D = through * generator.standard_normal(channels[::-1])
    zeros = find_zeros(LinearModel(A, B, C, D))
    # A general D leaves as many zeros as states, none leaves one less for each channel.
    assert zeros.size == (7 if through else 7 - channels[0])
    for s in zeros:
        sizes = np.linalg.svd(np.block([[A - s * np.eye(7), B], [C, D]]), compute_uv=False)
        assert sizes[-1] < 1e-12 * sizes[0]


def test_a_general_model_with_more_outputs_than_inputs_has_no_zeros():
    generator = np.random.default_rng(6)
    assert not find_zeros(LinearModel(*(generator.standard_normal(s) for s in ((6, 6), (6, 2), (3, 6))))).size


def test_a_common_zero_of_all_outputs_is_found_though_there_are_more_outputs_than_inputs():
    """y1 = (s + 2) g u and y2 = (s + 2) g u / (s + 5) vanish together."""
    s = control.tf("s")
    g = (s + 2) / ((s + 1) * (s + 3))
    stacked = control.append(control.ss(g), control.ss(g / (s + 5)))
    model = LinearModel(stacked.A, stacked.B @ np.ones((2, 1)), stacked.C, stacked.D @ np.ones((2, 1)))
    found = find_zeros(find_minimal(model))
    np.testing.assert_allclose(found, [-2.0], rtol=1e-6)


def test_units_of_channels_do_not_move_zeros():
    model = LinearModel.from_control(control.ss(control.zpk([-2, -3], [-1, -4, -5], 1.0)))
    other = LinearModel(model.A, 1e7 * model.B, 1e-9 * model.C)
    np.testing.assert_allclose(find_zeros(other), find_zeros(model), rtol=1e-8)


def test_a_pole_that_a_zero_hides_is_told_with_it():
    model = LinearModel.from_control(control.ss(control.zpk([-2, -7], [-1, -2, -5], 1.0)))
    (pair,) = find_cancelled_pairs(model)
    assert pair.pole == pytest.approx(-2.0, abs=1e-6)
    assert pair.zero == pytest.approx(-2.0, abs=1e-6)
    assert find_cancelled_pairs(find_minimal(model)) == ()


def test_a_model_without_inputs_has_no_zeros():
    assert not find_zeros(LinearModel([[-1.0]], C=[[1.0]])).size


# --------------------------------------------------------------------------------------------------
# Are states found that inputs do not reach and outputs do not see?


def hidden_states(seed=3):
    """Kalman's form of 4 seen and reached, 2 not reached, 3 not seen, mixed by a random change of states."""
    generator = np.random.default_rng(seed)
    A = generator.standard_normal((9, 9)) - 3 * np.eye(9)
    # Not seen (3), both (4), not reached (2): the first act on no others, on the last no others act.
    A[3:, :3] = 0.0
    A[7:, :7] = 0.0
    B, C = generator.standard_normal((9, 2)), generator.standard_normal((2, 9))
    B[7:], C[:, :3] = 0.0, 0.0
    T = generator.standard_normal((9, 9))
    core = LinearModel(A[3:7, 3:7], B[3:7], C[:, 3:7])
    mixed = LinearModel(T @ A @ np.linalg.inv(T), T @ B, C @ np.linalg.inv(T))
    return mixed, core, np.linalg.eigvals(A[7:, 7:]), np.linalg.eigvals(A[:3, :3])


def test_the_minimal_model_has_what_is_reached_and_seen():
    mixed, core, _, _ = hidden_states()
    found = find_minimal(mixed)
    assert found.order == 4
    np.testing.assert_allclose(np.sort_complex(found.poles()), np.sort_complex(core.poles()), rtol=1e-8)
    omega = np.logspace(-2, 2, 40)
    np.testing.assert_allclose(found.frequency_response(omega), core.frequency_response(omega), atol=1e-11)


def test_staircase_and_balanced_truncation_agree():
    mixed, _, _, _ = hidden_states()
    balanced = truncate(mixed).model
    assert balanced.order == find_minimal(mixed).order
    omega = np.logspace(-2, 2, 40)
    np.testing.assert_allclose(
        balanced.frequency_response(omega), find_minimal(mixed).frequency_response(omega), atol=1e-8
    )


def test_hidden_poles_are_told_by_what_hides_them():
    mixed, _, unreached, unseen = hidden_states()
    found = find_hidden_poles(mixed)
    np.testing.assert_allclose(np.sort_complex(found.uncontrollable), np.sort_complex(unreached), rtol=1e-8)
    np.testing.assert_allclose(np.sort_complex(found.unobservable), np.sort_complex(unseen), rtol=1e-8)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_of_states_and_channels_do_not_count(scale):
    mixed, _, _, _ = hidden_states()
    units = np.diag(scale ** np.linspace(-1, 1, 9))
    other = LinearModel(units @ mixed.A @ np.linalg.inv(units), units @ mixed.B * scale, mixed.C @ np.linalg.inv(units))
    assert find_minimal(other).order == 4


def test_a_minimal_model_stays_as_large_as_it_is():
    _, core, _, _ = hidden_states()
    found = find_hidden_poles(core)
    assert (find_minimal(core).order, found.uncontrollable.size, found.unobservable.size) == (4, 0, 0)


# --------------------------------------------------------------------------------------------------
# Does balanced truncation keep what matters, and everything where nothing is left out?


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
