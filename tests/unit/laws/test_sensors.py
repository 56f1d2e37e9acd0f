"""Does a sensor report the nearest step, and the velocity of its own readings?"""

import numpy as np

from robodyn.description.laws.sensors import line_deviation, quantised, sample_and_hold, sampled_encoder


def test_quantised_values_are_multiples_never_more_than_half_a_step_away():
    values = np.linspace(-2, 2, 401)
    measured = quantised(values, resolution=0.3)["measured"]
    # Multiples of 0.3 are not exact in binary: a few units in the last place.
    np.testing.assert_allclose(measured / 0.3, np.round(measured / 0.3), atol=1e-12)
    assert np.max(np.abs(measured - values)) <= 0.15 + 1e-12


def test_an_encoder_derives_velocity_from_two_readings():
    found = sampled_encoder(1.04, 0.9, resolution=0.1, period=0.01)
    np.testing.assert_allclose([found["measured"], found["measured_rate"]], [1.0, 10.0], rtol=1e-12)
    assert found["previous_next"] == found["measured"]


def test_a_sample_is_what_was_there():
    assert sample_and_hold(0.7) == {"output": 0.7}


def test_a_resolution_of_zero_is_a_perfect_sensor():
    assert quantised(1.2345, resolution=0.0)["measured"] == 1.2345
    found = sampled_encoder(1.04, 0.9, resolution=0.0, period=0.01)
    np.testing.assert_allclose([found["measured"], found["measured_rate"]], [1.04, 14.0], rtol=1e-12)


def test_deviations_from_a_line_are_the_components_along_it_to_its_left_and_above_it():
    heading, rise, start, way = 0.7, 0.3, np.array([0.1, 0.2, 0.3]), 0.5
    forwards = np.array([np.cos(heading), np.sin(heading), 0.0])
    along = np.cos(rise) * forwards + np.sin(rise) * np.array([0, 0, 1.0])
    left = np.cross([0, 0, 1.0], forwards)
    upwards = np.cross(along, left)
    point = start + (way + 1e-3) * along + 2e-3 * left + 3e-3 * upwards
    line = dict(zip(("start_x", "start_y", "start_z"), start, strict=True))
    found = line_deviation(*point, way, **line, heading=heading, rise=rise)
    np.testing.assert_allclose([found["along"], found["horizontal"], found["vertical"]], [1e-3, 2e-3, 3e-3], atol=1e-15)
