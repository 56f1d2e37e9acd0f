"""The dense factorisation solves what numpy solves."""

import ctypes

import numpy as np
import pytest

from robodyn.computation.engine.binding import load_library


def factorise(columns, pivots, n):
    return load_library().factorise(columns.ctypes, pivots.ctypes, ctypes.c_int64(n))


def solve_factorised(columns, pivots, n, b):
    load_library().solve_factorised(columns.ctypes, pivots.ctypes, ctypes.c_int64(n), b.ctypes)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 8, 9, 30])
def test_factorised_systems_are_solved(n):
    rng = np.random.default_rng(n)
    A, b = rng.normal(size=(n, n)), rng.normal(size=n)
    A[0, 0] = 0.0 if n > 1 else 2.0
    # What stands behind them is not theirs.
    columns, pivots, x = (np.full(size + 3 * n, 7, kind) for size, kind in ((n * n, float), (n, np.int64), (n, float)))
    columns[: n * n], x[:n] = A.ravel(order="F"), b
    assert factorise(columns, pivots, n)
    solve_factorised(columns, pivots, n, x)
    # Backward stable: the residual is rounding of the size of A times x.
    assert np.abs(A @ x[:n] - b).max() < 1e-13 * np.abs(A).max() * max(1, np.abs(x[:n]).max()) * n
    assert np.all(columns[n * n :] == 7)
    assert np.all(pivots[n:] == 7)
    assert np.all(x[n:] == 7)


def test_a_singular_matrix_is_noticed():
    assert not factorise(np.zeros(4), np.zeros(2, np.int64), 2)
    assert not factorise(np.full(4, np.nan), np.zeros(2, np.int64), 2)
