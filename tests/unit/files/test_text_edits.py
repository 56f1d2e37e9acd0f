"""Are numbers changed in the text of a file so that all else of it stays as it was written?"""

import pytest

from robodyn import read_scenario
from robodyn.description.files.patching import edit_text

TEXT = """# A cart, as measured on Monday.
title = "A cart"
duration = 0.5
initial = { "rail.position" = "10 cm" }   # let go here

[bodies.carriage]
mass = "2 kg"      # with its box
com = [0, "3 mm", 0.0]
inertia = [1, 1, 1, 0, 0, 0]

[joints.rail]
kind = "prismatic"
parent = "ground"
child = "carriage"
axis = [1, 0, 0]

[templates.holding.blocks.spring]
law = "spring"
on = "rail"
parameters = { stiffness = 500 }

[use.left]
template = "holding"

[use.right]
template = "holding"
blocks.spring.parameters.stiffness = 30   # softer
"""


def edited(tmp_path, values, text=TEXT):
    path = tmp_path / "cart.toml"
    path.write_text(text)
    new = edit_text(read_scenario(path), text, values)
    return new, read_scenario(path, new)


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("carriage.mass", 4.0, 'mass = "4 kg"      # with its box'),
        ("carriage.com.y", 0.0045, 'com = [0, "4.5 mm", 0.0]'),
        ("carriage.com.x", 1.0, 'com = [1, "3 mm", 0.0]'),
        ("carriage.inertia.yy", 1.5, "inertia = [1, 1.5, 1, 0, 0, 0]"),
        ("initial.rail.position", 0.2, 'initial = { "rail.position" = "20 cm" }   # let go here'),
        ("duration", 0.75, "duration = 0.75"),
        ("right.spring.stiffness", 45.0, "blocks.spring.parameters.stiffness = 45   # softer"),
    ],
)
def test_a_number_is_replaced_where_it_stands_in_its_own_unit(tmp_path, name, value, line):
    new, scenario = edited(tmp_path, {name: value})
    changed = [(a, b) for a, b in zip(TEXT.splitlines(), new.splitlines(), strict=True) if a != b]
    assert [after for _, after in changed] == [line]
    assert scenario.numbers()[name].value == pytest.approx(value, rel=1e-12)


def test_a_number_of_a_template_is_changed_for_one_use_of_it_alone(tmp_path):
    new, scenario = edited(tmp_path, {"left.spring.stiffness": 700.0})
    assert new.startswith(TEXT.rstrip("\n"))
    numbers = scenario.numbers()
    assert numbers["left.spring.stiffness"].value == 700.0
    assert numbers["right.spring.stiffness"].value == 30.0


def test_what_a_file_does_not_state_gets_an_entry_which_wins_over_an_included_file(tmp_path):
    (tmp_path / "part.toml").write_text(TEXT)
    own = 'include = "part.toml"   # all of it\n[bodies.carriage]\ncom = [0, 0, 0]\n'
    new, scenario = edited(tmp_path, {"carriage.mass": 3.0, "initial.rail.velocity": 0.25}, own)
    assert 'include = "part.toml"   # all of it' in new
    assert scenario.numbers()["carriage.mass"].value == 3.0
    assert scenario.initial["rail.velocity"] == 0.25
    assert scenario.initial["rail.position"] == 0.1
    assert (tmp_path / "part.toml").read_text() == TEXT


def test_several_numbers_are_changed_at_once_and_the_same_ones_again(tmp_path):
    values = {"carriage.mass": 2.5, "duration": 1.0, "left.spring.stiffness": 100.0, "carriage.inertia.zz": 2.0}
    once, scenario = edited(tmp_path, values)
    assert {name: scenario.numbers()[name].value for name in values} == values
    twice, scenario = edited(tmp_path, {"left.spring.stiffness": 200.0}, once)
    assert scenario.numbers()["left.spring.stiffness"].value == 200.0
    assert len(twice.splitlines()) == len(once.splitlines())
