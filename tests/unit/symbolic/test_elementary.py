"""Do the functions give the same on floats, arrays and symbols?"""

import casadi as ca
import numpy as np
import pytest

from robodyn.base import symbolic as sym

UNARY = "sin cos tan asin atan sinh cosh tanh asinh atanh exp expm1 absolute sign floor ceil logical_not acos"
POSITIVE = "log log1p sqrt"
BINARY = "atan2 fmod power hypot copysign minimum maximum logical_and logical_or"


def _evaluated(expression, symbols, values):
    return np.array(ca.Function("f", symbols, [expression])(*values)).ravel()


def _check(function, *values):
    symbols = [sym.symbol(f"x{i}", len(value)) for i, value in enumerate(values)]
    symbolic = _evaluated(function(*symbols), symbols, values)
    numeric = function(*values)
    # numpy's and CasADi's libraries agree to an ulp or two.
    np.testing.assert_allclose(symbolic, numeric, rtol=1e-14)
    one_by_one = [function(*(float(number) for number in numbers)) for numbers in zip(*values, strict=True)]
    np.testing.assert_allclose(one_by_one, numeric, rtol=1e-14)
    assert not any(isinstance(value, ca.SX) for value in one_by_one)


@pytest.mark.parametrize("name", UNARY.split())
def test_unary_function_is_the_same_for_numbers_and_symbols(name):
    _check(getattr(sym, name), np.array([-0.9, -0.2, 0.0, 0.4, 0.8]))


@pytest.mark.parametrize("name", POSITIVE.split())
def test_function_of_positive_numbers_is_the_same_for_numbers_and_symbols(name):
    _check(getattr(sym, name), np.array([0.01, 1.0, 3.5]))


def test_inverse_hyperbolic_cosine_is_the_same_for_numbers_and_symbols():
    _check(sym.acosh, np.array([1.0, 1.5, 40.0]))


@pytest.mark.parametrize("name", BINARY.split())
def test_binary_function_is_the_same_for_numbers_and_symbols(name):
    _check(getattr(sym, name), np.array([0.5, 1.5, 2.0, 7.0]), np.array([-2.0, 0.3, 2.0, 3.0]))


def test_minimum_and_maximum_ignore_nan_alike():
    x = sym.symbol("x")
    for function in (sym.minimum, sym.maximum):
        assert function(np.nan, 1.0) == 1.0
        assert _evaluated(function(x, 1.0), [x], [np.nan]) == 1.0


def test_clip_holds_within_bounds_and_keeps_nan():
    values = np.array([-2.0, -1.0, 0.3, 1.5, 2.0, np.inf, -np.inf, np.nan])
    x = sym.symbol("x", values.size)
    expected = [-1.0, -1.0, 0.3, 1.5, 1.5, 1.5, -1.0, np.nan]
    np.testing.assert_array_equal(sym.clip(values, -1.0, 1.5), expected)
    np.testing.assert_array_equal(_evaluated(sym.clip(x, -1.0, 1.5), [x], [values]), expected)


def test_where_is_the_same_for_any_mix_of_numbers_and_symbols():
    x = sym.symbol("x", 2)
    values = np.array([-1.0, 2.0])
    assert sym.where(True, 1.0, 2.0) == 1.0
    np.testing.assert_array_equal(sym.where(values > 0, values, 0.0), [0.0, 2.0])
    for expression in (sym.where(x > 0, x, 0.0), sym.where(values > 0, x, 0.0), sym.where(x > 0, values, 0)):
        np.testing.assert_array_equal(_evaluated(expression, [x], [values]), [0.0, 2.0])
    assert sym.where(False, x, x + 1).shape == (2, 1)


def test_sequences_that_hold_symbols_are_columns():
    x = sym.symbol("x")
    np.testing.assert_allclose(_evaluated(sym.sin([x, 1.0]), [x], [0.5]), np.sin([0.5, 1.0]), rtol=1e-15)
    np.testing.assert_array_equal(_evaluated(sym.clip([x, 4.0], 0.0, 1.0), [x], [0.5]), [0.5, 1.0])


def test_integer_powers_of_integers_may_be_negative():
    assert sym.power(2, -1) == 0.5


def test_numbers_never_become_symbols():
    assert not sym.is_symbolic(sym.stack([1.0, np.ones(2)]))
    assert not sym.is_symbolic(sym.where(True, 1, 2))
    assert not sym.is_symbolic(sym.clip(3, 0, 1))


def test_stack_takes_matrices_column_by_column_and_is_dense():
    x = sym.symbol("x", 2)
    matrix = np.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(sym.stack([matrix, 5, [6, 7]]), [1, 3, 2, 4, 5, 6, 7])
    stacked = sym.stack([matrix, [x, 5.0], ca.SX(2, 1)])
    assert stacked.shape == (9, 1)
    assert stacked.is_dense()
    np.testing.assert_array_equal(_evaluated(stacked, [x], [[8.0, 9.0]]), [1, 3, 2, 4, 8, 9, 5, 0, 0])
    assert sym.stack([]).shape == (0,)


def test_symbols_are_recognised_inside_sequences_and_arrays():
    x = sym.symbol("x")
    assert sym.is_symbolic(x)
    assert sym.is_symbolic([1.0, (2.0, x)])
    holder = np.empty(2, dtype=object)
    holder[:] = [1.0, x]
    assert sym.is_symbolic(holder)
    assert not sym.is_symbolic([1.0, np.ones(3)])
