"""Do references go where they should, with velocity and acceleration that are their own derivatives?"""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from robodyn.description.laws.definition import info_of
from robodyn.description.laws.references import (
    constant_reference,
    orientation_reference,
    ramp_reference,
    sine_reference,
    spline_reference,
    step_reference,
    table_reference,
    trapezoid_reference,
    walking_leg,
)

MOVES = {
    "cruising": {"target": 1.0, "speed": 0.8, "top_acceleration": 2.0, "begin": 0.2},
    "triangle": {"target": 0.1, "speed": 0.8, "top_acceleration": 2.0, "begin": 0.2},
    "backwards": {"target": -1.0, "start": 0.5, "speed": 0.8, "top_acceleration": 2.0, "begin": 0.2},
    "just reaching the speed": {"target": 0.32, "speed": 0.8, "top_acceleration": 2.0},
}
SPLINE = {"times": (0.1, 0.5, 0.8, 1.6), "points": (0.0, 1.0, 0.7, -0.4)}


def breaks_of(function, values):
    complete = {**(function.__kwdefaults__ or {}), **values}
    return np.array(info_of(function).breaks(complete))


def smooth_times(breaks, step):
    """Times of a grid from which no break is nearer than a step."""
    times = np.linspace(-0.1, 3.0, 1500)
    return times[np.all(np.abs(times[:, None] - breaks) > 2 * step, axis=1)]


@pytest.mark.parametrize(
    ("function", "values"),
    [*((trapezoid_reference, move) for move in MOVES.values()), (spline_reference, SPLINE)],
    ids=[*MOVES, "spline"],
)
def test_rates_are_the_derivatives_of_position(function, values):
    h = 1e-5
    times = smooth_times(breaks_of(function, values), h)
    now, before, after = (function(times + shift, **values) for shift in (0, -h, h))
    # Central differences of cubic pieces: error h^2 times the third derivative (below 100), plus rounding over h.
    rates = [rate for rate in ("position", "velocity", "acceleration", "jerk") if rate in now]
    for low, high in pairwise(rates):
        np.testing.assert_allclose((after[low] - before[low]) / (2 * h), now[high], atol=1e-7)


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_a_trapezoid_starts_at_rest_and_ends_at_rest_on_its_target(move):
    begin, *_, end = breaks_of(trapezoid_reference, move)
    for time, place in ((begin - 1, move.get("start", 0.0)), (end, move["target"]), (end + 5, move["target"])):
        found = trapezoid_reference(time, **move)
        assert found["position"] == pytest.approx(place, abs=1e-12)
        assert found["velocity"] == pytest.approx(0.0, abs=1e-12)
        assert found["acceleration"] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_a_trapezoid_keeps_its_speed_and_acceleration(move):
    times = np.linspace(0, 4, 4001)
    found = trapezoid_reference(times, **move)
    assert np.max(np.abs(found["velocity"])) <= move["speed"] * (1 + 1e-12)
    assert np.max(np.abs(found["acceleration"])) == move["top_acceleration"]


def test_a_short_move_is_a_triangle_that_peaks_at_half_way():
    """Peak speed sqrt(a d) after sqrt(d / a): 0.1 m at 2 m/s^2."""
    half = 0.2 + np.sqrt(0.1 / 2.0)
    found = trapezoid_reference(half, **MOVES["triangle"])
    assert found["velocity"] == pytest.approx(np.sqrt(0.2))
    assert found["position"] == pytest.approx(0.05)


def test_a_long_move_takes_distance_over_speed_plus_one_ramp():
    *_, end = breaks_of(trapezoid_reference, MOVES["cruising"])
    assert end == pytest.approx(0.2 + 1.0 / 0.8 + 0.8 / 2.0)


def test_a_move_of_no_distance_stays_where_it_is():
    found = trapezoid_reference(np.linspace(-1, 1, 21), target=0.7, start=0.7, speed=1.0, top_acceleration=1.0)
    assert np.all(found["position"] == 0.7)
    assert np.all(found["velocity"] == 0)
    assert np.all(found["acceleration"] == 0)


def test_a_spline_goes_through_its_points():
    for time, point in zip(SPLINE["times"], SPLINE["points"], strict=True):
        assert spline_reference(time, **SPLINE)["position"] == pytest.approx(point, abs=1e-12)


