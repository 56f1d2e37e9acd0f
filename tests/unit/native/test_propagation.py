"""Do products with propagators give what numpy gives, and one robot the same bits alone and among others?"""

import casadi as ca
import numpy as np
import pytest

from robodyn.computation.native import Options, compile_kernels, read_program
from robodyn.computation.native.kernel import row_loop
from robodyn.computation.native.prelude import SUFFIX, separate_time
from robodyn.computation.native.propagation import count_columns, padded, propagation_addresses


def call(address, *arrays):
    nothing = np.zeros(1)
    given = [nothing if array is None else array for array in arrays]
    row_loop(6)(address, 1, *(number for array in given for number in (array.ctypes.data, 0)))


@pytest.mark.parametrize(("n", "m"), [(3, 2), (18, 12), (30, 7), (110, 13)])
def test_one_robot_and_eight_get_the_product_of_the_interpolated_matrix(n, m):
    rng = np.random.default_rng(n)
    rows, columns, lanes = padded(n), count_columns(n, m), 8
    pair = np.zeros((2, columns, rows))
    pair[:, : n + m, :n] = rng.standard_normal((2, n + m, n))
    affine, weight, matrix = rng.standard_normal(rows), np.array([0.3]), np.zeros((columns, rows))
    propagate, interpolate = propagation_addresses(n, m, 1)
    call(interpolate, weight, pair, None, None, None, matrix)
    assert matrix == pytest.approx(pair[0] + 0.3 * pair[1])
    s = np.zeros((columns + 1, lanes))
    s[: n + m] = rng.standard_normal((n + m, lanes))
    expected = affine[:n, None] + matrix[: n + m, :n].T @ s[: n + m]
    single = [np.ascontiguousarray(s[:, lane]) for lane in range(lanes)]
    for lane in range(lanes):
        call(propagate, affine, single[lane], matrix, None, None, single[lane])
        assert single[lane][:n] == pytest.approx(expected[:, lane], rel=1e-12, abs=1e-12)
        # What stands behind the states is left alone.
        assert np.array_equal(single[lane][n:], s[n:, lane])
    together = s.copy()
    call(propagation_addresses(n, m, lanes)[0], affine, together, matrix, None, None, together)
    assert np.array_equal(together, np.array(single).T)


def test_what_depends_on_time_and_fixed_numbers_alone_stands_in_a_row():
    t, x, p = ca.SX.sym("t"), ca.SX.sym("x", 2), ca.SX.sym("p", 2)
    out = ca.vertcat(x[0] * ca.sin(p[0] * t), x[1] + p[1] * ca.cos(t), ca.exp(t), p[1] * x[0])
    function = ca.Function("f", [t, x, p], [out])
    rest, rows = separate_time(read_program(function), 0, 2, {0})
    assert rows.out_sizes == (3,)
    assert {node[0] for node in rest.nodes}.isdisjoint({"sin", "cos", "exp"})
    module = compile_kernels({"f": function}, 2, options=Options(timed=("f",), fixed=(0,)), cache=False)
    numbers = module.prepare([0.7, 2.0])
    row = module.kernels["f" + SUFFIX](np.array([0.4]), np.zeros(2), numbers)
    given = module.kernels["f"](row, np.array([1.5, -0.5]), numbers)
    assert given == pytest.approx(np.array(function(0.4, [1.5, -0.5], [0.7, 2.0])).ravel(), rel=1e-14)
