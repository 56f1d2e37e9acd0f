"""Each kind of constraint is the equations of its joint: zero for the motions it allows, not for the others."""

import numpy as np
import pytest
from support.linkages import FREE, SIXFOLD, chain, evaluate

from robodyn import Body, LoopJoint, Machine, Mechanism, Point, Rod, Scenario, assemble
from robodyn.base.spatial import from_rpy

PLACE = (0.3, -0.2, 0.5)
# Motions (joint of the free body -> change) that a loop joint with its axis along pitch, the y axis, allows.
ALLOWED = {
    "spherical": ("pitch", "roll", "yaw"),
    "universal": ("pitch", "yaw"),
    "revolute": ("pitch",),
    "prismatic": ("y",),
    "fixed": (),
}


def residuals(constraint, **positions):
    """Residuals of a constraint between a point on the ground and the origin of a free body."""
    bodies, joints = chain(Body("body", 1.0, inertia=(1, 1, 1)), SIXFOLD, FREE)
    points = (Point("wall", "ground", PLACE), Point("eye", "body"))
    machine = Machine("free", Mechanism("free", bodies, joints, points), constraints=(constraint,))
    system = assemble(Scenario("free", machine, 1.0))
    x = np.zeros(len(system.states))
    x[:3] = PLACE
    for name, change in positions.items():
        x[FREE.index(name)] += change
    return evaluate(system, system.expressions.constraints, x)[: len(system.motion.constraint_forces)]


def loop_joint(kind):
    axes = {"universal": {"axis": (0, 1, 0), "second_axis": (0, 0, 1)}}
    axes |= {name: {"axis": (0, 1, 0)} for name in ("revolute", "prismatic")}
    return LoopJoint("c", "wall", "eye", kind, **axes.get(kind, {}))


@pytest.mark.parametrize("kind", ALLOWED)
@pytest.mark.parametrize("joint", FREE)
def test_a_loop_joint_allows_the_motions_of_its_joint_and_no_others(kind, joint):
    size = np.max(np.abs(residuals(loop_joint(kind), **{joint: 0.3})))
    # 0.3 m; or 2 tan of half of 0.3 rad, its sine where two axes must be square.
    assert size < 1e-15 if joint in ALLOWED[kind] else size == pytest.approx(0.3, abs=5e-3)


def test_residuals_of_coinciding_points_are_their_distance_in_world_axes():
    found = residuals(LoopJoint("c", "wall", "eye"), x=0.1, y=-0.2, z=0.3)
    assert found == pytest.approx([-0.1, 0.2, -0.3], abs=1e-15)


def test_the_residual_of_a_rod_is_how_much_too_long_it_is():
    assert residuals(Rod("c", "wall", "eye", 0.4), x=0.3, z=-0.4) == pytest.approx([0.1], abs=1e-15)


def test_a_loop_joint_may_hold_bodies_turned_to_each_other():
    turn = from_rpy(0.0, 0.5, 0.0)
    held = LoopJoint("c", "wall", "eye", "fixed", rotation=turn)
    assert residuals(held, pitch=0.5) == pytest.approx(np.zeros(6), abs=1e-15)
    assert np.max(np.abs(residuals(held))) == pytest.approx(2 * np.tan(0.25), abs=1e-12)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "fixed"])
@pytest.mark.parametrize("joint", ["roll", "yaw"])
def test_bodies_that_are_upside_down_are_not_taken_for_closed(kind, joint):
    """The sine of half a turn would be zero."""
    assert np.max(np.abs(residuals(loop_joint(kind), **{joint: 0.99 * np.pi}))) > 100


def test_axes_of_a_revolute_loop_joint_may_differ_in_the_two_bodies():
    turned = LoopJoint("c", "wall", "eye", "revolute", axis=(0, 0, 1), second_axis=(0, 1, 0))
    assert residuals(turned, roll=np.pi / 2) == pytest.approx(np.zeros(5), abs=1e-15)
