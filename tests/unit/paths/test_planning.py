"""Do planned joints follow the path exactly, on one branch, and is it reported where they cannot?"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.support.six_axis_arms import offset_wrist

from robodyn import ModelError
from robodyn.description.catalog import six_axis_mechanism
from robodyn.description.paths import (
    arc_through,
    build_arm,
    find_branches,
    plan_path,
    point_tool,
    straight_line,
    waypoints,
)
from robodyn.description.paths.inverse import refine

ARM = six_axis_mechanism()
SIX = build_arm(ARM, "tool")
DOWN = point_tool((0, 0, -1))
# The weld: 1.2 m, the wrist's center 0.2 m below the shoulder.
WELD = straight_line((0.6, -0.6, -0.285), (0.6, 0.6, -0.285), DOWN)
ELBOW_UP = np.radians([0, 20, -150, 0, -60, 180])
PATHS = {
    "weld": WELD,
    "turning": straight_line((0.6, -0.6, -0.285), (0.6, 0.5, -0.1), DOWN, point_tool((0.4, 0.4, -1), spin=1.0)),
    "arc": arc_through((0.6, -0.2, -0.2), (0.5, 0.0, -0.1), (0.6, 0.2, -0.2), DOWN),
    "waypoints": waypoints([(0.6, -0.3, -0.2), (0.7, 0, -0.2), (0.5, 0.2, 0), (0.5, 0.4, 0)], 0.05, DOWN),
}


@cache
def plan_of(name):
    return plan_path(ARM, "tool", PATHS[name], near=ELBOW_UP)


def limited(**limits):
    """The arm with limits, by joint."""
    return ARM.with_joints(*(replace(ARM.joint(name), **given) for name, given in limits.items()))


def plan_flaws(path, arm=ARM, **settings):
    with pytest.raises(ModelError) as error:
        plan_path(arm, "tool", path, **({"near": ELBOW_UP} | settings))
    return error.value.flaws


def difference(function, s, h):
    """Central difference of order 8."""
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    return sum(w * (function(s + k * h) - function(s - k * h)) for k, w in enumerate(weights, start=1)) / h


@pytest.mark.parametrize("name", PATHS)
def test_the_tool_is_on_the_path_at_and_between_the_knots(name):
    plan, path = plan_of(name), PATHS[name]
    for s, tolerance in ((plan.knots, 1e-12), (np.linspace(0, path.length, 1001), 2e-11)):
        placed, wanted = SIX.place(plan.at(s)[0]), path.at(s)
        # Knots meet the pose to 1e-12; in between, 1e-11 rad in six joints of up to 1 m.
        assert np.max(np.abs(placed.p - wanted.p)) < tolerance
        assert np.max(np.abs(placed.R - wanted.R)) < tolerance
    assert plan.error < 1e-11
    assert np.max(np.abs(np.diff(plan.position, axis=0))) < 0.3, "one branch"


@pytest.mark.parametrize("name", PATHS)
def test_derivatives_are_exact(name):
    """Against differences of positions found by Newton's method, without the table."""
    plan, path = plan_of(name), PATHS[name]
    ends = path.ends
    s = np.concatenate([a + (b - a) * np.linspace(0.2, 0.8, 7) for a, b in zip(ends[:-1], ends[1:], strict=True)])

    def exact(way):
        wanted = path.at(way)
        return refine(SIX, plan.at(way)[0], wanted.R, wanted.p)

    _, slope, bend = plan.at(s)
    h = 1e-3
    # Order 8 at 1 mm: rounding of 1e-15 / h, and truncation as small; second differences of exact slopes likewise.
    assert np.allclose(slope, difference(exact, s, h), atol=1e-8)
    assert np.allclose(bend, difference(lambda way: plan.at(way)[1], s, h), atol=1e-5)
    knot_slopes = np.array([np.linalg.norm(plan.at(k)[1] - row) for k, row in zip(plan.knots, plan.slope, strict=True)])
    assert np.max(knot_slopes) < 1e-9


@pytest.mark.parametrize("name", PATHS)
def test_every_joint_is_smooth_across_knots_and_pieces(name):
    plan = plan_of(name)
    inner = np.unique(plan.knots)[1:-1]
    left, right = plan.at(np.nextafter(inner, 0)), plan.at(inner)
    for before, after, tolerance in zip(left, right, (1e-13, 1e-10, 1e-6), strict=True):
        # Blends join lines with continuous curvature, so that second derivatives are continuous everywhere. Positions
        # of 1e-15 make second derivatives of 60e-15 / h^2, with knots down to h = 0.3 mm in the blends.
        assert np.max(np.abs(before - after)) < tolerance


