"""Do references go where they should, with velocity and acceleration that are their own derivatives?"""

from itertools import pairwise

import numpy as np
import pytest

from robodyn.description.laws.definition import info_of
from robodyn.description.laws.references import (
    constant_reference,
    ramp_reference,
    sine_reference,
    spline_reference,
    step_reference,
    table_reference,
    trapezoid_reference,
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
