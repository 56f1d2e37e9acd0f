"""Do springs pull back, dampers take energy, and end stops only push?"""

import numpy as np
import pytest

from robodyn.description.laws.elements import constant_force, damper, end_stop, spring

STOP = {"lower": -0.5, "upper": 0.5, "stiffness": 1e3, "damping": 50.0}


def test_a_spring_at_its_rest_length_exerts_only_its_preload():
    assert spring(0.2, 0.0, stiffness=100.0, rest=0.2)["force"] == 0
    assert spring(0.2, 0.0, stiffness=100.0, rest=0.2, preload=5.0)["force"] == -5.0


@pytest.mark.parametrize("stretch", [-0.1, 0.3])
def test_a_spring_pulls_towards_its_rest_length(stretch):
    assert spring(0.2 + stretch, 0.0, stiffness=100.0, rest=0.2)["force"] == pytest.approx(-100.0 * stretch)


def test_dampers_take_energy_at_any_speed():
    speeds = np.array([-3.0, -0.1, 0.1, 3.0])
    assert np.all(damper(speeds, damping=2.0)["force"] * speeds < 0)
    assert np.all(spring(0.0, speeds, stiffness=1.0, damping=2.0)["force"] * speeds < 0)


def test_an_end_stop_pushes_only_back_into_the_travel():
    """At any speed the force is zero inside, never negative below the travel and never positive above it."""
    position, velocity = np.meshgrid(np.linspace(-1, 1, 201), np.linspace(-20, 20, 41))
    force = end_stop(position, velocity, **STOP)["force"]
    assert np.all(force[np.abs(position) < 0.5] == 0)
    assert np.all(force[position < -0.5] >= 0)
    assert np.all(force[position > 0.5] <= 0)
    assert force.max() > 0 > force.min()


def test_an_end_stop_that_is_left_fast_does_not_stick():
    """Leaving at 20 m/s the damper would pull by 1000 N, the spring pushes 100 N: the stop lets go."""
    assert end_stop(0.6, -20.0, **STOP)["force"] == 0
    assert end_stop(-0.6, 20.0, **STOP)["force"] == 0


def test_an_end_stop_is_stiffer_going_in_than_coming_out():
    going_in, coming_out = (end_stop(0.6, speed, **STOP)["force"] for speed in (1.0, -1.0))
    assert going_in == pytest.approx(-150.0)
    assert coming_out == pytest.approx(-50.0)


def test_a_constant_force_is_constant():
    assert constant_force(value=-3.0) == {"force": -3.0}