def test_the_weld_reverses_joints_2_and_3_at_600_mm():
    weld = plan_of("weld")
    for joint in (1, 2):
        turn = np.flatnonzero(np.diff(np.sign(weld.at(np.linspace(0, 1.2, 12001))[1][:, joint])))
        # Nearest tenth of a millimetre of 12000.
        assert np.all(np.abs(turn * 1e-4 - 0.6) < 2e-4)
        assert len(turn) >= 1


def test_the_welds_joint_speeds_are_those_of_the_geometry():
    """Joint 1 is the direction of (0.6, y); joint 3 the angle between two arms of 0.45 m a distance apart."""
    weld = plan_of("weld")
    y = np.linspace(-0.6, 0.6, 241)
    s = y + 0.6
    q, slope, _ = weld.at(s)
    assert np.allclose(q[:, 0], np.arctan2(y, 0.6), atol=1e-11)
    assert np.allclose(slope[:, 0], 0.6 / (0.36 + y**2), atol=1e-9)
    square = 0.36 + y**2 + 0.04
    cosine = (square - 2 * 0.45**2) / (2 * 0.45**2)
    assert np.allclose(q[:, 2], -np.pi / 2 - np.arccos(cosine), atol=1e-11)
    assert np.allclose(slope[:, 2], y / 0.45**2 / np.sqrt(1 - cosine**2), atol=1e-8)
    assert np.all(q[:, 3] == 0.0), "a joint that does not move stands still"


def test_the_motion_is_the_path_in_time():
    weld = plan_of("weld")
    profile = {"speed": 0.2, "acceleration": 0.8, "jerk": 10.0, "begin": 0.4}
    end = weld.duration(**profile)
    time = np.linspace(0.6, end - 0.2, 401)
    q, v, a = weld.motion(time, **profile)
    assert np.allclose(v, difference(lambda t: weld.motion(t, **profile)[0], time, 1e-3), atol=1e-6)
    before, after = weld.motion([0.0, 0.4], **profile), weld.motion([end, end + 1], **profile)
    for start, stop in zip(before[1:], after[1:], strict=True):
        assert np.all(start == 0)
        assert np.all(stop == 0)
    assert np.allclose(after[0], weld.position[-1])
    assert np.allclose(before[0], weld.position[0])


def test_a_branch_is_chosen_by_number_or_by_limits():
    weld = plan_of("weld")
    start = WELD.at(0.0)
    branches = find_branches(SIX, start.R[0], start.p[0])
    for k in (0, 5):
        plan = plan_path(ARM, "tool", WELD, branch=k)
        assert np.allclose(plan.position[0], branches.positions[k], atol=1e-9)
    ranges = zip(weld.joints, ELBOW_UP, strict=True)
    arm = limited(**{name: {"lower_limit": q - 1.5, "upper_limit": q + 1.5} for name, q in ranges})
    assert np.allclose(plan_path(arm, "tool", WELD).position, weld.position)


def test_given_knots_are_kept():
    plan = plan_path(ARM, "tool", WELD, near=ELBOW_UP, spacing=0.05)
    assert np.allclose(plan.knots, np.linspace(0, 1.2, 25))
    finer = plan_path(ARM, "tool", WELD, near=ELBOW_UP, spacing=0.025)
    # Hermite polynomials of degree 5: the sixth power of the spacing, here before the asymptotic range.
    assert plan.error / finer.error > 2**4.5


def test_an_arm_without_a_wrist_center_follows_a_path_too():
    mechanism = offset_wrist()
    arm = build_arm(mechanism, "tool")
    path = straight_line((0.4, -0.2, 0.2), (0.4, 0.2, 0.2), DOWN)
    plan = plan_path(mechanism, "tool", path)
    placed = arm.place(plan.position)
    assert np.max(np.abs(placed.p - path.at(plan.knots).p)) < 1e-12
    assert plan.error < 1e-11


