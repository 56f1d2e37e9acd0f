"""Descriptions of constraints check themselves; what has no effect is refused."""

from dataclasses import replace

import numpy as np
import pytest

from robodyn import (
    Body,
    ConstraintFunction,
    ConstraintMethod,
    Joint,
    LinearConstraint,
    LoopJoint,
    Machine,
    Mechanism,
    ModelError,
    Point,
    PrescribedMotion,
    Rod,
    Scenario,
)
from robodyn.description.model.constraint import LOOP_JOINTS

TURNED = ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))


def mechanism():
    joint = Joint("x", "prismatic", "ground", "cart", axis=(1, 0, 0))
    return Mechanism("cart", (Body("cart", 1.0),), (joint,), (Point("wall", "ground"), Point("nose", "cart")))


def flaws_of(make, *arguments, **fields):
    with pytest.raises(ModelError) as error:
        make(*arguments, **fields)
    return {flaw.path: f"{flaw.what} {flaw.remedy}" for flaw in error.value.flaws}


@pytest.mark.parametrize(
    ("kind", "count"), [("spherical", 3), ("universal", 4), ("revolute", 5), ("prismatic", 5), ("fixed", 6)]
)
def test_a_loop_joint_has_as_many_forces_as_it_takes_freedoms(kind, count):
    assert len(LoopJoint("c", "a", "b", kind).equations) == count == len(LOOP_JOINTS[kind])


def test_all_flaws_of_a_loop_joint_are_told_at_once():
    found = flaws_of(LoopJoint, "c", "a", "a", "revolut", axis=(0, 0, 0), rotation=((1, 0, 0), (0, 1, 0), (0, 0, 2)))
    assert {"second", "kind", "axis", "rotation"} <= set(found)
    assert "revolute" in found["kind"]


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("spherical", "axis", (1, 0, 0)),
        ("spherical", "rotation", TURNED),
        ("universal", "rotation", TURNED),
        ("revolute", "rotation", TURNED),
        ("prismatic", "second_axis", (1, 0, 0)),
        ("fixed", "axis", (1, 0, 0)),
    ],
)
def test_what_has_no_effect_on_a_kind_is_refused(kind, field, value):
    assert "has no effect" in flaws_of(LoopJoint, "c", "a", "b", kind, **{field: value})[field]


def test_axes_are_made_unit_vectors_and_may_be_arrays():
    loop_joint = LoopJoint("c", "a", "b", "revolute", axis=np.array([0, 3, 4]))
    assert loop_joint.axis == loop_joint.second_axis == (0.0, 0.6, 0.8)
    assert replace(loop_joint, active=False).axis == loop_joint.axis
    assert LoopJoint("c", "a", "b", "fixed", rotation=np.array(TURNED)).rotation == TURNED


@pytest.mark.parametrize("length", [0, -1, float("nan"), "long"])
def test_a_rod_has_a_positive_length(length):
    assert "length" in flaws_of(Rod, "r", "a", "b", length)


def test_a_rod_needs_two_points():
    assert "end" in flaws_of(Rod, "r", "a", "a", 1.0)


def test_a_coupling_needs_something_to_couple():
    assert "of" in flaws_of(LinearConstraint, "c", {})
    assert {"of.a", "offset"} <= set(flaws_of(LinearConstraint, "c", {"a": float("inf")}, float("nan")))


def test_a_prescribed_motion_is_signals_or_finite_numbers():
    assert {"position", "velocity"} <= set(flaws_of(PrescribedMotion, "p", "x", float("nan"), float("inf")))
    message = PrescribedMotion("p", "x", "path.position", "path.velocity", 0.0)
    assert (message.position, message.velocity, message.acceleration) == ("path.position", "path.velocity", 0.0)
    still = PrescribedMotion("p", "x", 0.5)
    assert (still.velocity, still.acceleration) == (0.0, 0.0)


def test_a_signal_that_is_followed_must_come_with_its_rates():
    assert "path.position" in flaws_of(PrescribedMotion, "p", "x", "path.position")["velocity"]
    assert "acceleration" in flaws_of(PrescribedMotion, "p", "x", "path.position", "path.velocity")


def test_flaws_of_a_relation_are_told_at_once():
    assert {"of", "function", "count"} <= set(flaws_of(ConstraintFunction, "r", (), 1.0, count=0))


@pytest.mark.parametrize("active", [1.0, "yes", None])
def test_active_is_true_or_false(active):
    assert "active" in flaws_of(Rod, "r", "a", "b", 1.0, active)


def test_unknown_points_joints_and_coordinates_are_told_with_the_nearest():
    constraints = (
        LoopJoint("c", "wal", "nose"),
        Rod("r", "wall", "nos", 1.0),
        LinearConstraint("g", {"y": 1.0}),
        PrescribedMotion("p", "xx", 0.0),
        ConstraintFunction("f", ("z",), lambda z: z),
    )
    found = flaws_of(Machine, "cart", mechanism(), constraints=constraints)
    places = ("c.first", "r.end", "g.of", "p.of", "f.of")
    assert set(found) == {f"constraints.{place}" for place in places}
    assert "'wall'" in found["constraints.c.first"]


@pytest.mark.parametrize("name", ["x", "wall", "constraints"])
def test_constraints_share_the_name_space_of_all_parts(name):
    assert name in flaws_of(Machine, "cart", mechanism(), constraints=(LinearConstraint(name, {"x": 1.0}),))


def test_lengths_and_offsets_are_numbers_of_the_scenario():
    constraints = (Rod("r", "wall", "nose", 1.0), LinearConstraint("g", {"x": 1.0}, 0.5))
    machine = Machine("cart", mechanism(), constraints=constraints)
    scenario = Scenario("cart", machine, 1.0, constraint_method=ConstraintMethod(pole=5.0))
    numbers = scenario.numbers()
    assert (numbers["r.length"].value, numbers["g.offset"].value, numbers["constraint_method.pole"].value) == (
        1.0,
        0.5,
        5.0,
    )
    changed = scenario.with_numbers({"r.length": 2.0, "constraint_method.pole": 7.0})
    assert changed.machine.constraints[0].length == 2.0
    assert changed.constraint_method.pole == 7.0


def test_flaws_of_a_constraint_method_are_told():
    assert "baumgarte" in flaws_of(ConstraintMethod, "baumgart")["method"]
    assert "positive" in flaws_of(ConstraintMethod, pole=0.0)["pole"]
    assert "has no effect" in flaws_of(ConstraintMethod, "projection", 5.0)["pole"]


def test_a_constraint_method_of_nothing_is_refused():
    fields = {"machine": Machine("cart", mechanism()), "duration": 1.0}
    assert (
        "has no effect"
        in flaws_of(Scenario, "cart", constraint_method=ConstraintMethod("projection"), **fields)["constraint_method"]
    )
