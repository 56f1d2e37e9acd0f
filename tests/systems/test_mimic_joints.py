"""Mimic joints follow their leaders, as the constraint does that could stand for them."""

import numpy as np
import pytest

from robodyn import (
    GROUND,
    Body,
    ConstraintMethod,
    Joint,
    LinearConstraint,
    Machine,
    Mechanism,
    Mimic,
    ModelError,
    Scenario,
    Solver,
    simulate,
)
from robodyn.description.files import read_scenario
from robodyn.description.files.schema import make_schema
from robodyn.description.files.writing import scenario_text

SOLVER = Solver("dopri5", rtol=1e-9, atol=1e-10)
NAMES = ("a", "b", "c")


def gripper(mimics, initial=None, kinds=("revolute", "revolute", "prismatic"), **fields):
    """Two fingers and a slide beside each other; any of them may follow."""
    bodies = [Body(f"{name}_link", 1.0 + k, (0.1, 0, 0.02 * k), (0.01, 0.02, 0.03)) for k, name in enumerate(NAMES)]
    joints = [
        Joint(name, kind, GROUND, f"{name}_link", (k, 0, 0), axis=(0, 1, 0.1), mimic=mimics.get(name))
        for k, (name, kind) in enumerate(zip(NAMES, kinds, strict=True))
    ]
    constraints = fields.pop("constraints", ())
    machine = Machine("m", Mechanism("m", bodies, joints), constraints=constraints)
    return Scenario("s", machine, 1.0, initial or {}, solver=SOLVER, **fields)


MIMICS = {"b": Mimic("a", ratio=-2.0, offset=0.1), "c": Mimic("b", 0.05)}
START = {"a.position": 0.3, "a.velocity": 1.5}


@pytest.mark.parametrize("method", ["baumgarte", "projection", "minimal"])
def test_followers_follow_through_a_chain(method):
    run = simulate(gripper(MIMICS, START, constraint_method=ConstraintMethod(method)))
    a, b, c = (run[f"{name}.position"].values for name in NAMES)
    np.testing.assert_allclose(b, -2 * a + 0.1, atol=1e-7)
    np.testing.assert_allclose(c, 0.05 * b, atol=1e-7)
    assert np.ptp(a) > 0.5
    assert run.outcome.ok


def test_the_motion_is_that_of_described_constraints():
    pairs = [LinearConstraint("b.mimic", {"b": 1, "a": 2}, 0.1), LinearConstraint("c.mimic", {"c": 1, "b": -0.05})]
    told = START | {"b.position": -0.5, "b.velocity": -3.0, "c.position": -0.025, "c.velocity": -0.15}
    first, second = simulate(gripper(MIMICS, START)), simulate(gripper({}, told, constraints=pairs))
    for name in ("a.position", "b.velocity", "c.acceleration", "b.mimic.force", "energy.balance"):
        t = np.linspace(0.0, 1.0, 101)
        np.testing.assert_allclose(first[name](t), second[name](t), atol=1e-6)


def test_start_values_of_followers_are_found_from_the_leaders():
    run = simulate(gripper(MIMICS, START))
    starts = {
        f"{name}.{quantity}": run[f"{name}.{quantity}"].values[0]
        for name in "bc"
        for quantity in ("position", "velocity")
    }
    assert starts == pytest.approx({"b.position": -0.5, "b.velocity": -3.0, "c.position": -0.025, "c.velocity": -0.15})
    moved = simulate(gripper(MIMICS, START).with_numbers({"initial.a.position": 0.0, "b.mimic.offset": 0.2}))
    assert moved["b.position"].values[0] == pytest.approx(0.2)


def test_an_assembled_start_takes_a_followers_start_as_given():
    run = simulate(gripper(MIMICS, {"b.position": 0.5}, initialisation="assembled"))
    assert run["a.position"].values[0] == pytest.approx(-0.2)


def test_an_axis_of_a_free_joint_can_lead():
    bodies = [Body("hull", 2.0, inertia=(0.1, 0.1, 0.1)), Body("leg", 1.0, inertia=(0.1, 0.1, 0.1))]
    joints = [
        Joint("base", "free", GROUND, "hull"),
        Joint("leg", "prismatic", "hull", "leg", mimic=Mimic("base.z", 0.5)),
    ]
    run = simulate(Scenario("s", Machine("m", Mechanism("m", bodies, joints)), 0.5, {"base.z.position": 1.0}))
    np.testing.assert_allclose(run["leg.position"].values, 0.5 * run["base.z.position"].values, atol=1e-6)


