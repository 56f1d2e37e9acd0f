"""Does a dressed arm hold its margins, stand where its model says, and say what was assumed?"""

import math
from functools import cache

import numpy as np
import pytest

import robodyn as rd
from robodyn.analysis.commissioning import Control, Drive, dress
from robodyn.analysis.commissioning.library import read_library, sizes_of
from robodyn.analysis.linear.loop_table import loop_table
from robodyn.description.catalog.two_link import two_link_mechanism
from robodyn.presentation.reporting import describe

EFFORTS = {"shoulder": 150.0, "elbow": 50.0}
START = {"shoulder": 0.3, "elbow": 0.5}


def arm(**changes):
    """The two-link arm without its own rotors, with limits."""
    mechanism = two_link_mechanism()
    limits = {"lower_limit": -2.5, "upper_limit": 2.5, "speed_limit": 3.0, "armature": 0.0} | changes
    joints = [joint.replaced(effort_limit=EFFORTS[joint.name]).replaced(**limits) for joint in mechanism.joints]
    return rd.Machine("arm", mechanism.replaced(joints=tuple(joints)))


@cache
def dressed(friction="none"):
    return dress(arm(), {"all": {"friction": friction}}, start=START)


def test_a_dressed_arm_keeps_the_margins_it_states():
    found = dressed()
    at = {f"{name}{side}.position": q for name, q in START.items() for side in ("", "_drive")}
    table = loop_table(found.scenario, at=at)
    assert len(table.rows) == 4
    stated = {part.axis.name: part.margins for part in found.axes}
    for row in table.rows:
        joint = row.name.split(".")[0]
        assert row.margins.stable
        # The stated ones are the least over several poses, this one among them.
        assert math.radians(row.margins.phase) > stated[joint].phase - 1e-6
        assert row.margins.phase > 45.0
        assert row.margins.gain_to > 2.0


def test_a_weak_drive_does_not_slow_down_the_others():
    """A rotor that is light beside its link makes the whole machine unstable at gains that the shoulder can have."""
    weak = dress(arm(), {"all": {"friction": "none"}, "elbow": {"rotor_inertia": 1e-6}}, start=START)
    slow, alone = (found.axes[0].gains.proportional for found in (weak, dressed()))
    assert weak.axes[1].gains.proportional < 0.15 * dressed().axes[1].gains.proportional
    assert slow > 0.75 * alone
    assert all(part.margins.phase > math.radians(45.0) and part.margins.gain > 2.0 for part in weak.axes)


def test_computed_torque_that_cannot_keep_its_margins_names_joint_margin_gain_and_remedy():
    drives = {"all": {"friction": "none"}, "elbow": {"rotor_inertia": 3e-7}}
    with pytest.raises(rd.ModelError, match="cannot keep its margins") as error:
        dress(arm(), drives, "computed-torque", start=START)
    (flaw,) = [flaw for flaw in error.value.flaws if flaw.path == "joints.elbow"]
    assert "phase margin of" in flaw.what
    assert "kd = " in flaw.what
    assert "rotor_inertia above 3e-07 kg m^2" in flaw.remedy
    assert "a cascade" in flaw.remedy


@pytest.mark.parametrize("scheme", ["cascade", "computed-torque"])
def test_a_delay_of_the_control_is_part_of_its_design(scheme):
    prompt, late = (
        dress(arm(), {"all": {"friction": "none", "elastic": False}}, {"scheme": scheme, "delay": delay}, start=START)
        for delay in (0.0, 1e-3)
    )
    name = "elbow.velocity_loop" if scheme == "cascade" else "computed_torque"
    (block,) = [block for block in late.machine.blocks if block.name == name]
    assert block.delay == 1e-3
    first, second = (
        found.axes[1].gains.proportional if scheme == "cascade" else found.axes[1].gains.damping
        for found in (prompt, late)
    )
    assert second < 0.6 * first
    assert all(part.margins.phase > math.radians(45.0) for part in late.axes)


def test_joints_are_dressed_by_patterns():
    found = dress(arm(), {"all": {"friction": "none"}}, joints=["elb*", "*"], start=START)
    assert [part.axis.name for part in found.axes] == ["elbow", "shoulder"]
    with pytest.raises(rd.ModelError, match=r"joints\.knee\*"):
        dress(arm(), joints=["knee*"], start=START)


