"""Do arms with any joints follow paths exactly, and do those with joints to spare use them as they are told?"""

import numpy as np
import pytest

import robodyn as rd
from robodyn.description.catalog import scara_mechanism
from robodyn.description.paths import (
    arc_about,
    build_arm,
    jacobian,
    jacobian_rate,
    plan_path,
    straight_line,
    waypoints,
)
from robodyn.description.paths.cartesian import rotation_vector

INERTIA = (0.1, 0.1, 0.1)
DOWN = np.diag([1.0, -1.0, -1.0])


def chain(*axes, limits=None):
    """Joints one after the other: (name, kind, axis, origin); the tool 0.2 m further along x."""
    bodies = [rd.Body(f"{name}_link", 1.0, inertia=INERTIA) for name, *_ in axes]
    parents = [rd.GROUND, *(body.name for body in bodies[:-1])]
    bounds = limits or {}
    joints = [
        rd.Joint(name, kind, parent, body.name, origin, axis=axis, **bounds.get(name, {}))
        for (name, kind, axis, origin), parent, body in zip(axes, parents, bodies, strict=True)
    ]
    return rd.Mechanism("chain", bodies, joints, (rd.Point("tool", bodies[-1].name, (0.2, 0.0, 0.0)),))


X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
PLANAR = chain(("a", "revolute", Y, (0, 0, 0.3)), ("b", "revolute", Y, (0.5, 0, 0)), ("c", "revolute", Y, (0.4, 0, 0)))
GANTRY = chain(("x", "prismatic", X, (0, 0, 0)), ("y", "prismatic", Y, (0, 0, 0)), ("z", "prismatic", Z, (0, 0, 0)))
SEVEN = chain(
    ("j1", "revolute", Z, (0, 0, 0.3)), ("j2", "revolute", Y, (0, 0, 0)), ("j3", "revolute", X, (0.3, 0, 0)),
    ("j4", "revolute", Y, (0.1, 0, 0)), ("j5", "revolute", X, (0.3, 0, 0)), ("j6", "revolute", Y, (0.1, 0, 0)),
    ("j7", "revolute", X, (0.1, 0, 0)),
)  # fmt: skip
MIXED = chain(
    ("rail", "prismatic", Y, (0, 0, 0)), ("s", "revolute", Y, (0, 0, 0.5)), ("e", "revolute", Y, (0.5, 0, 0)),
    ("r", "revolute", X, (0.3, 0, 0)), ("w", "revolute", Y, (0.1, 0, 0)),
)  # fmt: skip


def start_of(mechanism, q):
    placed = build_arm(mechanism, "tool").place(np.array(q))
    return placed.R, placed.p


def misses(mechanism, plan, path):
    """Largest distance of the tool from its path, and the rotation vectors that are left, at many ways."""
    ways = np.linspace(0.0, path.length, 777)
    placed = build_arm(mechanism, "tool").place(plan.at(ways)[0])
    wanted = path.at(ways)
    left = rotation_vector(wanted.R @ np.swapaxes(placed.R, -1, -2))
    return np.max(np.linalg.norm(placed.p - wanted.p, axis=1)), np.swapaxes(wanted.R, -1, -2) @ left[..., None]


def assert_rates_belong_together(plan):
    """Slope and bend of the table are derivatives of its position: differences of order 4, steps of 1e-4 m."""
    ways, h = np.linspace(0.1, 0.9, 50) * plan.length, 1e-4
    at = [plan.at(ways + k * h) for k in (-2, -1, 1, 2)]
    weights = np.array([1, -8, 8, -1]) / (12 * h)
    for order in (0, 1):
        difference = sum(w * part[order] for w, part in zip(weights, at, strict=True))
        # A knot between the four places leaves a jump of the third derivative: some h^2.
        assert np.allclose(difference, plan.at(ways)[order + 1], atol=1e-4)


