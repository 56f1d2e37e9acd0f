"""Does a mechanism from a Denavit-Hartenberg table have the textbook's kinematics?"""

import casadi as ca
import numpy as np
import pytest

from robodyn import Body, DHRow, Machine, ModelError, Point, Scenario, assemble, mechanism_from_dh
from robodyn.base.spatial import Pose, from_rpy

ROWS = (
    DHRow("one", a=0.3, alpha=0.7, d=0.4, theta=0.2),
    DHRow("two", a=-0.2, alpha=-1.1, d=0.1, theta=-0.5, kind="prismatic"),
    DHRow("three", a=0.25, alpha=0.4, d=-0.3, theta=1.2),
    DHRow("four", a=0.05, alpha=np.pi / 2, d=0.2, theta=-0.9, kind="prismatic"),
)
BODIES = tuple(Body(f"link{k}", 1.0 + k, (0.1, 0.0, 0.05 * k), (0.1, 0.1, 0.1)) for k in range(4))
OFFSET = (0.1, -0.2, 0.3)


def homogeneous(axis, angle=0.0, shift=0.0):
    """4x4 matrix of a rotation about and a shift along a coordinate axis (0 x, 2 z)."""
    A = np.eye(4)
    others = [k for k in range(3) if k != axis]
    c, s = np.cos(angle), np.sin(angle)
    A[np.ix_(others, others)] = [[c, -s], [s, c]]
    A[axis, 3] = shift
    return A


def textbook_pose(convention, q):
    """Product of the A matrices, written out as the textbooks do (Siciliano 2.52, Craig 3.6)."""
    T = np.eye(4)
    for row, variable in zip(ROWS, q, strict=True):
        theta, d = row.theta, row.d
        if row.kind == "revolute":
            theta += variable
        else:
            d += variable
        z = homogeneous(2, theta) @ homogeneous(2, shift=d)
        x = homogeneous(0, shift=row.a) @ homogeneous(0, row.alpha)
        T = T @ (z @ x if convention == "standard" else x @ z)
    return T


def point_position(mechanism, q):
    """World position of the point `tip` by the assembled system."""
    system = assemble(Scenario("s", Machine("m", mechanism), 1.0))
    columns = [*system.symbols]
    function = ca.Function("outputs", columns, [system.expressions.outputs])
    values = np.array(function(0, [*q, *np.zeros(len(q))], [], [], [])).ravel()
    named = dict(zip(system.signal_names, values, strict=True))
    return [named[f"tip.position.{axis}"] for axis in "xyz"]


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_the_kinematics_are_the_product_of_the_textbook_matrices(convention):
    mechanism = mechanism_from_dh("m", ROWS, BODIES, convention, points=(Point("tip", "link3", OFFSET),))
    for q in np.random.default_rng(2).uniform(-2, 2, (3, 4)):
        expected = textbook_pose(convention, q) @ [*OFFSET, 1.0]
        # Two dozen products of rounded numbers of size one.
        np.testing.assert_allclose(point_position(mechanism, q), expected[:3], atol=1e-14)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_the_base_stands_before_the_first_row(convention):
    base = Pose(from_rpy(0.1, 0.2, 0.3), (1.0, 2.0, 3.0))
    mechanism = mechanism_from_dh("m", ROWS, BODIES, convention, base=base, points=(Point("tip", "link3"),))
    q = (0.1, 0.2, 0.3, 0.4)
    expected = base.R @ textbook_pose(convention, q)[:3, 3] + base.p
    np.testing.assert_allclose(point_position(mechanism, q), expected, atol=1e-14)


def test_a_row_gives_its_joint_the_rotor():
    rows = [DHRow("one", armature=0.3)]
    for convention in ("standard", "modified"):
        joint = mechanism_from_dh("m", rows, BODIES[:1], convention).joints[0]
        assert (joint.name, joint.armature) == ("one", 0.3)


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"kind": "revolut"}, "kind"),
        ({"alpha": float("nan")}, "alpha"),
        ({"a": "0.3"}, "a"),
        ({"armature": -1.0}, "armature"),
        ({"joint": "1st"}, "joint"),
    ],
)
def test_a_flawed_row_is_told(given, path):
    with pytest.raises(ModelError) as error:
        DHRow(**({"joint": "one"} | given))
    assert [flaw.path for flaw in error.value.flaws] == [path]


def test_tables_that_do_not_fit_are_refused():
    with pytest.raises(ModelError, match="'modified'"):
        mechanism_from_dh("m", ROWS, BODIES, "modifed")
    with pytest.raises(ModelError, match="3 for 4 rows"):
        mechanism_from_dh("m", ROWS, BODIES[:3])
