"""Controllers' models: numbers of their own, friction, measured positions, samples, and what cannot be."""

import math
from dataclasses import replace

import numpy as np
import pytest
from support.controlled import evaluate_signals
from support.linkages import crank_rocker

from robodyn import ModelError, Solver, read_scenario, simulate, write_scenario
from robodyn.analysis import find_gains, linearise_sampled
from robodyn.analysis.jumps import find_block_jumps
from robodyn.base.symbolic import table
from robodyn.computation.assembly import assemble
from robodyn.description.catalog.two_link import two_link_mechanism
from robodyn.description.laws import law
from robodyn.description.model import (
    GROUND,
    Block,
    Body,
    ControlModel,
    ElasticGear,
    Joint,
    Machine,
    Mechanism,
    Point,
    Scenario,
    combine,
    with_elastic_joints,
)

AXES = ("shoulder", "elbow")
GAINS = {"stiffness": 100.0, "damping": 14.0}
PRECISE = Solver("dopri5", rtol=1e-9, atol=1e-11)


def arm(*blocks, law="computed_torque", parameters=GAINS, target=(0.5, -0.4), by="target", **fields):
    control = Block("control", law, None, {by: target}, parameters, acts={"torque": AXES}, **fields)
    machine = Machine("arm", two_link_mechanism(), (control, *blocks), tunable=("forearm.mass",))
    return Scenario("arm", machine, 0.5, {"elbow.position": 0.3}, solver=PRECISE)


def rod(model=None, **fields):
    """A rod of 2 kg, 0.6 m from its joint, held at an angle from the horizontal."""
    body = Body("rod", 2.0, (0.6, 0.0, 0.0), (0.0, 0.1, 0.1))
    joint = Joint("hinge", "revolute", GROUND, "rod", axis=(0, -1, 0))
    control = Block("control", "computed_torque", inputs={"target": (0.3,)}, parameters=GAINS, model=model)
    control = replace(control, acts={"torque": ("hinge",)})
    return Scenario("rod", Machine("rod", Mechanism("rod", (body,), (joint,)), (control,), **fields), 1.0)


def test_a_wrong_mass_leaves_the_error_that_one_computes_by_hand():
    """kp L_model e = (m - m_model) g l cos q where all is at rest, with L_model = 0.1 + m_model l^2."""
    scenario = rod(ControlModel(changes={"rod.mass": 1.5}))
    e = 0.0
    for _ in range(100):
        e = 0.5 * 9.81 * 0.6 * math.cos(0.3 - e) / (100.0 * (0.1 + 1.5 * 0.36))
    rest = {"hinge.position": 0.3 - e, "hinge.velocity": 0.0}
    assert e > 0.03
    assert evaluate_signals(scenario, ("hinge.acceleration",), rest) == pytest.approx([0.0], abs=1e-12)


def test_positions_that_are_numbers_are_looked_up_and_told_apart():
    """Gravity against a spring of a table, where -1 and -2 have the same hash; at rest, its damper does nothing."""

    @law(position="rad", velocity="rad/s", torque="N m", passive=True)
    def stiffening(position, velocity):
        """A spring and damper by tables."""
        rising = (-2.0, -1.0, 0.0, 1.0, 2.0), (-5.0, -2.0, 0.0, 2.0, 5.0)
        return {"torque": -table(position, *rising) - table(velocity, *rising)}

    def look(model):
        return {"held": model.gravity((-1.0,)) + model.gravity((-2.0,))}

    machine = rod().machine
    blocks = (Block("spring", stiffening, "hinge"), Block("look", look, model=ControlModel(axes=("hinge",))))
    scenario = Scenario("rod", machine.replaced(blocks=blocks), 1.0)
    found = evaluate_signals(scenario, ("look.held.0", "look.held.1"), {"hinge.position": 0.3, "hinge.velocity": 0.5})
    weight = 2.0 * 9.81 * 0.6
    assert found == pytest.approx([weight * math.cos(1.0) - 2.0, weight * math.cos(2.0) - 5.0], rel=1e-12)


