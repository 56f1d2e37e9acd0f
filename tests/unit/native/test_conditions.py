"""Conditions are found in a graph, and bounds of them hold for all points of a box, whatever the operation."""

import casadi as ca
import numpy as np
import pytest
from support.kernels import call_program

from robodyn.base.symbolic import clip, floor, maximum, tables, where
from robodyn.computation.native.conditions import (
    JUMP,
    KINK,
    STAIR,
    STRAIGHT,
    TABLE,
    _enclose,
    _Tangents,
    find_conditions,
)
from robodyn.computation.native.emit import emit_module
from robodyn.computation.native.machine import MachineCode, compile_objects
from robodyn.computation.native.program import BINARY, UNARY, Builder
from robodyn.computation.native.reading import read_program

t, x, d, m, p = ca.SX.sym("t"), ca.SX.sym("x", 2), ca.SX.sym("d", 0), ca.SX.sym("m", 1), ca.SX.sym("p", 1)
KNOTS = tables.register(tables.LOCATE, np.array([-1.0, -0.3, 0.2, 0.9]))
ENTRIES = tables.register(tables.GATHER, np.array([3.0, -1.0, 2.0, 5.0]))
DOMAINS = {
    **{"log": (0.1, 3.0), "log1p": (-0.9, 2.0), "sqrt": (0.0, 3.0)},
    **{"asin": (-1.0, 1.0), "acos": (-1.0, 1.0), "acosh": (1.0, 3.0), "atanh": (-0.95, 0.95)},
}


def one_operation(op):
    """An operation on inputs, and where these are."""
    if op in ("fmod", "remainder"):
        return lambda add, a: add(op, a, add("const", 0.7)), [(-3.0, 3.0)]
    if op in UNARY:
        return lambda add, a: add(op, a), [DOMAINS.get(op, (-3.0, 3.0))]
    return lambda add, a, b: add(op, a, b), [(0.1, 3.0) if op == "pow" else (-2.0, 2.0), (-2.0, 2.0)]


OTHERS = {
    **{f"pow {e}": (lambda add, a, e=e: add("pow", a, add("const", e)), [(-2.0, 2.0)]) for e in (2.0, 3.0, -1.0, -2.0)},
    "pow 1.5": (lambda add, a: add("pow", a, add("const", 1.5)), [(0.0, 2.0)]),
    "muladd": (lambda add, a, b, c: add("muladd", a, b, c), [(-2.0, 2.0)] * 3),
    "select": (lambda add, a, b, c: add("select", add("lt", a, b), c, add("sq", b)), [(-2.0, 2.0)] * 3),
    "locate": (lambda add, a: add("locate", KNOTS, a), [(-2.0, 2.0)]),
    "gather": (lambda add, a: add("gather", ENTRIES, add("locate", KNOTS, a)), [(-2.0, 2.0)]),
    # What is not a number on the way must not vanish in the smaller of two.
    "infinite": (
        lambda add, a, b: add("fmin", add("mul", add("inv", a), add("inv", b)), add("const", 3.0)),
        [(-2.0, 2.0)] * 2,
    ),
    "in a product": (
        lambda add, a, b: add("mul", add("sin", a), add("sub", add("exp", b), add("mul", a, b))),
        [(-2.0, 2.0)] * 2,
    ),
}


