"""Is the ladder the Pade approximation of a delay: exact coefficients, all-pass, stable, of the right order?"""

import numpy as np
import pytest

from robodyn.base.errors import ModelError
from robodyn.computation.assembly.control.feedback import approximate_delay

TAU = 0.4
ORDERS = (0, 1, 2, 3, 5, 8, 13)


def response(time, order, s):
    A, B, C, D = approximate_delay(time, order)
    return np.array([(C @ np.linalg.solve(one * np.eye(order) - A, B) + D)[0, 0] for one in s])


@pytest.mark.parametrize("order", ORDERS[1:])
def test_it_is_the_same_rational_function_as_python_controls(order):
    control = pytest.importorskip("control")
    s = np.array([0.3, 1j, 2 + 3j, -1 + 5j, 20j])
    numerator, denominator = control.pade(TAU, order)
    expected = np.polyval(numerator, s) / np.polyval(denominator, s)
    # The polynomials of order 13 lose some digits, the ladder does not.
    np.testing.assert_allclose(response(TAU, order, s), expected, rtol=1e-10)


@pytest.mark.parametrize("order", ORDERS)
def test_the_amplitude_is_one_at_all_frequencies(order):
    s = 1j * np.logspace(-2, 4, 40) / TAU
    np.testing.assert_allclose(np.abs(response(TAU, order, s)), 1.0, rtol=1e-12)


@pytest.mark.parametrize("order", ORDERS[1:])
def test_it_is_stable(order):
    assert np.linalg.eigvals(approximate_delay(TAU, order).A).real.max() < -1 / TAU


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_the_error_falls_with_the_power_two_n_plus_one_of_the_frequency(order):
    s = 1j * np.array([0.2, 0.4]) / TAU
    near, far = np.abs(response(TAU, order, s) - np.exp(-s * TAU))
    # Terms of the next power change the rate by about (0.4)^2 / (4 n).
    assert np.log2(far / near) == pytest.approx(2 * order + 1, abs=0.1)


def test_a_high_order_follows_the_delay_over_several_turns_of_phase():
    s = 1j * np.linspace(0, 6 * np.pi, 50) / TAU
    np.testing.assert_allclose(response(TAU, 20, s), np.exp(-s * TAU), atol=1e-9)


@pytest.mark.parametrize(("time", "order"), [(0.0, 2), (-1.0, 2), (np.nan, 2), (1.0, -1), (1.0, 1.5), (1.0, True)])
def test_what_is_no_delay_is_refused(time, order):
    with pytest.raises(ModelError, match="must be"):
        approximate_delay(time, order)
