"""Do the servo axis' loops follow their equations, and do none of their sums wind up at a limit?"""

import numpy as np
import pytest

from robodyn.description.laws.control import (
    servo_current_loop,
    servo_feed_forward,
    servo_position_loop,
    servo_velocity_loop,
)

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
