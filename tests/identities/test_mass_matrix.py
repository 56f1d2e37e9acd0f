"""Is the mass matrix that of the equations of motion?"""

import numpy as np
import pytest
from tests.support.random_trees import SEEDS, random_state, random_tree

from robodyn.computation.dynamics import bias, inverse_dynamics, kinetic_energy, mass_matrix

# Differences of a few hundred rounded operations on numbers of the matrix's size.
TOLERANCE = 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_is_symmetric_and_positive_definite(seed):
    tree = random_tree(seed)
    M = mass_matrix(tree, random_state(tree, seed)[0])

    np.testing.assert_array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min() > 0.0


@pytest.mark.parametrize("seed", SEEDS)
def test_column_of_mass_matrix_is_torque_of_a_unit_acceleration(seed):
    tree = random_tree(seed)
    q, _, _ = random_state(tree, seed)
    rest = np.zeros(tree.n_v)

    M = mass_matrix(tree, q)
    columns = [inverse_dynamics(tree, q, rest, unit) - bias(tree, q, rest) for unit in np.eye(tree.n_v)]

    # Gravity torques, up to some hundred N m, are taken away again here.
    np.testing.assert_allclose(np.array(columns).T, M, rtol=TOLERANCE, atol=TOLERANCE * 100)


@pytest.mark.parametrize("seed", SEEDS)
def test_joints_on_different_branches_do_not_couple(seed):
    tree = random_tree(seed)
    M = mass_matrix(tree, random_state(tree, seed)[0])

    for i in range(len(tree.links)):
        for j in range(i):
            if j not in tree.path(i):
                assert np.all(M[tree.v_slices[i], tree.v_slices[j]] == 0.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_kinetic_energy_is_half_v_M_v(seed):
    tree = random_tree(seed)
    q, v, _ = random_state(tree, seed)

    assert kinetic_energy(tree, q, v) == pytest.approx(0.5 * v @ mass_matrix(tree, q) @ v, rel=TOLERANCE)
