"""Elimination on symbolic nonzeros gives what numbers give."""

import casadi as ca
import numpy as np
import pytest

from robodyn.base.symbolic.elimination import eliminate_sparse


def test_it_solves_a_sparse_system_and_keeps_zeros():
    generator = np.random.default_rng(3)
    pattern = np.array([[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 1, 1], [0, 0, 0, 1]])
    values = (generator.uniform(0.1, 0.4, (4, 4)) + np.eye(4)) * pattern
    right = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0], [0.0, 0.0]])
    symbols = ca.SX.sym("a", int(pattern.sum()))
    A = ca.SX(4, 4)
    for k, (i, j) in enumerate(zip(*np.nonzero(pattern), strict=True)):
        A[int(i), int(j)] = symbols[k]
    x = eliminate_sparse(A, ca.sparsify(ca.SX(right)))
    found = np.array(ca.Function("x", [symbols], [ca.densify(x)])(values[np.nonzero(pattern)]))
    # Four rows, well conditioned: rounding only.
    assert found == pytest.approx(np.linalg.solve(values, right), abs=1e-14)
    assert x[3, 0].is_zero()
    assert x[1, 0].is_zero()