def test_numbers_that_are_tunable_in_the_machine_are_so_in_the_model():
    """Without compiling again: a heavier forearm is known, by its factor, to a model that scales it."""
    names = ("control.torque.0", "control.torque.1")
    at = {"shoulder.position": 0.2, "elbow.position": -0.7}
    for scale, known in ((1.0, 9.0), (0.5, 4.5)):
        model = ControlModel(scale={"forearm.mass": scale})
        heavier = arm(model=model).with_numbers({"forearm.mass": 9.0})
        alike = arm(model=ControlModel(changes={"forearm.mass": known}))
        tuned = assemble(arm(model=model))
        numbers = [9.0 if number.name == "forearm.mass" else number.value for number in tuned.parameters]
        tuned = replace(tuned, parameters=tuple(
            replace(number, value=value) for number, value in zip(tuned.parameters, numbers, strict=True)
        ))  # fmt: skip
        expected = evaluate_signals(alike, names, at)
        assert evaluate_signals(heavier, names, at) == pytest.approx(expected, rel=1e-12)
        assert evaluate_signals(tuned, names, at) == pytest.approx(expected, rel=1e-12)


def test_a_sampled_law_comes_to_the_continuous_one_in_proportion_to_its_period():
    """And that one to the closed form of e'' + 14 e' + 100 e = 0."""
    w, t = math.sqrt(100 - 49), 0.3
    left = math.exp(-7 * t) * (math.cos(w * t) + 7 / w * math.sin(w * t))
    found = [simulate(arm(period=period))["shoulder.position"](t) for period in (None, 2e-3, 1e-3)]
    errors = np.array(found) - 0.5 * (1 - left)
    assert abs(errors[0]) < 1e-8
    assert errors[1] / errors[2] == pytest.approx(2.0, rel=0.02)
    assert abs(errors[2]) > 1e-4


def test_friction_is_compensated_by_its_law_with_numbers_of_the_model():
    """Dry friction by the sign of the wanted velocity, bristles as in steady sliding."""
    bristles = {
        "stiffness": 1e5,
        "damping": 30.0,
        "viscous": 2.0,
        "coulomb": 8.0,
        "static": 9.5,
        "stribeck_velocity": 0.05,
    }
    blocks = (
        Block("dry", "stick_friction", "shoulder", parameters={"coulomb": 5.0, "static": 6.0, "viscous": 1.0}),
        Block("bent", "lugre_friction", "elbow", parameters=bristles),
    )
    model = ControlModel(changes={"dry.coulomb": 4.0})
    given = {"law": "friction_compensation", "parameters": {}, "by": "target_velocity", "model": model}
    level = 8.0 + 1.5 * math.exp(-((0.1 / 0.05) ** 2))
    cases = {(0.5, -0.1): (4.5, -level - 0.2), (0.0, 0.0): (0.0, 0.0), (-2.0, 0.1): (-6.0, level + 0.2)}
    for speeds, expected in cases.items():
        found = evaluate_signals(arm(*blocks, target=speeds, **given), ("control.torque.0", "control.torque.1"), {})
        assert found == pytest.approx(expected, rel=1e-9)


def test_a_crank_feels_the_mass_of_its_linkage():
    """E = m s'^2 / 2, of a schedule with exponent 1."""
    block = Block("schedule", "mass_schedule", parameters={"nominal_mass": 2.0, "exponent": 1.0})
    block = replace(block, model=ControlModel(axes=("crank_joint",)))
    scenario = crank_rocker(blocks=(block,))
    run = simulate(replace(scenario, duration=0.2))
    mass = 2 * run["energy.kinetic"](0.2) / run["crank_joint.velocity"](0.2) ** 2
    assert run["schedule.mass.0"](0.2) == pytest.approx(mass, rel=1e-6)
    assert run["schedule.gain.0"](0.2) == pytest.approx(2.0 / mass, rel=1e-6)


def test_an_encoder_determines_the_joints_that_have_none():
    """Torques from measured positions of the crank alone are those of the machine in that position."""
    hold = {"law": "gravity_compensation", "model": ControlModel(axes=("crank_joint",))}
    seen = Block("seen", "sample_and_hold", inputs={"value": "crank_joint.position"})
    own, blind = Block("own", **hold), Block("blind", inputs={"position": ("seen.output",)}, **hold)
    run = simulate(crank_rocker(blocks=(own, blind, seen), duration=0.3))
    assert abs(run["own.torque.0"](0.3)) > 1.0
    assert run["blind.torque.0"](0.3) == pytest.approx(run["own.torque.0"](0.3), rel=1e-6)


@pytest.mark.parametrize("period", [None, 1e-3])
def test_a_run_ends_where_its_task_becomes_singular(period):
    """Stretched, a two-link arm cannot accelerate its tool outwards."""
    model = ControlModel(task=("tool.position.x", "tool.position.z"))
    scenario = arm(law="operational_space_control", model=model, target=(1.2, 0.0), period=period)
    run = simulate(replace(scenario, initial={"shoulder.position": -0.6, "elbow.position": 1.2}, duration=5.0))
    assert "control.margin" in run.outcome.sentence
    assert run["elbow.position"].final == pytest.approx(0.0, abs=0.2)


