"""A scenario file may name a robot file, and add to it; an imported robot is a file that gives the same machine."""

import shutil

import pytest
from support.robot_files import OWN

import robodyn as rd
from robodyn.description.files.robot_files import write_robot


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(OWN, tmp_path, dirs_exist_ok=True)
    return tmp_path


def scenario(folder, text):
    path = folder / "scenario.toml"
    path.write_text(text)
    return rd.read_scenario(path)


def flaws(folder, text):
    with pytest.raises(rd.ModelError) as error:
        scenario(folder, text)
    return str(error.value)


CONTROL = """
duration = 0.1
robot = "arm.urdf"

[joints.lift]
damping = 3
[bodies.hand]
mass = "2 kg"
[initial]
lift.position = "30 deg"

[blocks.target]
law = "constant_reference"
parameters = { constant = 0.5 }
[blocks.loop]
law = "pd_control"
inputs = { target = "target.value", position = "turn.position", velocity = "turn.velocity" }
parameters = { proportional = 50, derivative = 5 }
unit = "N m"
[blocks.drive]
law = "torque_source"
on = "turn"
inputs = { command = "loop.command" }
"""


def test_a_file_adds_drives_and_control_to_a_robot_and_changes_its_numbers(folder):
    found = scenario(folder, CONTROL)
    robot = rd.read_robot(folder / "arm.urdf")
    assert found.machine.mechanism.joint("lift") == robot.mechanism.joint("lift").replaced(damping=3.0)
    assert found.machine.mechanism.body("hand").mass == 2.0
    assert found.machine.mechanism.body("column") == robot.mechanism.body("column")
    assert found.machine.constraints == robot.constraints
    assert found.initial["lift.position"] == pytest.approx(0.5235987755982988)
    assert rd.simulate(found).outcome.ok


def test_options_of_the_robot_are_given_in_a_table(folder):
    text = 'duration = 1\nrobot = { file = "arm.urdf", base = "free", keep_massless = false }'
    found = scenario(folder, text)
    assert found.machine.mechanism.joint("base_base").kind == "free"


@pytest.mark.parametrize(
    ("robot", "what"),
    [
        ('"nothing.urdf"', "robot.nothing.urdf: cannot be read: No such file"),
        ("3", "robot: must be the name of a robot file"),
        ('{ base = "free" }', "robot: must be the name of a robot file"),
        ('{ file = "arm.urdf", bass = 1 }', "robot.bass: is unknown (did you mean 'base'?)"),
        ('{ file = "arm.urdf", base = 1 }', "base: must be text, is 1"),
        ('{ file = "arm.urdf", search = [1] }', "search: must be a list of folders"),
        ('"bad.urdf"', "line 3: robot[bad]/link[base]: there is another link 'base'"),
    ],
)
def test_what_is_wrong_with_the_robot_is_said(folder, robot, what):
    assert what in flaws(folder, f"duration = 1\nrobot = {robot}")


def test_flaws_of_the_robot_name_its_file(folder):
    text = flaws(folder, 'duration = 1\nrobot = "arm.urdf"\n[joints.lift]\nupper_limit = 0.1')
    assert "joints.lift.upper_limit: must be above lower_limit" in text


@pytest.mark.parametrize("name", ["arm.urdf", "floating.urdf", "arm.xml", "crane.sdf"])
@pytest.mark.parametrize("embed", [False, True])
def test_an_imported_file_gives_the_same_machine(folder, name, embed):
    robot = rd.import_robot(folder / name)
    path = folder / "out" / "robot.toml"
    path.parent.mkdir()
    write_robot(robot, path, embed)
    found = rd.read_scenario(path)
    if embed and name == "arm.urdf":
        looks = [look for body in found.machine.mechanism.bodies for look in body.looks if hasattr(look, "file")]
        assert [look.file for look in looks] == [str(path.parent / "robot_meshes" / "tetrahedron.stl")]
    else:
        assert found == robot.scenario()
    assert all(choice.split(": ", 1)[0] in path.read_text() for choice in robot.sheet.choices)


def test_a_file_that_cannot_be_written_is_said(folder):
    with pytest.raises(rd.ModelError, match="cannot be written"):
        write_robot(rd.import_robot(folder / "arm.urdf"), folder / "arm.urdf" / "robot.toml")


def test_joints_of_a_robot_are_locked_or_fixed(folder):
    locked = scenario(folder, 'duration = 1\nrobot = { file = "arm.urdf", lock = ["l*"] }')
    fixed = scenario(folder, 'duration = 1\nrobot = "arm.urdf"\n[joints.lift]\nkind = "fixed"')
    for found, names in ((locked, ("lift", "left", "right")), (fixed, ("lift",))):
        assert {found.machine.mechanism.joint(name).kind for name in names} == {"fixed"}
        assert "lift.position" not in found.initial
    assert "a list of joints" in flaws(folder, 'duration = 1\nrobot = { file = "arm.urdf", lock = "lift" }')
