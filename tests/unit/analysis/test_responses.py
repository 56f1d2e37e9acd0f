"""Are time responses of linear models those of their closed forms?"""

import numpy as np
import pytest

from robodyn.analysis.linear.linear_model import DelayedSignal, LinearModel, Variable
from robodyn.analysis.linear.responses import choose_times, respond_to_input, respond_to_step
from robodyn.analysis.step_response import measure_step
from robodyn.base.errors import ModelError


def lag(pole=-2.0):
    """y = u / (s - pole) + 3 u."""
    return LinearModel([[pole]], [[1.0]], [[1.0]], [[3.0]], inputs=(Variable("u", "V"),), outputs=(Variable("y", "m"),))


def oscillator(damping=0.3, omega=4.0):
    return LinearModel([[0.0, 1.0], [-(omega**2), -2 * damping * omega]], [[0.0], [omega**2]], [[1.0, 0.0]])


@pytest.mark.parametrize("pole", [-2.0, 1.5])
def test_a_lag_answers_a_step_exactly(pole):
    time = np.linspace(0, 2, 41)
    found = respond_to_step(lag(pole), time=time, height=0.5)
    np.testing.assert_allclose(found.values, 0.5 * (3 + (np.exp(pole * time) - 1) / pole), rtol=1e-13)
    assert (found.output.unit, found.signal.unit) == ("m", "m")


def test_a_lag_answers_a_ramp_exactly():
    time = np.linspace(0, 3, 7)
    found = respond_to_input(lag(), time, time)
    # x' = -2 x + t from rest: t / 2 - 1 / 4 + exp(-2 t) / 4, whatever the step.
    np.testing.assert_allclose(found.values, 3 * time + time / 2 - 0.25 + np.exp(-2 * time) / 4, rtol=1e-13, atol=1e-15)


def test_the_overshoot_of_an_oscillator_is_that_of_its_damping():
    found = measure_step(respond_to_step(oscillator()).signal, final=1.0)
    # The parabola through three of a thousand samples.
    assert found.overshoot == pytest.approx(np.exp(-np.pi * 0.3 / np.sqrt(1 - 0.09)), rel=1e-4)
    assert found.first_peak == pytest.approx(np.pi / (4 * np.sqrt(1 - 0.09)), rel=1e-3)


def test_chosen_times_show_the_slowest_decay_the_fastest_growth_or_some_periods():
    assert choose_times(LinearModel(np.diag([-1.0, -50.0])))[-1] == pytest.approx(6.0)
    assert choose_times(LinearModel(np.diag([-1.0, 5.0])))[-1] == pytest.approx(0.8)
    assert choose_times(oscillator(damping=0.0))[-1] == pytest.approx(10 * 2 * np.pi / 4)
    assert choose_times(LinearModel([[0.0]]))[-1] == 1.0


def test_where_a_response_settles_is_known_long_before_it_does():
    """Whatever is looked at: a hundredth of a time constant; what grows, rings on or drifts settles nowhere."""
    short = np.linspace(0, 0.005, 11)
    assert respond_to_step(lag(), time=short, height=0.5).settled == pytest.approx(0.5 * (3 + 1 / 2), rel=1e-9)
    assert respond_to_step(oscillator(), time=short, height=-2.0).settled == pytest.approx(-2.0, rel=1e-9)
    washed_out = LinearModel([[-2.0]], [[1.0]], [[-2.0]], [[1.0]])
    assert respond_to_step(washed_out, time=short).settled == 0.0
    for restless in (lag(1.5), oscillator(damping=0.0), LinearModel([[0.0]], [[1.0]], [[1.0]])):
        assert np.isnan(respond_to_step(restless).settled)
    # A motion that grows, but is not excited, does not count.
    aside = LinearModel(np.diag([-2.0, 3.0]), [[1.0], [0.0]], [[1.0, 1.0]])
    assert respond_to_step(aside, time=short).settled == pytest.approx(0.5, rel=1e-9)


def test_uneven_times_unknown_channels_and_times_far_beyond_a_delay_are_refused():
    with pytest.raises(ModelError, match="even steps from 0"):
        respond_to_step(lag(), time=[0.0, 1.0, 3.0])
    with pytest.raises(ModelError, match="a finite number for each of 3 times"):
        respond_to_input(lag(), [1.0, 2.0], [0.0, 1.0, 2.0])
    with pytest.raises(ModelError, match="z: is not one of the"):
        respond_to_step(lag(), output="z")
    two = LinearModel(-np.eye(2), np.eye(2), np.eye(2))
    with pytest.raises(ModelError, match="the model has 2: u1, u2"):
        respond_to_step(two)
    late = LinearModel([[-1.0]], [[1.0]], [[1.0]], E=[[1.0]], F=[[1.0]], delays=(DelayedSignal("late", 0.1),))
    with pytest.raises(ModelError, match="more than 31250 times the shortest delay"):
        respond_to_step(late, time=[0.0, 1e5])