def flawed(scenario):
    with pytest.raises(ModelError) as caught:
        assemble(scenario)
    return str(caught.value)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"changes": {"forearm.mas": 1.0}}, "model.changes.forearm.mas: is not a number of the machine (did you mean"),
        ({"changes": {"control.damping": 1.0}}, "has no effect: the model has no such number"),
        ({"changes": {"forearm.mass": -1.0}}, "model.changes"),
        ({"scale": {"*.weight": 2.0}}, "model.scale.*.weight: is not a number of the machine"),
        ({"task": ("tool.position.y",)}, "'tool.position.y' is not a position that moves"),
        ({"task": ("tol.position.x",)}, "there is no position 'tol.position.x' (did you mean 'tool.position.x'?)"),
        ({"task": ("tool.position.x", "tool.position.z", "elbow.position")}, "has 3 positions, which 2 axes cannot"),
        ({"task": ("tool.rotation.x",)}, "'tool.rotation.x' cannot be controlled: no joint moves it"),
        ({"task": ("tool.rotation.z", "tol.rotation.y")}, "there is no point 'tol' (did you mean 'tool'?)"),
        ({"task": ("shoulder.position", "tool.position.x")}, "the start is singular: no force accelerates"),
    ],
)
def test_what_a_model_cannot_be_is_told(model, message):
    scenario = arm(model=ControlModel(**model))
    if "shoulder.position" in model.get("task", ()):
        scenario = replace(scenario, initial={})
    assert message in flawed(scenario)


def test_a_start_that_is_still_to_be_found_may_be_singular():
    """A guess at which the arm is stretched; what is found need not be."""
    model = ControlModel(task=("tool.position.x", "tool.position.z"))
    stretched = replace(arm(law="operational_space_control", model=model, target=(0.6, 0.2)), initial={})
    assert "no force accelerates +1 tool.position.x" in flawed(stretched)
    assemble(replace(stretched, initialisation="at_rest"))
    across = ControlModel(task=("shoulder.position", "elbow.position"), axes=("shoulder",))
    only = replace(stretched.machine.blocks[0], model=across, acts={"torque": ("shoulder",)})
    hidden = replace(stretched, initialisation="at_rest", machine=replace(stretched.machine, blocks=(only,)))
    assert "which 1 axes cannot control one by one" in flawed(hidden)


def test_friction_of_joints_has_the_joints_numbers():
    mechanism = two_link_mechanism()
    joints = tuple(replace(joint, friction=3.0, damping=0.5) for joint in mechanism.joints)
    given = {"law": "friction_compensation", "parameters": {}, "by": "target_velocity"}
    scenario = arm(target=(0.4, -0.2), model=ControlModel(scale={"elbow.friction": 0.5}), **given)
    machine = replace(scenario.machine, mechanism=replace(mechanism, joints=joints))
    found = evaluate_signals(replace(scenario, machine=machine), ("control.torque.0", "control.torque.1"), {})
    assert found == pytest.approx([3.2, -1.6])


def test_unknown_axes_and_keys_are_told():
    with pytest.raises(ModelError, match=r"model.axes: there is no joint or coordinate 'elbw' \(did you mean 'elbow'"):
        arm(model=ControlModel(axes=("elbw",)))
    with pytest.raises(ModelError, match="model: has no effect: 'spring' takes no argument 'model'"):
        Block("b", "spring", "x", parameters={"stiffness": 1.0}, model=ControlModel())
    with pytest.raises(ModelError, match="names 'x' twice"):
        ControlModel(axes=("x", "x"))


def test_more_axes_than_motions_and_motions_without_axes_are_told():
    both = Block("control", "gravity_compensation", model=ControlModel(axes=("crank_joint", "rocker_joint")))
    assert "names 2 axes, but 1 motions are free" in flawed(crank_rocker(blocks=(both,)))
    alone = Block("control", "gravity_compensation")
    assert "is missing: constraints leave fewer motions" in flawed(crank_rocker(blocks=(alone,)))
    free = Mechanism("box", (Body("box", 1.0),), (Joint("base", "free", GROUND, "box"),), (Point("tip", "box"),))
    box = Scenario("box", Machine("box", free, (alone,)), 1.0)
    assert "is missing: 'base' moves freely and has no motors" in flawed(box)
    one = arm()
    one = replace(one.machine.blocks[0], acts={"torque": ("shoulder",)}, inputs={"target": (0.5,)})
    system = assemble(Scenario("arm", Machine("arm", two_link_mechanism(), (one,)), 1.0))
    assert [warning for warning in system.warnings if "1 of 2 motions have no axis" in warning]


