"""Does a mechanism hang together: a tree on the ground, with branches, each name used once?"""

import dataclasses

import pytest

from robodyn import GROUND, Body, Joint, Machine, Mechanism, ModelError, Point, Scenario, assemble


def joint(name, parent, child, kind="revolute"):
    return Joint(name, kind, parent, child)


def bodies(*names):
    return tuple(Body(name, 1.0, (0.1, 0.0, 0.0), (0.1, 0.1, 0.1)) for name in names)


def flaws_of(*parts, **more):
    with pytest.raises(ModelError) as error:
        Mechanism("m", *parts, **more)
    return {flaw.path: f"{flaw.what} {flaw.remedy}" for flaw in error.value.flaws}


def test_branches_are_ordered_parents_first_and_otherwise_as_given():
    joints = (joint("finger", "hand", "tip"), joint("left", GROUND, "arm"), joint("wrist", "arm", "hand"))
    joints += (joint("plate", "arm", "shield", "fixed"),)
    tree = Mechanism("tree", bodies("arm", "hand", "tip", "shield"), joints)
    assert [j.name for j in tree.ordered_joints] == ["left", "wrist", "finger", "plate"]
    assert [f.name for f in tree.freedoms] == ["left", "wrist", "finger"]


def test_a_body_without_a_joint_is_told():
    message = flaws_of(bodies("arm", "hand"), (joint("left", GROUND, "arm"),))
    assert "not connected" in message["bodies.hand"]


def test_a_chain_that_bites_its_tail_is_told():
    joints = (joint("left", GROUND, "arm"), joint("one", "hand", "tip"), joint("two", "tip", "hand"))
    message = flaws_of(bodies("arm", "hand", "tip"), joints)
    assert set(message) == {"bodies.hand", "bodies.tip"}


def test_a_closed_loop_is_told():
    joints = (joint("left", GROUND, "arm"), joint("right", GROUND, "arm"))
    assert "is the child of 2 joints" in flaws_of(bodies("arm"), joints)["bodies.arm"]


def test_unknown_bodies_are_told_with_the_nearest_name():
    message = flaws_of(bodies("arm"), (joint("left", "grund", "arm"),), (Point("p", "amr"),))
    assert "'ground'" in message["joints.left.parent"]
    assert "'arm'" in message["points.p.body"]


def test_duplicate_names_are_told():
    twice = (*bodies("arm", "arm"), *bodies("hand"))
    message = flaws_of(twice, (joint("left", GROUND, "arm"), joint("left", "arm", "hand")))
    assert {"bodies.arm", "joints.left"} <= set(message)


def test_the_ground_is_no_body_and_no_child():
    message = flaws_of(bodies(GROUND), (joint("left", GROUND, GROUND),))
    assert {f"bodies.{GROUND}", "joints.left.child"} <= set(message)


def test_a_fixed_joint_and_a_point_cannot_share_the_name_of_a_number():
    """Both would be `tool.origin.x`: changing the one would change the other."""
    joints = (joint("left", GROUND, "arm"), joint("tool", "arm", "hand", "fixed"))
    assert "tool.origin.x" in flaws_of(bodies("arm", "hand"), joints, (Point("tool", "hand"),))


def test_a_payload_is_one_more_body_fixed_to_another():
    arm = Mechanism("m", bodies("arm"), (joint("left", GROUND, "arm"),))
    loaded = arm.with_payload(Body("box", 5.0), "arm", (0.0, 0.0, 1.0))
    assert loaded.body("box").mass == 5.0
    assert [j.kind for j in loaded.joints] == ["revolute", "fixed"]
    with pytest.raises(ModelError, match="no body 'hand'"):
        arm.with_payload(Body("box", 5.0), "hand")


def chain(last_inertia, armature=0.0):
    """Two joints with a massless body between them."""
    parts = (Body("hub"), Body("arm", 1.0, (0.0, 0.0, 0.0), last_inertia))
    joints = (
        Joint("turn", "revolute", GROUND, "hub", axis=(0.0, 0.0, 1.0)),
        Joint("bend", "revolute", "hub", "arm", axis=(0.0, 1.0, 0.0), armature=armature),
    )
    return Scenario("s", Machine("m", Mechanism("m", parts, joints)), 1.0)


def test_a_massless_link_may_carry_others():
    assert len(assemble(chain((0.1, 0.1, 0.1))).states) == 4


def test_a_joint_that_moves_no_mass_is_named():
    with pytest.raises(ModelError) as error:
        assemble(chain((0.0, 0.0, 0.0)))
    assert {flaw.path for flaw in error.value.flaws} == {"joints.turn", "joints.bend"}


def test_an_armature_is_inertia_enough_for_its_own_joint():
    with pytest.raises(ModelError) as error:
        assemble(chain((0.0, 0.0, 0.0), armature=0.1))
    assert {flaw.path for flaw in error.value.flaws} == {"joints.turn"}


def test_a_body_is_replaced_by_one_of_its_name_and_an_unknown_one_is_told():
    arm = Mechanism("m", bodies("upper", "lower"), (joint("a", GROUND, "upper"), joint("b", "upper", "lower")))
    heavier = dataclasses.replace(arm.body("lower"), mass=99.0)
    assert [body.mass for body in arm.with_bodies(heavier).bodies] == [1.0, 99.0]
    with pytest.raises(ModelError, match="bodies.lowr: there is no such body.*lower"):
        arm.with_bodies(dataclasses.replace(heavier, name="lowr"))
