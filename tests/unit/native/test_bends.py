"""Limits of what depends on states are found in a program, and nothing else."""

import casadi as ca
import numpy as np

from robodyn.native.bends import find_bends
from robodyn.native.kernel import compile_kernels
from robodyn.native.reading import read_program
from robodyn.symbolic import clip, maximum, where

t, x, m = ca.SX.sym("t"), ca.SX.sym("x", 2), ca.SX.sym("m", 1)


def bends_of(expression):
    return find_bends(read_program(ca.Function("f", [t, x, m], [expression])), 1)


def test_a_limit_bends_where_it_is_reached():
    limited = ca.vertcat(clip(3 * x[0], -1.0, 2.0), maximum(x[1], m[0]))
    bends = bends_of(limited)
    assert bends.out_sizes == (3,)
    read = compile_kernels({"f": ca.Function("f", [t, x, m], [limited])}, cache=False, quick=True).kernels["f"]
    np.testing.assert_allclose(read([0.0], [1.0, 2.0], [5.0]), [2.0, 5.0])


def test_what_states_do_not_move_and_mere_choices_do_not_bend():
    assert bends_of(clip(m[0], -1.0, 1.0) + clip(t, 0.0, 1.0)).out_sizes == (0,)
    # Friction that differs with the direction jumps in its level, which is no limit to the speed.
    assert bends_of(where(x[0] < 0, 3.0, 2.0) * x[0]).out_sizes == (0,)