def test_a_spline_is_continuous_to_the_second_derivative_inside():
    for knot in SPLINE["times"][1:-1]:
        left, right = (spline_reference(knot + side * 1e-9, **SPLINE) for side in (-1, 1))
        # Across 2e-9 s a quantity moves by its derivative (below 1e3) times that.
        for quantity in ("position", "velocity", "acceleration"):
            assert left[quantity] == pytest.approx(right[quantity], abs=1e-5)


def test_a_spline_rests_at_and_beyond_its_ends():
    for time, point in ((0.1, 0.0), (1.6, -0.4), (-3.0, 0.0), (9.0, -0.4)):
        found = spline_reference(time, **SPLINE)
        assert found["position"] == pytest.approx(point, abs=1e-12)
        assert found["velocity"] == pytest.approx(0.0, abs=1e-12)
    assert spline_reference(9.0, **SPLINE)["acceleration"] == 0


def test_a_step_has_its_new_value_at_the_very_time():
    values = [step_reference(time, after=2.0, before=-1.0, at=0.3)["value"] for time in (0.3 - 1e-12, 0.3, 0.4)]
    assert values == [-1.0, 2.0, 2.0]
    assert breaks_of(step_reference, {"at": 0.3}).tolist() == [0.3]


def test_a_ramp_rises_only_between_its_times():
    values = ramp_reference(np.array([0.0, 0.2, 0.5, 1.0, 2.0]), rate=2.0, start=1.0, begin=0.2, end=1.0)["value"]
    np.testing.assert_allclose(values, [1.0, 1.0, 1.6, 2.6, 2.6], rtol=1e-15)


def test_a_table_is_straight_between_points_and_flat_beyond():
    values = table_reference(np.array([-1.0, 0.0, 0.5, 1.0, 9.0]), times=(0.0, 1.0), points=(2.0, 4.0))["value"]
    assert values.tolist() == [2.0, 2.0, 3.0, 4.0, 4.0]


def test_a_sine_has_its_own_rate():
    times, h = np.linspace(0, 2, 101), 1e-5
    sine = {"amplitude": 2.0, "frequency": 1.5, "phase": 0.3, "offset": 0.1}
    low, now, high = (sine_reference(times + shift, **sine) for shift in (-h, 0, h))
    # Central difference: h^2 / 6 times the third derivative A omega^3 = 1674, so 3e-8.
    np.testing.assert_allclose((high["value"] - low["value"]) / (2 * h), now["rate"], atol=1e-7)
    assert sine_reference(0.0, amplitude=2.0, frequency=1.5, offset=0.1)["value"] == 0.1


def test_a_constant_is_constant():
    assert constant_reference(constant=4.0) == {"value": 4.0}


# --------------------------------------------------------------------------------------------------
# Reference orientations against scipy's interpolation of rotations.


START, TARGET = Rotation.from_rotvec([0.3, -0.8, 0.5]), Rotation.from_rotvec([1.0, 0.9, -0.4])


def parts(rotation):
    return tuple(rotation.as_quat()[[3, 0, 1, 2]])


def values(found, name, axes):
    return np.array([found[f"{name}.{axis}"] for axis in axes])


def test_it_is_the_shortest_rotation_and_its_rates_are_those_of_the_body():
    between = Slerp([0.0, 1.0], Rotation.concatenate([START, TARGET]))
    for way in (0.0, 0.3, 1.0):
        found = orientation_reference(way, 2.0, -3.0, start=parts(START), target=parts(TARGET))
        w, *vector = values(found, "orientation", "wxyz")
        assert (between(way).inv() * Rotation.from_quat([*vector, w])).magnitude() < 1e-12
        # Body axes: R' = R [omega]x, constant along the way.
        phi = (START.inv() * TARGET).as_rotvec()
        assert values(found, "angular_velocity", "xyz") == pytest.approx(2.0 * phi)
        assert values(found, "angular_acceleration", "xyz") == pytest.approx(-3.0 * phi)


def test_what_is_no_orientation_is_refused():
    with pytest.raises(ValueError, match="target is not a unit quaternion"):
        orientation_reference(0.5, target=(1.0, 1.0, 0.0, 0.0))
    assert orientation_reference(0.5, target=(1.0, 0.0, 0.0, 0.0))["orientation.w"] == 1.0


# --------------------------------------------------------------------------------------------------
# Do the angles of a leg put its foot where its round goes?


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
