"""Does robodyn dress write a scenario that runs, print its sources, and refuse what it cannot do?"""

import pytest

import robodyn as rd

SLIDE = """
duration = 0.2
[bodies.car]
mass = 20
[joints.x]
kind = "prismatic"
parent = "ground"
child = "car"
axis = [1, 0, 0]
effort_limit = "500 N"
"""


@pytest.fixture
def slide(tmp_path):
    path = tmp_path / "slide.toml"
    path.write_text(SLIDE)
    return path


def test_a_dressed_robot_is_written_and_runs(invoke, slide, tmp_path):
    drives = tmp_path / "drives.toml"
    drives.write_text('[x]\nfriction = "stick"\nratio = "400 rad/m"\n')
    out = tmp_path / "dressed.toml"
    result = invoke("dress", str(slide), "--drives", str(drives), "--out", str(out))
    assert result.exit_code == 0
    assert result.stdout.split()[0] == "joint"
    assert "given" in result.stdout
    assert "rule of thumb" in result.stdout
    scenario = rd.read_scenario(out)
    assert rd.simulate(scenario).outcome.kind.name == "FINISHED"
    again = invoke("dress", str(slide), "--out", str(out))
    assert again.exit_code == 2
    assert "already exists" in again.stderr


def test_json_has_every_number_with_its_source(invoke, read_json, slide):
    message = read_json(invoke("dress", str(slide), "--json").stdout)
    numbers = message["joints"]["x"]["numbers"]
    assert {"ratio", "rotor_inertia", "stiffness", "coulomb", "counts"} <= set(numbers)
    assert all(number["source"] for number in numbers.values())


def test_what_is_not_there_is_refused(invoke, slide):
    for option, value, word in (
        ("--drives", "strainwave", "did you mean 'strain-wave'"),
        ("--control", "computed-torqe", "did you mean 'computed-torque'"),
        ("--joint", "y", "not a joint with one position"),
    ):
        result = invoke("dress", str(slide), option, value)
        assert result.exit_code == 2
        assert word in result.stderr