def test_out_of_reach_is_told_from_where_to_where():
    """The wrist's center is at most 0.9 m away: y^2 = 0.81 - 0.36 - 0.04."""
    beyond = 0.8 - np.sqrt(0.81 - 0.36 - 0.04)
    message = [flaw.what for flaw in plan_flaws(straight_line((0.6, -0.8, -0.285), (0.6, 0.8, -0.285), DOWN))]
    first, second = f"{1e3 * beyond:.1f}", f"{1600 - 1e3 * beyond:.1f}"
    assert message[0] == f"the path is out of reach from 0.0 to {first} mm"
    assert message[1] == f"the path is out of reach from {second} to 1600.0 mm"
    assert all("elbow singularity" in what for what in message[2:]), "the edge of the reach is one"


def test_a_path_wholly_out_of_reach_is_one_problem():
    (flaw,) = plan_flaws(straight_line((2.6, -0.8, 0), (2.6, 0.8, 0), DOWN))
    assert "out of reach from 0.0 to 1600.0 mm" in flaw.what


def test_the_reach_of_an_arm_without_a_wrist_center_is_told_too():
    path = straight_line((0.4, 0.0, 0.2), (2.4, 0.0, 0.2), DOWN)
    with pytest.raises(ModelError) as error:
        plan_path(offset_wrist(), "tool", path, spacing=0.05)
    message = error.value.flaws[0].what
    begin = float(message.split("from ")[1].split(" ")[0])
    assert message.endswith("to 2000.0 mm")
    # Both arms stretched, 0.425 + 0.39225 m, with the wrist's offsets somewhat farther; nothing reaches beyond the sum.
    assert 300 < begin < 1000 * (0.425 + 0.39225 + 0.10915 + 0.09465 + 0.0823 - 0.4)


