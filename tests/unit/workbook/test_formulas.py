"""Do formulas mean what the nodes mean where spreadsheets have rules of their own?"""

import math
import operator

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
from robodyn.exchange.workbook.parameters import CellNames, make_name
from robodyn.exchange.workbook.row import decide

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


# --------------------------------------------------------------------------------------------------
# Are the names of cells valid, distinct and unlike anything else a spreadsheet reads?


@pytest.mark.parametrize(
    ("label", "name"),
    [("elbow.motor.gear", "elbow_motor_gear"), ("z-unit.mass", "z_unit_mass"), ("joint1.gain", "joint1_gain")],
)
def test_dots_and_dashes_become_underscores(label, name):
    assert make_name(label) == name


@pytest.mark.parametrize("label", ["A1", "xfd1048576", "R1C1", "r2c", "R", "c", "RC3", "sin", "Summe", "TRUE", "e"])
def test_what_reads_as_a_cell_a_function_or_a_truth_is_set_apart(label):
    assert make_name(label) == f"{label}_"


def test_a_name_starts_with_a_letter_or_underscore():
    assert make_name("3.gain") == "_3_gain"


def test_names_that_differ_by_case_or_punctuation_only_are_told_apart():
    names = CellNames()
    given = [names.give(label) for label in ("a.b", "a_b", "A-B", "a.b_2")]
    assert len({name.lower() for name in given}) == 4
    assert given[0] == "a_b"


# --------------------------------------------------------------------------------------------------
# Is every comparison with infinity decided as it comes out for all finite numbers?


X, PLUS, MINUS = 0, 1, 2
NODES = (("input", 0, 0), ("const", math.inf), ("const", -math.inf), ("const", 0.0), ("const", 1.0))
MEANING = {"lt": operator.lt, "le": operator.le, "eq": operator.eq, "ne": operator.ne, "fmin": min, "fmax": max}


@pytest.mark.parametrize("op", MEANING)
@pytest.mark.parametrize("pair", [(X, PLUS), (PLUS, X), (X, MINUS), (MINUS, X), (MINUS, PLUS)])
def test_the_outcome_is_that_of_any_finite_number(op, pair):
    values = {X: 123.0, PLUS: math.inf, MINUS: -math.inf}
    expected = MEANING[op](*(values[i] for i in pair))
    decided = decide((op, *pair), NODES)
    assert (values[decided] if isinstance(decided, int) else decided[1]) == expected


def test_a_decided_choice_is_the_chosen_branch():
    assert decide(("select", 4, X, PLUS), NODES) == X
    assert decide(("select", 3, X, PLUS), NODES) == PLUS
    assert decide(("if_else_zero", 3, X), NODES) == ("const", 0.0)


def test_finite_comparisons_are_left_alone():
    assert decide(("lt", X, 4), NODES) == ("lt", X, 4)
    assert decide(("fmax", X, 3), NODES) == ("fmax", X, 3)
