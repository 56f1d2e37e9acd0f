"""A signal is exact on its samples, interpolates by its kind and never reaches across a jump."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from robodyn.computation.results import Signal

TIMES = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=12).map(sorted)


def signal(time, values, **others):
    return Signal("x", "m", np.array(time), np.array(values), **others)


@given(
    coefficients=arrays(float, 4, elements=st.floats(-3, 3)),
    shares=arrays(float, 5, elements=st.floats(0, 1)),
)
def test_a_cubic_is_reproduced_from_values_and_rates(coefficients, shares):
    cubic = np.polynomial.Polynomial(coefficients)
    time = np.array([-1.0, 0.2, 0.3, 2.0])
    recorded = signal(time, cubic(time), rate_values=cubic.deriv()(time))
    at = -1.0 + 3.0 * shares
    # Values reach about 50; the interpolation formula takes some ten rounded operations.
    np.testing.assert_allclose(recorded(at), cubic(at), rtol=0, atol=1e-13 * 50)


@given(
    coefficients=arrays(float, 6, elements=st.floats(-3, 3)),
    shares=arrays(float, 5, elements=st.floats(0, 1)),
)
def test_between_knots_a_polynomial_of_degree_five_is_reproduced(coefficients, shares):
    polynomial = np.polynomial.Polynomial(coefficients)
    time = np.linspace(-1.0, 1.5, 11)
    recorded = signal(time, polynomial(time), knots=np.isin(np.arange(11), [0, 10]))
    at = -1.0 + 2.5 * shares
    # Values reach about 60, weights of the rows about 4.
    np.testing.assert_allclose(recorded(at), polynomial(at), rtol=0, atol=1e-12)


def test_no_polynomial_reaches_across_a_knot():
    time = np.arange(9.0)
    corner = signal(time, np.abs(time - 4.0), knots=time == 4.0)
    at = np.linspace(0.0, 8.0, 65)
    np.testing.assert_allclose(corner(at), np.abs(at - 4.0), rtol=0, atol=1e-14)
    # Without the knot the corner is rounded off.
    rounded = signal(time, np.abs(time - 4.0), knots=np.zeros(9, bool))
    assert np.max(np.abs(rounded(at) - np.abs(at - 4.0))) > 0.05


def test_rows_at_one_time_are_knots_whatever_is_said():
    step = signal([0.0, 1.0, 2.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 5.0, 5.0, 5.0], knots=np.zeros(6, bool))
    assert step([0.5, 1.9, 2.0, 2.1, 3.5]).tolist() == [0.0, 0.0, 5.0, 5.0, 5.0]


def test_where_rows_are_few_rates_make_a_cubic():
    time = np.array([0.0, 1.0, 3.0])
    recorded = signal(time, time**3, rate_values=3 * time**2, knots=np.ones(3, bool))
    np.testing.assert_allclose(recorded([0.5, 2.0]), [0.125, 8.0], rtol=0, atol=1e-14)


def test_without_rates_the_value_between_samples_is_on_the_chord():
    assert signal([0.0, 2.0], [1.0, 5.0])(0.5) == 2.0


def test_a_held_signal_keeps_its_last_value():
    held = signal([0.0, 1.0, 2.0], [3.0, 4.0, 5.0], kind="held")
    assert held([0.0, 0.999, 1.0, 1.5, 2.0]).tolist() == [3.0, 3.0, 4.0, 4.0, 5.0]


@pytest.mark.parametrize("rates", [None, np.zeros(4)])
def test_at_a_jump_the_right_limit_holds_and_neither_side_is_mixed(rates):
    step = signal([0.0, 1.0, 1.0, 2.0], [1.0, 1.0, 9.0, 9.0], rate_values=rates)
    assert step(np.nextafter(1.0, 0.0)) == 1.0
    assert step(1.0) == 9.0
    assert step(np.nextafter(1.0, 2.0)) == 9.0


def test_of_three_rows_at_one_time_the_last_holds():
    assert signal([0.0, 0.0, 0.0, 1.0], [1.0, 2.0, 3.0, 3.0])(0.0) == 3.0


def test_the_last_row_holds_at_a_jump_at_the_end():
    assert signal([0.0, 1.0, 1.0], [0.0, 0.0, 7.0])(1.0) == 7.0


@given(time=TIMES, data=st.data())
def test_on_a_sample_the_value_is_the_last_row_of_that_time_exactly(time, data):
    values = data.draw(arrays(float, len(time), elements=st.floats(-1e6, 1e6)))
    rates = data.draw(arrays(float, len(time), elements=st.floats(-1e6, 1e6)))
    recorded = signal(time, values, rate_values=rates)
    for t in time:
        last = max(i for i, other in enumerate(time) if other == t)
        assert recorded(t) == values[last]


def test_a_sample_beside_no_number_is_still_exact():
    assert signal([0.0, 1.0, 2.0], [1.0, np.nan, 3.0])(0.0) == 1.0


def test_a_float_gives_a_float_and_an_array_its_own_shape():
    ramp = signal([0.0, 1.0], [0.0, 1.0])
    assert type(ramp(0.5)) is float
    assert ramp(np.full((2, 3), 0.5)).shape == (2, 3)


@pytest.mark.parametrize("t", [-1e-9, 2.1, float("nan")])
def test_a_time_outside_the_record_is_an_error_that_names_the_range(t):
    with pytest.raises(ValueError, match="from 0 s to 2 s"):
        signal([0.0, 2.0], [1.0, 5.0])([1.0, t])


def test_an_empty_record_says_so():
    with pytest.raises(ValueError, match="no samples"):
        signal([], [])(0.0)


def test_extremes_count_both_limits_of_a_jump_and_leave_out_no_numbers():
    jump = signal([0.0, 1.0, 1.0, 2.0], [0.0, -4.0, 6.0, np.nan])
    assert (jump.min, jump.max) == (-4.0, 6.0)
    assert np.isnan(jump.final)


def test_means_weigh_rows_by_the_time_between_them():
    """Of sin(t) over a whole period: 0 and 1 / sqrt(2), though nine tenths of the rows lie in its first tenth."""
    time = 2 * np.pi * np.concatenate([np.linspace(0, 0.1, 9000, endpoint=False), np.linspace(0.1, 1, 1000)])
    wave = signal(time, np.sin(time))
    assert wave.mean == pytest.approx(0.0, abs=1e-5)
    assert wave.rms == pytest.approx(0.5**0.5, rel=1e-5)
    held = signal([0.0, 1.0, 4.0], [2.0, 5.0, 100.0], kind="held")
    assert (held.mean, held.rms) == (17 / 4, ((4 + 75) / 4) ** 0.5)
    jump = signal([0.0, 1.0, 1.0, 2.0], [1.0, 1.0, 3.0, 3.0])
    assert jump.mean == 2.0
    assert signal([0.0, 1.0, 2.0], [1.0, 1.0, np.nan]).mean == 1.0
    assert signal([3.0], [-2.0]).rms == 2.0


def test_a_signal_settles_where_it_enters_a_band_for_good():
    time = np.linspace(1.0, 11.0, 2001)
    falling = signal(time, np.exp(-(time - 1.0)))
    assert falling.settling_time(0.02, target=0.0) == pytest.approx(np.log(50), abs=1e-4)
    assert np.isnan(falling.settling_time(1e-6, target=0.0))
    assert falling.settling_time(2.0) == 0.0
    assert signal([0.0, 1.0, 2.0], [5.0, 5.0, 1.0], kind="held").settling_time(0.5) == 2.0


@pytest.mark.parametrize(
    ("time", "values", "others", "sentence"),
    [
        ([0.0, 2.0, 1.0], [0.0, 0.0, 0.0], {}, "not decrease, row 2"),
        ([0.0, np.inf], [0.0, 0.0], {}, "finite, row 1"),
        ([0.0, 1.0], [0.0], {}, "values"),
        ([0.0, 1.0], [0.0, 0.0], {"kind": "wavy"}, "wavy"),
        ([0.0, 1.0], [0.0, 0.0], {"rate_values": [1.0]}, "rates"),
    ],
)
def test_a_record_that_makes_no_sense_is_refused(time, values, others, sentence):
    with pytest.raises(ValueError, match=sentence):
        signal(time, values, **others)


def test_the_samples_cannot_be_changed_but_the_callers_array_can():
    own = np.array([1.0, 2.0])
    recorded = signal([0.0, 1.0], own)
    with pytest.raises(ValueError, match="read-only"):
        recorded.values[0] = 5.0
    own[0] = 5.0


def test_max_has_its_sign_and_peak_is_the_largest_magnitude():
    signal = Signal("x", "m", np.array([0.0, 1.0, 2.0]), np.array([-3.0, -1.0, np.nan]))
    assert (signal.max, signal.min, signal.peak) == (-1.0, -3.0, 3.0)
