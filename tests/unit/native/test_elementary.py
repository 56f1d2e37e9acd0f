"""Elementary functions by arithmetic agree with the C library; quotients by reciprocals agree with quotients."""

import casadi as ca
import numpy as np
import pytest

from robodyn.computation.native import Options, compile_kernels, elementary

EPSILON = np.finfo(float).eps
COUNT, COLUMN = 500, 20


def evaluate(expression, x, values, inexact=("f",)):
    """A function of one scalar on many values, by a kernel over columns of them."""
    column = ca.SX.sym("x", min(len(values), COLUMN))
    outputs = ca.vertcat(*(ca.substitute(expression, x, column[k]) for k in range(column.numel())))
    kernel = compile_kernels({"f": ca.Function("f", [column], [outputs])}, options=Options(inexact=inexact)).kernels[
        "f"
    ]
    return np.concatenate([kernel(part) for part in np.reshape(np.array(values, float), (-1, column.numel()))])


X = ca.SX.sym("x")
RANGES = {
    "exp": (ca.exp(X), np.exp, np.linspace(-599, 700, COUNT)),
    "log": (ca.log(X), np.log, np.logspace(-290, 290, COUNT)),
    "log near 1": (ca.log(X), np.log, 1 + np.linspace(-0.3, 0.4, COUNT)),
    "sin": (ca.sin(X), np.sin, np.linspace(-50, 50, COUNT)),
    "cos": (ca.cos(X), np.cos, np.linspace(-50, 50, COUNT)),
    "sin far out": (ca.sin(X), np.sin, np.linspace(-1e6, 1e6, COUNT)),
    "pow": (ca.fabs(X) ** 2.78, lambda x: np.abs(x) ** 2.78, np.linspace(-30, 30, COUNT)),
}


@pytest.mark.parametrize("name", RANGES)
def test_elementary_functions_agree_with_the_library(name):
    expression, function, values = RANGES[name]
    expected = function(values)
    # A few units in the last place; angles and powers carry the rounding of their own reduction.
    scale = np.maximum(np.abs(expected), 1.0 if "sin" in name or "cos" in name else 0.0)
    assert np.all(np.abs(evaluate(expression, X, values) - expected) <= 16 * EPSILON * np.maximum(scale, 1e-300))


PORTABLE = {
    "sin far out": (ca.sin, np.sin, np.linspace(-8e8, 8e8, COUNT), 3),
    "tan": (ca.tan, np.tan, np.linspace(-5, 5, COUNT), 4),
    "exp": (ca.exp, np.exp, np.linspace(-599, 700, COUNT), 3),
    "log": (ca.log, np.log, np.logspace(-320, 300, COUNT), 3),
    "asin": (ca.asin, np.arcsin, np.linspace(-1, 1, COUNT), 3),
    "acos": (ca.acos, np.arccos, np.linspace(-1, 1, COUNT), 3),
    "atan": (ca.atan, np.arctan, np.linspace(-30, 30, COUNT), 3),
    "sinh": (ca.sinh, np.sinh, np.linspace(-7, 7, COUNT), 5),
    "cosh": (ca.cosh, np.cosh, np.linspace(-7, 7, COUNT), 4),
    "tanh": (ca.tanh, np.tanh, np.linspace(-4, 4, COUNT), 5),
    "asinh": (ca.asinh, np.arcsinh, np.linspace(-9, 9, COUNT), 5),
    "acosh": (ca.acosh, np.arccosh, np.linspace(1, 9, COUNT), 5),
    "atanh": (ca.atanh, np.arctanh, np.linspace(-0.99, 0.99, COUNT), 16),
    "expm1": (ca.expm1, np.expm1, np.linspace(-2, 2, COUNT), 5),
    "log1p": (ca.log1p, np.log1p, np.linspace(-0.9, 3, COUNT), 5),
    "pow": (lambda x: x**-3.0, lambda x: x**-3.0, np.linspace(-3, 3, COUNT), 8),
    "atan2": (lambda x: ca.atan2(x, -0.3), lambda x: np.arctan2(x, -0.3), np.linspace(-3, 3, COUNT), 3),
    "hypot": (lambda x: ca.hypot(x, -0.3), lambda x: np.hypot(x, -0.3), np.linspace(-3, 3, COUNT), 3),
}


def test_portable_functions_agree_with_the_library_to_a_few_last_digits():
    x = ca.SX.sym("x", len(PORTABLE))
    outputs = ca.vertcat(*(function(x[k]) for k, (function, *_) in enumerate(PORTABLE.values())))
    kernel = compile_kernels({"f": ca.Function("f", [x], [outputs])}, quick=True, options=Options(plain=True)).kernels[
        "f"
    ]
    rows = np.column_stack([values for *_, values, _ in PORTABLE.values()])
    found = np.array([kernel(row) for row in rows])
    for (name, (_, library, values, digits)), computed in zip(PORTABLE.items(), found.T, strict=True):
        expected = library(values)
        assert np.all(np.abs(computed - expected) <= digits * np.spacing(np.abs(expected))), name


