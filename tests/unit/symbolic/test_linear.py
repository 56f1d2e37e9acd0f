"""Do laws solve small linear equations alike with numbers and with symbols?"""

import casadi as ca
import numpy as np
import pytest

from robodyn.base.symbolic import solve_linear, symbol


def solve_traced(A, b):
    """The same through a graph: every entry of A and b is a symbol, except where A is exactly zero."""
    n = len(b)
    entries, right = symbol("a", n * n), symbol("b", n)
    rows = [[entries[n * i + j] if A[i, j] != 0 else 0.0 for j in range(n)] for i in range(n)]
    x = ca.vertcat(*solve_linear(rows, ca.vertsplit(right)))
    return np.array(ca.Function("solve", [entries, right], [x])(A.ravel(), b)).ravel()


@pytest.mark.parametrize("n", [1, 2, 6, 9])
def test_a_traced_solution_is_that_of_numbers(n):
    generator = np.random.default_rng(n)
    A, b = generator.standard_normal((n, n)), generator.standard_normal(n)
    # Rounding, times a condition number of at most a few hundred.
    np.testing.assert_allclose(solve_traced(A, b), solve_linear(A, b), rtol=1e-11, atol=1e-13)


def test_rows_in_any_order_need_no_pivot():
    """Zeros on the whole diagonal, and entries of very different size."""
    A = np.array([[0.0, 1e-9, 2.0], [3.0, 0.0, 1.0], [0.0, 5.0, 0.0]])
    x = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(solve_traced(A, A @ x), x, rtol=1e-14)


def test_known_zeros_leave_their_work_out():
    """A block diagonal matrix costs less than a dense one."""
    symbols = symbol("a", 36)
    dense = [[symbols[6 * i + j] for j in range(6)] for i in range(6)]
    blocks = [[dense[i][j] if i // 3 == j // 3 else 0.0 for j in range(6)] for i in range(6)]
    b = [1.0] * 6
    counts = [ca.Function("f", [symbols], [ca.vertcat(*solve_linear(A, b))]).n_instructions() for A in (dense, blocks)]
    assert counts[1] < counts[0] / 2


def test_derivatives_pass_through():
    """d(1/a)/da = -1/a^2 for a one-by-one system."""
    a = symbol("a")
    slope = ca.Function("slope", [a], [ca.jacobian(solve_linear([[a]], [1.0])[0], a)])
    assert float(slope(4.0)) == pytest.approx(-1 / 16, rel=1e-15)


def test_singular_numbers_and_wrong_sizes_are_refused():
    with pytest.raises(np.linalg.LinAlgError):
        solve_linear([[1.0, 2.0], [2.0, 4.0]], [1.0, 1.0])
    with pytest.raises(ValueError, match="square matrix"):
        solve_linear([[1.0, 2.0]], [1.0])
