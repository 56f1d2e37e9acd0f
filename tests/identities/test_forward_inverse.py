"""Do forward and inverse dynamics undo each other, whichever method is taken?"""

from dataclasses import replace

import numpy as np
import pytest
from tests.support.random_trees import SEEDS, random_state, random_tree, random_wrenches

from robodyn.base.spatial import Inertia, Pose
from robodyn.computation.dynamics import GROUND, Link, Tree, bias, forward_dynamics, inverse_dynamics


def chain(n):
    """n equal links, each hinged to the end of the one before."""
    inertia = Inertia(1.0, np.array([0.5, 0.0, 0.1]), np.diag([0.1, 0.2, 0.3]))
    ahead = Pose.translation(np.array([1.0, 0.0, 0.0]))
    axis = np.array([0.0, 0.0, 1.0])
    return Tree(
        tuple(Link(f"l{k}", f"j{k}", "revolute", k - 1 if k else GROUND, ahead, axis, inertia) for k in range(n))
    )


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


@pytest.mark.parametrize(("links", "method"), [(12, "composite"), (13, "articulated")])
def test_long_chains_are_solved_by_articulated_bodies(links, method):
    tree = chain(links)
    q, v, tau = random_state(tree, links)

    np.testing.assert_array_equal(forward_dynamics(tree, q, v, tau), forward_dynamics(tree, q, v, tau, method=method))


def test_many_short_branches_are_solved_by_composite_bodies():
    links = [replace(link, parent=-1) for link in chain(30).links]
    tree = Tree(tuple(links))
    q, v, tau = random_state(tree, 1)

    composite = forward_dynamics(tree, q, v, tau, method="composite")
    np.testing.assert_array_equal(forward_dynamics(tree, q, v, tau), composite)