def test_portable_functions_are_right_at_the_ends_of_the_numbers():
    x = ca.SX.sym("x", 4)
    functions = [ca.exp, ca.log, ca.atan, ca.tanh, ca.log1p, ca.expm1, ca.acos]
    functions += [lambda x: ca.hypot(x, 0), lambda x: x**0.5]
    module = compile_kernels(
        {"f": ca.Function("f", [x], [f(x) for f in functions])}, quick=True, options=Options(plain=True)
    )
    found = module.kernels["f"](np.array([np.inf, -np.inf, np.nan, 0.0]))
    inf, nan, right = np.inf, np.nan, np.pi / 2
    expected = [
        *([inf, 0, nan, 1], [inf, nan, nan, -inf], [right, -right, nan, 0], [1, -1, nan, 0], [inf, nan, nan, 0]),
        *([inf, -1, nan, 0], [nan, nan, nan, right], [inf, inf, nan, 0], [inf, nan, nan, 0]),
    ]
    for computed, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(computed, wanted)


def test_what_is_no_number_stays_none():
    for expression in (ca.exp(X), ca.sin(X), ca.cos(X), X**2.5):
        assert np.isnan(evaluate(expression, X, [np.nan]))[0]
    assert np.isnan(evaluate(X**2.5, X, [-1.0]))[0]


def test_a_power_of_zero_is_zero_and_so_is_its_slope():
    power = ca.fabs(X) ** 2.78
    assert evaluate(power, X, [0.0])[0] < 1e-200
    assert evaluate(ca.jacobian(power, X), X, [0.0])[0] == pytest.approx(0.0, abs=1e-100)


def test_whole_powers_of_negative_numbers_are_left_to_the_library():
    assert evaluate(X**3.0, X, [-2.0])[0] == -8.0


def test_quotients_of_one_denominator_agree_with_quotients():
    y = ca.SX.sym("y", 3)
    function = ca.Function("f", [y], [ca.vertcat(y[0] / y[2], y[1] / y[2], 1 / y[2], y[0] / 3.0)])
    value = np.array([0.7, -1.9, 0.3])
    found = compile_kernels({"f": function}, options=Options(inexact=("f",))).kernels["f"](value)
    exact = np.array([value[0] / value[2], value[1] / value[2], 1 / value[2], value[0] / 3])
    assert found == pytest.approx(exact, rel=2 * EPSILON)


def test_the_slope_of_a_power_agrees_with_the_library():
    """It is found from the power itself, by one division."""
    power = ca.fabs(X) ** 2.78
    values = np.linspace(0.01, 30, COUNT)
    both = ca.vertcat(power, ca.jacobian(power, X))
    found = evaluate(both, X, values)
    # A power carries the rounding of y log x, some units.
    assert found[0::2] == pytest.approx(values**2.78, rel=32 * EPSILON)
    assert found[1::2] == pytest.approx(2.78 * values**1.78, rel=32 * EPSILON)


def test_entries_that_may_be_loose_leave_the_others_as_the_library_has_them():
    angles = np.linspace(-3.0, 3.0, 40)
    function = ca.Function("f", [X], [ca.vertcat(ca.sin(X), ca.exp(ca.sin(X)), ca.cos(X))])
    rates = ca.Function("g", [X], [ca.cos(X)])
    modules = [
        compile_kernels({"f": function, "g": rates}, options=Options(loose=loose)) for loose in ((("f", 1),), ())
    ]
    loose, exact = (np.array([module.kernels["f"](np.array([a])) for a in angles]) for module in modules)
    assert np.array_equal(loose[:, 0], exact[:, 0])
    assert np.all(np.abs(loose - exact) <= 16 * EPSILON * np.abs(exact).max())
    # Nothing that another function computes exactly is taken for what may be loose.
    assert not np.array_equal(loose[:, 2], exact[:, 2])
    assert modules[0].kernels["g"](angles[:1])[0] == modules[1].kernels["g"](angles[:1])[0]


def test_what_another_function_of_a_long_model_computes_is_not_computed_once_more_as_loose(monkeypatch):
    monkeypatch.setattr(elementary, "SHARED_FROM", 0)
    angles = np.linspace(-3.0, 3.0, 40)
    function = ca.Function("f", [X], [ca.vertcat(ca.sin(2 * X), ca.cos(X), ca.sin(3 * X))])
    functions = {"f": function, "g": ca.Function("g", [X], [ca.cos(X)])}
    loose, exact = (
        np.array([module.kernels["f"](np.array([a])) for a in angles])
        for module in (
            compile_kernels(functions, cache=False, options=Options(loose=(("f", 1),))),
            compile_kernels(functions, cache=False),
        )
    )
    assert np.array_equal(loose[:, :2], exact[:, :2])
    assert not np.array_equal(loose[:, 2], exact[:, 2])