@pytest.mark.parametrize("name", [*UNARY, *BINARY, *OTHERS])
def test_bounds_hold_for_all_points_of_a_box_and_for_all_ways_through_it(name):
    """Two hundred points in each of twenty boxes, wide and narrow; and the mean rate along straight ways."""
    build, ranges = OTHERS.get(name) or one_operation(name)
    builder, n = Builder(), len(ranges)
    root = build(lambda *node: builder.add(node), *(builder.add(("input", 1, k)) for k in range(n)))
    sizes = (1, n, 0, 0, 0)
    value = builder.finish("value", sizes, [[root]])
    bounds, _ = _enclose(builder, [root], sizes)
    drift, _ = _enclose(builder, [_Tangents(builder).of(root)], sizes)
    random = np.random.default_rng(len(name))
    begin, end = np.array(ranges).T
    decided = 0
    evaluate = {program: _many(kept) for program, kept in (("value", value), ("bounds", bounds), ("drift", drift))}
    for _ in range(20):
        middle, half = random.uniform(begin, end), 0.5 * (end - begin) * random.uniform(0, 1, n) ** 4
        low, high = np.maximum(middle - half, begin), np.minimum(middle + half, end)
        way = random.uniform(-1, 1, n)
        box = np.zeros((4, 1 + n))
        box[0, 1:], box[1, 1:], box[2, 1:] = (low + high) / 2, (high - low) / 2, way
        m_, r = evaluate["bounds"]([box.ravel()])[0]
        slope, spread = evaluate["drift"]([box.ravel()])[0]
        points = random.uniform(low, high, (200, n))
        values = evaluate["value"](points)[:, 0]
        slack = 1e-12 * (abs(m_) + np.max(np.abs(values)))
        if np.isfinite(r):
            decided += 1
            assert np.all(np.abs(values - m_) <= r + slack)
        if np.isfinite(spread):
            with np.errstate(divide="ignore", invalid="ignore"):
                far = np.nanmin(np.where(way > 0, (high - points) / way, (low - points) / way), axis=1)
            ends = evaluate["value"](points + far[:, None] * way)[:, 0]
            assert np.all(
                np.abs(ends - values - slope * far) <= spread * far + 1e-9 * (1 + np.abs(ends) + np.abs(values))
            )
    # A test of nothing but infinite bounds would be none.
    assert decided >= 8


def _many(program):
    """A program as a function of many rows of its second input, compiled once."""
    machine = MachineCode(compile_objects(emit_module([program])), ["k0"])

    def evaluate(rows, machine=machine):
        # A row may be as long as several inputs together.
        cuts = np.cumsum(program.in_sizes)[:-1]
        found = []
        for row in rows:
            column = np.zeros(sum(program.in_sizes))
            column[1 : 1 + len(row)] = row
            found.append(call_program(machine, 0, program, np.split(column, cuts)))
        return np.array(found)

    return evaluate


def conditions_of(expression):
    return find_conditions({"rhs": read_program(ca.Function("f", [t, x, d, m, p], [expression]))}, ())


@pytest.mark.parametrize(
    ("expression", "kinds"),
    [
        (clip(3 * x[0], -1.0, 2.0), 2 * [KINK + STRAIGHT]),
        (maximum(x[1], m[0]), [KINK + STRAIGHT]),
        (where(x[0] < 0, 3.0, 2.0) * x[0], [JUMP + STRAIGHT]),
        (ca.fabs(x[0]) + ca.sign(x[0]), [KINK + STRAIGHT]),
        (floor(10 * t), [STAIR + STRAIGHT]),
        (tables.gather(np.array([1.0, 2.0, 4.0]), tables.locate(np.array([0.0, 1.0, 2.0]), x[0])), [TABLE + STRAIGHT]),
        (where(ca.logic_and(x[0] > 1, x[0] < 2), 1.0, 0.0), [JUMP]),
        (maximum(x[0] * x[1], 1.0), [KINK]),
        # What memory and parameters alone decide does not change within a step.
        (clip(m[0], -1.0, 1.0) * x[0] + where(p[0] > 0, x[0], x[1]), []),
        (ca.sin(x[0]) * x[1], []),
    ],
)
def test_whatever_decides_is_a_condition_and_nothing_else(expression, kinds):
    assert list(conditions_of(expression).kinds) == kinds


def test_a_zone_has_one_condition_which_is_negative_inside(run_program):
    zone = conditions_of(where(ca.logic_and(x[0] > 1, x[0] < 2), 1.0, 0.0)).programs["conditions"]
    inside = [run_program(zone, ([0.0], [place, 0.0], [], [0.0], [0.0]))[0] < 0 for place in (0.5, 1.5, 2.5)]
    assert inside == [False, True, False]