@pytest.mark.parametrize("elastic", [False, True])
def test_computed_torque_keeps_the_margins_it_states_for_all_axes_alike(elastic):
    found = dress(arm(), {"all": {"friction": "none", "elastic": elastic}}, "computed-torque", start=START)
    sides = ("", "_drive") if elastic else ("",)
    table = loop_table(found.scenario, at={f"{name}{side}.position": q for name, q in START.items() for side in sides})
    assert [row.name for row in table.rows] == ["computed_torque.torque.0", "computed_torque.torque.1"]
    for row, part in zip(table.rows, found.axes, strict=True):
        assert math.radians(row.margins.phase) > part.margins.phase - 1e-6
        assert row.margins.phase > 45.0
        assert row.margins.gain_to > 2.0
    assert found.axes[0].gains == found.axes[1].gains


def test_computed_torque_carries_the_arm_and_what_its_drives_do_not_know_of_is_left_as_statics_say():
    found = dress(arm(), {"all": {"friction": "none", "elastic": False}}, "computed-torque", start=START)
    run = rd.simulate(found.scenario)
    # Without an integral, only a model holds it where it is: steps of the encoders are 3e-7 rad.
    assert max(abs(run.final[f"{name}.position"] - q) for name, q in START.items()) < 3e-7
    push = rd.Block("push", "torque_source", on="elbow", inputs={"command": -3.0})
    machine = found.machine.replaced(blocks=(*found.machine.blocks, push))
    run = rd.simulate(found.scenario.replaced(machine=machine))
    final = np.array([run.final[f"{name}.position"] for name in START])
    rotors = {part.axis.name: part.axis.sized.armature for part in found.axes}
    joints = [joint.replaced(armature=rotors[joint.name]) for joint in arm().mechanism.joints]
    dynamics = rd.MachineDynamics(rd.Machine("arm", arm().mechanism.replaced(joints=tuple(joints))))
    error = np.linalg.solve(dynamics.mass_matrix(final), [0.0, -3.0]) / found.axes[0].gains.stiffness
    np.testing.assert_allclose(final - [*START.values()], error, atol=1e-6)
    assert abs(error[1]) > 1e-4


def test_it_stands_still_where_gears_sag_under_the_load():
    found = dressed()
    run = rd.simulate(found.scenario)
    dynamics = rd.MachineDynamics(arm())
    end = [run.final[f"{name}.position"] for name in START]
    torques = dynamics.holding_forces(np.array(end))
    for part, q, torque in zip(found.axes, end, torques, strict=True):
        sag = -torque / part.axis.sized["stiffness"]
        # The encoder's step over the gear is 1.2e-7 rad.
        assert q - START[part.axis.name] == pytest.approx(sag, abs=3e-7)
        assert abs(sag) > 1e-3
    assert max(abs(run.final[f"{name}.velocity"]) for name in START) < 1e-5


def test_friction_leaves_it_standing():
    run = rd.simulate(dressed("lugre").scenario)
    assert run.outcome.kind.name == "FINISHED"
    assert run.final["shoulder_drive.position"] == pytest.approx(START["shoulder"], abs=1e-6)


def test_the_file_written_is_read_back_equal(tmp_path):
    found = dressed("lugre")
    rd.write_scenario(found.scenario, tmp_path / "arm.toml")
    assert rd.read_scenario(tmp_path / "arm.toml") == found.scenario


@pytest.mark.parametrize("friction", ["stribeck", "stick"])
def test_every_friction_law_runs(friction):
    blocks = {block.name: block for block in dressed(friction).machine.blocks}
    assert blocks["elbow.friction"].law == f"{friction}_friction"
    run = rd.simulate(dressed(friction).scenario)
    assert run.outcome.kind.name == "FINISHED"


def test_numbers_scale_with_the_effort_limit_and_have_sources():
    found = {part.axis.name: part.axis.sized for part in dressed().axes}
    size = read_library()["Orange"]
    x = 150.0 / size["peak_torque"]
    assert found["shoulder"].scale == pytest.approx(x)
    assert found["shoulder"]["stiffness"] == pytest.approx(size["stiffness"] * x)
    assert found["shoulder"]["rotor_inertia"] == pytest.approx(size["rotor_inertia"] * x ** (5 / 3))
    assert all(source for _, _, _, source in dressed().assumptions())
    text = describe(dressed())
    assert "rule of thumb" in text
    assert "CompliantJointToolbox" in text


