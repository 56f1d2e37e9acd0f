"""Do controllers command what their formula says, hold their limits and not wind up?"""

import math

import pytest

from robodyn.description.laws.control import (
    amplifier,
    lead_compensator,
    limited_integrator,
    low_pass,
    pd_control,
    pid_control,
    position_loop,
    sampled_velocity_loop,
    saturation,
)
from robodyn.description.laws.definition import info_of

GAINS = {"proportional": 5.0, "integral": 2.0, "derivative": 1.0}


def test_pd_control_is_its_formula_within_the_limit():
    assert pd_control(1.0, 0.4, 0.5, proportional=5.0, derivative=1.0)["command"] == pytest.approx(2.5)
    assert pd_control(9.0, 0.0, 0.0, proportional=5.0, derivative=1.0, limit=4.0)["command"] == 4.0
    assert pd_control(-9.0, 0.0, 0.0, proportional=5.0, derivative=1.0, limit=4.0)["command"] == -4.0


def test_pid_control_integrates_the_error_while_the_output_is_free():
    found = pid_control(1.0, 0.6, 0.0, 0.3, **GAINS)
    assert found["command"] == pytest.approx(5 * 0.4 + 2 * 0.3)
    assert found["error_sum_dot"] == pytest.approx(0.4)


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_pid_control_does_not_wind_up_beyond_the_limit(direction):
    found = pid_control(direction * 3.0, 0.0, 0.0, 0.0, **GAINS, limit=4.0)
    assert found == {"command": direction * 4.0, "error_sum_dot": 0.0}


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_pid_control_unwinds_from_the_limit_when_the_error_turns(direction):
    """The sum alone holds the output at its limit; the error now has the other sign and must reduce the sum."""
    found = pid_control(0.0, direction * 0.1, 0.0, direction * 10.0, **GAINS, limit=4.0)
    assert found["command"] == direction * 4.0
    assert found["error_sum_dot"] == pytest.approx(-direction * 0.1)


def test_the_position_loop_adds_the_feed_forward_and_keeps_the_speed_limit():
    assert position_loop(1.0, 0.9, 2.0, proportional=10.0)["velocity_command"] == pytest.approx(3.0)
    assert position_loop(1.0, 0.0, 2.0, proportional=10.0, limit=5.0)["velocity_command"] == 5.0


def test_the_sampled_velocity_loop_sums_the_error_once_a_period():
    found = sampled_velocity_loop(1.0, 0.5, 0.1, proportional=4.0, integral=3.0, period=0.01)
    assert found["torque_command"] == pytest.approx(4 * 0.5 + 3 * 0.1)
    assert found["error_sum_next"] == pytest.approx(0.1 + 0.01 * 0.5)


def test_the_sampled_velocity_loop_does_not_wind_up():
    found = sampled_velocity_loop(1.0, -5.0, 0.1, proportional=4.0, integral=3.0, period=0.01, limit=2.0)
    assert found == {"torque_command": 2.0, "error_sum_next": 0.1}


def test_a_low_pass_settles_at_its_input():
    assert low_pass(3.0, 3.0, time_constant=0.1)["filtered_dot"] == 0
    assert low_pass(3.0, 1.0, time_constant=0.1)["filtered_dot"] == pytest.approx(20.0)


def test_gain_and_saturation_are_their_formulas():
    assert amplifier(2.0, gain=-3.0)["output"] == -6.0
    assert [saturation(u, lower=-1.0, upper=2.0)["output"] for u in (-5.0, 0.5, 5.0)] == [-1.0, 0.5, 2.0]


def test_a_limited_integrator_leaves_its_limits_to_the_state():
    assert limited_integrator(2.0, 0.7) == {"output": 0.7, "value_dot": 2.0}
    assert info_of(limited_integrator).limits == {"value": ("lower", "upper")}
    assert math.isinf(limited_integrator.__kwdefaults__["upper"])


@pytest.mark.parametrize("omega", [0.1, 1.0, 30.0])
def test_a_lead_compensator_has_its_transfer_function(omega):
    gain, zero, pole, s = 2.0, 0.5, 4.0, 1j * omega
    # At steady swing of the input e^(s t), the state is e^(s t) / (s + p).
    found = lead_compensator(1.0, 1 / (s + pole), gain=gain, zero=zero, pole=pole)
    assert found["output"] == pytest.approx(gain * (s + zero) / (s + pole))
    assert found["filtered_dot"] == pytest.approx(s / (s + pole))