SINGULAR = {
    "shoulder": (straight_line((-0.3, 0, 0.5), (0.3, 0, 0.5), DOWN), 300.0, "joint1"),
    "shoulder passed nearby": (straight_line((-0.3, 0.004, 0.5), (0.3, 0.004, 0.5), DOWN), 300.0, "joint1"),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_the_shoulders_singularity_is_told_with_its_place(name):
    path, at, joint = SINGULAR[name]
    (flaw,) = plan_flaws(path)
    assert flaw.path == f"joints.{joint}"
    assert "too near the shoulder singularity" in flaw.what
    begin, end = (float(word) for word in flaw.what.split("from ")[1].split(" mm")[0].split(" to "))
    assert begin < at < end
    assert end - begin < 80


@pytest.mark.parametrize("offset", [0.0, 0.002])
def test_a_straight_wrist_on_the_way_is_told(offset):
    q = np.array([0.2, 0.4, -2.0, 0.3, 0.0, 0.1])
    pose = SIX.place(q)
    along, across = pose.R[:, 1], pose.R[:, 0]
    start, end = (pose.p + offset * across + way * along for way in (-0.1, 0.1))
    branches = find_branches(SIX, pose.R, start)
    same_arm = int(np.argmin(np.max(np.abs(branches.positions[:, :3] - q[:3]), axis=1)))
    (flaw,) = plan_flaws(straight_line(start, end, pose.R), near=None, branch=same_arm)
    assert flaw.path in ("joints.joint4", "joints.joint6")
    assert "wrist singularity" in flaw.what
    begin, end = (float(word) for word in flaw.what.split("from ")[1].split(" mm")[0].split(" to "))
    assert begin < 100 < end


def test_the_stretched_elbow_is_told():
    q = np.array([0.0, 0.6, -np.pi / 2 - 0.5, 0.0, 0.9, 0.0])
    start = SIX.place(q)
    stretched = SIX.place(np.array([0.0, 0.6, -np.pi / 2 - 0.003, 0.0, 0.9 - 0.497, 0.0]))
    flaws = plan_flaws(straight_line(start.p, stretched.p, start.R, stretched.R), near=q)
    assert ["elbow singularity" in flaw.what for flaw in flaws] == [True]
    assert flaws[0].path in ("joints.joint2", "joints.joint3")


def test_a_branch_that_ends_within_the_reach_of_others_is_told():
    """With an offset wrist each branch has a reach of its own; the arm is singular where it ends, between two knots."""
    path = straight_line((-0.4, -0.3, 0.2), (-0.4, 0.7, 0.2), DOWN)
    with pytest.raises(ModelError) as error:
        plan_path(offset_wrist(), "tool", path, branch=0)
    (flaw,) = error.value.flaws
    assert flaw.path in ("joints.joint2", "joints.joint3")
    assert "reaches the elbow singularity between 880.0 and 890.0 mm, where its branch ends" in flaw.what


def test_a_smaller_tolerance_lets_a_path_pass():
    path = straight_line((-0.3, 0.05, 0.5), (0.3, 0.05, 0.5), DOWN)
    assert plan_path(ARM, "tool", path, near=ELBOW_UP).closeness.min() > 0.02
    (flaw,) = plan_flaws(path, singular=0.1)
    assert "allowed 0.1" in flaw.what


def test_limits_are_told_all_at_once_with_place_and_amount():
    turn = np.radians
    arm = limited(
        joint3={"lower_limit": turn(-175), "upper_limit": turn(-120)},
        joint2={"speed_limit": turn(20)},
        joint1={"acceleration_limit": turn(30)},
    )
    message = [str(flaw) for flaw in plan_flaws(WELD, arm, speed=0.2, acceleration=0.8)]
    assert len(message) == 5
    # Closed form: bend of the elbow at the ends and in the middle, see the weld's joint speeds.
    bend = [np.degrees(-np.pi / 2 - np.arccos((d - 0.405) / 0.405)) for d in (0.76, 0.4)]
    assert f"upper limit of -120 deg by up to {bend[0] + 120:.3g} deg from 0.0 to" in message[0]
    assert f"upper limit of -120 deg by up to {bend[0] + 120:.3g} deg from 119" in message[1]
    y = np.sqrt(0.405 * (1 + np.cos(turn(85))) - 0.4)
    assert f"lower limit of -175 deg by up to {-175 - bend[1]:.3g} deg from {600 - 1e3 * y:.0f}." in message[2]
    assert "joints.joint1: must reach" in message[3]
    assert "its acceleration limit is 30 deg/s^2" in message[3]
    assert "joints.joint2: must reach" in message[4]
    assert "its speed limit is 20 deg/s" in message[4]


def test_predicted_speeds_are_those_of_the_motion():
    weld = plan_of("weld")
    profile = {"speed": 0.2, "acceleration": 0.8}
    time = np.linspace(0, weld.duration(**profile), 20001)
    fastest = np.max(np.abs(weld.motion(time, **profile)[1]), axis=0)
    just = {name: {"speed_limit": 1.001 * max(v, 1e-3)} for name, v in zip(weld.joints, fastest, strict=True)}
    plan_path(limited(**just), "tool", WELD, near=ELBOW_UP, **profile)
    (flaw,) = plan_flaws(WELD, limited(joint5={"speed_limit": 0.999 * fastest[4]}), **profile)
    assert f"must reach {np.degrees(fastest[4]):.4g} deg/s" in flaw.what


WRONG = {
    "speed": {"acceleration": 1.0},
    "acceleration": {"speed": 1.0, "acceleration": -1.0},
    "jerk": {"speed": 1.0, "acceleration": 1.0, "jerk": 0.0},
    "near": {"near": (1, 2, 3)},
    "branch": {"branch": 1},
    "spacing": {"spacing": 0.0},
    "singular": {"singular": -1.0},
}


@pytest.mark.parametrize("path", WRONG)
def test_wrong_settings_are_told(path):
    (flaw,) = plan_flaws(WELD, **WRONG[path])
    assert flaw.path == path


def test_a_path_of_any_length_is_told_out_of_reach_in_no_time():
    far = straight_line((6e11, -0.3, -0.2), (0.7, 0, -0.2), DOWN)
    assert any("the path is out of reach from 0.0 to " in flaw.what for flaw in plan_flaws(far))


def test_more_knots_than_there_is_time_for_are_refused():
    (flaw,) = plan_flaws(WELD, spacing=1e-9)
    assert (flaw.path, flaw.what) == ("spacing", "1e-09 m on a path of 1.2 m are 1.2e+09 knots")
    assert "at most 10000 are placed" in flaw.remedy


def test_a_path_that_jumps_from_branch_to_branch_is_given_up_soon():
    """Over the first axis, where the shoulder's branches meet, and out of the wrist's range again and again."""
    zigzag = [(0.02 * (-1) ** k, 0.02 * (-1) ** (k // 2), 0.6 + 0.001 * k) for k in range(12)]
    assert plan_flaws(waypoints(zigzag, 0.005, DOWN))