def test_targets_of_another_length_are_told():
    assert "a target has 3 values, needs 2: shoulder, elbow" in flawed(arm(target=(0.1, 0.2, 0.3)))


def test_a_rigid_model_of_an_elastic_arm_gives_the_torques_of_the_rigid_arm():
    """Gears without twist, and what stands behind them, belong to the axes of the drives."""
    rigid = arm()
    gears = {joint: ElasticGear(f"{joint}_drive", 1e4) for joint in AXES}
    soft = with_elastic_joints(rigid.machine, gears)
    assert soft.blocks[0].axes == ("shoulder_drive", "elbow_drive")
    model = ControlModel(rigid=("shoulder_drive_twist", "elbow_drive_twist"))
    control = replace(soft.blocks[0], model=model)
    elastic = Scenario("soft", replace(soft, blocks=(control, *soft.blocks[1:])), 1.0)
    names = ("control.torque.0", "control.torque.1")
    turned = {"shoulder": 0.2, "elbow": -0.7}
    at = {f"{joint}{side}.position": angle for joint, angle in turned.items() for side in ("", "_drive")}
    expected = evaluate_signals(rigid, names, at)
    assert evaluate_signals(elastic, names, at) == pytest.approx(expected, rel=1e-7)
    # The arm hangs through: its own joints lag behind the drives, the model knows the drives alone.
    sagged = at | {"shoulder.position": 0.19, "elbow.position": -0.71}
    assert evaluate_signals(elastic, names, sagged) == pytest.approx(expected, rel=1e-7)


def test_friction_by_signals_is_refused_only_where_it_is_asked_for():
    """Losses of a gear read its load."""
    load = Block("load", "constant_reference", parameters={"constant": 3.0})
    loss = Block("loss", "gear_loss", "elbow", {"load": "load.value"}, {"load_loss": 0.1, "smoothing_velocity": 0.1})
    assemble(arm(load, loss))
    given = {"law": "friction_compensation", "parameters": {}, "by": "target_velocity"}
    assert "friction 'loss' depends on the signal 'load.value'" in flawed(arm(load, loss, **given))


def test_models_are_read_written_and_renamed(tmp_path):
    text = """
        duration = 1
        [bodies.rod]
        mass = 2
        com = [0.6, 0, 0]
        inertia = [0, 0.1, 0.1]
        [joints.hinge]
        kind = "revolute"
        parent = "ground"
        child = "rod"
        axis = [0, -1, 0]
        [blocks.control]
        law = "computed_torque"
        acts.torque = ["hinge"]
        inputs.target = [0.3]
        parameters = { stiffness = 100, damping = 14 }
        model.changes = { "rod.mass" = 1.5 }
    """
    (tmp_path / "rod.toml").write_text(text)
    scenario = read_scenario(tmp_path / "rod.toml")
    assert scenario.machine.blocks[0].model == ControlModel(changes={"rod.mass": 1.5})
    write_scenario(scenario, tmp_path / "again.toml")
    assert read_scenario(tmp_path / "again.toml").machine.blocks == scenario.machine.blocks
    both = combine("pair", {"left": scenario.machine, "right": scenario.machine})
    assert both.blocks[1].model.changes == {"right.rod.mass": 1.5}
    assert both.blocks[1].axes == ("right.hinge",)
    (tmp_path / "bad.toml").write_text(text.replace("model.changes", "model.change"))
    with pytest.raises(ModelError, match=r"blocks.control.model.change: is unknown \(did you mean 'changes'"):
        read_scenario(tmp_path / "bad.toml")


def test_analyses_look_at_laws_with_models():
    """Gains are found by trying, jumps and poles from the law: `e'' + 14 e' + 100 e = 0`, sampled fast."""
    scenario = arm(period=1e-4)
    assert find_gains(scenario.machine.blocks[0]) == ("stiffness", "damping")
    assert find_block_jumps(scenario) == ()
    at_target = {"shoulder.position": 0.5, "elbow.position": -0.4}
    names = ("control.torque.0", "control.torque.1")
    at_target |= dict(zip(names, evaluate_signals(arm(), names, at_target), strict=True))
    poles = linearise_sampled(scenario, at_target).poles()
    wanted = np.roots([1, 14, 100])
    for pole in wanted:
        # A hold of T is late by T / 2.
        assert np.sort(np.abs(poles - pole))[:2] == pytest.approx([0.0, 0.0], abs=0.02)
