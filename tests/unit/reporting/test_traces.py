"""The points drawn are those of the signal: cubics, steps, jumps, cuts."""

import numpy as np

from robodyn.computation.results import Signal
from robodyn.presentation.reporting.runs import trace

CUBIC = Signal("x", "m", [0.0, 1.0, 1.0, 2.0], [0.0, 1.0, 5.0, 6.0], rate_values=[0.0, 3.0, 1.0, 1.0])
HELD = Signal("u", "V", [0.0, 1.0, 1.0, 2.0], [1.0, 1.0, 4.0, 3.0], "held")


def test_a_coarse_record_with_rates_is_drawn_as_its_cubic():
    time, values = trace(CUBIC)
    before = time < 1.0
    assert before.sum() > 5
    # The first piece is t^3; a few rounded operations of numbers up to 1.
    np.testing.assert_allclose(values[before], time[before] ** 3, rtol=0, atol=1e-15)


def test_a_jump_is_drawn_at_its_time():
    time, values = trace(CUBIC)
    assert {1.0, 5.0} == set(values[time == 1.0])
    assert np.all(np.diff(time) >= 0)


def test_a_held_signal_is_drawn_in_steps():
    time, values = trace(HELD)
    assert set(values[(time > 0) & (time < 1)]) == {1.0}
    assert set(values[(time > 1) & (time < 2)]) == {4.0}
    assert set(values[time == 1.0]) == {1.0, 4.0}
    assert list(values[time == 2.0]) == [4.0, 3.0]


def test_signals_of_one_run_are_drawn_at_the_same_times_whatever_their_kind():
    for span in (None, (0.3, 1.7)):
        np.testing.assert_array_equal(trace(CUBIC, span)[0], trace(HELD, span)[0])


def test_a_cut_ends_on_the_line():
    line = Signal("x", "m", [0.0, 4.0], [0.0, 8.0])
    time, values = trace(line, (1.1, 2.3))
    assert (time[0], time[-1]) == (1.1, 2.3)
    # The line is y = 2 t: one interpolation of numbers up to 8.
    np.testing.assert_allclose(values, 2 * time, rtol=0, atol=1e-14)


def test_a_cut_held_signal_keeps_its_value():
    time, values = trace(HELD, (1.25, 1.6))
    assert (time[0], time[-1]) == (1.25, 1.6)
    assert set(values) == {4.0}


def test_a_cut_that_is_short_in_a_fine_record_is_drawn_as_its_cubic():
    time = np.linspace(0.0, 1.0, 10001)
    drawn, _ = trace(Signal("x", "m", time, np.sin(time), rate_values=np.cos(time)), (0.5, 0.5002))
    assert drawn.size > 10


def test_numbers_that_are_none_leave_gaps():
    _, values = trace(Signal("x", "m", [0.0, 1.0, 2.0], [0.0, np.inf, 1.0]))
    assert np.isfinite(values[0])
    assert not np.all(np.isfinite(values))
