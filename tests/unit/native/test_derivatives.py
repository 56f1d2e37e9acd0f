"""Are derivatives exact, dense or sparse, and by name?"""

import casadi as ca
import numpy as np
import pytest
from scipy.sparse import csc_array

from robodyn.computation.native import compile_kernels, directional, jacobian, pattern

x, u = ca.SX.sym("x", 4), ca.SX.sym("u", 2)
rate = ca.vertcat(x[1], ca.sin(x[0]) * u[0], x[3] ** 3, x[0] * u[1])
FUNCTION = ca.Function("motion", [x, u], [rate, ca.sumsqr(x)], ["x", "u"], ["rate", "energy"])
X, U = np.array([0.3, -1.0, 0.5, 2.0]), np.array([1.5, -0.5])
BY_X = np.array([[0, 1, 0, 0], [np.cos(0.3) * 1.5, 0, 0, 0], [0, 0, 0, 12.0], [-0.5, 0, 0, 0]])


def _kernel(function):
    return compile_kernels({"f": function}, cache=False).kernels["f"]


def test_dense_jacobian_is_exact_and_column_major():
    by_name = _kernel(jacobian(FUNCTION, "rate", "x"))(X, U)
    np.testing.assert_allclose(by_name.reshape(4, 4, order="F"), BY_X, rtol=1e-15)
    np.testing.assert_array_equal(_kernel(jacobian(FUNCTION, 0, 0))(X, U), by_name)
    np.testing.assert_array_equal(_kernel(jacobian(FUNCTION, "energy", "x"))(X, U), 2 * X)


def test_sparse_jacobian_gives_only_the_entries_of_its_pattern():
    sparse = jacobian(FUNCTION, "rate", "x", sparse=True)
    places = pattern(sparse)
    data = _kernel(sparse)(X, U)
    assert data.size == places.indices.size == 4
    np.testing.assert_allclose(
        csc_array((data, places.indices, places.indptr), places.shape).toarray(), BY_X, rtol=1e-15
    )


def test_directional_derivatives_are_jacobian_times_seed():
    seed = np.array([0.1, 0.2, -0.3, 0.7])
    rate_slope, energy_slope = _kernel(directional(FUNCTION, "x"))(X, U, seed)
    # Sums of at most four terms.
    np.testing.assert_allclose(rate_slope, BY_X @ seed, rtol=1e-14)
    np.testing.assert_allclose(energy_slope, [2 * X @ seed], rtol=1e-14)


def test_unknown_names_are_errors_that_list_the_known_ones():
    with pytest.raises(ValueError, match="no output 'speed'; it has rate, energy"):
        jacobian(FUNCTION, "speed", "x")
    with pytest.raises(ValueError, match="no input 2; it has x, u"):
        directional(FUNCTION, 2)
