"""Is an arm where its mechanism is, and is its Jacobian that of the mechanics?"""

import dataclasses

import numpy as np
import pytest
from tests.support.six_axis_arms import offset_wrist

from robodyn import GROUND, Body, Joint, Mechanism, ModelError, Point
from robodyn.computation.assembly.tree import build_tree
from robodyn.computation.assembly.values import collect_values
from robodyn.computation.dynamics import geometric_jacobian, link_poses
from robodyn.description.catalog import scara_mechanism, six_axis_mechanism, swinging_arm
from robodyn.description.paths import build_arm, jacobian, jacobian_rate

MECHANISMS = {"six-axis": six_axis_mechanism(), "offset wrist": offset_wrist()}
POSITIONS = np.random.default_rng(1).uniform(-3, 3, (20, 6))


def tree_of(mechanism):
    """The same mechanism by the package's mechanics, which are another algorithm: poses composed link by link."""
    machine = dataclasses.replace(swinging_arm().machine, mechanism=mechanism, tunable=())
    scenario = dataclasses.replace(swinging_arm(), machine=machine, initial={})
    return build_tree(mechanism, collect_values(scenario))


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)
def test_pose_and_jacobian_are_those_of_the_mechanics(mechanism):
    arm, mechanics = build_arm(mechanism, "tool"), tree_of(mechanism)
    (point,) = mechanism.points
    place = mechanics.placements[point.body]
    local = place.pose.apply(np.array(point.origin))
    for q in POSITIONS:
        placed = arm.place(q)
        pose = link_poses(mechanics.tree, q)[place.link]
        # Both sum a few products of numbers near 1.
        assert np.allclose(placed.p, pose.apply(local), atol=1e-14)
        assert np.allclose(placed.R, (pose @ place.pose).R, atol=1e-14)
        assert np.allclose(jacobian(placed), geometric_jacobian(mechanics.tree, q, place.link, local), atol=1e-14)


def test_many_positions_at_once_are_the_single_ones():
    arm = build_arm(MECHANISMS["six-axis"], "tool")
    together = jacobian(arm.place(POSITIONS))
    assert np.array_equal(together, [jacobian(arm.place(q)) for q in POSITIONS])


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)
def test_the_rate_of_the_jacobian_is_its_derivative(mechanism):
    arm = build_arm(mechanism, "tool")
    for q, v in zip(POSITIONS[::2], POSITIONS[1::2], strict=True):
        h = 1e-3
        weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
        steps = [
            w * (jacobian(arm.place(q + k * h * v)) - jacobian(arm.place(q - k * h * v)))
            for k, w in enumerate(weights, start=1)
        ]
        # Order 8 with steps of 1e-3 and rates of 3: truncation 1e-18, rounding 1e-16 / h.
        assert np.allclose(jacobian_rate(arm.place(q), v), sum(steps) / h, atol=1e-11)


def test_the_reach_is_the_stretched_arm():
    assert build_arm(MECHANISMS["six-axis"], "tool").reach == pytest.approx(0.45 + 0.45 + 0.085)


def flaws_of(mechanism, point):
    with pytest.raises(ModelError) as error:
        build_arm(mechanism, point)
    return {flaw.path: str(flaw) for flaw in error.value.flaws}


def test_an_unknown_point_is_answered_with_the_right_one():
    assert "did you mean 'tool'" in flaws_of(MECHANISMS["six-axis"], "tol")["point"]


def test_what_is_no_arm_is_told_whole():
    mechanism = scara_mechanism()
    base = Joint("base", "free", GROUND, "base_body")
    ball = Joint("hip", "ball", "base_body", "leg")
    bodies = [Body(name, 1.0, inertia=(1, 1, 1)) for name in ("base_body", "leg")]
    message = flaws_of(Mechanism("walker", bodies, (base, ball), (Point("tool", "leg"),)), "tool")
    assert set(message) == {"joints.base", "joints.hip"}
    assert "have single positions" in message["joints.hip"]
    standing = dataclasses.replace(mechanism, points=(Point("tool", GROUND),))
    assert "is not carried by any joint" in flaws_of(standing, "tool")["point"]
