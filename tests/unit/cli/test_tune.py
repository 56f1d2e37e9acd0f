"""Does `robodyn tune` print what it found, and write a file that is a scenario with the new numbers?"""

import json

import pytest
from typer.testing import CliRunner

from robodyn import read_scenario
from robodyn.cli.application import app

CART = """
duration = "0.5 s"
[bodies.cart]
mass = "10 kg"
[joints.rail]
kind = "prismatic"
parent = "ground"
child = "cart"
axis = [1, 0, 0]
[initial]
"rail.position" = "10 mm"
[blocks.loop]
law = "pd_control"
on = "rail"
period = "10 ms"
inputs = { target = 0 }
parameters = { proportional = 500, derivative = 100 }
[blocks.drive]
law = "torque_source"
on = "rail"
inputs = { command = "loop.command" }
"""


@pytest.fixture
def cart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cart.toml").write_text(CART, encoding="utf-8")
    return tmp_path


def call(*arguments):
    return CliRunner().invoke(app, ["tune", "cart.toml", *arguments])


def test_the_patch_is_a_scenario_with_the_tuned_gains(cart):
    asked = ["--minimise", "rms:rail.position", "--subject-to", "margin>=6 dB", "--subject-to", "phase>=40 deg"]
    result = call(*asked, "--out", "better.toml", "--plot", "better.png", "--points", "201", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["after"] < 0.9 * found["before"]
    assert all(limit["after"] > limit["bound"] - 0.01 for limit in found["limits"])
    numbers = read_scenario(cart / "better.toml").numbers()
    for gain in found["gains"]:
        assert numbers[gain["name"]].value == gain["after"] != gain["before"]
    assert (cart / "better.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--minimise", "rms:rail.positoin"], "did you mean 'rail.position'"),
        (["--minimise", "rms:rail.position", "--free", "loop.proportoinal"], "did you mean 'loop.proportional'"),
        (["--minimise", "rms:rail.position", "--subject-to", "margin>=70 dB"], "at most 60 dB"),
        (["--minimise", "rms:rail.position", "--out", "x.json"], "must end in .toml"),
    ],
)
def test_bad_input_is_told_with_a_remedy(cart, arguments, told):
    result = call(*arguments)
    assert result.exit_code == 2
    assert told in result.stderr