@pytest.mark.parametrize("mechanism", [PLANAR, GANTRY, SEVEN, MIXED], ids=["planar", "gantry", "seven", "mixed"])
def test_jacobians_are_those_of_the_mechanics(mechanism):
    arm, dynamics = build_arm(mechanism, "tool"), rd.MachineDynamics(rd.Machine("arm", mechanism))
    random = np.random.default_rng(2)
    for _ in range(5):
        q, v = random.uniform(-1, 1, (2, arm.n))
        placed = arm.place(q)
        assert np.allclose(placed.p, dynamics.position("tool", q), atol=1e-14)
        assert np.allclose(jacobian(placed), dynamics.jacobian("tool", q), atol=1e-14)
        h = 1e-5
        slope = (jacobian(arm.place(q + h * v)) - jacobian(arm.place(q - h * v))) / (2 * h)
        assert np.allclose(jacobian_rate(placed, v), slope, atol=1e-8)


def test_a_screw_advances_as_it_turns():
    screw = rd.Joint("nut", "screw", rd.GROUND, "link", axis=X, pitch=0.05)
    mechanism = rd.Mechanism(
        "screw", (rd.Body("link", 1.0, inertia=INERTIA),), (screw,), (rd.Point("tool", "link", Y),)
    )
    arm, dynamics = build_arm(mechanism, "tool"), rd.MachineDynamics(rd.Machine("screw", mechanism))
    for q in (0.3, -1.2):
        assert np.allclose(arm.place([q]).p, dynamics.position("tool", [q]), atol=1e-15)
        assert np.allclose(jacobian(arm.place([q])), dynamics.jacobian("tool", [q]), atol=1e-15)


def test_a_gantry_follows_waypoints_in_its_own_orientation():
    path = waypoints([(0.2, 0, 0), (0.7, 0.2, 0), (0.7, 0.6, 0.3)], 0.05, np.eye(3))
    plan = plan_path(GANTRY, "tool", path)
    assert plan.units == ("m", "m", "m")
    off, turned = misses(GANTRY, plan, path)
    assert off < 1e-9
    assert np.max(np.abs(turned)) < 1e-9


def test_an_arm_of_three_joints_follows_places_and_refuses_an_orientation_that_it_cannot_keep():
    mechanism = scara_mechanism()
    R, p = start_of(mechanism, (0.4, 0.9, 0.1))
    with pytest.raises(rd.ModelError, match="out of reach"):
        plan_path(mechanism, "tool", straight_line(p, p + (0.1, 0.1, 0.05), R), near=(0.4, 0.9, 0.1), spacing=0.02)
    path = straight_line(p, p + np.array([-0.1, 0.05, 0.05]))
    plan = plan_path(mechanism, "tool", path, near=(0.4, 0.9, 0.1))
    assert misses(mechanism, plan, path)[0] < 1e-9
    assert_rates_belong_together(plan)


def test_a_planar_arm_keeps_the_joint_it_is_told_to_keep():
    q = (-0.6, 0.9, 0.5)
    _, p = start_of(PLANAR, q)
    path = straight_line(p, p + np.array([0.1, 0.0, 0.25]))
    plan = plan_path(PLANAR, "tool", path, near=q, prefer={"c": 0.5})
    # The other joints have a weight of 1e-6.
    assert np.max(np.abs(plan.position[:, 2] - 0.5)) < 1e-5
    assert misses(PLANAR, plan, path)[0] < 1e-9
    assert_rates_belong_together(plan)
    moved = plan_path(PLANAR, "tool", path, near=q, prefer={"c": 0.3})
    assert moved.position[0, 2] == pytest.approx(0.5, abs=1e-9)
    assert moved.position[-1, 2] == pytest.approx(0.3, abs=1e-5)
    assert misses(PLANAR, moved, path)[0] < 1e-9
    assert_rates_belong_together(moved)


