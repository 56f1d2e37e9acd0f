"""Orientations and vectors as start values, in Python and in files."""

import numpy as np
import pytest

from robodyn import GROUND, Body, Joint, Machine, Mechanism, ModelError, Scenario, simulate
from robodyn.base.spatial import from_quaternion, from_rpy
from robodyn.description.files import read_scenario
from robodyn.description.files.schema import make_schema
from robodyn.description.files.writing import scenario_text

BODY = Body("hull", 2.0, inertia=(0.1, 0.2, 0.25))


def scenario(initial, kind="free"):
    mechanism = Mechanism("m", [BODY], [Joint("base", kind, GROUND, "hull")])
    return Scenario("s", Machine("m", mechanism), 0.1, initial)


FILE = """
duration = 0.1
[bodies.hull]
mass = 2.0
inertia = [0.1, 0.2, 0.25]
[joints.base]
kind = "free"
parent = "ground"
child = "hull"
[initial]
"""


def read(tmp_path, lines):
    file = tmp_path / "s.toml"
    file.write_text(FILE + lines)
    return read_scenario(file)


def test_vectors_are_taken_apart():
    made = scenario(
        {
            "base.orientation": (0.5, -0.5, 0.5, 0.5),
            "base.position": np.array([1, 2, 3]),
            "base.velocity": [4, 5, 6],
            "base.angular_velocity": (7, 8, 9),
        }
    )
    apart = {f"base.orientation.{part}": x for part, x in zip("wxyz", (0.5, -0.5, 0.5, 0.5), strict=True)}
    apart |= {f"base.{axis}.position": float(k) for k, axis in enumerate("xyz", 1)}
    apart |= {f"base.{axis}.velocity": float(k) for k, axis in enumerate("xyz", 4)}
    apart |= {f"base.angular_velocity.{axis}": float(k) for k, axis in enumerate("xyz", 7)}
    assert made == scenario(apart)
    run = simulate(made)
    assert [run[name](0.0) for name in apart] == list(apart.values())


def test_three_angles_are_roll_pitch_and_yaw_about_fixed_axes():
    angles = (0.3, -1.2, 2.5)
    start = scenario({"base.orientation": angles}).initial
    R = from_quaternion(*(start[f"base.orientation.{part}"] for part in "wxyz"))
    np.testing.assert_allclose(R, from_rpy(*angles), atol=1e-15)


def test_files_give_angles_with_their_unit(tmp_path):
    made = read(tmp_path, 'base.orientation = ["10 deg", "0 deg", "90 deg"]\nbase.position = ["10 mm", 0, 1]\n')
    assert (
        made.initial == scenario({"base.orientation": np.radians([10, 0, 90]), "base.position": (0.01, 0, 1)}).initial
    )


def test_what_is_written_is_read_back_equal(tmp_path):
    made = read(tmp_path, "base.orientation = [0.1, 0.2, 0.3]\nbase.angular_velocity = [1, 2, 3]\n")
    file = tmp_path / "again.toml"
    file.write_text(scenario_text(made))
    assert read_scenario(file).initial == made.initial


def test_single_components_can_be_set_together():
    changed = scenario({"base.orientation": (1, 0, 0, 0)}).with_numbers(
        {"initial.base.orientation.w": 0.0, "initial.base.orientation.y": -1.0}
    )
    assert changed.initial["base.orientation.y"] == -1.0


@pytest.mark.parametrize(
    ("initial", "message"),
    [
        ({"base.orientation": (0, 0, 0, 0)}, "initial.base.orientation: is a quaternion of zeros"),
        ({"base.orientation": (2, 0, 0, 0)}, "has length 2, must have 1 .normalised it is .1.0, 0.0, 0.0, 0.0.."),
        ({"base.orientation": (0.707, 0, 0, 0.707)}, "normalised it is .0.707106781187, 0.0, 0.0, 0.707106781187."),
        ({"base.orientation.z": 0.1}, "initial.base.orientation: the quaternion .* has length 0.1"),
        ({"base.orientation": (1, 0)}, "must be 4 numbers w, x, y, z of a quaternion or 3 angles roll, pitch, yaw"),
        ({"base.orientation": 1.0}, "must be 4 numbers w, x, y, z"),
        ({"base.position": (1, 2)}, "initial.base.position: must be 3 numbers x, y, z, is .1.0, 2.0."),
        ({"base.position": 1.0}, "initial.base.position: must be 3 numbers x, y, z, is 1.0"),
        ({"base.x.position": (1, 2, 3)}, "initial.base.x.position: must be a number"),
        ({"base.velocity": (1, 2, 3), "base.y.velocity": 3}, "initial.base.y.velocity: is given twice"),
        ({"base.orientation": (1, 0, 0, float("nan"))}, "initial.base.orientation: must be finite"),
    ],
)
def test_what_is_no_start_is_refused_with_a_remedy(initial, message):
    with pytest.raises(ModelError, match=message):
        scenario(initial)


def test_a_ball_has_no_place():
    with pytest.raises(ModelError, match="initial.base.position: must be a number"):
        scenario({"base.position": (1, 2, 3)}, "ball")


def test_files_are_refused_with_all_their_flaws(tmp_path):
    lines = "base.orientation = [1, 0, 0]\nbase.velocity = [1, 2]\nbase.x.position = 1\n[solver]\nrtol = -1\n"
    with pytest.raises(ModelError) as caught:
        read(tmp_path, lines)
    assert "solver.rtol" in str(caught.value)
    assert "initial.base.velocity: must be 3 numbers" in str(caught.value)
    assert len(caught.value.flaws) == 2


def test_the_schema_allows_vectors():
    jsonschema = pytest.importorskip("jsonschema")
    schema = make_schema()
    good = {"$ref": schema["properties"]["initial"]["$ref"], "$defs": schema["$defs"]}
    jsonschema.validate({"base": {"orientation": ["10 deg", 0, 0], "x": {"position": 1}}}, good)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"base": {"orientation": ["north"]}}, good)
