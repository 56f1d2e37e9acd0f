"""Do the short ways of + - * / give what CasADi's own operations give?"""

import operator
from itertools import product

import casadi as ca
import numpy as np
import pytest

from robodyn.base.symbolic.operators import OPERATIONS, speed_up_operators

CASADIS = {"add": ca.plus, "sub": ca.minus, "mul": ca.times, "truediv": ca.rdivide}
scalar, column, matrix = ca.SX.sym("s"), ca.SX.sym("b", 3), ca.SX.sym("A", 3, 3)
sparse = ca.SX(3, 3)
sparse[0, 1] = scalar
SYMBOLS = [scalar, column, matrix, sparse, ca.SX(3, 1), ca.SX.sym("c", 2), ca.SX(0, 1)]
NUMBERS = [2.0, 0.0, -0.0, float("inf"), float("nan"), np.float64(3.0), 2, True, ca.DM([1.0, 2.0, 3.0]), np.ones(3)]
ARRAYS = [
    *(np.arange(3.0), np.array([[0.0], [-0.0], [np.nan]]), np.array([[1.0, 0.0, np.inf]]), np.diag([1.0, 2.0, 3.0])),
    *(np.ones(2), np.zeros(0), np.ones((0, 1)), np.ones(()), np.ones((3, 3), int), np.float32([1, 2, 3])),
]


def outcome(operation, left, right):
    """The expression with its sparsity, or the refusal."""
    try:
        result = operation(left, right)
    except RuntimeError as error:
        return str(error).partition(":")[0]
    return type(result), str(result), result.sparsity()


@pytest.fixture(autouse=True)
def _short_ways():
    speed_up_operators()


@pytest.mark.parametrize("name", OPERATIONS)
def test_operators_give_what_casadi_gives(name):
    short, general = getattr(operator, name), CASADIS[name]
    numbers = NUMBERS + ARRAYS
    pairs = [*product(SYMBOLS, SYMBOLS), *product(SYMBOLS, numbers), *product(numbers, SYMBOLS)]
    differing = [pair for pair in pairs if outcome(short, *pair) != outcome(general, *pair)]
    assert differing == []


def test_products_of_arrays_and_expressions_give_what_casadi_gives():
    pairs = [*product(SYMBOLS, ARRAYS), *product(ARRAYS, SYMBOLS)]
    differing = [pair for pair in pairs if outcome(operator.matmul, *pair) != outcome(ca.mtimes, *pair)]
    assert differing == []


def test_what_is_neither_number_nor_expression_is_left_to_casadi():
    assert str(column + [1.0, 2.0, 3.0]) == str(ca.plus(column, ca.DM([1.0, 2.0, 3.0])))
    assert isinstance(ca.MX.sym("m") + 1.0, ca.MX)
    with pytest.raises(TypeError):
        scalar + "text"
    with pytest.raises(TypeError):
        None * scalar


def test_shapes_are_rows_and_columns():
    assert [value.shape for value in (scalar, column, matrix, ca.SX(0, 1))] == [(1, 1), (3, 1), (3, 3), (0, 1)]
