"""Trees that check themselves."""

import numpy as np
import pytest

from robodyn.base.spatial import Inertia, Pose
from robodyn.computation.dynamics import (
    GROUND,
    Link,
    Tree,
    bias,
    forward_dynamics,
    geometric_jacobian,
    inverse_dynamics,
    point_position,
    point_velocity,
)

BODY = Inertia(1.0, [0.1, 0.0, 0.0], np.eye(3))


def make_link(kind="revolute", parent=-1, axis=(0, 0, 1)):
    return Link("link", "joint", kind, parent, Pose.identity(), axis, BODY)


def test_slices_follow_the_sizes_of_the_joints():
    tree = Tree((make_link("free", axis=None), make_link(parent=0), make_link("ball", 1, None)))

    assert (tree.n_q, tree.n_v) == (12, 10)
    assert tree.q_slices == (slice(0, 7), slice(7, 8), slice(8, 12))
    assert tree.v_slices == (slice(0, 6), slice(6, 7), slice(7, 10))


def test_path_leads_to_the_ground():
    tree = Tree((make_link(), make_link(parent=0), make_link(parent=0), make_link(parent=2)))

    assert tree.path(3) == [3, 2, 0]


@pytest.mark.parametrize("parent", [0, 1, -2])
def test_parent_must_come_before_its_child(parent):
    with pytest.raises(ValueError, match="parent must be"):
        Tree((make_link(parent=parent),))


def test_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="unknown kind 'hinge'"):
        make_link("hinge")


@pytest.mark.parametrize("axis", [(0, 0, 2), (0, 0, 0), (1, 0), (np.nan, 0, 1), None])
def test_axis_must_be_a_unit_vector(axis):
    with pytest.raises(ValueError, match="unit vector"):
        make_link(axis=axis)


def test_ball_joint_takes_no_axis():
    with pytest.raises(ValueError, match="has no axis"):
        make_link("ball")


def test_columns_of_the_wrong_length_are_refused_by_name():
    tree = Tree((make_link(), make_link(parent=0)))
    two, three = np.zeros(2), np.zeros(3)

    with pytest.raises(ValueError, match="q has 3 entries, the tree needs 2"):
        bias(tree, three, two)
    with pytest.raises(ValueError, match="v has 3"):
        bias(tree, two, three)
    with pytest.raises(ValueError, match="a has 3"):
        inverse_dynamics(tree, two, two, three)
    with pytest.raises(ValueError, match="tau has 3"):
        forward_dynamics(tree, two, two, three)


def test_links_that_do_not_exist_are_refused():
    tree, q = Tree((make_link(), make_link(parent=0))), np.zeros(2)

    with pytest.raises(ValueError, match="no link 2"):
        bias(tree, q, q, {2: (np.ones(3), np.ones(3))})
    with pytest.raises(ValueError, match="no link -2"):
        geometric_jacobian(tree, q, -2, np.zeros(3))
    with pytest.raises(ValueError, match="no link 2"):
        point_velocity(tree, q, q, 2, np.zeros(3))


def test_points_of_the_ground_stay():
    tree, q, v, point = (
        Tree((make_link(), make_link(parent=0))),
        np.zeros(2),
        np.ones(2),
        np.array([1.0, 2.0, 3.0]),
    )

    np.testing.assert_array_equal(point_position(tree, q, GROUND, point), point)
    np.testing.assert_array_equal(point_velocity(tree, q, v, GROUND, point), np.zeros(3))
    np.testing.assert_array_equal(geometric_jacobian(tree, q, GROUND, point), np.zeros((6, 2)))
    np.testing.assert_array_equal(bias(tree, q, v, {GROUND: (point, point)}), bias(tree, q, v))


def test_unknown_method_is_refused():
    with pytest.raises(ValueError, match="unknown method 'fast'"):
        forward_dynamics(Tree((make_link(),)), [0.0], [0.0], [0.0], method="fast")
