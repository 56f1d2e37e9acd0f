"""Which torque does a motor give at standstill and at speed, and is it held to its limits?"""

import math

import numpy as np
import pytest

from robodyn.description.laws.definition import info_of
from robodyn.description.laws.drives import current_lag, current_source, dc_motor, servo_motor, torque_source

MOTOR = {"resistance": 2.0, "inductance": 4e-3, "torque_constant": 0.1, "gear": 50.0}


def steady_current(voltage, velocity):
    return (voltage - 0.1 * 50 * velocity) / 2.0


@pytest.mark.parametrize(("voltage", "velocity"), [(24.0, 0.0), (24.0, 2.0), (-12.0, 1.0)])
def test_a_motor_in_steady_state_has_the_current_that_ohm_and_back_emf_leave(voltage, velocity):
    current = steady_current(voltage, velocity)
    found = dc_motor(voltage, velocity, current, **MOTOR)
    assert found["current_dot"] == pytest.approx(0.0, abs=1e-9)
    assert found["torque"] == pytest.approx(50 * 0.1 * current)


def test_a_motor_current_settles_with_the_electric_time_constant():
    there = steady_current(24.0, 0.0)
    rate = dc_motor(24.0, 0.0, 0.0, **MOTOR)["current_dot"]
    assert there / rate == pytest.approx(4e-3 / 2.0)


def test_a_motor_running_at_no_load_speed_draws_no_current():
    assert dc_motor(24.0, 24.0 / (0.1 * 50), 0.0, **MOTOR)["current_dot"] == pytest.approx(0.0, abs=1e-9)


def test_electric_power_is_mechanical_power_plus_heat_plus_magnetic_power():
    """U i = tau w + R i^2 + L i i_dot, for a motor without a torque factor."""
    generator = np.random.default_rng(1)
    for voltage, velocity, current in generator.uniform(-5, 5, (20, 3)):
        found = dc_motor(voltage, velocity, current, **MOTOR)
        out = found["torque"] * velocity + 2.0 * current**2 + 4e-3 * current * found["current_dot"]
        assert out == pytest.approx(voltage * current, rel=1e-9, abs=1e-9)


def test_the_torque_factor_scales_the_torque_alone():
    plain, three_phase = (dc_motor(24.0, 1.0, 3.0, **MOTOR, torque_factor=factor) for factor in (1.0, math.sqrt(3) / 2))
    assert three_phase["torque"] == pytest.approx(plain["torque"] * math.sqrt(3) / 2)
    assert three_phase["current_dot"] == plain["current_dot"]


def test_the_current_limit_is_a_limit_of_the_state():
    assert info_of(dc_motor).limits == {"current": ("-current_limit", "current_limit")}


@pytest.mark.parametrize(("command", "torque"), [(3.0, 3.0), (30.0, 10.0), (-30.0, -10.0)])
def test_a_torque_source_gives_what_is_commanded_up_to_its_limit(command, torque):
    assert torque_source(command, torque_limit=10.0)["torque"] == torque
    assert torque_source(command)["torque"] == command


def test_a_current_source_clips_the_current_it_reports():
    found = current_source(20.0, torque_constant=0.1, gear=50.0, current_limit=8.0)
    assert found == {"torque": pytest.approx(40.0), "current": 8.0}


def test_a_servo_motor_is_a_dc_motor_on_its_own_shaft():
    numbers = {"resistance": 2.0, "inductance": 4e-3, "torque_constant": 0.1}
    assert servo_motor(24.0, 30.0, 1.5, **numbers) == dc_motor(24.0, 30.0, 1.5, **numbers)


def test_a_lagging_current_settles_with_its_time_constant():
    found = current_lag(3.0, 1.0, torque_constant=0.1, time_constant=2e-3)
    assert found == {"torque": pytest.approx(0.1), "current_dot": pytest.approx(1000.0)}
