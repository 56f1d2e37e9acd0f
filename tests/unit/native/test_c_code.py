"""Does generated C compute what machine code computes?"""

import shutil

import casadi as ca
import numpy as np
import pytest
from support.compiled_c import build_c

from robodyn.base.symbolic import tables
from robodyn.computation.native import Options, Sweep, compile_kernels, read_program
from robodyn.computation.native.c_code import literal
from robodyn.computation.native.elementary import make_portable
from robodyn.computation.native.program import BINARY, UNARY

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler here")
VALUES = np.array([0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 3.0, 1e-300, -1e300, np.inf, -np.inf, np.nan])


def all_operations():
    """Every operation of one and of two numbers."""
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    unary = [ca.SX.unary(getattr(ca, f"OP_{name.upper()}"), a) for name in UNARY]
    binary = [ca.SX.binary(getattr(ca, f"OP_{name.upper()}"), a, b) for name in BINARY]
    return ca.Function("f", [a, b], [ca.vertcat(*unary, *binary, ca.if_else(a < b, a, b))])


def long_function():
    """A graph of many chunks that looks up tables."""
    x = ca.SX.sym("x", 4)
    values = ca.vertsplit(x)
    knots, entries = np.array([-1.0, 0.0, 0.5, 2.0]), np.array([3.0, -1.0, 4.0, 1.5])
    random = np.random.default_rng(3)
    for k in range(300):
        i, j = random.integers(max(0, len(values) - 12), len(values), 2)
        values.append(ca.sin(values[i]) * values[j] + 0.25)
        if k % 40 == 0:
            values.append(tables.gather(entries, tables.locate(knots, values[i])))
    return ca.Function("f", [x], [ca.vertcat(*values[-7:], x[0])])


def test_every_operation_means_the_same_in_c(tmp_path):
    function = all_operations()
    ours = build_c(make_portable(read_program(function)), tmp_path)
    kernel = compile_kernels({"f": function}, options=Options(plain=True)).kernels["f"]
    for a in VALUES:
        for b in VALUES:
            # Both call the same C library for what is not portable; compilers may rewrite a call in its last digit.
            np.testing.assert_allclose(ours([a], [b]), kernel([a], [b]), rtol=5e-16, atol=0.0, err_msg=f"{a}, {b}")


@pytest.mark.parametrize("chunk_size", [10**9, 60])
def test_long_programs_give_the_same_bits_whole_and_in_chunks(chunk_size, tmp_path):
    function = long_function()
    ours = build_c(make_portable(read_program(function)), tmp_path, chunk_size=chunk_size)
    kernel = compile_kernels({"f": function}, options=Options(plain=True)).kernels["f"]
    for x in np.random.default_rng(1).normal(size=(5, 4)):
        np.testing.assert_array_equal(ours(x), kernel(x))


def test_an_output_may_lie_where_an_input_does(tmp_path):
    x = ca.SX.sym("x", 2)
    program = read_program(ca.Function("f", [x], [ca.vertcat(x[1], x[0])]))
    run = build_c(program, tmp_path)
    np.testing.assert_array_equal(run([1.0, 2.0]), [2.0, 1.0])
    assert "const double r0_1 = i0[0];" in (tmp_path / "f.c").read_text()


def test_a_sweep_gives_the_matrix_column_by_column(tmp_path):
    x = ca.SX.sym("x", 3)
    rows, seed = ca.vertcat(x[0] * x[1], ca.sin(x[2])), ca.SX.sym("seed", 3)
    column = ca.Function("f", [x, seed], [ca.densify(ca.jtimes(rows, x, seed))])
    ours = build_c(read_program(column), tmp_path, swept=True)
    kernel = compile_kernels({"f": Sweep(column)}, options=Options(plain=True)).kernels["f"]
    np.testing.assert_array_equal(ours([0.3, -2.0, 1.1]), kernel([0.3, -2.0, 1.1]))


@pytest.mark.parametrize("value", [0.1, -0.1, 5e-324, 1.7e308, 3.0, -0.0])
def test_literals_keep_all_bits(value):
    text = literal(value).strip("()")
    read = float.fromhex(text) if "x" in text else float(text)
    assert read == value
    assert np.signbit(read) == np.signbit(value)
