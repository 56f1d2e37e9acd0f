"""Does a sensor report the nearest step, and the velocity of its own readings?"""

import numpy as np

from robodyn.laws.sensors import quantised, sample_and_hold, sampled_encoder


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
