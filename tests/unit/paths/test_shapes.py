"""Are lines, arcs and blends what they say, measured by their length, with right derivatives?"""

import numpy as np
import pytest

from robodyn import ModelError
from robodyn.base.spatial import about_axis
from robodyn.description.paths import (
    Blend,
    Line,
    Orientation,
    arc_about,
    arc_through,
    join_pieces,
    point_tool,
    straight_line,
    waypoints,
)
from robodyn.description.paths.cartesian import rotation_vector

DOWN = point_tool((0, 0, -1))
ZIGZAG = [(0.6, -0.3, -0.2), (0.7, 0.0, -0.2), (0.5, 0.2, 0.0), (0.5, 0.5, 0.0)]
PATHS = {
    "line": straight_line((0.6, -0.6, 0.1), (0.6, 0.6, 0.3), DOWN, point_tool((1, 0.3, -1), spin=0.7)),
    "arc": arc_through((0.6, -0.2, 0.0), (0.5, 0.0, 0.1), (0.6, 0.3, 0.0), DOWN),
    "circle": arc_about((0.6, 0.0, 0.0), (0.0, 1.0, 1.0), (0.7, 0.1, 0.3), -2 * np.pi, DOWN),
    "waypoints": waypoints(ZIGZAG, (0.08, 0.05), DOWN, point_tool((0.5, 0, -1))),
}
# Central differences of order 8, by offsets 1 to 4.
WEIGHTS = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])


def difference(function, s, h):
    steps = [weight * (function(s + k * h) - function(s - k * h)) for k, weight in enumerate(WEIGHTS, start=1)]
    return sum(steps) / h


def inner_ways(path):
    """Some ways well inside each piece."""
    return np.concatenate(
        [a + (b - a) * np.linspace(0.1, 0.9, 9) for a, b in zip(path.ends[:-1], path.ends[1:], strict=True)]
    )


def vee(skewed):
    return np.stack([skewed[..., 2, 1], skewed[..., 0, 2], skewed[..., 1, 0]], axis=-1)


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_derivatives_by_the_way_are_those_of_the_pose(path):
    s = inner_ways(path)
    here = path.at(s)
    # Step 5e-4 of ways of decimetres: truncation below 1e-12, rounding 1e-16 / 5e-4.
    tangent = difference(lambda way: path.at(way).p, s, 5e-4)
    bend = difference(lambda way: path.at(way).twist[:, 3:], s, 5e-4)
    omega = vee(difference(lambda way: path.at(way).R, s, 5e-4) @ np.swapaxes(here.R, 1, 2))
    assert np.allclose(here.twist[:, 3:], tangent, atol=1e-9)
    assert np.allclose(here.twist_rate[:, 3:], bend, atol=1e-8)
    assert np.allclose(here.twist[:, :3], omega, atol=1e-9)
    assert np.allclose(np.linalg.norm(here.twist[:, 3:], axis=1), 1.0, atol=1e-12), "s is the length gone"


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_pieces_join_in_place_and_direction(path):
    for k, end in enumerate(path.ends[1:-1]):
        left, right = path.at(end, k), path.at(end, k + 1)
        assert np.allclose(left.p, right.p, atol=1e-13)
        assert np.allclose(left.twist, right.twist, atol=1e-12)


def test_a_blend_has_no_curvature_at_its_ends_and_passes_inside_the_corner():
    blend = Blend((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), 0.1)
    p, _, bend = blend.at(np.linspace(0.0, blend.length, 101))
    assert np.allclose(p[[0, -1]], [(-0.1, 0, 0), (0, 0.1, 0)], atol=1e-14)
    assert np.allclose(bend[[0, -1]], 0.0, atol=1e-9)
    # A right angle: the arc between the same ends has the curvature 1 / radius.
    assert 1.0 < np.linalg.norm(bend, axis=1).max() * 0.1 < 1.2
    assert np.all(p[1:-1, 0] < 0)
    assert np.all(p[1:-1, 1] > 0)


def test_an_arc_goes_over_its_middle_and_keeps_its_radius():
    path = PATHS["arc"]
    (arc,) = path.pieces
    p = path.at(np.linspace(0.0, path.length, 2001)).p
    assert np.allclose(p[[0, -1]], [(0.6, -0.2, 0.0), (0.6, 0.3, 0.0)], atol=1e-12)
    # Half the distance between two of the points.
    assert np.linalg.norm(p - (0.5, 0.0, 0.1), axis=1).min() < path.length / 4000
    assert np.allclose(np.linalg.norm(p - arc.center, axis=1), arc.radius, atol=1e-13)


def test_an_arc_about_an_axis_turns_right_handed_and_back():
    quarter = arc_about((0, 0, 0.5), (0, 0, 2), (0.3, 0, 0.1), np.pi / 2, DOWN)
    back = arc_about((0, 0, 0.5), (0, 0, 2), (0.3, 0, 0.1), -np.pi / 2, DOWN)
    assert quarter.length == back.length == pytest.approx(0.3 * np.pi / 2)
    assert np.allclose(quarter.at(quarter.length).p, [(0, 0.3, 0.1)], atol=1e-14)
    assert np.allclose(back.at(back.length).p, [(0, -0.3, 0.1)], atol=1e-14)


