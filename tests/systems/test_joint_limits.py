"""Are limits of joints compared with references, starts and motions, and is every one that is passed reported?"""

import dataclasses
import json
import tomllib

import numpy as np
import pytest
from typer.testing import CliRunner

import robodyn as rd
from robodyn.base.errors import ModelError
from robodyn.base.plain import to_plain
from robodyn.cli import app
from robodyn.computation.simulation.references import find_reference_warnings
from robodyn.description.files.writing import scenario_text

FILE = """
name = "limited"
duration = 2.0
gravity = [0.0, 0.0, 0.0]

[bodies.arm]
mass = 1.0
com = [0.2, 0.0, 0.0]
inertia = [0.01, 0.05, 0.05]

[joints.elbow]
kind = "revolute"
parent = "ground"
child = "arm"
lower_limit = "-90 deg"
upper_limit = "60 deg"
speed_limit = "90 deg/s"
effort_limit = "1 N m"
damping = "0.1 N m s/rad"
friction = "0.05 N m"

[blocks.plan]
law = "trapezoid_reference"
parameters = { target = "80 deg", speed = "120 deg/s", top_acceleration = 20.0 }

[blocks.control]
law = "pd_control"
on = "elbow"
unit = "N m"
inputs = { target = "plan.position" }
parameters = { proportional = 60.0, derivative = 6.0 }

[blocks.motor]
law = "torque_source"
on = "elbow"
inputs = { command = "control.command" }
"""


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "limited.toml"
    file.write_text(FILE)
    return file


