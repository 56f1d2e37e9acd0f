"""Does robodyn move write a scenario that is read back as it was planned, and refuse what a robot cannot do?"""

import numpy as np
import pytest

import robodyn as rd
from robodyn.analysis.commissioning import line_from

ARM = """
duration = 0.2
[bodies]
upper = { mass = 10, com = [0.25, 0, 0], inertia = [0.02, 0.2, 0.2] }
fore = { mass = 6, com = [0.2, 0, 0], inertia = [0.01, 0.1, 0.1] }
[joints.shoulder]
kind = "revolute"
parent = "ground"
child = "upper"
axis = [0, -1, 0]
effort_limit = "150 N m"
speed_limit = "180 deg/s"
[joints.elbow]
kind = "revolute"
parent = "upper"
child = "fore"
origin = [0.5, 0, 0]
axis = [0, -1, 0]
effort_limit = "80 N m"
speed_limit = "180 deg/s"
[points.tool]
body = "fore"
origin = [0.4, 0, 0]
"""
STANDS = ("--set", "initial.shoulder.position=20 deg", "--set", "initial.elbow.position=30 deg")


@pytest.fixture(scope="module")
def dressed(tmp_path_factory):
    """An arm that carries 2 kg at its tool, dressed by the command with rigid gears."""
    from typer.testing import CliRunner

    from robodyn.cli.application import app

    folder = tmp_path_factory.mktemp("arm")
    (folder / "arm.toml").write_text(ARM)
    (folder / "drives.toml").write_text("[all]\nelastic = false\n")
    options = ("--drives", str(folder / "drives.toml"), "--payload", "2 kg", *STANDS)
    done = CliRunner().invoke(app, ["dress", str(folder / "arm.toml"), *options, "--out", str(folder / "dressed.toml")])
    assert done.exit_code == 0, done.output
    return folder / "dressed.toml"


def test_a_payload_hangs_at_the_tool(dressed):
    mechanism = rd.read_scenario(dressed).machine.mechanism
    (mount,) = [joint for joint in mechanism.joints if joint.child == "payload"]
    assert (mount.parent, tuple(mount.origin)) == ("fore", (0.4, 0.0, 0.0))
    assert {body.name: body.mass for body in mechanism.bodies}["payload"] == 2


def test_a_line_is_written_and_read_back_as_it_was_planned(invoke, dressed, tmp_path):
    out = tmp_path / "line.toml"
    options = ("--line", "0.05,0,-0.1", "--speed", "0.3", "--out", str(out))
    told = invoke("move", str(dressed), *options)
    assert told.exit_code == 0, told.stderr
    scenario = rd.read_scenario(dressed)
    planned = rd.move(
        scenario, along=line_from(scenario, (0.05, 0, -0.1)), tool="tool", speed=0.3, free=("rx", "ry", "rz")
    )
    written = rd.read_scenario(out)
    assert [block.name for block in written.machine.blocks] == [block.name for block in planned.scenario.machine.blocks]
    law, again = (what.machine.blocks[0].law for what in (planned.scenario, written))
    assert np.allclose(law.position, again.position, rtol=0, atol=1e-12)  # planned again from the same place
    place = np.array([0.5 * np.cos(np.radians(20)) + 0.4 * np.cos(np.radians(50)), 0, 0])
    place[2] = 0.5 * np.sin(np.radians(20)) + 0.4 * np.sin(np.radians(50))
    ends = written.machine.blocks[1].law.place
    assert np.allclose(ends[0], place, atol=1e-9)
    assert np.allclose(np.subtract(ends[-1], ends[0]), (0.05, 0, -0.1), atol=1e-12)
    assert f"ends at {planned.duration:.4g} s" in told.stdout


def test_a_fast_line_is_written_with_its_timing_and_told_beside_the_trapezoid(invoke, dressed, tmp_path, read_json):
    out = tmp_path / "fast.toml"
    options = ("--line", "0.05,0,-0.1", "--fast", "--share", "0.8", "--out", str(out))
    done = invoke("move", str(dressed), *options, "--json")
    assert done.exit_code == 0, done.stderr
    told = read_json(done.stdout)
    assert told["duration"] < told["trapezoid"]
    assert told["use"] == pytest.approx(0.8, abs=0.01)
    scenario = rd.read_scenario(dressed)
    along = line_from(scenario, (0.05, 0, -0.1))
    planned = rd.move_fast(scenario, along, share=0.8, free=("rx", "ry", "rz"))
    law, again = (what.machine.blocks[0].law for what in (planned.scenario, rd.read_scenario(out)))
    assert np.array_equal(law.times, again.times)
    assert np.allclose(law.acceleration, again.acceleration, rtol=1e-9, atol=1e-9)


def test_joints_are_moved_to_places_with_units(invoke, dressed, tmp_path):
    out = tmp_path / "there.toml"
    assert invoke("move", str(dressed), "--to", "elbow=10 deg", "--out", str(out)).exit_code == 0
    blocks = {block.name: block for block in rd.read_scenario(out).machine.blocks}
    assert blocks["elbow.reference"].parameters["target"] == pytest.approx(np.radians(10))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--line", "0,0.5"), "must be three numbers, dx,dy,dz [m]"),
        (("--line", "2,0,0"), "out of reach"),
        (("--line", "0,0,0.1", "--tool", "toll"), "there is no point 'toll'"),
        (("--to", "elbow=10 m"), "--to elbow=10 m"),
        (("--to", "elbw=1"), "there is no such joint"),
        ((), "give exactly one"),
        (("--line", "0,0,0.1", "--cube", "0.1"), "give exactly one"),
        (("--cube", "-1"), "side: must be positive"),
        (("--line", "0,0,0.1", "--pause", "1"), "--pause: has no effect without --cube"),
        (("--line", "0,0,0.1", "--jerk", "1"), "--jerk: has no effect without --fast"),
        (("--to", "elbow=1", "--fast"), "--fast: has no effect without --line"),
    ],
)
def test_what_cannot_be_done_is_told(invoke, dressed, options, told):
    result = invoke("move", str(dressed), *options)
    assert result.exit_code == 2
    assert told in result.stderr
