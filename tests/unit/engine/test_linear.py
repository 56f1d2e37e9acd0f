"""The dense factorisation solves what numpy solves."""

import ctypes

import numpy as np
import pytest

from robodyn.computation.engine.library import load_library


def factorise(columns, pivots, n):
    return load_library().factorise(columns.ctypes, pivots.ctypes, ctypes.c_int64(n))


def solve_factorised(columns, pivots, n, b):
    load_library().solve_factorised(columns.ctypes, pivots.ctypes, ctypes.c_int64(n), b.ctypes)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 8, 9, 30])
def test_factorised_systems_are_solved(n):
    rng = np.random.default_rng(n)
    A, b = rng.normal(size=(n, n)), rng.normal(size=n)
    A[0, 0] = 0.0 if n > 1 else 2.0
    columns, pivots, x = np.asfortranarray(A).ravel(order="F").copy(), np.zeros(n, np.int64), b.copy()
    assert factorise(columns, pivots, n)
    solve_factorised(columns, pivots, n, x)
    # Backward stable: the residual is rounding of the size of A times x.
    assert np.abs(A @ x - b).max() < 1e-13 * np.abs(A).max() * max(1, np.abs(x).max()) * n


def test_a_singular_matrix_is_noticed():
    assert not factorise(np.zeros(4), np.zeros(2, np.int64), 2)
    assert not factorise(np.full(4, np.nan), np.zeros(2, np.int64), 2)
