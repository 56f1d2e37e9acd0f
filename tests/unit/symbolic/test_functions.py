"""Do the functions give the same on floats, arrays and symbols?"""

import casadi as ca
import numpy as np
import pytest

from robodyn.base import symbolic as sym
from robodyn.base.symbolic import changed_entries, hold_table, solve_linear, symbol, table
from robodyn.base.symbolic.tables import GATHER, LOCATE, lookup, name_of, number_of, register

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


# --------------------------------------------------------------------------------------------------
# Columns of symbols: which of their entries are others than before?


@pytest.mark.parametrize("n", [0, 1, 4])
def test_entries_that_an_assignment_writes_are_found(n):
    before = ca.SX.sym("m", n)
    after = ca.SX(before)
    for k in range(0, n, 2):
        after[k] = before[k] + 1
    assert changed_entries(before, after) == list(range(0, n, 2))


def test_the_same_expression_made_twice_is_no_change():
    x = ca.SX.sym("x", 2)
    assert changed_entries(ca.sin(x), ca.sin(x)) == []
    # A zero that is not stored is one like any other.
    assert changed_entries(ca.SX.zeros(2), ca.SX(2, 1)) == []


# --------------------------------------------------------------------------------------------------
# Do tables interpolate numbers, refuse nonsense, and fold when their argument is known?


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


# --------------------------------------------------------------------------------------------------
# Do laws solve small linear equations alike with numbers and with symbols?


def solve_traced(A, b):
    """The same through a graph: every entry of A and b is a symbol, except where A is exactly zero."""
    n = len(b)
    entries, right = symbol("a", n * n), symbol("b", n)
    rows = [[entries[n * i + j] if A[i, j] != 0 else 0.0 for j in range(n)] for i in range(n)]
    x = ca.vertcat(*solve_linear(rows, ca.vertsplit(right)))
    return np.array(ca.Function("solve", [entries, right], [x])(A.ravel(), b)).ravel()


@pytest.mark.parametrize("n", [1, 2, 6, 9])
def test_a_traced_solution_is_that_of_numbers(n):
    generator = np.random.default_rng(n)
    A, b = generator.standard_normal((n, n)), generator.standard_normal(n)
    # Rounding, times a condition number of at most a few hundred.
    np.testing.assert_allclose(solve_traced(A, b), solve_linear(A, b), rtol=1e-11, atol=1e-13)


def test_rows_in_any_order_need_no_pivot():
    """Zeros on the whole diagonal, and entries of very different size."""
    A = np.array([[0.0, 1e-9, 2.0], [3.0, 0.0, 1.0], [0.0, 5.0, 0.0]])
    x = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(solve_traced(A, A @ x), x, rtol=1e-14)


def test_known_zeros_leave_their_work_out():
    """A block diagonal matrix costs less than a dense one."""
    symbols = symbol("a", 36)
    dense = [[symbols[6 * i + j] for j in range(6)] for i in range(6)]
    blocks = [[dense[i][j] if i // 3 == j // 3 else 0.0 for j in range(6)] for i in range(6)]
    b = [1.0] * 6
    counts = [ca.Function("f", [symbols], [ca.vertcat(*solve_linear(A, b))]).n_instructions() for A in (dense, blocks)]
    assert counts[1] < counts[0] / 2


def test_derivatives_pass_through():
    """d(1/a)/da = -1/a^2 for a one-by-one system."""
    a = symbol("a")
    slope = ca.Function("slope", [a], [ca.jacobian(solve_linear([[a]], [1.0])[0], a)])
    assert float(slope(4.0)) == pytest.approx(-1 / 16, rel=1e-15)


def test_singular_numbers_and_wrong_sizes_are_refused():
    with pytest.raises(np.linalg.LinAlgError):
        solve_linear([[1.0, 2.0], [2.0, 4.0]], [1.0, 1.0])
    with pytest.raises(ValueError, match="square matrix"):
        solve_linear([[1.0, 2.0]], [1.0])
