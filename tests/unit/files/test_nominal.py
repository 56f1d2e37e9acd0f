"""Can a file name the nominal motion?"""

import textwrap

import pytest

from robodyn import ModelError, read_scenario

ARM = """
    duration = 1
    [bodies.arm]
    mass = 1
    com = [0.5, 0, 0]
    [joints.hinge]
    kind = "revolute"
    parent = "ground"
    child = "arm"
    axis = [0, 1, 0]
    [blocks.target]
    law = "sine_reference"
    parameters = { amplitude = 0.1, frequency = "1 Hz" }
    [nominal]
    hinge = "target.value"
"""


def write(tmp_path, text):
    path = tmp_path / "arm.toml"
    path.write_text(textwrap.dedent(text))
    return path


def test_a_file_names_the_reference_of_each_joint(tmp_path):
    assert read_scenario(write(tmp_path, ARM)).nominal == {"hinge": "target.value"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ('hing = "target.value"', "nominal.hing: is not a moving joint .did you mean 'hinge'"),
        ("hinge = 3", "nominal.hinge: must be text, is 3"),
    ],
)
def test_wrong_entries_are_told_with_their_place(tmp_path, wrong, message):
    with pytest.raises(ModelError, match=message):
        read_scenario(write(tmp_path, ARM.replace('hinge = "target.value"', wrong)))


def test_a_wrong_signal_is_told_together_with_other_flaws(tmp_path):
    text = ARM.replace("target.value", "tarket.value").replace("mass = 1", "mass = -1")
    with pytest.raises(ModelError) as error:
        read_scenario(write(tmp_path, text))
    assert "nominal.hinge: there is no signal 'tarket.value'" in str(error.value)
    assert "bodies.arm.mass" in str(error.value)
