"""Rotations from axes, angles and quaternions."""

import casadi as ca
import numpy as np
import pytest

from robodyn.base.spatial import about_axis, from_matrix, from_quaternion, from_rpy, quaternion_about, rotation_vector

# A few rounded products of numbers of size one.
TOLERANCE = 1e-14


def test_right_angle_about_z_turns_x_into_y():
    np.testing.assert_array_equal(about_axis([0, 0, 1], np.pi / 2) @ [1, 0, 0], [0, 1, 0])


@pytest.mark.parametrize("turns", [-2, -1, 0, 1, 2, 3, 4])
@pytest.mark.parametrize("axis", np.vstack([np.eye(3), -np.eye(3)]))
def test_right_angles_give_only_zeros_and_ones(axis, turns):
    assert set(np.abs(about_axis(axis, turns * np.pi / 2)).ravel()) == {0.0, 1.0}


def test_small_rotations_are_not_cleaned_away():
    assert about_axis([1, 0, 0], 1e-12)[2, 1] == pytest.approx(1e-12)


def test_rotation_about_any_axis_keeps_the_axis_and_turns_by_the_angle():
    axis, angle = np.array([1.0, -2.0, 2.0]) / 3.0, 0.7
    R = about_axis(axis, angle)

    np.testing.assert_allclose(R @ axis, axis, atol=TOLERANCE)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=TOLERANCE)
    assert np.trace(R) == pytest.approx(1.0 + 2.0 * np.cos(angle))
    assert np.cross(axis, R @ [0.0, 1.0, 1.0]) @ np.cross(axis, [0.0, 1.0, 1.0]) > 0.0


def test_roll_pitch_yaw_turn_about_fixed_axes():
    R = from_rpy(np.pi / 2, 0.0, np.pi / 2)

    # Roll takes y to z; yaw about the fixed z then leaves it there.
    np.testing.assert_array_equal(R @ [0, 1, 0], [0, 0, 1])
    np.testing.assert_array_equal(R @ [1, 0, 0], [0, 1, 0])


def test_quaternion_equals_axis_and_angle():
    axis, angle = np.array([2.0, 3.0, -6.0]) / 7.0, 1.1
    w, (x, y, z) = np.cos(angle / 2), np.sin(angle / 2) * axis

    np.testing.assert_allclose(from_quaternion(w, x, y, z), about_axis(axis, angle), atol=TOLERANCE)


def test_symbolic_rotation_about_z_has_constant_third_row_and_column():
    R = about_axis(np.array([0.0, 0.0, 1.0]), ca.SX.sym("angle"))

    assert all(R[2, k].is_constant() and R[k, 2].is_constant() for k in range(3))
    assert float(R[2, 2]) == 1.0


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        (np.eye(2), "3 x 3"),
        (np.eye(3) * 1.1, "differs from the unit matrix"),
        (np.diag([1.0, 1.0, -1.0]), "mirrors"),
        (np.full((3, 3), np.nan), "differs from the unit matrix"),
    ],
)
def test_matrices_that_are_no_rotations_are_refused(matrix, sentence):
    with pytest.raises(ValueError, match=sentence):
        from_matrix(matrix)


def test_printed_rotation_is_accepted():
    R = np.round(from_rpy(0.1, 0.2, 0.3), 7)

    np.testing.assert_array_equal(from_matrix(R), R)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.06, 0.0633, 1.0, 3.1, -2.0])
def test_a_rotation_vector_is_axis_times_angle_of_a_quaternion_of_any_length_and_sign(angle):
    axis = np.array([0.48, -0.6, 0.64])
    quaternion = np.array(quaternion_about(axis, angle))
    for factor in (1.0, -1.0, 3.0):
        assert rotation_vector(*(factor * quaternion)) == pytest.approx(angle * axis, rel=1e-14)


def test_more_than_half_a_turn_is_the_rest_of_it_backwards():
    assert rotation_vector(*quaternion_about((1.0, 0.0, 0.0), 4.0)) == pytest.approx((4.0 - 2 * np.pi, 0.0, 0.0))