def command(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def swinging(recording=None, **limits):
    """A pendulum from the horizontal: q = pi on the other side, speed sqrt(2 g h m c / J) at the bottom."""
    body = rd.Body("arm", 1.0, (0.5, 0, 0), (0.01, 0.1, 0.1))
    joint = rd.Joint("hinge", "revolute", rd.GROUND, "arm", axis=(0, 1, 0), **limits)
    machine = rd.Machine("m", rd.Mechanism("m", (body,), (joint,)))
    return rd.simulate(rd.Scenario("s", machine, 2.0, solver=rd.Solver("dopri5", rtol=1e-9)), recording=recording)


RECORDINGS = {
    "every step": rd.Recording(),
    "few rows": rd.Recording(rate=1.0),
    "no such signal": rd.Recording(signals=("energy.*",)),
}


@pytest.mark.parametrize("name", RECORDINGS)
def test_passed_limits_are_seen_whatever_is_recorded(name):
    run = swinging(RECORDINGS[name], upper_limit=1.0, speed_limit=3.0, lower_limit=-0.1)
    upper, speed = run.passed_limits
    free = swinging()
    crossing = np.interp(1.0, free["hinge.position"].values[:200], free.time[:200])
    # Between two looks within a step, the first time is that of the later one.
    assert upper.first == pytest.approx(crossing, abs=1e-3 if name == "every step" else 0.02)
    assert upper.worst == pytest.approx(np.pi, abs=1e-3)
    assert speed.worst == pytest.approx(np.sqrt(2 * 9.81 * 0.5 / (0.1 + 0.25)), rel=1e-3)
    assert run.outcome.ok


def test_limits_do_not_change_the_motion():
    free, limited = swinging(), swinging(upper_limit=1.0, speed_limit=3.0, acceleration_limit=1.0)
    assert np.array_equal(free["hinge.position"].values, limited["hinge.position"].values)


def test_a_limit_that_is_reached_is_not_passed():
    assert swinging(upper_limit=np.pi * (1 + 1e-9), lower_limit=0.0).passed_limits == ()


def test_effort_is_that_of_drives_through_coordinates_too():
    """A motor behind a gear of 50 pushes against a spring and friction, which do not count."""
    body = rd.Body("arm", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    joint = rd.Joint("hinge", "revolute", rd.GROUND, "arm", damping=1.0, friction=0.3, effort_limit=9.9)
    blocks = (
        rd.Block("spring", "spring", on="hinge", parameters={"stiffness": 200.0}),
        rd.Block("push", "constant_force", on="rotor", parameters={"value": 0.2}),
    )
    rotor = rd.LinearCombination("rotor", {"hinge": 50.0}, 1e-5)
    machine = rd.Machine("m", rd.Mechanism("m", (body,), (joint,)), blocks, (rotor,))
    run = rd.simulate(rd.Scenario("s", machine, 1.0))
    assert np.allclose(run["hinge.effort"].values, 10.0)
    (passed,) = run.passed_limits
    assert (passed.limit, passed.first, passed.worst) == ("effort_limit", 0.0, pytest.approx(10.0))


def test_references_that_leave_limits_are_told_before_the_run(path):
    result = command("check", path, "--json")
    upper, speed = json.loads(result.stdout)["warnings"]
    assert "'plan.position' of joint 'elbow' passes its upper limit of 1.0472 rad at 0.553 s: position 1.39626" in upper
    assert "speed limit of 1.5708 rad/s at 0.079 s: velocity 2.0944" in speed
    wider = rd.read_scenario(path).with_numbers({"elbow.upper_limit": 1.5, "elbow.speed_limit": 2.2})
    assert find_reference_warnings(rd.assemble(wider)) == []


def test_a_reference_is_found_through_sensors_samples_and_formulas(path):
    scenario = rd.read_scenario(path)
    blocks = {block.name: block for block in scenario.machine.blocks}
    changed = [
        dataclasses.replace(blocks["plan"], period=1e-3),
        rd.Block("set_point", "sample_and_hold", inputs={"value": "plan.position"}, period=2e-3),
        rd.Block("encoder", "sample_and_hold", inputs={"value": "elbow.position"}, period=1e-3),
        dataclasses.replace(
            blocks["control"],
            on=None,
            inputs={"target": "set_point.output", "position": "encoder.output", "velocity": "elbow.velocity"},
        ),
        blocks["motor"],
    ]
    machine = dataclasses.replace(scenario.machine, blocks=tuple(changed))
    found = find_reference_warnings(rd.assemble(dataclasses.replace(scenario, machine=machine)))
    assert len(found) == 2
    assert all("'plan.position' of joint 'elbow'" in sentence for sentence in found)


def test_prescribed_motions_are_compared_with_limits():
    body, joint = rd.Body("arm", 1.0, (0, 0, 0), (1, 1, 1)), rd.Joint("hinge", "revolute", rd.GROUND, "arm")
    limited = dataclasses.replace(joint, upper_limit=0.5, acceleration_limit=3.0)
    wave = rd.Block("wave", "sine_reference", parameters={"amplitude": 1.0, "frequency": 0.5})
    motion = rd.PrescribedMotion("move", "hinge", "wave.value", "wave.rate", 0.0)
    machine = rd.Machine("m", rd.Mechanism("m", (body,), (limited,)), (wave,), constraints=(motion,))
    upper, acceleration = find_reference_warnings(rd.assemble(rd.Scenario("s", machine, 2.0)))
    assert "passes its upper limit of 0.5 rad at 0.167 s: position 1 rad at 0.5 s" in upper
    assert f"acceleration {-(np.pi**2):.6g} rad/s^2" in acceleration


def test_run_show_and_json_tell_passed_limits(path, tmp_path):
    told = command("run", path, "--out", tmp_path, "--json")
    assert "passes its speed limit" in told.stderr
    passed = {one["limit"]: one for one in json.loads(told.stdout)["passed_limits"]}
    assert passed.keys() == {"upper_limit", "speed_limit", "effort_limit"}
    kept = rd.load(tmp_path / "limited.run")
    assert to_plain(kept.passed_limits) == list(passed.values())
    assert "limit: joint 'elbow' passes its effort limit of 1 N m" in command("show", tmp_path / "limited.run").stdout


@pytest.mark.parametrize(
    ("changes", "flaw", "what"),
    [
        ({"lower_limit": 1.0, "upper_limit": 0.5}, "upper_limit", "must be above lower_limit"),
        ({"speed_limit": -1.0}, "speed_limit", "must be positive"),
        ({"stop_stiffness": 1.0}, "stop_stiffness", "has no effect without a limit"),
        ({"upper_limit": 1.0, "stop_damping": 1.0}, "stop_damping", "give stop_stiffness"),
        ({"kind": "fixed", "upper_limit": 1.0}, "upper_limit", "no effect on a fixed joint"),
        ({"kind": "ball", "damping": 1.0}, "damping", "no effect on a ball joint"),
        ({"damping": -1.0}, "damping", "must not be negative"),
    ],
)
def test_wrong_limits_are_told(changes, flaw, what):
    with pytest.raises(ModelError) as error:
        rd.Joint(**({"name": "j", "kind": "revolute", "parent": "ground", "child": "b"} | changes))
    assert [found.path for found in error.value.flaws] == [flaw]
    assert what in str(error.value)


def test_a_start_beyond_a_limit_is_an_error_but_going_on_from_there_is_none(path):
    scenario = rd.read_scenario(path)
    with pytest.raises(ModelError, match=r"initial.elbow.position: the start at 1.2 is beyond the joint's upper_limit"):
        rd.simulate(scenario.with_numbers({"initial.elbow.position": 1.2}))
    end = rd.simulate(scenario)
    assert end["elbow.position"].final > np.radians(60)
    again = rd.simulate(scenario, start=end)
    assert again.passed_limits[0].first == end.outcome.time


def test_phases_tell_each_limit_once(path):
    scenario = rd.read_scenario(path)
    phases = (scenario, dataclasses.replace(scenario, name="more"))
    chain = rd.simulate(rd.ScenarioSequence("two", phases))
    assert [one.limit for one in chain.passed_limits] == ["upper_limit", "speed_limit", "effort_limit"]


def test_joints_keep_their_properties_through_files_and_combination(path):
    scenario = rd.read_scenario(path)
    again = path.with_name("again.toml")
    again.write_text(scenario_text(scenario))
    assert rd.read_scenario(again) == scenario
    assert tomllib.loads(again.read_text())["joints"]["elbow"]["effort_limit"] == 1.0
    cell = rd.combine("cell", dict.fromkeys(("left", "right"), scenario.machine))
    run = rd.simulate(rd.Scenario("cell", cell, 2.0))
    assert "left.elbow.friction.torque" in run
    assert {one.joint for one in run.passed_limits} == {"left.elbow", "right.elbow"}


def test_a_screw_has_limits_of_its_angle_and_a_free_body_beside_it_none():
    bodies = tuple(rd.Body(name, 1.0, (0, 0, 0), (0.1, 0.1, 0.1)) for name in ("nut", "free"))
    screw = {"pitch": 0.01, "damping": 0.2, "upper_limit": 0.5, "effort_limit": 0.9}
    joints = (rd.Joint("float", "free", "ground", "free"), rd.Joint("screw", "screw", "ground", "nut", **screw))
    push = rd.Block("push", "constant_force", on="screw", parameters={"value": 1.0})
    machine = rd.Machine("m", rd.Mechanism("m", bodies, joints, gravity=(0, 0, 0)), (push,))
    run = rd.simulate(rd.Scenario("s", machine, 20.0))
    # J w' = 1 - d w: the speed settles at 1 / d.
    assert run["screw.velocity"].final == pytest.approx(5.0, rel=1e-6)
    assert np.allclose(run["screw.effort"].values, 1.0)
    assert [(one.joint, one.limit, one.unit) for one in run.passed_limits] == [
        ("screw", "upper_limit", "rad"),
        ("screw", "effort_limit", "N m"),
    ]


def test_elastic_gears_take_losses_and_effort_to_the_drive(path):
    machine = rd.read_scenario(path).machine
    elastic = rd.with_elastic_joints(machine, {"elbow": rd.ElasticGear("drive", 1e4)})
    arm, drive = elastic.mechanism.joint("elbow"), elastic.mechanism.joint("drive")
    assert (arm.damping, arm.friction, arm.effort_limit, arm.upper_limit) == (None, None, None, np.radians(60))
    assert (drive.damping, drive.friction, drive.effort_limit, drive.upper_limit) == (0.1, 0.05, 1.0, None)


def test_a_block_cannot_take_the_name_of_a_joints_friction():
    body = rd.Body("arm", 1.0, (0, 0, 0), (1, 1, 1))
    joint = rd.Joint("hinge", "revolute", rd.GROUND, "arm", friction=1.0)
    own = rd.Block("hinge.friction", "viscous_friction", on="hinge", parameters={"viscous": 1.0})
    with pytest.raises(ModelError, match=r"hinge.friction: 2 parts have this name"):
        rd.Machine("m", rd.Mechanism("m", (body,), (joint,)), (own,))
