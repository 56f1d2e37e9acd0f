"""Are flaws of names and of the solver reported together with all others?"""

import pytest

from robodyn import ModelError, read_scenario

FLAWED = """
duration = 1
[bodies.rod]
mass = -1
com = [0, 0, -1]
[joints.hinge]
kind = "revolute"
parent = "ground"
child = "rod"
[blocks.servo]
law = "pd_control"
on = "hinge"
inputs = { target = "gaol.value" }
parameters = { proportional = 1.0, derivative = 1.0 }
[blocks.goal]
law = "constant_reference"
parameters = { constant = 1.0 }
[events.stop]
signal = "hinge.positon"
level = 1.0
[initial]
hinge.speed = 1.0
"goal.anything" = 1.0
[solver]
method = "rk5"
"""


def test_every_flaw_of_a_file_is_told_in_one_error(tmp_path):
    path = tmp_path / "flawed.toml"
    path.write_text(FLAWED)
    with pytest.raises(ModelError) as caught:
        read_scenario(path)
    paths = {flaw.path for flaw in caught.value.flaws}
    assert paths == {
        "bodies.rod.mass",
        "blocks.servo.inputs.target",
        "events.stop.signal",
        "initial.hinge.speed",
        "solver.method",
    }
    remedies = " ".join(flaw.remedy for flaw in caught.value.flaws)
    assert "'goal'" in remedies
    assert "'hinge.position'" in remedies
