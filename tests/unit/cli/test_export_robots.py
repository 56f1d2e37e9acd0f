"""robodyn export --to urdf, sdf, mjcf and actuator-table: what is written, said and refused."""

import csv
import json

import pytest
from support.robot_files import OWN

import robodyn as rd


def machine(*blocks, **fields):
    body = rd.Body("arm", 1.0, (0.1, 0, 0), (0.1, 0.1, 0.1))
    joint = rd.Joint("turn", "revolute", "ground", "arm", armature=0.3, **fields)
    return rd.Machine("one", rd.Mechanism("one", (body,), (joint,)), blocks=blocks)


def motor():
    push = rd.Block("push", "constant_reference", parameters={"constant": 2.0}, unit="N m")
    source = rd.Block("motor", "torque_source", "turn", {"command": "push.value"}, {"torque_limit": 9.0})
    return push, source


def test_a_robot_is_written_read_back_and_what_is_lost_is_said(invoke, tmp_path):
    pytest.importorskip("mujoco")
    path, out = tmp_path / "one.toml", tmp_path / "one.xml"
    rd.write_scenario(rd.Scenario("one", machine(*motor(), speed_limit=6.0), 1.0), path)
    done = invoke("export", str(path), "--to", "mjcf", "--out", str(out))
    assert done.exit_code == 0, done.output
    assert "joint@speed_limit: MJCF has no place for it" in done.output
    assert "mass matrix and bias differ by" in done.output
    written = rd.read_robot(out)
    assert {block.name: block.law for block in written.blocks}["motor"] == "torque_source"
    done = invoke("export", str(path), "--to", "urdf", "--out", str(tmp_path / "one.urdf"))
    assert "does not move like the machine" in done.output


def test_a_robot_leaves_with_copies_of_its_meshes(invoke, tmp_path):
    for to, suffix in (("urdf", ".urdf"), ("sdf", ".sdf")):
        out = tmp_path / to / f"arm{suffix}"
        out.parent.mkdir()
        done = invoke("export", str(OWN / "arm.urdf"), "--to", to, "--out", str(out), "--embed")
        assert done.exit_code == 0, done.output
        assert "arm_meshes/tetrahedron.stl" in out.read_text()
        out.parent.rename(tmp_path / f"{to}_moved")
        moved = rd.read_robot(tmp_path / f"{to}_moved" / out.name)
        meshes = [look for body in moved.mechanism.bodies for look in body.looks if look.kind == "mesh"]
        assert {look.file for look in meshes} == {str(tmp_path / f"{to}_moved" / "arm_meshes" / "tetrahedron.stl")}


def test_the_files_hold_the_tables(invoke, tmp_path):
    path = tmp_path / "one.toml"
    rd.write_scenario(rd.Scenario("one", machine(*motor(), speed_limit=6.0), 1.0), path)
    done = invoke("export", str(path), "--to", "actuator-table", "--out", str(tmp_path / "drives.json"))
    assert done.exit_code == 0, done.output
    (drive,) = json.loads((tmp_path / "drives.json").read_text())["drives"]
    rows = list(csv.DictReader((tmp_path / "drives.csv").open()))
    assert [float(row["torque"]) for row in rows] == drive["torques"]


def test_what_cannot_be_written_is_refused_before_any_work(invoke, tmp_path):
    path = tmp_path / "one.toml"
    rd.write_scenario(rd.Scenario("one", machine(), 1.0), path)
    cases = {
        ("actuator-table", "drives.json"): "no motor acts on a joint",
        ("actuator-table", "drives.txt"): "must end in .json",
        ("urfd", "one.urdf"): "did you mean 'urdf'",
        ("urdf", "."): "is a folder",
        ("sdf", "one.toml/one.sdf"): "is not a folder",
        ("mjcf", "one.toml"): "is the input file",
    }
    for (to, out), sentence in cases.items():
        done = invoke("export", str(path), "--to", to, "--out", str(tmp_path / out))
        assert (done.exit_code, sentence in done.output) == (2, True), done.output
    assert "one.toml" in [file.name for file in tmp_path.iterdir()]
