"""Are scenarios of the catalogue made with options, and is what they do not take refused by name?"""

from functools import partial

import pytest
from typer.testing import CliRunner

from robodyn import ModelError
from robodyn.cli.application import app
from robodyn.description.catalog import find_scenario, four_bars, options_of, pendulum


def make(size: float = 1.0, count: int | None = None, kind: str = "a", quick: bool = False, way: object = None):
    return size, count, kind, quick, way


def test_options_are_the_arguments_that_a_word_can_say():
    assert options_of(make) == {"size": float, "count": int, "kind": str, "quick": bool}
    assert options_of(partial(make, 2.0)) == {"count": int, "kind": str, "quick": bool}
    assert options_of(lambda *args: None) == {}


def test_a_scenario_has_the_options_behind_its_colon():
    assert find_scenario("pendulum:mass=2.5,duration=1") == pendulum(mass=2.5, duration=1.0)
    assert find_scenario("four-bar: count = 3") == four_bars(3)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("pendulum:mas=2", r"pendulum:mas=2: there is no option 'mas' \(did you mean 'mass'\? \(options: mass, length"),
        ("pendulum:mass=2,mass=3", "is given twice"),
        ("pendulum:mass=two", "must be mass= and a number in SI"),
        ("four-bar:count=2.5", "must be count= and a whole number"),
        ("quadruped:rigid=perhaps", "must be rigid= and true or false"),
        ("pendulum:", "there is no option ''"),
        ("rover:speed=1", "it has no options"),
        ("pendulm:mass=1", "there is no scenario 'pendulm'"),
    ],
)
def test_what_an_option_cannot_be_is_refused(name, complaint):
    with pytest.raises(ModelError, match=complaint):
        find_scenario(name)


def test_the_command_line_takes_and_lists_options():
    shown = CliRunner().invoke(app, ["check", "pendulum:mass=2.5"])
    assert shown.exit_code == 0, shown.output
    listed = CliRunner().invoke(app, ["list", "--options"])
    assert "options: mass, length, angle, duration" in listed.stdout
    assert CliRunner().invoke(app, ["check", "pendulum:mass=heavy"]).exit_code == 2
