"""Rotations, poses and inertias, of numbers and of symbols."""

import casadi as ca
import numpy as np
import pytest

from robodyn.base.spatial import (
    Inertia,
    Pose,
    about_axis,
    cross,
    from_matrix,
    from_quaternion,
    from_rpy,
    quaternion_about,
    rotation_vector,
    skew,
)

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


# --------------------------------------------------------------------------------------------------
# Poses of frames.


X_AB = Pose(from_rpy(0.1, 0.2, 0.3), [1.0, 2.0, 3.0])
X_BC = Pose(from_rpy(-0.4, 0.5, 0.6), [-1.0, 0.5, 0.2])
POINT = np.array([0.3, -0.7, 0.9])

# A few rounded products of numbers of size one.


def test_composed_pose_applies_one_pose_after_the_other():
    np.testing.assert_allclose((X_AB @ X_BC).apply(POINT), X_AB.apply(X_BC.apply(POINT)), atol=TOLERANCE)


def test_inverse_undoes_a_pose():
    np.testing.assert_allclose(X_AB.inverse().apply(X_AB.apply(POINT)), POINT, atol=TOLERANCE)


def test_identity_changes_nothing():
    np.testing.assert_array_equal((X_AB @ Pose.identity()).R, X_AB.R)
    np.testing.assert_array_equal((Pose.identity() @ X_AB).p, X_AB.p)


def test_poses_of_numbers_and_symbols_mix():
    height = ca.SX.sym("height")
    lifted = Pose.translation([0.0, 0.0, height]) @ X_AB

    point = ca.Function("point", [height], [lifted.apply(POINT)])(2.0)

    np.testing.assert_allclose(np.array(point).ravel(), X_AB.apply(POINT) + [0.0, 0.0, 2.0], atol=TOLERANCE)


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="3 x 3"):
        Pose(np.eye(4), np.zeros(3))
    with pytest.raises(ValueError, match="3 entries"):
        Pose(np.eye(3), np.zeros(2))


def test_skew_matrix_is_the_vector_product():
    x, y = X_AB.p, POINT

    np.testing.assert_allclose(skew(x) @ y, np.cross(x, y), atol=TOLERANCE)
    np.testing.assert_allclose(cross(x, y), np.cross(x, y), atol=TOLERANCE)


# --------------------------------------------------------------------------------------------------
# Inertias against sums over the mass points they are made of.


MASSES = np.array([1.0, 2.0, 0.5, 0.7])
POINTS = np.random.default_rng(4).normal(size=(4, 3))
POSE = Pose(from_rpy(0.3, -0.8, 1.2), [0.5, -1.0, 2.0])

# Some ten rounded products of numbers of size one to ten.
SUMS_TOLERANCE = 1e-13


def cloud(masses, points):
    """Inertia of mass points, by its definition."""
    com = masses @ points / masses.sum()
    arms = points - com

    return Inertia(masses.sum(), com, tensor_about_zero(masses, arms))


def tensor_about_zero(masses, arms):
    return sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms, strict=True))


def assert_same(body, expected):
    np.testing.assert_allclose(body.mass, expected.mass, atol=SUMS_TOLERANCE)
    np.testing.assert_allclose(body.com, expected.com, atol=SUMS_TOLERANCE)
    np.testing.assert_allclose(body.tensor, expected.tensor, atol=SUMS_TOLERANCE)


def test_two_bodies_add_up_to_the_cloud_of_all_points():
    assert_same(cloud(MASSES[:2], POINTS[:2]) + cloud(MASSES[2:], POINTS[2:]), cloud(MASSES, POINTS))


def test_moved_inertia_is_that_of_moved_points():
    moved = np.array([POSE.apply(point) for point in POINTS])

    assert_same(cloud(MASSES, POINTS).moved(POSE), cloud(MASSES, moved))


def test_moments_about_origin_are_sums_over_points():
    moments = cloud(MASSES, POINTS).about_origin()

    np.testing.assert_allclose(moments.first, MASSES @ POINTS, atol=SUMS_TOLERANCE)
    np.testing.assert_allclose(moments.second, (MASSES[:, None] * POINTS).T @ POINTS, atol=SUMS_TOLERANCE)
    np.testing.assert_allclose(moments.tensor, tensor_about_zero(MASSES, POINTS), atol=SUMS_TOLERANCE)


def test_moments_move_like_inertias():
    body = cloud(MASSES, POINTS)
    moved, expected = body.about_origin().moved(POSE), body.moved(POSE).about_origin()

    np.testing.assert_allclose(moved.first, expected.first, atol=SUMS_TOLERANCE)
    np.testing.assert_allclose(moved.second, expected.second, atol=SUMS_TOLERANCE)


def test_massless_bodies_add_up_without_dividing_by_zero():
    empty = Inertia.massless() + Inertia.massless()
    body = cloud(MASSES, POINTS)

    assert empty.mass == 0.0
    assert_same(empty + body, body)


def test_inertia_may_hold_symbols():
    mass = ca.SX.sym("mass")
    body = Inertia(mass, POINTS[0], np.eye(3)) + cloud(MASSES, POINTS)

    tensor = ca.Function("tensor", [mass], [body.tensor])(3.0)

    expected = Inertia(3.0, POINTS[0], np.eye(3)) + cloud(MASSES, POINTS)
    np.testing.assert_allclose(np.array(tensor), expected.tensor, atol=SUMS_TOLERANCE)


def test_tensor_that_is_not_symmetric_is_refused():
    with pytest.raises(ValueError, match="symmetric"):
        Inertia(1.0, np.zeros(3), [[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
