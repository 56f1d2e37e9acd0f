"""Inertias against sums over the mass points they are made of."""

import casadi as ca
import numpy as np
import pytest

from robodyn.base.spatial import Inertia, Pose, from_rpy

MASSES = np.array([1.0, 2.0, 0.5, 0.7])
POINTS = np.random.default_rng(4).normal(size=(4, 3))
POSE = Pose(from_rpy(0.3, -0.8, 1.2), [0.5, -1.0, 2.0])

# Some ten rounded products of numbers of size one to ten.
TOLERANCE = 1e-13


def cloud(masses, points):
    """Inertia of mass points, by its definition."""
    com = masses @ points / masses.sum()
    arms = points - com

    return Inertia(masses.sum(), com, tensor_about_zero(masses, arms))


def tensor_about_zero(masses, arms):
    return sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms, strict=True))


def assert_same(body, expected):
    np.testing.assert_allclose(body.mass, expected.mass, atol=TOLERANCE)
    np.testing.assert_allclose(body.com, expected.com, atol=TOLERANCE)
    np.testing.assert_allclose(body.tensor, expected.tensor, atol=TOLERANCE)


def test_two_bodies_add_up_to_the_cloud_of_all_points():
    assert_same(cloud(MASSES[:2], POINTS[:2]) + cloud(MASSES[2:], POINTS[2:]), cloud(MASSES, POINTS))


def test_moved_inertia_is_that_of_moved_points():
    moved = np.array([POSE.apply(point) for point in POINTS])

    assert_same(cloud(MASSES, POINTS).moved(POSE), cloud(MASSES, moved))


def test_moments_about_origin_are_sums_over_points():
    moments = cloud(MASSES, POINTS).about_origin()

    np.testing.assert_allclose(moments.first, MASSES @ POINTS, atol=TOLERANCE)
    np.testing.assert_allclose(moments.second, (MASSES[:, None] * POINTS).T @ POINTS, atol=TOLERANCE)
    np.testing.assert_allclose(moments.tensor, tensor_about_zero(MASSES, POINTS), atol=TOLERANCE)


def test_moments_move_like_inertias():
    body = cloud(MASSES, POINTS)
    moved, expected = body.about_origin().moved(POSE), body.moved(POSE).about_origin()

    np.testing.assert_allclose(moved.first, expected.first, atol=TOLERANCE)
    np.testing.assert_allclose(moved.second, expected.second, atol=TOLERANCE)


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
    np.testing.assert_allclose(np.array(tensor), expected.tensor, atol=TOLERANCE)


def test_tensor_that_is_not_symmetric_is_refused():
    with pytest.raises(ValueError, match="symmetric"):
        Inertia(1.0, np.zeros(3), [[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
