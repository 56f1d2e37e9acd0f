"""Is a number on the command line taken in the unit that its file gives it in, or refused?"""

import pytest

ARM = """
duration = "500 ms"
[bodies.arm]
mass = "1000 g"
com = ["500 mm", 0, 0]
inertia = [0, 0.01, 0.01]
[joints.hinge]
kind = "revolute"
parent = "ground"
child = "arm"
axis = [0, 1, 0]
[blocks.goal]
law = "step_reference"
unit = "rad"
parameters = { after = "30 deg", at = 0.1 }
[blocks.drive]
law = "pd_control"
on = "hinge"
inputs = { target = "goal.value" }
parameters = { proportional = 10, derivative = 1 }
[signals.off]
formula = "hinge.position - level"
parameters = { level = "5 deg" }
[initial]
hinge.position = "10 deg"
"""


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(ARM)
    return str(path)


@pytest.mark.parametrize(
    ("setting", "remedy"),
    [
        ("goal.after=45", 'the file gives it in deg: write "45 deg", or "45 rad"'),
        ("off.level=45", 'the file gives it in deg: write "45 deg", or "45 rad"'),
        ("duration=1", 'the file gives it in ms: write "1 ms", or "1 s"'),
        ("arm.mass=2", 'the file gives it in g: write "2 g", or "2 kg"'),
        ("arm.com.x=0.1", 'the file gives it in mm: write "0.1 mm", or "0.1 m"'),
        ("initial.hinge.position=1", 'the file gives it in deg: write "1 deg", or "1 rad"'),
        ("initial.hinge.velocity=5 kg", '"5 kg" must be in rad/s'),
        ("initial.hinge.position=5 mm", '"5 mm" must be in rad'),
    ],
)
def test_a_number_that_may_be_meant_in_the_files_unit_is_refused_with_both_readings(invoke, arm, setting, remedy):
    done = invoke("run", arm, "--set", setting)
    assert done.exit_code == 2
    assert f"--set {setting}: {remedy}" in done.stderr


@pytest.mark.parametrize(
    ("settings", "name", "value"),
    [
        (["goal.after=45 deg"], "goal.value", 0.785398),
        (["goal.after=0.5 rad"], "goal.value", 0.5),
        (["goal.after=0"], "goal.value", 0.0),
        (["goal.at=0", "goal.after=1 rad"], "goal.value", 1.0),
    ],
)
def test_a_number_with_a_unit_or_that_is_zero_or_plain_in_the_file_is_taken(invoke, arm, settings, name, value):
    from robodyn import load

    pairs = [word for setting in settings for word in ("--set", setting)]
    assert invoke("run", arm, *pairs, "--out", "here").exit_code == 0
    assert load("here/arm.run").final[name] == pytest.approx(value, rel=1e-5)


def test_what_a_sweep_varies_needs_a_unit_too(invoke, arm):
    call = ("sweep", arm, "--measure", "final:hinge.position", "--workers", "1", "--no-plot")
    for option, text in (("--vary", "10:20:2"), ("--values", "10,20"), ("--random", "normal:10:1")):
        done = invoke(*call, option, f"goal.after={text}", *(("--runs", "2") if option == "--random" else ()))
        assert done.exit_code == 2
        assert 'the file gives it in deg: write "10 deg", or "10 rad"' in done.stderr
    assert invoke(*call, "--vary", "goal.after=10 deg:20 deg:2", "--out", "swept").exit_code == 0
    assert invoke(*call, "--vary", "goal.after=scale:0.9:1.1:2", "--out", "scaled").exit_code == 0


def test_numbers_of_the_catalogue_are_in_si(invoke):
    assert invoke("run", "pendulum", "--set", "initial.hinge.position=0.2", "--duration", "0.1").exit_code == 0