def test_every_family_has_sizes_whose_numbers_have_a_source():
    for family in ("strain-wave", "planetary", "ball-screw"):
        for size in sizes_of(family):
            assert {"ratio", "rotor_inertia", "loss", "counts", "static", "damping"} <= set(size.numbers)
            assert all(number.source for number in size.numbers.values())


def test_what_the_robot_says_itself_is_kept():
    machine = arm(armature=0.5, friction=2.0, damping=1.5)
    found = dress(machine, {"all": {"friction": "coulomb", "elastic": False}, "elbow": {"ratio": 50}}, start=START)
    for part in found.axes:
        joint = next(joint for joint in found.machine.mechanism.joints if joint.name == part.axis.name)
        assert joint.armature == pytest.approx(0.5)
        assert joint.friction is None
        assert (part.axis.sized["coulomb"], part.axis.sized["viscous"]) == (2.0, 1.5)
        assert part.axis.sized.numbers["coulomb"].source == "the robot's own"


def test_prismatic_joints_get_screws():
    slide = rd.Joint("x", "prismatic", rd.GROUND, "car", effort_limit=500.0, axis=(1.0, 0.0, 0.0))
    machine = rd.Machine("axis", rd.Mechanism("axis", (rd.Body("car", mass=20.0),), (slide,)))
    found = dress(machine, Drive(friction="none"))
    assert found.axes[0].axis.sized.family == "ball-screw"
    run = rd.simulate(found.scenario)
    assert run["x.encoder.measured"].unit == "m"
    assert run["x.velocity_loop.torque_command"].unit == "N"
    assert run.outcome.kind.name == "FINISHED"


def test_all_that_is_wrong_is_told_at_once():
    with pytest.raises(rd.ModelError) as error:
        dress(arm(effort_limit=None))
    assert len(error.value.flaws) == 2
    assert "effort" in error.value.flaws[0].remedy
    with pytest.raises(rd.ModelError, match="did you mean 'friction'"):
        dress(arm(), {"all": {"frction": "stick"}})
    with pytest.raises(rd.ModelError, match="no such joint"):
        dress(arm(), {"elbo": {"ratio": 50}})
    with pytest.raises(rd.ModelError, match="does not fit a revolute"):
        dress(arm(), "ball-screw")
    with pytest.raises(rd.ModelError, match="position_rate: has no effect on computed torque"):
        Control(scheme="computed-torque", position_rate=500.0)
    with pytest.raises(rd.ModelError, match="whole multiple"):
        Control(velocity_rate=1500.0)
    with pytest.raises(rd.ModelError, match="no effect on a rigid gear"):
        Drive(elastic=False, stiffness=1e4)
    with pytest.raises(rd.ModelError, match="acts on it already"):
        dress(dressed().machine, joints=["elbow_drive"])


def test_joints_held_by_constraints_are_refused_not_mistuned():
    tie = rd.LinearConstraint("tie", {"shoulder": 1.0, "elbow": -1.0})
    with pytest.raises(rd.ModelError) as error:
        dress(arm().replaced(constraints=(tie,)))
    assert [flaw.path for flaw in error.value.flaws] == ["joints.shoulder", "joints.elbow"]


def test_a_joint_without_a_drive_that_falls_is_named_as_the_cause():
    names = ("shoulder", "elbow", "wrist")
    bodies = tuple(rd.Body(name, 1.0, com=(0.1, 0, 0), inertia=(0.01,) * 3) for name in names)
    joints = []
    for parent, name in zip((rd.GROUND, *names), names, strict=False):
        joint = rd.Joint(f"{name}_joint", "revolute", parent, name, (0.2, 0, 0), axis=(0, 1, 0))
        joints.append(joint.replaced(effort_limit=60.0))
    robot = rd.Machine("arm", rd.Mechanism("arm", bodies, tuple(joints), gravity=(0, 0, -9.81)))
    # Within its range the shoulder turns the wrist, which hangs at the start, upside down.
    with pytest.raises(rd.ModelError, match="joints.wrist_joint: has no drive and falls") as error:
        dress(
            robot, "planetary", "computed-torque", ["shoulder_joint", "elbow_joint"], start={"wrist_joint": np.pi / 2}
        )
    assert len(error.value.flaws) == 1
