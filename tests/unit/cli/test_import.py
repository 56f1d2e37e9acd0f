"""Does import account for a robot file and write a file that runs, and do other commands take robot files too?"""

import json
import shutil

import pytest
from support.robot_files import OWN

from robodyn import import_robot, load, read_scenario, simulate


@pytest.fixture(autouse=True)
def _robots(tmp_path):
    shutil.copytree(OWN, tmp_path, dirs_exist_ok=True)


def test_an_imported_file_runs(invoke, tmp_path):
    done = invoke("import", "arm.urdf", "--out", "arm.toml", "--embed")
    assert done.exit_code == 0, done.output
    assert "'test_arm' has 8 bodies, 8 joints, 5 degrees of freedom, 10 kg" in done.output
    assert "4 need a choice" in done.output
    assert (tmp_path / "arm_meshes" / "tetrahedron.stl").is_file()
    done = invoke("run", "arm.toml", "--duration", "0.1")
    assert done.exit_code == 0, done.output
    assert load(tmp_path / "out" / "arm.run").outcome.ok


def test_the_report_is_printed_and_written_as_json_and_page(invoke, tmp_path):
    sheet = import_robot(tmp_path / "arm.urdf").sheet
    done = invoke("import", "arm.urdf", "--report", "--html", "sheet.html")
    assert done.exit_code == 0, done.output
    assert f"{len(sheet.entries)} elements and attributes" in done.output
    assert "not used:" in done.output
    assert (tmp_path / "sheet.html").read_text().count("<tr data-kind=") == len(sheet.entries)
    done = invoke("import", "arm.urdf", "--json")
    assert json.loads(done.stdout)["counts"] == sheet.totals


@pytest.mark.parametrize("name", ["arm.urdf", "floating.urdf", "arm.xml", "crane.sdf"])
def test_a_robot_file_runs_by_itself_and_says_what_was_assumed(invoke, name):
    done = invoke("run", name, "--duration", "0.05", "--json")
    assert done.exit_code == 0, done.output
    assert "simulated without drives for 1 s, starting at rest" in done.stderr
    assert json.loads(done.stdout)["outcome"]["ok"]


def test_a_robot_file_is_checked(invoke):
    done = invoke("check", "arm.urdf")
    assert done.exit_code == 0, done.output
    assert "arm.urdf: usable; 11 states" in done.output


def test_numbers_of_a_robot_are_set(invoke, tmp_path):
    done = invoke(
        "run", "arm.urdf", "--set", "hand.mass=2 kg", "--set", "initial.lift.position=1", "--duration", "0.01"
    )
    assert done.exit_code == 0, done.output
    assert load(tmp_path / "out" / "arm.run")["lift.position"].values[0] == 1.0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("import", "bad.urdf"), "line 7: robot[bad]/joint[one]@type: 'hinge' is unknown"),
        (("run", "bad.urdf"), "line 7: robot[bad]/joint[one]@type: 'hinge' is unknown"),
        (("check", "bad.urdf"), "line 7: robot[bad]/joint[one]@type: 'hinge' is unknown"),
        (("import", "nothing.urdf"), "cannot be read: No such file"),
        (("import", "meshes"), "is not a file"),
        (("import", "arm.urdf", "--base", "flying"), "base: 'flying' is unknown"),
        (("import", "arm.urdf", "--embed"), "give --out FILE.toml"),
        (("import", "arm.urdf", "--out", "arm.urdf"), "is the robot's own file"),
        (("import", "arm.urdf", "--out", "arm.urdf/arm.toml"), "cannot be written"),
        (("import", "arm.urdf", "--html", "arm.urdf/arm.html"), "cannot be written"),
    ],
)
def test_bad_input_ends_with_a_message(invoke, arguments, complaint):
    done = invoke(*arguments)
    assert done.exit_code == 2
    assert complaint in done.output


def test_joints_are_locked(invoke, tmp_path):
    out = tmp_path / "locked.toml"
    result = invoke("import", OWN / "arm.urdf", "--lock", "l*", "--out", out)
    assert result.exit_code == 0, result.output
    assert "'lift' is locked at 0.8 rad" in result.stdout
    assert read_scenario(out).machine.mechanism.joint("left").kind == "fixed"
    wrong = invoke("import", OWN / "arm.urdf", "--lock", "lift=high")
    assert wrong.exit_code == 2
    assert "must be NAME or NAME=POSITION" in wrong.output


OPEN = """<mujoco><worldbody>
  <body name="crank"><joint name="a" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 1 0 0" size="0.02"/>
    <body name="rocker" pos="1 0 0"><joint name="b" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 1" size="0.02"/><site name="tip" pos="0 0 1"/></body></body>
  <site name="pin" pos="1.2 0 0.9"/></worldbody>
  <equality><connect name="loop" site1="tip" site2="pin"/></equality></mujoco>"""


def test_loops_that_are_open_in_a_robot_file_are_closed_where_that_is_asked_for(invoke, tmp_path):
    """A crank and a rocker whose tip is 0.22 m off its pin at zero positions."""
    file = tmp_path / "open.xml"
    file.write_text(OPEN, encoding="utf-8")
    invoke("import", file, "--out", tmp_path / "as_it_is.toml")
    assert "initialisation" not in (tmp_path / "as_it_is.toml").read_text(encoding="utf-8")
    invoke("import", file, "--out", tmp_path / "closed.toml", "--assemble")
    open_, closed = (simulate(read_scenario(tmp_path / name)) for name in ("as_it_is.toml", "closed.toml"))
    assert open_["constraints.position_error"](0.0) > 0.1
    assert closed["constraints.position_error"](0.0) < 1e-9
    assert closed.outcome.ok


def test_assembling_without_a_file_or_loops_is_refused(invoke):
    for more in ((), ("--out", "arm.toml")):
        done = invoke("import", "arm.urdf", "--assemble", *more)
        assert done.exit_code == 2
        assert "--assemble has no effect" in done.output
