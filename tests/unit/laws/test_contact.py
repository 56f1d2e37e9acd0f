"""Do the laws of contact push only, and does friction stay within its limit?"""

import numpy as np
import pytest

from robodyn.description.laws.contact import bristle_friction, hunt_crossley, kelvin_voigt, sliding_friction

GENERATOR = np.random.default_rng(4)
ROUGH = {"coefficient": 0.5, "stiffness": 1e5, "damping": 300.0, "static_coefficient": 0.7, "stribeck_velocity": 0.1}


def test_a_normal_force_never_pulls_where_its_side_is_what_it_says():
    for depth, rate in GENERATOR.uniform(-1e-2, 1e-2, (200, 2)):
        for law, given in ((kelvin_voigt, {"damping": 50.0}), (hunt_crossley, {"dissipation": 300.0})):
            result = law(depth, rate, 0.0, stiffness=1e3, **given)
            assert result["force"] >= 0
            assert (result["force"] > 0) <= (result["touch"] > 0)


def test_hertz_contact_has_the_published_force():
    assert hunt_crossley(4e-4, 0.5, 1.0, stiffness=1e6, dissipation=0.2)["force"] == pytest.approx(8.0 * 1.1)


def test_friction_opposes_slip_and_never_exceeds_its_limit():
    for w1, w2, z1, z2 in GENERATOR.uniform(-1, 1, (200, 4)):
        smooth = sliding_friction(w1, w2, 10.0, coefficient=0.5, smoothing_velocity=0.1)
        assert np.hypot(*smooth.values()) < 5.0
        assert smooth["force1"] * w1 + smooth["force2"] * w2 < 0
        bristles = bristle_friction(w1, w2, 10.0, 1e-5 * z1, 1e-5 * z2, **ROUGH)
        assert np.hypot(bristles["force1"], bristles["force2"]) < 7.0 + 1e-12


def test_steady_sliding_bends_bristles_to_the_friction_coefficient():
    # exp(-(1 / 0.1)^2) of the static surplus is left at 1 m/s.
    steady = bristle_friction(1.0, 0.0, 10.0, 0.5e-5, 0.0, **ROUGH)
    assert steady["bristle1_dot"] == pytest.approx(0.0, abs=1e-9)
    assert steady["force1"] == pytest.approx(-5.0)


def test_below_their_elastic_part_bristles_only_bend():
    for w in (-1e-3, 1e-3):
        assert bristle_friction(w, 0.0, 10.0, 0.6e-5, 0.0, **ROUGH)["bristle1_dot"] == w
