"""The textbook's two-link arm in closed form (Craig, Introduction to Robotics, 3rd ed., 6.7)."""

import casadi as ca
import numpy as np

from robodyn.base.spatial import Inertia, Pose
from robodyn.computation.dynamics import Link, Tree, bias, mass_matrix, point_position, potential_energy

L1, L2, M1, M2, G = 0.7, 0.5, 3.0, 2.0, 9.81
Z = np.array([0.0, 0.0, 1.0])

# Both links are point masses at their ends; gravity acts along -y.
ARM = Tree(
    (
        Link("upper", "shoulder", "revolute", -1, Pose.identity(), Z, Inertia.point(M1, [L1, 0.0, 0.0])),
        Link("fore", "elbow", "revolute", 0, Pose.translation([L1, 0, 0]), Z, Inertia.point(M2, [L2, 0, 0])),
    ),
    gravity=[0.0, -G, 0.0],
)
Q, V = np.array([0.4, -1.1]), np.array([1.5, -0.8])

# Ten operations on numbers of size ten.
TOLERANCE = 1e-13


def test_mass_matrix_is_the_textbook_one():
    c2 = np.cos(Q[1])
    corner = L2**2 * M2
    cross = corner + L1 * L2 * M2 * c2
    expected = [[corner + 2 * L1 * L2 * M2 * c2 + L1**2 * (M1 + M2), cross], [cross, corner]]

    np.testing.assert_allclose(mass_matrix(ARM, Q), expected, atol=TOLERANCE)


def test_bias_is_the_textbook_one():
    s2, c1, c12 = np.sin(Q[1]), np.cos(Q[0]), np.cos(Q.sum())
    swing = M2 * L1 * L2 * s2
    expected = [
        -swing * V[1] ** 2 - 2 * swing * V[0] * V[1] + M2 * L2 * G * c12 + (M1 + M2) * L1 * G * c1,
        swing * V[0] ** 2 + M2 * L2 * G * c12,
    ]

    np.testing.assert_allclose(bias(ARM, Q, V), expected, atol=10 * TOLERANCE)


def test_tip_and_potential_energy_follow_the_angles():
    elbow = L1 * np.array([np.cos(Q[0]), np.sin(Q[0]), 0.0])
    tip = elbow + L2 * np.array([np.cos(Q.sum()), np.sin(Q.sum()), 0.0])

    np.testing.assert_allclose(point_position(ARM, Q, 1, [L2, 0.0, 0.0]), tip, atol=TOLERANCE)
    np.testing.assert_allclose(potential_energy(ARM, Q), G * (M1 * elbow[1] + M2 * tip[1]), atol=10 * TOLERANCE)


def test_traced_mass_matrix_depends_on_the_elbow_only():
    q = ca.SX.sym("q", 2)

    assert not ca.depends_on(ca.cse(mass_matrix(ARM, q)), q[0])
