"""Does a kernel take what fits, refuse what does not, and work from several threads?"""

import ctypes
import gc
import sys
from concurrent.futures import ThreadPoolExecutor

import casadi as ca
import numpy as np
import pytest

from robodyn.computation.native import compile_kernels


@pytest.fixture
def kernel():
    A, x = ca.SX.sym("A", 2, 3), ca.SX.sym("x", 3)
    function = ca.Function("product", [A, x], [A @ x], ["A", "x"], ["y"])
    return compile_kernels({"product": function}, cache=False).kernels["product"]


A_VALUE = np.arange(6.0).reshape(2, 3)
X_VALUE = np.array([1.0, 10.0, 100.0])


def test_matrices_of_any_layout_and_plain_sequences_are_taken_column_by_column(kernel):
    expected = A_VALUE @ X_VALUE
    for A in (A_VALUE, np.asfortranarray(A_VALUE), A_VALUE.astype(int), A_VALUE.tolist(), A_VALUE.T.copy().T):
        for x in (X_VALUE, X_VALUE[:, None], [1, 10, 100], np.repeat(X_VALUE, 2)[::2]):
            np.testing.assert_array_equal(kernel(A, x), expected)
    np.testing.assert_array_equal(kernel(A_VALUE.ravel(order="F"), X_VALUE), expected)


def test_every_call_gives_a_new_array(kernel):
    first = kernel(A_VALUE, X_VALUE)
    kept = first.copy()
    second = kernel(2 * A_VALUE, X_VALUE)
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(second, 2 * kept)


def test_wrong_sizes_and_numbers_of_inputs_are_errors_that_name_them(kernel):
    with pytest.raises(ValueError, match="product: input x has 3 entries, not 4"):
        kernel(A_VALUE, np.ones(4))
    with pytest.raises(ValueError, match="input A has 6 entries, not 1"):
        kernel(1.0, X_VALUE)
    for arguments in [(), (A_VALUE,), (A_VALUE, X_VALUE, X_VALUE)]:
        with pytest.raises(ValueError, match=f"takes 2 inputs \\(A, x\\), not {len(arguments)}"):
            kernel(*arguments)
    np.testing.assert_array_equal(kernel(A_VALUE, X_VALUE), A_VALUE @ X_VALUE)


def test_several_outputs_come_as_a_tuple_and_empty_ones_as_empty_arrays():
    x = ca.SX.sym("x", 2)
    functions = {
        "three": ca.Function("three", [x, ca.SX(0, 1)], [x, ca.SX(0, 1), ca.sum1(x)]),
        "nothing": ca.Function("nothing", [ca.SX(0, 1)], [ca.SX(0, 1)]),
        "constant": ca.Function("constant", [], [ca.SX([1, -2.5])]),
    }
    kernels = compile_kernels(functions, cache=False).kernels
    first, second, third = kernels["three"]([1.0, 2.0], [])
    assert (first.tolist(), second.tolist(), third.tolist()) == ([1.0, 2.0], [], [3.0])
    assert kernels["nothing"]([]).shape == (0,)
    assert kernels["constant"]().tolist() == [1.0, -2.5]


def test_address_is_a_c_function_whose_output_may_overwrite_an_input():
    x, p = ca.SX.sym("x", 3), ca.SX.sym("p")
    step = ca.Function("step", [x, p], [ca.vertcat(x[1], x[2], x[0]) * p])
    kernel = compile_kernels({"step": step}, cache=False).kernels["step"]
    state, factor = np.array([1.0, 2.0, 3.0]), np.array([2.0])
    signature = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)
    signature(kernel.address)(state.ctypes.data, factor.ctypes.data, state.ctypes.data)
    assert state.tolist() == [4.0, 6.0, 2.0]


def test_a_kernel_outlives_its_module():
    x = ca.SX.sym("x")
    kernel = compile_kernels({"f": ca.Function("f", [x], [ca.tan(x)])}, cache=False).kernels["f"]
    gc.collect()
    assert kernel(0.25)[0] == pytest.approx(np.tan(0.25), rel=1e-15)


def test_calls_from_several_threads_do_not_mix(kernel):
    def work(number):
        A, x = np.full((2, 3), float(number)), np.full(3, float(number + 1))
        return all(kernel(A, x).tolist() == [3.0 * number * (number + 1)] * 2 for _ in range(2000))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(work, range(1, 9)))
    finally:
        sys.setswitchinterval(interval)


def test_kernels_are_frozen(kernel):
    with pytest.raises(AttributeError):
        kernel.address = 0


@pytest.mark.parametrize("is_alike", [False, True], ids=["of another length", "as long as the memory"])
def test_runs_of_inputs_are_copied_and_an_output_may_lie_on_an_input_of_its_length(is_alike):
    x, m = ca.SX.sym("x", 3), ca.SX.sym("m", 40)
    # An action's new memory: most of the old, shifted or in place, with single entries changed and swapped.
    if is_alike:
        new = ca.vertcat(m[:25], m[25] + x[0], m[39], m[27:39], m[26])
    else:
        new = ca.vertcat(x + 1.0, m[:20], m[30], m[22:])
    function = ca.Function("act", [x, m], [new], ["x", "m"], ["new"])
    kernel = compile_kernels({"act": function}, cache=False).kernels["act"]
    values = np.array([1.0, 2.0, 3.0]), np.arange(100.0, 140.0)
    expected = np.array(function(*values)).ravel()
    np.testing.assert_array_equal(kernel(*values), expected)
    if is_alike:
        pointers = [array.ctypes.data for array in (*values, values[1])]
        ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(kernel.address)(*pointers)
        np.testing.assert_array_equal(values[1], expected)
