"""Do formulas mean what the nodes mean where spreadsheets have rules of their own?"""

import math

import pytest

from robodyn.computation.native.formulas import (
    READABLE,
    SPREADSHEET,
    WrittenTerm,
    as_number,
    compose,
    find_unwritable,
    write_number,
)
from robodyn.computation.native.program import OPERATIONS, RUN_TIME, Builder, Program

A, B, C = WrittenTerm("a"), WrittenTerm("b"), WrittenTerm("c")


def write(op, *terms):
    return compose(SPREADSHEET, (op,), terms)


def test_a_sign_before_a_power_is_kept_apart():
    assert write("sq", write("neg", A)).text == "(-a)^2"
    assert write("neg", write("sq", A)).text == "-(a^2)"
    assert write("pow", write_number(-2.0), write_number(-3.0)).text == "(-2)^(-3)"


def test_sums_and_products_keep_the_order_in_which_they_round():
    assert write("add", A, write("add", B, C)).text == "a+(b+c)"
    assert write("add", write("add", A, B), C).text == "a+b+c"
    assert write("mul", A, write("mul", B, C)).text == "a*(b*c)"
    assert write("sub", A, write("sub", B, C)).text == "a-(b-c)"
    assert write("div", A, write("mul", B, C)).text == "a/(b*c)"
    assert write("muladd", A, write("add", B, C), A).text == "a*(b+c)+a"


def test_truths_become_numbers_and_numbers_truths_where_needed():
    less = write("lt", A, B)
    assert as_number(SPREADSHEET, less).text == "IF(a<b,1,0)"
    assert write("mul", C, less).text == "c*IF(a<b,1,0)"
    assert write("and", less, C).text == "AND(a<b,c<>0)"
    assert write("select", less, B, C).text == "IF(a<b,b,c)"
    assert write("lt", less, C).text == "IF(a<b,1,0)<c"


def test_arc_tangent_takes_x_first_and_knows_the_origin():
    assert write("atan2", A, B).text == "IF(AND(a=0,b=0),0,ATAN2(b,a))"


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e-300, 2.0999999999999996, -1.7e22, 5e-324, 123456.0])
def test_constants_keep_every_digit(value):
    assert float(write_number(value).text) == value


def test_the_depth_counts_functions_and_parentheses():
    term = A
    for _ in range(5):
        term = write("sin", write("sq", write("add", term, B)))
    assert term.depth == 10


def test_both_notations_write_all_operations_but_the_one_without_a_formula():
    assert set(SPREADSHEET.forms) == OPERATIONS - {"remainder"} - RUN_TIME
    assert set(READABLE.forms) == OPERATIONS - {"remainder"}


def test_what_cannot_be_written_is_found():
    builder = Builder()
    x = builder.add(("input", 0, 0))
    infinite = builder.add(("const", math.inf))
    bad = [builder.add(("remainder", x, x)), builder.add(("add", x, infinite)), builder.add(("const", math.nan))]
    fine = builder.add(("sin", x))
    program = Program("f", (1,), tuple(builder.nodes), ((*bad, fine),))
    assert [number for number, _ in find_unwritable(program)] == bad
