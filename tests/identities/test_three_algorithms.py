"""Do Uicker-Kahn, Newton-Euler and Walker-Orin describe the same motion of any tree of one-axis joints?"""

import casadi as ca
import numpy as np
import pytest
from tests.support.random_trees import random_state, random_tree

from robodyn.computation.dynamics import (
    bias,
    forward_dynamics,
    geometric_jacobian,
    inverse_dynamics,
    mass_matrix,
)
from robodyn_studies.lagrange import lagrange_coefficients, lagrange_inverse_dynamics

# The first twelve trees have revolute and prismatic joints only, in chains and branches of 1 to 12 links.
SEEDS = range(12)
# Sums of some thousand products of size up to 1e2, each rounded to 1e-16.
TOLERANCE = 1e-10


def assert_same(found, expected):
    expected = np.asarray(expected, float)
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("seed", SEEDS)
def test_uicker_kahn_asks_the_torques_of_newton_euler(seed):
    tree = random_tree(seed)
    q, v, a = random_state(tree, seed)

    assert_same(lagrange_inverse_dynamics(tree, q, v, a), inverse_dynamics(tree, q, v, a))


@pytest.mark.parametrize("seed", SEEDS)
def test_inertial_coefficients_are_the_composite_mass_matrix(seed):
    tree = random_tree(seed)
    q, _, _ = random_state(tree, seed)

    assert_same(lagrange_coefficients(tree, q).inertial, mass_matrix(tree, q))


@pytest.mark.parametrize("seed", SEEDS)
def test_walker_orin_gives_back_the_accelerations_that_uicker_kahn_took(seed):
    tree = random_tree(seed)
    q, v, a = random_state(tree, seed)

    found = forward_dynamics(tree, q, v, lagrange_inverse_dynamics(tree, q, v, a), method="composite")

    # Rounding grows with the condition of M, up to some 1e5 on these trees.
    np.testing.assert_allclose(found, a, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_velocity_coefficients_are_half_the_second_derivatives_of_the_bias(seed):
    tree = random_tree(seed)
    q, _, _ = random_state(tree, seed)
    v = ca.SX.sym("v", tree.n_v)
    c = bias(tree, list(q), v)

    for i, D in enumerate(lagrange_coefficients(tree, q).velocity):
        assert_same(D, 0.5 * np.array(ca.DM(ca.hessian(c[i], v)[0])))


@pytest.mark.parametrize("seed", SEEDS)
def test_gravity_coefficients_hold_the_resting_tree(seed):
    tree = random_tree(seed)
    q, _, _ = random_state(tree, seed)

    assert_same(lagrange_coefficients(tree, q).gravity, bias(tree, q, np.zeros(tree.n_v)))


@pytest.mark.parametrize("seed", SEEDS)
def test_wrench_on_the_gripper_enters_by_the_transposed_jacobian(seed):
    tree = random_tree(seed)
    q, v, a = random_state(tree, seed)
    rng = np.random.default_rng(3000 + seed)
    force, torque = rng.normal(size=3) * 20.0, rng.normal(size=3) * 5.0
    tip = len(tree.links) - 1

    loaded = inverse_dynamics(tree, q, v, a, {tip: (force, torque)})

    J = geometric_jacobian(tree, q, tip, np.zeros(3))
    relief = J.T @ np.concatenate([torque, force])
    assert_same(loaded, lagrange_inverse_dynamics(tree, q, v, a) - relief)
