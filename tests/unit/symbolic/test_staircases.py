"""Are functions that jump found in a graph, and do staircases become their means, and nothing else?"""

import casadi as ca
import numpy as np
import pytest

from robodyn.base import symbolic as sym
from robodyn.base.symbolic.staircases import find_jumps, smooth_staircases

x, p = ca.SX.sym("x", 2), ca.SX.sym("p")


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        (sym.floor(x[0] / p), {"floor"}),
        (sym.ceil(x[0]) + sym.sign(x[1]), {"ceil", "sign"}),
        (sym.where(x[0] > p, x[1], 0.0), {"where"}),
        (sym.floor(p) * x[0] + sym.where(p > 0, x[0], 0.0), set()),
        (sym.sin(x[0]) * sym.absolute(x[1]), set()),
    ],
)
def test_what_may_jump_with_the_moving_symbols_is_found(expression, found):
    assert find_jumps([expression], x) == found


def test_of_nothing_nothing_jumps():
    assert find_jumps([], x) == set()


def test_staircases_become_their_means_and_the_rest_of_the_graph_stays():
    inner = sym.floor(x[0] * p) / p
    column = ca.vertcat(sym.sin(inner) + sym.exp(x[1]), sym.ceil(inner**2) * sym.floor(p), sym.atan2(x[0], x[1]))
    (smooth,) = smooth_staircases([column], x)
    mean = (x[0] * p - 0.5) / p
    expected = ca.vertcat(sym.sin(mean) + sym.exp(x[1]), (mean**2 + 0.5) * sym.floor(p), sym.atan2(x[0], x[1]))
    both = ca.Function("both", [x, p], [smooth, expected, ca.jacobian(smooth, x), ca.jacobian(expected, x)])
    rng = np.random.default_rng(0)
    for _ in range(10):
        found, wanted, slopes, wanted_slopes = both(rng.normal(size=2), rng.uniform(1, 5))
        np.testing.assert_allclose(found.full(), wanted.full(), rtol=1e-14)
        np.testing.assert_allclose(slopes.full(), wanted_slopes.full(), rtol=1e-13)


def test_tables_pass_through_unchanged():
    looked_up = sym.table(x[0], np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 1.0]))
    (smooth,) = smooth_staircases([looked_up + sym.floor(x[1])], x)
    assert find_jumps([smooth], x) == find_jumps([looked_up], x)
    names = [
        {f.instruction_constant(k) for k in range(f.n_instructions()) if f.instruction_id(k) == ca.OP_CONST}
        for f in (ca.Function("f", [x], [e]) for e in (smooth, looked_up))
    ]
    assert names[1] <= names[0]
