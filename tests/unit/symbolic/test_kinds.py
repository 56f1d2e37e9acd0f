"""Columns of symbols: which of their entries are others than before?"""

import casadi as ca
import pytest

from robodyn.base.symbolic import changed_entries


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
