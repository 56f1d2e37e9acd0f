"""Does a comparison of two models give errors and shifted poles as they are?"""

import numpy as np
import pytest

from robodyn.analysis.linear.linear_model import DelayedSignal, LinearModel, Variable
from robodyn.analysis.linear.responses import compare_models, match_poles
from robodyn.base.errors import ModelError

NAMES = {"inputs": (Variable("u"),), "outputs": (Variable("y"),)}
FAST = 200.0


def two_lags():
    """y = u / ((s + 1) (s / FAST + 1))."""
    return LinearModel([[-1.0, 1.0], [0.0, -FAST]], B=[[0.0], [FAST]], C=[[1.0, 0.0]], **NAMES)


def lag_and_delay():
    """The fast lag replaced by a delay of the same phase at low frequencies."""
    return LinearModel([[-1.0]], C=[[1.0]], E=[[1.0]], G=[[1.0]], delays=(DelayedSignal("late", 1 / FAST),), **NAMES)


def test_a_model_compared_with_itself_has_no_error():
    found = compare_models(two_lags(), two_lags())
    assert found.largest_error == 0.0
    assert found.valid_to(1e-9) == found.frequency[-1]
    assert [pair.shift for pair in found.poles] == [0.0, 0.0]


def test_the_error_is_the_difference_over_the_largest_response():
    frequency = np.array([1e-4, 0.2, 5.0, 40.0])
    s = 2j * np.pi * frequency
    expected = np.abs(1 / ((s + 1) * (s / FAST + 1)) - np.exp(-s / FAST) / (s + 1))
    found = compare_models(two_lags(), lag_and_delay(), frequency)
    assert found.orders == (2, 1)
    # The largest response is that of the lowest frequency, 1 - 2e-7; differences of numbers near 1 are rounded.
    np.testing.assert_allclose(found.error[:, 0, 0], expected, rtol=1e-6, atol=1e-15)
    assert found.valid_to(1.01 * expected[1]) == pytest.approx(0.2)
    assert found.valid_to(1e-20) == 0.0


def test_a_pole_that_was_left_out_has_no_partner():
    found = compare_models(two_lags(), lag_and_delay())
    slow, fast = found.poles
    assert (slow.full, slow.reduced) == (pytest.approx(-1.0), pytest.approx(-1.0))
    assert fast.full == pytest.approx(-FAST)
    assert fast.reduced is None
    assert np.isnan(fast.shift)


def test_poles_are_matched_by_nearness_not_by_order():
    full, reduced = np.array([-1.0, -10.0, 5j, -5j]), np.array([-10.5, 5.1j, -5.1j, -1.1])
    pairs = {pair.full: pair.reduced for pair in match_poles(full, reduced)}
    assert pairs == {-1.0: -1.1, -10.0: -10.5, 5j: 5.1j}


def test_only_common_channels_are_compared_and_there_must_be_one():
    more = LinearModel(-np.eye(2), B=np.eye(2), C=np.eye(2), inputs=(Variable("u"), Variable("v")))
    other = LinearModel([[-1.0]], B=[[1.0]], C=[[1.0]], inputs=(Variable("u"),))
    found = compare_models(more, other)
    assert (found.inputs, found.outputs) == (("u",), ("y1",))
    with pytest.raises(ModelError, match="no input or no output in common"):
        compare_models(more, lag_and_delay())
