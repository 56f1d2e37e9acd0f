"""Do trees with links that deform obey Lagrange's equations? All derivatives are exact, by automatic differentiation.

The recursive algorithms know nothing of the kinetic energy, which is written down on its own.
"""

import casadi as ca
import numpy as np
import pytest
from tests.support.flexible_trees import flexible_tree

from robodyn.computation.dynamics import (
    forward_dynamics,
    geometric_jacobian,
    inverse_dynamics,
    kinetic_energy,
    link_poses,
    mass_matrix,
    potential_energy,
)

# Sums of some hundred rounded terms, compared with the largest of them.
TOLERANCE = 1e-11
SEEDS = (0, 1, 2, 4, 6)


def state_of(tree, seed):
    rng = np.random.default_rng(4000 + seed)
    q, v, a = (rng.uniform(-1.5, 1.5, tree.n_v) for _ in range(3))
    # Inertias are kept to the second order of a deformation: at large ones they are no real body's.
    q[tree.n_joint_rates :] *= 0.3
    return [q, v, a]


@pytest.mark.parametrize("seed", SEEDS)
def test_inverse_dynamics_is_lagranges_equation_of_the_energies(seed):
    tree = flexible_tree(seed)
    q, v, a = (ca.SX.sym(name, tree.n_v) for name in "qva")
    T, V = kinetic_energy(tree, q, v), potential_energy(tree, q)
    p = ca.gradient(T, v)
    lagrange = ca.jacobian(p, v) @ a + ca.jtimes(p, q, v) - ca.gradient(T - V, q)
    both = ca.Function("both", [q, v, a], [lagrange, ca.SX(inverse_dynamics(tree, q, v, a))])

    expected, found = (np.array(value).ravel() for value in both(*state_of(tree, seed)))

    np.testing.assert_allclose(found, expected, atol=TOLERANCE * np.abs(expected).max(), rtol=0)


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_is_the_second_derivative_of_the_kinetic_energy(seed):
    tree = flexible_tree(seed)
    q, v, _ = state_of(tree, seed)
    rates = ca.SX.sym("v", tree.n_v)
    hessian = ca.Function("hessian", [rates], [ca.hessian(kinetic_energy(tree, list(q), rates), rates)[0]])

    expected, found = np.array(hessian(v)), mass_matrix(tree, list(q))

    np.testing.assert_allclose(found, expected, atol=TOLERANCE * np.abs(expected).max(), rtol=0)


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_undoes_inverse(seed):
    tree = flexible_tree(seed)
    q, v, a = state_of(tree, seed)

    found = forward_dynamics(tree, list(q), list(v), inverse_dynamics(tree, list(q), list(v), list(a)))

    # The condition of M enters: some thousands.
    np.testing.assert_allclose(found, a, atol=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_jacobian_is_the_derivative_of_a_points_position(seed):
    tree = flexible_tree(seed)
    q, _, _ = state_of(tree, seed)
    symbols, point, last = ca.SX.sym("q", tree.n_v), np.array([0.1, -0.2, 0.3]), len(tree.links) - 1
    position = link_poses(tree, symbols)[last].apply(point)
    exact = ca.Function("jacobian", [symbols], [ca.densify(ca.jacobian(position, symbols))])

    found = geometric_jacobian(tree, list(q), last, point)

    np.testing.assert_allclose(found[3:], np.array(exact(q)), atol=TOLERANCE * 10)