def test_spare_joints_make_the_arm_more_dexterous():
    q = (0.3, 0.5, 0.4, 0.9, 0.2, -0.7, 0.1)
    R, p = start_of(SEVEN, q)
    path = arc_about(p + np.array([0.0, 0.1, 0.0]), Z, p, 0.3, R)
    plain = plan_path(SEVEN, "tool", path, near=q)
    assert misses(SEVEN, plain, path)[0] < 1e-9
    assert np.max(np.abs(misses(SEVEN, plain, path)[1])) < 1e-9
    assert_rates_belong_together(plain)
    coarse = {"near": q, "spacing": 0.01}
    kept = plan_path(SEVEN, "tool", path, prefer=dict(zip(plain.joints, q, strict=True)), **coarse)
    apt = plan_path(SEVEN, "tool", path, prefer="manipulability", **coarse)
    arm = build_arm(SEVEN, "tool")
    ends = [jacobian(arm.place(plan.position[-1])) for plan in (kept, plain, apt)]
    assert np.all(np.diff([np.prod(np.linalg.svd(J)[1]) for J in ends]) > 0)


def test_spare_joints_keep_away_from_limits():
    q = (-0.6, 0.9, 0.5)
    _, p = start_of(PLANAR, q)
    path = straight_line(p, p + np.array([0.1, 0.0, 0.25]))
    free = plan_path(PLANAR, "tool", path, near=q, spacing=0.01)
    least = float(np.min(free.position[:, 2]))
    joints = [joint.replaced(lower_limit=0.5 * (least + 0.5), upper_limit=2.0) for joint in PLANAR.joints[2:]]
    bounded = PLANAR.replaced(joints=(*PLANAR.joints[:2], *joints))
    kept = plan_path(bounded, "tool", path, near=q, spacing=0.01)
    assert np.min(kept.position[:, 2]) > joints[0].lower_limit


def test_a_free_rotation_about_the_tools_axis_is_free_and_the_others_are_kept():
    q = (0.1, -0.5, 1.1, 0.4, -0.6)
    R, p = start_of(MIXED, q)
    path = straight_line(p, p + np.array([0.05, 0.15, -0.05]), R)
    plan = plan_path(MIXED, "tool", path, near=q, free=["rx"])
    off, turned = misses(MIXED, plan, path)
    assert off < 1e-9
    assert np.max(np.abs(turned[:, 1:])) < 1e-9
    assert_rates_belong_together(plan)


def test_what_cannot_be_asked_is_told_with_a_remedy():
    path = straight_line((0.7, 0.0, 0.3), (0.8, 0.0, 0.4))
    with pytest.raises(rd.ModelError, match="not a motion of the tool"):
        plan_path(PLANAR, "tool", path, free=["q"])
    with pytest.raises(rd.ModelError, match="is not a joint of the arm.*did you mean"):
        plan_path(PLANAR, "tool", path, prefer={"cc": 0.5})
    with pytest.raises(rd.ModelError, match="two of three rotations"):
        plan_path(SEVEN, "tool", straight_line((0.7, 0, 0.3), (0.8, 0, 0.4), np.eye(3)), free=["rx", "ry"])
    with pytest.raises(rd.ModelError, match="all 3 joints are needed"):
        plan_path(GANTRY, "tool", path, prefer="manipulability")


def test_limits_of_slides_are_told_in_metres():
    limits = {"x": {"lower_limit": 0.0, "upper_limit": 0.5, "speed_limit": 0.2}}
    axes = (("x", "prismatic", X, (0, 0, 0)), ("y", "prismatic", Y, (0, 0, 0)), ("z", "prismatic", Z, (0, 0, 0)))
    path = straight_line((0.3, 0, 0), (0.8, 0, 0))
    with pytest.raises(rd.ModelError) as error:
        plan_path(chain(*axes, limits=limits), "tool", path, speed=0.3, acceleration=2.0)
    text = str(error.value)
    assert "upper limit of 0.5 m by up to 0.1 m from 400" in text
    assert "must reach 0.3 m/s" in text
