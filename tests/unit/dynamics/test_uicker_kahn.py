import casadi as ca
import numpy as np
import pytest
from tests.support.random_trees import random_inertia, random_state, random_tree

from robodyn.base.spatial import Inertia, Pose
from robodyn.computation.dynamics import (
    Link,
    Tree,
    inverse_dynamics,
)
from robodyn_studies.lagrange import lagrange_coefficients, lagrange_inverse_dynamics, pseudo_inertia

Z = np.array([0.0, 0.0, 1.0])
L1, L2, M1, M2, G = 0.7, 0.5, 3.0, 2.0, 9.81
# Both links are point masses at their ends; gravity acts along -y (Craig, Introduction to Robotics, 3rd ed., 6.7).
ARM = Tree(
    (
        Link("upper", "shoulder", "revolute", -1, Pose.identity(), Z, Inertia.point(M1, [L1, 0.0, 0.0])),
        Link("fore", "elbow", "revolute", 0, Pose.translation([L1, 0, 0]), Z, Inertia.point(M2, [L2, 0, 0])),
    ),
    gravity=[0.0, -G, 0.0],
)
Q = np.array([0.4, -1.1])
# Ten operations on numbers of size ten.
TOLERANCE = 1e-13


def test_coefficients_of_the_textbooks_arm_are_its_closed_form():
    swing = M2 * L1 * L2 * np.sin(Q[1])
    D = lagrange_coefficients(ARM, Q)

    np.testing.assert_allclose(D.velocity[0], [[0.0, -swing], [-swing, -swing]], atol=TOLERANCE)
    np.testing.assert_allclose(D.velocity[1], [[swing, 0.0], [0.0, 0.0]], atol=TOLERANCE)
    outer = M2 * L2 * G * np.cos(Q.sum())
    np.testing.assert_allclose(D.gravity, [outer + (M1 + M2) * L1 * G * np.cos(Q[0]), outer], atol=10 * TOLERANCE)


def test_pseudo_inertia_sums_the_mass_points():
    points = np.array([[0.1, -0.2, 0.3], [0.5, 0.0, -0.4]])
    body = Inertia.point(2.0, points[0]) + Inertia.point(3.0, points[1])
    extended = np.column_stack([points, np.ones(2)])

    expected = sum(m * np.outer(r, r) for m, r in zip((2.0, 3.0), extended, strict=True))

    np.testing.assert_allclose(pseudo_inertia(body), expected, atol=1e-14)


def test_pseudo_inertia_of_products_has_their_opposite_sign():
    body = Inertia(1.0, np.zeros(3), [[0.2, 0.01, 0.0], [0.01, 0.3, 0.0], [0.0, 0.0, 0.4]])

    assert pseudo_inertia(body)[0, 1] == -0.01
    assert pseudo_inertia(body)[0, 0] == pytest.approx(0.5 * (0.3 + 0.4 - 0.2))


@pytest.mark.parametrize("seed", [3, 6])
def test_traced_torques_are_those_of_numbers(seed):
    tree = random_tree(seed)
    state = random_state(tree, seed)
    symbols = [ca.SX.sym(name, tree.n_v) for name in "qva"]
    traced = ca.Function("traced", symbols, [lagrange_inverse_dynamics(tree, *symbols)])

    expected = inverse_dynamics(tree, *state)

    np.testing.assert_allclose(np.array(traced(*state)).ravel(), expected, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("kind", ["ball", "free"])
def test_joints_of_more_than_one_axis_are_refused_by_name(kind):
    inertia = random_inertia(np.random.default_rng(0))
    tree = Tree((Link("hand", "wrist", kind, -1, Pose.identity(), None, inertia),))
    q = [0.0] * (tree.n_q - 4) + [1.0, 0.0, 0.0, 0.0]

    with pytest.raises(ValueError, match=f"'wrist' is of kind '{kind}'.*revolute and prismatic"):
        lagrange_coefficients(tree, q)


def test_wrong_number_of_speeds_is_refused():
    with pytest.raises(ValueError, match="v has 1 entries, the tree needs 2"):
        lagrange_inverse_dynamics(ARM, Q, [0.0], [0.0, 0.0])
