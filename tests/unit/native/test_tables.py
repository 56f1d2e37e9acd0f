"""Are compiled tables the interpolation they claim to be, with exact slopes?"""

import casadi as ca
import numpy as np
import pytest

from robodyn.base.symbolic import hold_table, symbol, table
from robodyn.computation.native import compile_kernels, read_program


def _points(n):
    random = np.random.default_rng(n)
    return np.cumsum(random.uniform(0.1, 2.0, n)) - 3.0, random.normal(size=n)


def _arguments(xs):
    between = np.random.default_rng(1).uniform(xs[0] - 2, xs[-1] + 2, 200)
    return np.concatenate([xs, np.nextafter(xs, -np.inf), np.nextafter(xs, np.inf), between, [-np.inf, np.inf]])


def _values(function, arguments):
    kernel = compile_kernels({"f": function}, cache=False).kernels["f"]
    return np.array([kernel(x)[0] for x in arguments])


@pytest.mark.parametrize("n", [2, 3, 7, 8, 9, 1000])
def test_linear_table_equals_numpy_interpolation(n):
    xs, ys = _points(n)
    x = symbol("x")
    arguments = _arguments(xs)
    values = _values(ca.Function("f", [x], [table(x, xs, ys)]), arguments)
    # A few roundings of numbers of the size of the ordinates and of slope times interval.
    np.testing.assert_allclose(values, np.interp(arguments, xs, ys), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("n", [2, 3, 8, 100])
def test_derivative_of_a_linear_table_is_its_slope(n):
    xs, ys = _points(n)
    x = symbol("x")
    derivative = ca.Function("slope", [x], [ca.jacobian(table(x, xs, ys), x)])
    arguments = _arguments(xs)
    segment = np.clip(np.searchsorted(xs, arguments, side="right") - 1, 0, n - 2)
    inside = (xs[0] <= arguments) & (arguments <= xs[-1])
    expected = np.where(inside, (np.diff(ys) / np.diff(xs))[segment], 0.0)
    np.testing.assert_array_equal(_values(derivative, arguments), expected)


@pytest.mark.parametrize("n", [2, 3, 8, 100])
def test_held_table_is_right_continuous_and_flat(n):
    xs, ys = _points(n)
    x = symbol("x")
    held = hold_table(x, xs, ys)
    function = ca.Function("f", [x], [held])
    slope = ca.Function("slope", [x], [ca.densify(ca.jacobian(held, x))])
    arguments = _arguments(xs)
    np.testing.assert_array_equal(_values(function, arguments), hold_table(arguments, xs, ys))
    np.testing.assert_array_equal(_values(function, xs), ys)
    np.testing.assert_array_equal(_values(slope, arguments), 0.0)


def test_linear_table_of_nan_is_nan():
    x = symbol("x")
    assert np.isnan(_values(ca.Function("f", [x], [table(x, [0.0, 1.0], [2.0, 3.0])]), [np.nan])).all()


def test_cost_in_the_graph_does_not_grow_with_the_table():
    x = symbol("x")
    counts = [ca.Function("f", [x], [table(x, *_points(n))]).n_instructions() for n in (2, 1000)]
    assert counts[0] == counts[1]


def test_table_with_tunable_ordinates_equals_the_fixed_one():
    xs, ys = _points(6)
    x, p = symbol("x"), symbol("p", 6)
    arguments = _arguments(xs)
    kernels = compile_kernels(
        {
            "linear": ca.Function("linear", [x, p], [table(x, xs, p)]),
            "held": ca.Function("held", [x, p], [hold_table(x, xs, p)]),
        },
        cache=False,
    ).kernels
    linear = [kernels["linear"](a, ys)[0] for a in arguments]
    held = [kernels["held"](a, ys)[0] for a in arguments]
    # The ramps are summed from the first on, which costs a rounding each.
    np.testing.assert_allclose(linear, np.interp(arguments, xs, ys), rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(held, hold_table(arguments, xs, ys))


def test_tables_survive_chunks(run_program):
    x = symbol("x", 3)
    y = table(ca.sin(x), [-1.0, 0.0, 1.0], [0.0, 2.0, -1.0]) * hold_table(x, [0.0, 1.0], [2.0, 3.0])
    program = read_program(ca.Function("f", [x], [y]))
    inputs = [np.array([0.2, 1.3, -0.4])]
    np.testing.assert_array_equal(run_program(program, inputs, 1), run_program(program, inputs))
