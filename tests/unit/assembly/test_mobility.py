"""Mobility: what do rows do that nothing moves, and forces that lean?"""

import casadi as ca
import numpy as np
import pytest

from robodyn.computation.assembly.contact.modes import MassSolver, build_mobility, mean_compliance
from robodyn.computation.dynamics import ldl


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


def test_forces_that_lean_hold_as_numpy_says():
    """Five rows of six joints, of which two have forces that lean towards two others, by halves of a solution."""
    rng = np.random.default_rng(7)
    J = rng.normal(size=(6, 6))
    M, rows, lean = J @ J.T + np.eye(6), rng.normal(size=(5, 6)), 0.4 * rng.normal(size=(2, 2))
    plain = build_mobility(MassSolver(ldl(ca.SX(M))), ca.SX(rows), mean_compliance)
    E = np.eye(5)
    E[2:4, :2] = lean
    mobility = plain.combine(ca.SX.eye(5), ca.SX(E), plain.compliance, (0, 1))
    S = rows @ np.linalg.solve(M, rows.T) @ E
    np.testing.assert_allclose(ca.DM(mobility.S).full(), S, rtol=1e-12)
    held, b = ca.SX.sym("held", 5), rng.normal(size=5)
    find = ca.Function("find", [held], [mobility.holder(held > 0.5)(ca.SX(b))])
    for k in range(1, 32):
        on = [i for i in range(5) if k >> i & 1]
        expected = np.zeros(5)
        expected[on] = -np.linalg.solve(S[np.ix_(on, on)], b[on])
        # The compliance of 1e-7 is taken back twice.
        np.testing.assert_allclose(
            find([float(i in on) for i in range(5)]).full()[:, 0], expected, rtol=1e-9, atol=1e-9
        )
