"""Do controllers command what their formula says, hold their limits and not wind up?"""

import math

import numpy as np
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
    servo_current_loop,
    servo_feed_forward,
    servo_position_loop,
    servo_velocity_loop,
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


# --------------------------------------------------------------------------------------------------
# Do the servo axis' loops follow their equations, and do none of their sums wind up at a limit?


PI = {"gears": 50.0, "proportional": 3.0, "integral": 20.0, "period": 1e-3}
FRICTION = {"torque_constant": 0.1, "coulomb": 0.2, "viscous": 1e-3, "smoothing_velocity": 2.0}


def test_the_set_point_of_a_coupled_motor_is_the_weighted_sum_of_its_joints():
    pair = servo_position_loop((0.2, -0.1), 3.0, 0.0, 0.5, **(PI | {"gears": (50.0, 30.0)}))
    assert pair["error"] == pytest.approx(50 * 0.2 - 30 * 0.1 - 3.0)
    single = servo_position_loop(0.14, 3.0, 0.0, 0.5, **PI)
    assert single["command"] == pytest.approx(pair["command"])


def test_the_position_loop_adds_up_a_constant_error():
    held = 0.0
    for _ in range(100):
        found = servo_position_loop(0.0, -0.1, 0.0, held, **PI)
        held = found["held_next"]
    assert held == pytest.approx(20.0 * 0.1 * 0.1)
    assert found["command"] == pytest.approx(3.0 * 0.1 + held, rel=0.02)


@pytest.mark.parametrize("excess", [1.0, -1.0])
def test_the_position_sum_waits_at_the_current_limit_and_comes_back_at_once(excess):
    outward, inward = (servo_position_loop(0.0, -way * 0.1, excess, 2.0, **PI) for way in (excess, -excess))
    assert outward["held_next"] == 2.0
    assert inward["held_next"] == pytest.approx(2.0 - excess * 20 * 1e-3 * 0.1)


def test_the_velocity_loop_tells_how_much_it_cut_off():
    found = servo_velocity_loop(1.0, 0.5, 3.0, 2.0, derivative=4.0, current_limit=2.0)
    assert found == {"command": 2.0, "excess": 3.5}
    free = servo_velocity_loop(1.0, 0.5, 3.0, 2.0, derivative=4.0)
    assert free == {"command": 5.5, "excess": 0.0}


def test_the_feed_forward_is_the_torque_of_acceleration_and_friction():
    found = servo_feed_forward(0.2, 0.3, gears=50.0, inertia=1e-3, **FRICTION)
    assert found["velocity_ref"] == pytest.approx(10.0)
    assert found["current"] == pytest.approx((1e-3 * 15 + 0.2 + 1e-3 * 10) / 0.1)


def test_the_feed_forward_of_dry_friction_is_nothing_at_rest_and_continuous():
    speeds = np.linspace(-0.1, 0.1, 2001)
    dry = [servo_feed_forward(w, 0.0, gears=50.0, **(FRICTION | {"viscous": 0.0}))["current"] for w in speeds]
    assert dry[1000] == 0.0
    # Between -2 and 2 rad/s of the motor it rises by 0.2/0.1 A per 2 rad/s: 5e-3 rad/s a point.
    assert np.abs(np.diff(dry)).max() == pytest.approx(2.0 / 2.0 * 50 * 1e-4, rel=1e-6)


def test_the_current_sum_waits_at_the_voltage_limit():
    gains = {"proportional": 10.0, "integral": 300.0, "period": 1e-3, "voltage_limit": 8.0}
    limited = servo_current_loop(1.0, 0.0, 1.0, **gains)
    assert (limited["voltage"], limited["held_next"]) == (8.0, 1.0)
    back = servo_current_loop(-0.1, 0.0, 12.0, **gains)
    assert back["voltage"] == 8.0
    assert back["held_next"] == pytest.approx(12.0 - 0.03)


def test_the_current_loop_cancels_the_circuit_and_leaves_one_pole():
    """With Ic / Pc = R / L the sampled loop is `i_{k+1} = i_k + (1 - a) / R (...)`: it settles without overshoot."""
    R, L, T = 2.0, 8e-3, 0.25e-3
    gains = {"proportional": L * 2 * np.pi * 500, "integral": R * 2 * np.pi * 500, "period": T}
    decay = np.exp(-R * T / L)
    current, held, course = 0.0, 0.0, []
    for _ in range(40):
        found = servo_current_loop(1.0, current, held, **gains)
        held, voltage = found["held_next"], found["voltage"]
        current = decay * current + (1 - decay) / R * voltage
        course.append(current)
    assert course[-1] == pytest.approx(1.0, abs=1e-3)
    assert max(course) < 1.05