@pytest.mark.parametrize(
    ("mimics", "message"),
    [
        ({"b": Mimic("d")}, "joints.b.mimic.joint: there is no moving joint 'd'"),
        ({"b": Mimic("b")}, "joints.b.mimic.joint: the joint follows itself: b -> b"),
        ({"a": Mimic("b"), "b": Mimic("c"), "c": Mimic("a")}, "joints.a.mimic.joint: .* a -> b -> c -> a"),
    ],
)
def test_who_follows_nobody_is_refused(mimics, message):
    with pytest.raises(ModelError, match=message):
        gripper(mimics)


def test_a_leader_that_is_fixed_and_a_follower_of_several_motions_are_refused():
    bodies = [Body("one", 1.0), Body("two", 1.0)]
    joints = [Joint("a", "fixed", GROUND, "one"), Joint("b", "revolute", GROUND, "two", mimic=Mimic("a"))]
    with pytest.raises(ModelError, match="joints.b.mimic.joint: 'a' is fixed"):
        Mechanism("m", bodies, joints)
    with pytest.raises(ModelError, match="mimic: has no effect on a ball joint"):
        Joint("b", "ball", GROUND, "two", mimic=Mimic("a"))
    with pytest.raises(ModelError, match="ratio: must not be 0"):
        Mimic("a", 0.0)


@pytest.mark.parametrize("wrong", [{"b.position": 0.5}, {"c.velocity": 1.0}])
def test_a_start_that_contradicts_is_refused(wrong):
    name = next(iter(wrong))
    with pytest.raises(ModelError, match=f"initial.{name}: is .*, but it follows '[ab]' and begins at"):
        gripper(MIMICS, START | wrong)
    gripper(MIMICS, START | {"b.position": -0.5})


FILE = """
duration = 1.0
[bodies]
left = { mass = 1.0, com = [0.1, 0, 0], inertia = [0.01, 0.01, 0.01] }
right = { mass = 1.0, com = [0.1, 0, 0], inertia = [0.01, 0.01, 0.01] }
[joints.finger]
kind = "revolute"
parent = "ground"
child = "left"
axis = [0, 1, 0]
[joints.other]
kind = "revolute"
parent = "ground"
child = "right"
axis = [0, 1, 0]
mimic = { joint = "finger", ratio = 2.0, offset = "OFFSET" }
"""


def read(tmp_path, text):
    (tmp_path / "s.toml").write_text(text)
    return read_scenario(tmp_path / "s.toml")


def test_files_say_it_and_are_read_back_equal(tmp_path):
    made = read(tmp_path, FILE.replace("OFFSET", "10 deg"))
    assert made.machine.mechanism.joints[1].mimic == Mimic("finger", 2.0, np.radians(10))
    assert read(tmp_path, scenario_text(made)) == made
    assert "mimic" in make_schema()["properties"]["joints"]["additionalProperties"]["properties"]
    with pytest.raises(ModelError, match='joints.other.mimic.offset: "10 mm" must be in rad'):
        read(tmp_path, FILE.replace("OFFSET", "10 mm"))
    with pytest.raises(ModelError, match="joints.other.mimic.jint: is unknown"):
        read(tmp_path, FILE.replace("OFFSET", "10 deg").replace("joint =", "jint ="))


def test_templates_rename_the_leader(tmp_path):
    parts = FILE.replace("OFFSET", "10 deg").replace("duration = 1.0", "")
    template = parts.replace("[bodies]", "[templates.hand.bodies]").replace("[joints.", "[templates.hand.joints.")
    made = read(tmp_path, "duration = 1.0\n[use]\nl.template = 'hand'\nr.template = 'hand'\n" + template)
    leaders = {joint.name: joint.mimic.joint for joint in made.machine.mechanism.joints if joint.mimic}
    assert leaders == {"l.other": "l.finger", "r.other": "r.finger"}


def test_a_follower_whose_leader_cannot_bring_it_within_its_limits_is_refused():
    bodies = [Body(name, 1.0, inertia=(0.1, 0.1, 0.1)) for name in ("first", "second")]
    limits = {"lower_limit": -1.0, "upper_limit": 1.0}

    def joints(lower):
        mimic = Mimic("a", -0.5, 1.0)
        yield Joint("a", "revolute", GROUND, "first", **limits)
        yield Joint("b", "revolute", "first", "second", lower_limit=lower, upper_limit=3.0, mimic=mimic)

    Mechanism("m", bodies, list(joints(1.5)))
    with pytest.raises(
        ModelError, match="joints.b.mimic: 'a' brings the joint to 0.5 to 1.5, its own limits are 1.6 to 3"
    ):
        Mechanism("m", bodies, list(joints(1.6)))
