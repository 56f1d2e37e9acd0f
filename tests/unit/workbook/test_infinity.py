"""Is every comparison with infinity decided as it comes out for all finite numbers?"""

import math
import operator

import pytest

from robodyn.exchange.workbook.row import decide

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