def test_waypoints_on_a_line_make_a_line():
    path = waypoints([(0, 0, 0), (0.5, 0, 0), (1, 0, 0)], 0.1, DOWN)
    assert path.length == pytest.approx(1.0)
    assert len(path.pieces) == 1


def test_a_tool_points_where_it_should():
    for direction in ((0, 0, -1), (0, 0, 1), (1, 2, -3)):
        for axis in ((0, 0, 1), (1, 0, 0), (1, 1, 0)):
            R = point_tool(direction, spin=0.4, axis=axis)
            found = R @ np.array(axis) / np.linalg.norm(axis)
            assert np.allclose(found, np.array(direction) / np.linalg.norm(direction), atol=1e-15)
            assert np.allclose(R @ R.T, np.eye(3), atol=1e-15)
            assert np.linalg.det(R) > 0
    assert np.array_equal(DOWN, np.diag([1.0, -1.0, -1.0]))
    assert np.allclose(point_tool((1e-9, 1e-9, -1)), DOWN, atol=1e-8), "no jump near the vertical"


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1.0, 3.0, np.pi - 1e-4, np.pi - 1e-9, np.pi])
def test_a_rotation_vector_makes_its_rotation_again(angle):
    for axis in (np.array([0.0, 0.0, 1.0]), np.array([0.6, -0.8, 0.0]), np.array([2.0, -1.0, 2.0]) / 3):
        R = about_axis(axis, angle)
        found = rotation_vector(np.array([R, np.eye(3)]))
        size = np.linalg.norm(found[0])
        # The axis near 0 comes from differences of entries; near pi from a square root of rounding.
        assert np.allclose(about_axis(found[0] / size, size) if size else np.eye(3), R, atol=1e-13)
        assert size == pytest.approx(angle, abs=1e-13)
        assert np.all(found[1] == 0)


def test_an_orientation_turns_evenly_to_its_end():
    end = point_tool((1, 0.5, -1), spin=2.0)
    turning = Orientation(DOWN, end)
    R, turn = turning.at(np.array([0.0, 0.5, 1.0]))
    assert np.allclose(R[0], DOWN)
    assert np.allclose(R[2], end, atol=1e-14)
    halves = [2 * np.arccos(0.5 * np.sqrt(1 + np.trace(a.T @ b))) for a, b in ((R[0], R[1]), (R[1], R[2]))]
    assert np.allclose(halves, 0.5 * np.linalg.norm(turn))


WRONG = {
    "it must lead somewhere": lambda: straight_line((1, 0, 0), (1, 0, 0), DOWN),
    "on one line": lambda: arc_through((0, 0, 0), (1, 0, 0), (2, 0, 0), DOWN),
    "on the axis": lambda: arc_about((0, 0, 0), (0, 0, 1), (0, 0, 1), 1.0, DOWN),
    "must not be 0": lambda: arc_about((0, 0, 0), (0, 0, 1), (1, 0, 0), 0.0, DOWN),
    "need 600 mm of the line of 500 mm": lambda: waypoints([(0, 0, 0), (1, 0, 0), (1, 0.5, 0), (0, 1, 1)], 0.3, DOWN),
    "turns by 180 deg": lambda: waypoints([(0, 0, 0), (1, 0, 0), (0, 0, 0)], 0.1, DOWN),
    "must be positive": lambda: waypoints([(0, 0, 0), (1, 0, 0), (1, 1, 0)], 0.0, DOWN),
    "at least two": lambda: waypoints([(0, 0, 0)], 0.1, DOWN),
    "equals the one before": lambda: waypoints([(0, 0, 0), (0, 0, 0)], 0.1, DOWN),
    "180 deg from the start": lambda: Orientation(DOWN, np.eye(3)),
    "not a rotation": lambda: Orientation(2 * np.eye(3)),
    "turns by 90 deg at a point": lambda: join_pieces(
        [Line((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), Line((1.0, 0.0, 0.0), (1.0, 1.0, 0.0))], DOWN
    ),
    "begins 1e+03 mm from": lambda: join_pieces(
        [Line((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), Line((2.0, 0.0, 0.0), (3.0, 0.0, 0.0))], DOWN
    ),
}


@pytest.mark.parametrize(("message", "make"), WRONG.items(), ids=WRONG)
def test_a_shape_that_cannot_be_is_told(message, make):
    with pytest.raises(ModelError) as error:
        make()
    assert message in str(error.value)


def test_all_that_is_no_number_is_told_at_once():
    with pytest.raises(ModelError) as error:
        straight_line((1, 0, "0"), (1, 0, np.nan), DOWN)
    assert [flaw.path for flaw in error.value.flaws] == ["start[2]", "end[2]"]
