"""Does `run` simulate a unit, keep its run for the other commands, and report what is wrong?"""

import pytest
from support.c_units import build_unit

from robodyn import load


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return build_unit("ball", tmp_path_factory.mktemp("ball"))


@pytest.fixture
def ball(made, tmp_path):
    return (tmp_path / "ball.fmu").write_bytes(made.read_bytes()) and "ball.fmu"


def test_a_unit_is_run_and_its_run_is_kept(invoke, ball, read_json, tmp_path):
    done = invoke(
        "run", ball, "--set", "restitution=0.5", "--duration", "1", "--step", "0.05", "--out", "here", "--json"
    )
    assert done.exit_code == 0, done.output
    message = read_json(done.stdout)
    assert message["end_time"] == 1.0
    assert message["statistics"]["steps"] == 20
    assert [event["name"] for event in message["events"]].count("state_event") == 2
    run = load(tmp_path / "here" / "ball.run")
    assert run["height"].final == message["final"]["height"]


def test_other_commands_take_the_run(invoke, ball):
    assert "state_event  0.451523641 s" in invoke("run", ball).output
    assert "ball: reached the end time 1.5 s" in invoke("show", "out/ball.run").output
    for command in (
        ("plot", "out/ball.run", "--signal", "height"),
        ("report", "out/ball.run"),
        ("compare", "out/ball.run", "out/ball.run"),
        ("export", "out/ball.run", "--to", "csv"),
    ):
        done = invoke(*command)
        assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--set", "height=-1"), 'parameters.height: must be at least 0.0, is "-1"'),
        (("--set", "hight=1"), "is not a parameter of the unit (did you mean 'height'?)"),
        (("--set", "height"), "--set height: must be written as key=value"),
        (("--solver", "rk4"), "--solver: has no effect on an FMU"),
        (("--rate", "100"), "--rate: has no effect on an FMU"),
        (("--no-loop-check",), "--no-loop-check: has no effect on an FMU"),
        (("--duration", "0"), "duration: must be a positive number"),
        (("--signal", "hight"), "did you mean 'height'?"),
    ],
)
def test_what_a_unit_does_not_take_is_told(invoke, ball, arguments, message):
    done = invoke("run", ball, *arguments)
    assert done.exit_code == 2
    assert message in done.output


def test_files_that_are_no_units_are_told(invoke, tmp_path):
    done = invoke("run", "none.fmu")
    assert (done.exit_code, "there is no file 'none.fmu'" in done.output) == (2, True)
    (tmp_path / "bad.fmu").write_text("no archive")
    done = invoke("run", "bad.fmu")
    assert (done.exit_code, "copy or export it again" in done.output) == (2, True)


def test_a_unit_that_does_not_get_there_has_an_exit_code_of_its_own(invoke, ball, tmp_path):
    done = invoke("run", ball, "--duration", "5", "--set", "period=100 s")
    assert done.exit_code == 3
    assert "50 events within 1e-09 s" in done.output
    assert (tmp_path / "out" / "ball.run").exists()


def test_a_file_of_a_co_simulation_sets_all_kinds_of_values(invoke, ball, tmp_path):
    text = """
duration = 0.5
subsystems.first = { fmu = "ball.fmu", set = { height = "200 mm", gust = 1, end_after = 3 } }
subsystems.second = { fmu = "ball.fmu", set = { period = 100.0 } }
signal_connections = [{ source = "first.lamp", target = "second.gust" }]
settings.step = "100 ms"
"""
    (tmp_path / "balls.toml").write_text(text)
    done = invoke("cosim", "balls.toml")
    assert done.exit_code == 0, done.output
    second = load(tmp_path / "out" / "balls-second.run")
    # The lamp is switched on at 0.25 s and is a gust of 1 m/s then.
    assert second["speed"](0.3) == pytest.approx(-9.81 * 0.3 + 1.0, abs=1e-12)
    assert [event.time for event in second.events if event.name == "input_event"] == [0.25, 0.5]
    (tmp_path / "balls.toml").write_text(text.replace("200 mm", "200 kg"))
    done = invoke("cosim", "balls.toml")
    assert done.exit_code == 2
    assert 'parameters.height: "200 kg" must be in m' in done.output
