"""Solving with symmetric matrices."""

import casadi as ca
import numpy as np
import pytest

from robodyn.computation.dynamics import ldl, solve_symmetric

# Condition below 1e3 times rounding.
TOLERANCE = 1e-12


def random_matrix(n, seed=0):
    A = np.random.default_rng(seed).normal(size=(n, n))

    return A @ A.T + np.eye(n)


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_solution_satisfies_the_equations(n):
    M, b = random_matrix(n), np.arange(1.0, n + 1.0)

    np.testing.assert_allclose(M @ solve_symmetric(M, b), b, rtol=TOLERANCE)


def test_factors_multiply_to_the_matrix():
    M = random_matrix(5)
    factors = ldl(M)
    L = np.eye(5)
    for i, row in enumerate(factors.rows):
        for j, entry in row.items():
            L[i, j] = entry

    np.testing.assert_allclose(L.T @ np.diag(1.0 / np.array(factors.inverse_diagonal)) @ L, M, rtol=TOLERANCE)


def test_zeros_of_branches_are_not_filled():
    # Rows 1-2 and 3-4 are two branches on row 0, as in the mass matrix of a tree.
    M = random_matrix(5)
    M[1:3, 3:5] = M[3:5, 1:3] = 0.0

    rows = ldl(M + 10.0 * np.eye(5)).rows

    assert [sorted(row) for row in rows] == [[], [0], [0, 1], [0], [0, 3]]


def test_symbols_are_solved_with_fill_in_where_needed():
    # The corner couples the first and last row; elimination of the last row fills nothing, of others it does.
    M = random_matrix(4)
    M[3, 1] = M[1, 3] = 0.0
    scale = ca.SX.sym("scale")

    x = ca.Function("x", [scale], [solve_symmetric(scale * M, np.ones(4))])(2.0)

    np.testing.assert_allclose(np.array(x).ravel(), np.linalg.solve(2.0 * M, np.ones(4)), rtol=TOLERANCE)


@pytest.mark.parametrize("M", [np.diag([1.0, -1.0]), np.zeros((2, 2)), np.ones((2, 2)), np.full((2, 2), np.nan)])
def test_matrix_that_is_not_positive_definite_is_refused(M):
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        solve_symmetric(M, np.ones(2))
