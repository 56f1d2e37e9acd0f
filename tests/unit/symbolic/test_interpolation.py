"""Do tables interpolate numbers, refuse nonsense, and fold when their argument is known?"""

import casadi as ca
import numpy as np
import pytest

from robodyn.base.symbolic import hold_table, symbol, table
from robodyn.base.symbolic.tables import GATHER, LOCATE, lookup, name_of, number_of, register

XS, YS = [0.0, 1.0, 3.0], [2.0, 4.0, -2.0]


def test_linear_table_is_linear_between_and_constant_beyond():
    np.testing.assert_array_equal(table(np.array([-1.0, 0.5, 2.0, 9.0]), XS, YS), [2.0, 3.0, 1.0, -2.0])
    assert table(0.5, XS, YS) == 3.0


def test_held_table_jumps_at_its_knots_to_the_new_value():
    np.testing.assert_array_equal(hold_table(np.array([-1.0, 0.0, 0.999, 1.0, 3.0, 9.0]), XS, YS), [2, 2, 2, 4, -2, -2])
    assert hold_table(2.0, XS, YS) == 4.0


@pytest.mark.parametrize("function", [table, hold_table])
def test_symbolic_table_at_a_constant_is_that_constant(function):
    at_constant = function(ca.SX([0.5, 2.0]), XS, YS)
    np.testing.assert_array_equal(np.array(ca.evalf(at_constant)).ravel(), function(np.array([0.5, 2.0]), XS, YS))


@pytest.mark.parametrize("function", [table, hold_table])
def test_symbols_in_the_table_equal_numbers_in_it(function):
    y, x = symbol("y", 3), symbol("x")
    traced = ca.Function("f", [x, y], [function(x, XS, y)])
    for at in (-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 5.0):
        assert float(traced(at, YS)) == function(at, XS, YS)


@pytest.mark.parametrize("argument", [0.5, symbol("x")])
@pytest.mark.parametrize("function", [table, hold_table])
@pytest.mark.parametrize(
    ("xs", "ys", "message"),
    [
        ([0.0], [1.0], "at least 2 points, not 1"),
        ([0.0, 1.0], [1.0, 2.0, 3.0], "3 ys and 2 xs"),
        ([0.0, 2.0, 2.0], [1.0, 2.0, 3.0], r"strictly increasing xs, but xs\[1\] = 2.0 and xs\[2\] = 2.0"),
        ([0.0, np.inf], [1.0, 2.0], r"finite xs, but xs\[1\] is inf"),
        ([0.0, 1.0], [np.nan, 2.0], r"finite ys, but ys\[0\] is nan"),
    ],
)
def test_impossible_table_is_an_error_that_says_why(argument, function, xs, ys, message):
    with pytest.raises(ValueError, match=message):
        function(argument, xs, ys)


def test_tables_are_numbered_by_kind_and_content():
    number = register(LOCATE, np.array([1.0, 2.0]))
    assert number == register(LOCATE, np.array([1.0, 2.0]))
    assert number != register(GATHER, np.array([1.0, 2.0]))
    assert number != register(LOCATE, np.array([1.0, 2.5]))
    assert lookup(number).values == (1.0, 2.0)


@pytest.mark.parametrize("number", [0, 1, 2**52 - 1, 123456789012345])
def test_name_of_a_table_is_exact_and_overflows_when_used_as_a_number(number):
    name = name_of(number)
    assert int(name / 2.0**970) - 2**52 == number
    assert np.isfinite(name)
    assert name * 4.0 == np.inf


def test_name_of_no_table_is_an_error():
    with pytest.raises(KeyError):
        number_of(1.0)
