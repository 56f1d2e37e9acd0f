"""Are all joint positions found that bring the tool to a pose, by closed form and by search?"""

import numpy as np
import pytest
from tests.support.six_axis_arms import offset_wrist, random_arm

from robodyn import ModelError
from robodyn.description.catalog import six_axis_mechanism
from robodyn.description.paths import build_arm, find_branches, point_tool
from robodyn.description.paths.inverse import wrap, wrist_center

SIX_AXIS = build_arm(six_axis_mechanism(), "tool")
OFFSET = build_arm(offset_wrist(), "tool")
KINDS = ("skew", "intersecting", "parallel")
# A pose error of 1e-12 is what a solution may have; J is not near singular at these.
EXACT = 1e-12


def check_poses(arm, branches, R, p):
    """Every branch brings the tool to the pose, and no two are alike."""
    placed = arm.place(branches.positions)
    assert np.max(np.abs(placed.R - R)) < 2 * EXACT
    assert np.max(np.abs(placed.p - p)) < EXACT * arm.reach
    for k, q in enumerate(branches.positions):
        others = np.delete(branches.positions, k, axis=0)
        assert np.min(np.max(np.abs(wrap(others - q)), axis=1), initial=np.inf) > 1e-6


def same_set(one, other):
    return len(one) == len(other) and all(np.min(np.max(np.abs(wrap(one - q)), axis=1)) < 1e-8 for q in other)


@pytest.mark.parametrize("seed", range(6))
def test_closed_form_and_search_find_the_same_branches_of_the_six_axis_arm(seed):
    q = np.random.default_rng(seed).uniform(-2.5, 2.5, 6)
    pose = SIX_AXIS.place(q)
    closed = find_branches(SIX_AXIS, pose.R, pose.p)
    searched = find_branches(SIX_AXIS, pose.R, pose.p, "search")
    assert closed.analytic
    assert not searched.analytic
    assert len(closed) == 8
    assert same_set(closed.positions, searched.positions)
    check_poses(SIX_AXIS, closed, pose.R, pose.p)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_the_closed_form_holds_for_axes_of_any_direction(kind, seed):
    arm = random_arm(seed, kind)
    q = np.random.default_rng(seed + 100).uniform(-3, 3, 6)
    pose = arm.place(q)
    branches = find_branches(arm, pose.R, pose.p, "closed")
    check_poses(arm, branches, pose.R, pose.p)
    # Near double roots a solution is known to the square root of its pose error.
    assert np.max(np.abs(wrap(branches.nearest(q) - q))) < 1e-6
    assert len(branches) in (2, 4, 6, 8)


@pytest.mark.parametrize("kind", KINDS)
def test_the_search_finds_what_the_closed_form_does_for_axes_of_any_direction(kind):
    for seed in range(3):
        arm = random_arm(seed, kind)
        pose = arm.place(np.random.default_rng(seed + 100).uniform(-3, 3, 6))
        closed, searched = (find_branches(arm, pose.R, pose.p, method) for method in ("closed", "search"))
        assert same_set(closed.positions, searched.positions)


@pytest.mark.parametrize("seed", range(3))
def test_an_arm_without_a_wrist_center_is_searched(seed):
    q = np.random.default_rng(seed).uniform(-2, 2, 6)
    pose = OFFSET.place(q)
    branches = find_branches(OFFSET, pose.R, pose.p)
    assert wrist_center(OFFSET) is None
    assert not branches.analytic
    # Arms of this kind have up to eight branches, in pairs.
    assert len(branches) in (2, 4, 6, 8)
    assert np.max(np.abs(wrap(branches.nearest(q) - q))) < 1e-8
    check_poses(OFFSET, branches, pose.R, pose.p)


def test_the_wrist_center_is_where_the_axes_meet():
    assert np.allclose(wrist_center(SIX_AXIS), (0.45, 0.0, 0.45), atol=1e-15)


def test_the_six_axis_arm_pointing_down_has_the_angles_of_its_triangle():
    """Cosine theorem: arms of 0.45 m, the wrist's center 0.2 m below the shoulder and sqrt(0.72) m away."""
    branches = find_branches(SIX_AXIS, point_tool((0, 0, -1)), (0.6, -0.6, -0.285))
    distance = np.sqrt(0.6**2 + 0.6**2 + 0.2**2)
    bend = np.arccos((distance**2 - 2 * 0.45**2) / (2 * 0.45**2))
    # At zero position the forearm stands across the upper arm: stretched is -90 degrees.
    expected = {round(float(wrap(-np.pi / 2 + sign * bend)), 9) for sign in (1, -1)}
    assert {round(float(q3), 9) for q3 in branches.positions[:, 2]} == expected
    assert {round(np.degrees(float(q1)), 6) for q1 in branches.positions[:, 0]} == {-45.0, 135.0}


def test_a_stretched_arm_has_one_elbow_and_beyond_there_is_none():
    q = np.array([0.3, 0.2, -np.pi / 2, 0.4, 0.8, 0.1])
    pose = SIX_AXIS.place(q)
    branches = find_branches(SIX_AXIS, pose.R, pose.p)
    assert len(branches) >= 2
    beyond = pose.p + 1e-4 * (pose.p - SIX_AXIS.o[0])
    assert len(find_branches(SIX_AXIS, pose.R, beyond)) == 0
    with pytest.raises(ModelError, match="out of reach"):
        find_branches(SIX_AXIS, pose.R, beyond).nearest(q)


def test_a_straight_wrist_still_has_solutions():
    q = np.array([0.3, 0.2, -1.0, 0.4, 0.0, 0.1])
    pose = SIX_AXIS.place(q)
    branches = find_branches(SIX_AXIS, pose.R, pose.p)
    assert len(branches) >= 4
    placed = SIX_AXIS.place(branches.positions)
    assert np.max(np.abs(placed.p - pose.p)) < EXACT


def test_the_nearest_branch_counts_whole_turns_as_none():
    pose = SIX_AXIS.place(np.array([0.3, 0.2, -1.0, 0.4, 0.7, 0.1]))
    near = np.array([0.3, 0.2, -1.0, 0.4 + 2 * np.pi, 0.7, 0.1 - 2 * np.pi])
    assert np.allclose(find_branches(SIX_AXIS, pose.R, pose.p).nearest(near), near, atol=1e-10)


def test_wrong_choices_are_told():
    branches = find_branches(SIX_AXIS, point_tool((0, 0, -1)), (0.6, 0.0, -0.285))
    assert np.array_equal(branches.select(7), branches.positions[7])
    with pytest.raises(ModelError, match="there are 8"):
        branches.select(8)
    with pytest.raises(ModelError, match="auto, closed or search"):
        find_branches(SIX_AXIS, np.eye(3), (0.6, 0.0, 0.0), "quick")
    with pytest.raises(ModelError, match="do not meet"):
        find_branches(OFFSET, np.eye(3), (0.3, 0.0, 0.0), "closed")
