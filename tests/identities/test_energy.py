"""Is energy kept? All derivatives are exact, by automatic differentiation."""

import casadi as ca
import numpy as np
import pytest
from tests.support.random_trees import SEEDS, random_state, random_tree

from robodyn.computation.dynamics import bias, inverse_dynamics, kinetic_energy, position_rates, potential_energy

# Sums of some hundred rounded terms, compared with the largest of them.
TOLERANCE = 1e-11


@pytest.mark.parametrize("seed", SEEDS)
def test_power_of_all_torques_is_rate_of_energy(seed):
    tree = random_tree(seed)
    q, v, a = random_state(tree, seed)
    q_sym, v_sym = ca.SX.sym("q", tree.n_q), ca.SX.sym("v", tree.n_v)
    state = ca.vertcat(q_sym, v_sym)
    energy = kinetic_energy(tree, q_sym, v_sym) + potential_energy(tree, q_sym)
    gradient = ca.Function("gradient", [state], [ca.gradient(energy, state)])

    slope = np.array(gradient(np.concatenate([q, v]))).ravel()
    terms = slope * np.concatenate([position_rates(tree, q, v), a])
    powers = inverse_dynamics(tree, q, v, a) * v

    scale = np.abs(terms).max() + np.abs(powers).max()
    assert powers.sum() == pytest.approx(terms.sum(), abs=TOLERANCE * scale)


@pytest.mark.parametrize("seed", SEEDS)
def test_torque_at_rest_is_gradient_of_potential_energy(seed):
    tree = random_tree(seed)
    q, _, _ = random_state(tree, seed)
    q_sym, v_sym = ca.SX.sym("q", tree.n_q), ca.SX.sym("v", tree.n_v)
    rate = ca.jtimes(potential_energy(tree, q_sym), q_sym, position_rates(tree, q_sym, v_sym))
    gradient = ca.Function("gradient", [q_sym], [ca.substitute(ca.gradient(rate, v_sym), v_sym, 0)])

    expected = np.array(gradient(q)).ravel()

    np.testing.assert_allclose(
        bias(tree, q, np.zeros(tree.n_v)), expected, rtol=TOLERANCE, atol=TOLERANCE * np.abs(expected).max()
    )
