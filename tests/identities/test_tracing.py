"""Does a traced graph compute what the numeric call computes, with symbols for states and for parameters?"""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from tests.support.random_trees import SEEDS, random_state, random_tree, random_wrenches

from robodyn.base.spatial import Inertia
from robodyn.computation.dynamics import (
    Tree,
    forward_dynamics,
    geometric_jacobian,
    inverse_dynamics,
    kinetic_energy,
    link_poses,
    mass_matrix,
    potential_energy,
)

# The graph folds constants in another order than the numeric call rounds them.
TOLERANCE = 1e-10


def evaluate(expression, symbols, values):
    """Numbers of an expression at the symbols' values."""
    return np.array(ca.Function("traced", symbols, [expression])(*values)).squeeze()


def assert_close(traced, numeric):
    np.testing.assert_allclose(
        traced, np.squeeze(numeric), rtol=TOLERANCE, atol=TOLERANCE * max(1.0, np.abs(numeric).max())
    )


def symbols_of(tree):
    return [ca.SX.sym("q", tree.n_q), ca.SX.sym("v", tree.n_v), ca.SX.sym("a", tree.n_v)]


@pytest.mark.parametrize("seed", SEEDS[1::2])
def test_traced_inverse_dynamics_equals_numeric(seed):
    tree = random_tree(seed)
    values, symbols = random_state(tree, seed), symbols_of(tree)
    wrenches = random_wrenches(tree, seed)

    traced = evaluate(inverse_dynamics(tree, *symbols, wrenches), symbols, values)

    assert_close(traced, inverse_dynamics(tree, *values, wrenches))


@pytest.mark.parametrize("method", ["composite", "articulated"])
@pytest.mark.parametrize("seed", SEEDS[1::2])
def test_traced_forward_dynamics_equals_numeric(seed, method):
    tree = random_tree(seed)
    values, symbols = random_state(tree, seed), symbols_of(tree)

    traced = evaluate(forward_dynamics(tree, *symbols, method=method), symbols, values)

    assert_close(traced, forward_dynamics(tree, *values, method=method))


@pytest.mark.parametrize("seed", SEEDS[1::2])
def test_traced_kinematics_mass_matrix_and_energy_equal_numeric(seed):
    tree = random_tree(seed)
    (q, v, _), (q_sym, v_sym, _) = random_state(tree, seed), symbols_of(tree)
    last, point = len(tree.links) - 1, np.array([0.1, 0.2, -0.3])

    def numbers(expression):
        return evaluate(expression, [q_sym, v_sym], [q, v])

    assert_close(numbers(mass_matrix(tree, q_sym)), mass_matrix(tree, q))
    energies = kinetic_energy(tree, q, v), potential_energy(tree, q)
    traced = kinetic_energy(tree, q_sym, v_sym), potential_energy(tree, q_sym)
    assert_close(numbers(ca.vertcat(*traced)), np.array(energies))
    assert_close(numbers(link_poses(tree, q_sym)[last].R), link_poses(tree, q)[last].R)
    assert_close(numbers(geometric_jacobian(tree, q_sym, last, point)), geometric_jacobian(tree, q, last, point))


def with_symbolic_parameters(tree):
    """The same tree with symbols for every inertial parameter and gravity, the symbols and their values."""
    symbols, values, links = [ca.SX.sym("gravity", 3)], [tree.gravity], []
    for link in tree.links:
        p = ca.SX.sym(f"p_{link.name}", 11)
        tensor = ca.vertcat(ca.horzcat(p[4], p[5], p[6]), ca.horzcat(p[5], p[7], p[8]), ca.horzcat(p[6], p[8], p[9]))
        inertia = Inertia(p[0], p[1:4], tensor)
        links.append(replace(link, inertia=inertia, armature=p[10]))
        symbols.append(p)
        body = link.inertia
        upper = body.tensor[np.triu_indices(3)]
        values.append(np.concatenate([[body.mass], body.com, upper, [link.armature]]))

    return Tree(tuple(links), gravity=symbols[0]), symbols, values


@pytest.mark.parametrize("method", ["composite", "articulated"])
@pytest.mark.parametrize("seed", SEEDS[1::5])
def test_inertial_parameters_may_be_symbols(seed, method):
    tree = random_tree(seed)
    state = random_state(tree, seed)
    tunable, symbols, values = with_symbolic_parameters(tree)

    traced = evaluate(forward_dynamics(tunable, *state, method=method), symbols, values)
    half_traced = inverse_dynamics(tunable, *state)

    assert_close(traced, forward_dynamics(tree, *state, method=method))
    assert_close(evaluate(half_traced, symbols, values), inverse_dynamics(tree, *state))
