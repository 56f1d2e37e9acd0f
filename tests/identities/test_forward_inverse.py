"""Do forward and inverse dynamics undo each other, whichever method is taken?"""

import numpy as np
import pytest
from tests.support.random_trees import SEEDS, random_state, random_tree, random_wrenches

from robodyn.dynamics import bias, forward_dynamics, inverse_dynamics

# Rounding of about 1e-16 grows with the condition of M, up to some 1e5 on these trees.
TOLERANCE = 1e-9


@pytest.mark.parametrize("method", ["composite", "articulated"])
@pytest.mark.parametrize("seed", SEEDS)
def test_forward_dynamics_undoes_inverse_dynamics(seed, method):
    tree = random_tree(seed)
    q, v, a = random_state(tree, seed)
    wrenches = random_wrenches(tree, seed)

    tau = inverse_dynamics(tree, q, v, a, wrenches)

    np.testing.assert_allclose(
        forward_dynamics(tree, q, v, tau, wrenches, method=method), a, rtol=TOLERANCE, atol=TOLERANCE
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_both_methods_give_the_same_accelerations(seed):
    tree = random_tree(seed)
    q, v, tau = random_state(tree, seed)

    composite = forward_dynamics(tree, q, v, tau, method="composite")
    articulated = forward_dynamics(tree, q, v, tau, method="articulated")

    np.testing.assert_allclose(articulated, composite, rtol=TOLERANCE, atol=TOLERANCE * np.abs(composite).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_bias_is_inverse_dynamics_without_acceleration(seed):
    tree = random_tree(seed)
    q, v, _ = random_state(tree, seed)

    np.testing.assert_array_equal(bias(tree, q, v), inverse_dynamics(tree, q, v, np.zeros(tree.n_v)))


@pytest.mark.parametrize(("seed", "method"), [(11, "composite"), (23, "articulated")])
def test_large_trees_are_solved_by_articulated_bodies(seed, method):
    tree = random_tree(seed)
    q, v, tau = random_state(tree, seed)

    assert (tree.n_v > 12) == (method == "articulated")
    np.testing.assert_array_equal(forward_dynamics(tree, q, v, tau), forward_dynamics(tree, q, v, tau, method=method))
