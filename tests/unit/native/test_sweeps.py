"""Is a Jacobian swept column by column that which is written out, and is it quick code that gives the same values?"""

import casadi as ca
import numpy as np

from robodyn.computation.native import (
    Sweep,
    build_jacobian,
    compile_kernels,
    derivatives,
    find_rough_entries,
    read_program,
)

x, u, p = ca.SX.sym("x", 5), ca.SX.sym("u", 2), ca.SX.sym("p", 2)
ROWS = ca.vertcat(ca.sin(x[0]) * p[0], x[1] * x[2] * u[0], ca.exp(p[1]) * x[4] ** 3)
INPUTS = [x, u, p]
VALUES = np.array([0.3, -1.0, 0.5, 2.0, 0.7]), np.array([1.5, -0.5]), np.array([0.4, 0.2])


def jacobians(**options):
    """The same Jacobian written out and swept, as values."""
    written = build_jacobian("J", INPUTS, ROWS, x)
    seed = ca.SX.sym("seed", 5)
    swept = Sweep(ca.Function("J", [*INPUTS, seed], [ca.densify(ca.jtimes(ROWS, x, seed))]))
    module = compile_kernels({"written": written, "swept": swept}, 2, cache=False, **options)
    return [module.kernels[name](*VALUES[:2], module.prepare(VALUES[2])) for name in ("written", "swept")]


def test_a_swept_jacobian_is_the_written_one():
    written, swept = jacobians()
    assert swept.size == 15
    np.testing.assert_allclose(swept, written, rtol=1e-15)


def test_quick_code_gives_the_same_values_to_the_last_digit():
    for slow, quick in zip(jacobians(), jacobians(quick=True), strict=True):
        np.testing.assert_array_equal(slow, quick)


def test_a_sweep_takes_the_inputs_of_its_function_without_the_seed():
    function = ca.Function("f", [x, ca.SX.sym("seed", 5)], [ca.densify(x[:2])], ["x", "seed"], ["slope"])
    kernel = compile_kernels({"f": Sweep(function)}, cache=False).kernels["f"]
    assert (kernel.in_sizes, kernel.out_sizes, kernel.in_names) == ((5,), (10,), ("x",))
    # Any kind of input, through memory of the kernel's own.
    np.testing.assert_array_equal(kernel([1, 2, 3, 4, 5]), [1, 2] * 5)


def test_large_jacobians_are_swept(monkeypatch):
    assert isinstance(build_jacobian("J", INPUTS, ROWS, x), ca.Function)
    monkeypatch.setattr(derivatives, "WRITTEN_OUT", 10)
    large = build_jacobian("J", INPUTS, ROWS, x)
    assert isinstance(large, Sweep)
    values = compile_kernels({"J": large}, cache=False).kernels["J"](*VALUES)
    np.testing.assert_allclose(values, jacobians()[0], rtol=1e-15)


def test_columns_that_nothing_reads_do_not_make_a_jacobian_large(monkeypatch):
    books = ca.SX.sym("books", 100)
    inputs = [ca.vertcat(x, books), u, p]
    work = ca.Function("rows", inputs, [ROWS]).n_instructions()
    # ROWS reads four of the five entries of x and none of the books.
    monkeypatch.setattr(derivatives, "WRITTEN_OUT", 4 * work)
    assert isinstance(build_jacobian("J", inputs, ROWS, inputs[0]), ca.Function)
    monkeypatch.setattr(derivatives, "WRITTEN_OUT", 4 * work - 1)
    assert isinstance(build_jacobian("J", inputs, ROWS, inputs[0]), Sweep)


def test_rough_entries_are_those_that_an_operation_with_a_kink_depends_on():
    rows = ca.vertcat(ca.fabs(x[1] * x[2]), ca.sin(x[0]), ca.if_else(x[3] > u[0], x[4], 0.0))
    program = read_program(ca.Function("f", INPUTS, [rows]))
    assert find_rough_entries(program, 0) == [1, 2, 3, 4]
    assert find_rough_entries(program, 1) == [0]
