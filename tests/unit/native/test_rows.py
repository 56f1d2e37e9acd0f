"""Does machine code read tables whose numbers come with each run?"""

import ctypes
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from robodyn.base.symbolic.tables import row, seek
from robodyn.computation.native import compile_kernels, read_program
from robodyn.computation.native.emit import emit_module
from robodyn.computation.native.machine import MachineCode, compile_objects
from robodyn.computation.native.rows import HEADER, pack_rows

KNOTS = np.array([0.0, 0.1, 0.2, 0.3, 0.31, 0.32, 0.5, 0.9])


def line_function(width=3):
    """y(t) = value + slope (t - knot), times a parameter."""
    t, p = ca.SX.sym("t"), ca.SX.sym("p", 2)
    index = seek(width, t)
    return ca.Function("line", [t, p], [p[0] * p[1] * (row(1, index) + (t - row(0, index)) * row(2, index))])


def line_rows(values, knots=KNOTS):
    return np.column_stack([knots[:-1], values[:-1], np.diff(values) / np.diff(knots)])


def test_values_between_uneven_knots_are_interpolated():
    values = np.sin(7 * KNOTS)
    module = compile_kernels({"line": line_function()}, 1, data=pack_rows(line_rows(values)))
    p = module.prepare([2.0, 3.0])
    for t in (*KNOTS, *np.linspace(0, 0.9, 101)):
        # The same sum in another order.
        assert module.kernels["line"](np.array([t]), p)[0] == pytest.approx(6 * np.interp(t, KNOTS, values), abs=1e-14)


@pytest.mark.parametrize(("t", "row_number"), [(-5.0, 0), (0.0, 0), (np.nan, 0), (0.31, 4), (0.9, 6), (1e300, 6)])
def test_a_row_is_that_of_the_last_knot_at_or_below_and_there_is_always_one(t, row_number):
    x, p = ca.SX.sym("x"), ca.SX.sym("p")
    number = ca.Function("number", [x, p], [row(1, seek(2, x))])
    data = pack_rows(np.column_stack([KNOTS[:-1], np.arange(7.0)]))
    module = compile_kernels({"number": number}, 1, data=data)
    assert module.kernels["number"](np.array([t]), module.prepare([0.0]))[0] == row_number


def test_other_numbers_need_no_other_code():
    first = compile_kernels({"line": line_function()}, 1, data=pack_rows(line_rows(KNOTS)))
    longer = np.linspace(0, 2, 50)
    second = replace(first, data=pack_rows(line_rows(longer**2, longer)))
    assert second.kernels["line"].address == first.kernels["line"].address
    found = second.kernels["line"](np.array([1.37]), second.prepare([1.0, 1.0]))[0]
    assert found == pytest.approx(np.interp(1.37, longer, longer**2), abs=1e-14)


def test_lists_and_arrays_give_the_same():
    module = compile_kernels({"line": line_function()}, 1, data=pack_rows(line_rows(KNOTS**2)))
    p = module.prepare([1.0, 2.0])
    assert module.kernels["line"]([0.25], p.tolist()) == module.kernels["line"](np.array([0.25]), p)
    with pytest.raises(ValueError, match="input i0 has 1 entries, not 2"):
        module.kernels["line"]([0.25, 1.0], p)


def test_a_table_of_another_width_or_none_is_refused():
    module = compile_kernels({"line": line_function()}, 1)
    with pytest.raises(ValueError, match="rows of 3 numbers"):
        module.prepare([1.0, 1.0])
    with pytest.raises(ValueError, match="rows of 3 numbers"):
        replace(module, data=pack_rows(np.ones((1, 2)))).prepare([1.0, 1.0])
    with pytest.raises(ValueError, match="strictly increasing"):
        pack_rows(np.ones((2, 2)))


def test_a_column_beyond_the_row_cannot_be_compiled():
    t = ca.SX.sym("t")
    with pytest.raises(ValueError, match="in function wrong"):
        read_program(ca.Function("wrong", [t], [row(3, seek(3, t))]))


def test_a_table_needs_parameters_to_stand_behind():
    with pytest.raises(ValueError, match="name that input"):
        compile_kernels({"line": line_function()})


def test_rows_are_read_in_every_chunk():
    t, p = ca.SX.sym("t"), ca.SX.sym("p")
    index = seek(40, t)
    terms = [ca.sin(row(k, index)) * ca.cos(t + k) for k in range(1, 40)]
    program = read_program(ca.Function("sum", [p, t], [ca.vertcat(*terms, sum(terms))]))
    data = pack_rows(np.column_stack([[0.0, 1.0], np.random.default_rng(1).normal(size=(2, 39))]))
    numbers = data[HEADER + 41 : HEADER + 80]
    expected = np.sin(numbers) * np.cos(1.5 + np.arange(1, 40))
    for size in (10**9, 7):
        got = run_chunked(program, np.concatenate([[0.0], data]), 1.5, size)
        assert got[:39] == pytest.approx(expected, abs=1e-15)


def run_chunked(program, p, t, chunk_size):
    machine = MachineCode(compile_objects(emit_module([program], chunk_size, row_input=0)), ["k0"])
    t, out = np.array([t]), np.zeros(sum(program.out_sizes))
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(machine.address_of("k0"))
    call(p.ctypes.data, t.ctypes.data, out.ctypes.data)
    return out
