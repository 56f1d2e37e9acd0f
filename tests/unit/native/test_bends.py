"""Limits of what depends on states are found in a program, and nothing else."""

import casadi as ca
import pytest

from robodyn.native.bends import find_bends
from robodyn.native.reading import read_program
from robodyn.symbolic import clip, maximum, where

t, x, m = ca.SX.sym("t"), ca.SX.sym("x", 2), ca.SX.sym("m", 1)


def bends_of(expression):
    return find_bends([read_program(ca.Function("f", [t, x, m], [expression]))], 1)


@pytest.mark.parametrize(("place", "reached"), [(-1 / 3, 1), (2 / 3, 1), (0.1, 0)])
def test_a_limit_bends_where_it_is_reached(run_program, place, reached):
    """Of both limits of a clip and of the larger of two, those are zero that are reached there."""
    bends = bends_of(ca.vertcat(clip(3 * x[0], -1.0, 2.0), maximum(x[1], m[0])))
    assert bends.out_sizes == (3,)
    found = run_program(bends, ([0.0], [place, 5.0], [5.0]))
    assert sum(abs(found) < 1e-12) == reached + 1
    assert sum(abs(run_program(bends, ([0.0], [place, 2.0], [5.0]))) < 1e-12) == reached


def test_what_states_do_not_move_and_mere_choices_do_not_bend():
    assert bends_of(clip(m[0], -1.0, 1.0) + clip(t, 0.0, 1.0)).out_sizes == (0,)
    # Friction that differs with the direction jumps in its level, which is no limit to the speed.
    assert bends_of(where(x[0] < 0, 3.0, 2.0) * x[0]).out_sizes == (0,)
