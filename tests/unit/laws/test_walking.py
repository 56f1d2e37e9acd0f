"""Do the angles of a leg put its foot where its round goes?"""

import math

import numpy as np
import pytest

from robodyn.description.laws.references import walking_leg

LEG = {"thigh": 0.22, "shank": 0.19, "height": 0.3, "stride": 0.12, "lift": 0.05, "cycle_time": 0.5, "ramp": 1e-9}


def foot(angles):
    """Forward kinematics: rotations about y of a leg that hangs down."""
    hip, both = angles["hip_angle"], angles["hip_angle"] + angles["knee_angle"]
    x = -LEG["thigh"] * math.sin(hip) - LEG["shank"] * math.sin(both)
    return x, -LEG["thigh"] * math.cos(hip) - LEG["shank"] * math.cos(both)


@pytest.mark.parametrize(
    ("time", "place"),
    [(1.0, (-0.06, -0.3)), (1.125, (0.0, -0.25)), (1.25, (0.06, -0.3)), (1.3, (0.036, -0.3)), (1.375, (0.0, -0.3))],
)
def test_the_foot_goes_through_the_air_and_back_on_the_ground_at_a_constant_speed(time, place):
    angles = walking_leg(time, **LEG)
    assert foot(angles) == pytest.approx(place, abs=1e-12)
    assert angles["knee_angle"] < 0 < min(angles["reach"], angles["fold"])


def test_a_phase_of_one_half_is_half_a_cycle_later():
    first, second = walking_leg(1.1, **LEG), walking_leg(0.85, **LEG, phase=0.5)
    assert first == pytest.approx(second, abs=1e-12)


def test_a_place_out_of_reach_is_told_by_a_negative_reach():
    assert walking_leg(1.0, **LEG | {"height": 0.42})["reach"] < 0
    assert walking_leg(1.0, **LEG | {"height": 0.02, "stride": 0.0, "lift": 0.0})["fold"] < 0
    assert np.isfinite(walking_leg(1.0, **LEG | {"height": 0.42})["hip_angle"])
