"""Mobility: what do rows do that nothing moves?"""

import casadi as ca
import numpy as np
import pytest

from robodyn.assembly.mobility import build_mobility, mean_compliance


@pytest.mark.parametrize("joints", [2, 3])
def test_rows_that_a_prescribed_motion_moves_have_no_force_until_they_are_held(joints):
    """Three rows, by rows or by joints, of which no force moves any: 0 by 0 is not their force."""
    rows, held, b, moves = ca.SX.sym("rows", 3, joints), ca.SX.sym("held", 3), ca.SX.sym("b", 3), ca.SX.sym("moves")
    mobility = build_mobility(lambda column: moves * column, rows, mean_compliance)
    forces = mobility.holder(held > 0.5)(b)
    find = ca.Function("find", [rows, held, b, moves], [forces])
    rows = np.random.default_rng(1).normal(size=(3, joints))
    np.testing.assert_array_equal(find(rows, [0, 0, 0], [1.0, 2.0, 3.0], 0.0).full()[:, 0], [0, 0, 0])
    assert np.all(np.isfinite(find(rows, [1, 0, 1], [1.0, 2.0, 3.0], 0.0).full()))
