"""Poses of frames."""

import casadi as ca
import numpy as np
import pytest

from robodyn.base.spatial import Pose, cross, from_rpy, skew

X_AB = Pose(from_rpy(0.1, 0.2, 0.3), [1.0, 2.0, 3.0])
X_BC = Pose(from_rpy(-0.4, 0.5, 0.6), [-1.0, 0.5, 0.2])
POINT = np.array([0.3, -0.7, 0.9])

# A few rounded products of numbers of size one.
TOLERANCE = 1e-14


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
