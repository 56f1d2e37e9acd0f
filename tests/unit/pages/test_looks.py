"""Are looks of bodies checked, kept in files, and drawn as what they are?"""

import struct

import numpy as np
import pytest

import robodyn as rd
from robodyn.base.errors import ModelError
from robodyn.description.files.schema import make_schema
from robodyn.description.files.writing import scenario_text
from robodyn.presentation.pages import make_page
from robodyn.presentation.pages.contents import describe_run
from robodyn.presentation.pages.meshes import MeshStore

TRIANGLES = np.array([[[0, 0, 0], [1, 0, 0], [0, 2, 0]], [[0, 0, 0], [0, 0, 3], [1, 0, 0]]], float)
FILE = """
duration = 0.1
gravity = [0, 0, 0]
[bodies.arm]
mass = 1
inertia = [1, 1, 1]
[bodies.arm.looks]
shell = { kind = "box", size = ["100 mm", 0.2, 0.3], origin = [0, 0, 0.05], rpy = [0, 0, "90 deg"], colour = "#CC4422" }
rod = { kind = "cylinder", radius = 0.1, length = 1 }
end = { kind = "capsule", radius = 0.1, length = 1 }
ball = { kind = "sphere", radius = 0.1 }
hook = { kind = "mesh", file = "hook.stl", scale = [0.001, 0.001, 0.001] }
[joints.hinge]
kind = "revolute"
parent = "ground"
child = "arm"
"""


def binary(triangles, head=b"solid"):
    """The bytes of a binary STL; the word that begins text files may begin these too."""
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *corners.ravel(), 0) for corners in triangles)
    return head.ljust(80) + struct.pack("<I", len(triangles)) + rows


@pytest.fixture
def path(tmp_path):
    (tmp_path / "hook.stl").write_bytes(binary(TRIANGLES * 1e3))
    file = tmp_path / "seen.toml"
    file.write_text(FILE)
    return file


def test_looks_stay_what_they_are_through_files_and_combination(path, tmp_path):
    scenario = rd.read_scenario(path)
    looks = scenario.machine.mechanism.body("arm").looks
    assert [type(look).__name__ for look in looks] == [
        "BoxLook",
        "CylinderLook",
        "CapsuleLook",
        "SphereLook",
        "MeshLook",
    ]
    assert looks[0].size == (0.1, 0.2, 0.3)
    assert looks[-1].file == str(tmp_path / "hook.stl")
    (tmp_path / "elsewhere").mkdir()
    again = tmp_path / "elsewhere" / "seen.toml"
    again.write_text(scenario_text(scenario))
    assert rd.read_scenario(again) == scenario
    cell = rd.combine("cell", {"left": scenario.machine})
    assert cell.mechanism.body("left.arm").looks == looks
    assert not [name for name in scenario.numbers() if "shell" in name]


def test_the_page_draws_looks_and_tells_meshes_that_have_gone(path, tmp_path):
    run = rd.simulate(rd.read_scenario(path))
    meshes = MeshStore()
    plain = describe_run(run, "run", meshes)
    (body,) = plain["machine"]["bodies"]
    assert [look["kind"] for look in body["looks"]] == ["box", "cylinder", "capsule", "sphere", "mesh"]
    assert body["looks"][0]["colour"] == "#CC4422"
    assert body["looks"][-1]["meshes"] == [0]
    assert np.max(meshes.meshes[0].corners) == pytest.approx(3.0)
    (tmp_path / "hook.stl").unlink()
    (warning,) = describe_run(run, "run", MeshStore())["warnings"]
    assert warning.startswith("the visual 'hook' of 'arm' cannot be drawn: ")
    assert "makeLooks" in make_page(run)


@pytest.mark.parametrize(
    ("line", "flaw"),
    [
        ('{ kind = "bx", size = [1, 1, 1] }', "looks.a.kind: 'bx' is unknown (did you mean 'box'?)"),
        ('{ kind = "box", size = [1, 0, 1] }', "looks.a.size[1]: must be positive"),
        ('{ kind = "sphere", radius = "1 kg" }', 'looks.a.radius: "1 kg" must be in m'),
        ('{ kind = "sphere", radius = 1, colour = "red" }', "looks.a.colour: 'red' is not a colour"),
        ('{ kind = "mesh", file = "no.stl" }', "looks.a.file: there is no file"),
        (
            '{ kind = "mesh", file = "hook.ply" }',
            "looks.a.file: 'hook.ply' is not a mesh that can be drawn (save it as .stl or",
        ),
        ('{ kind = "mesh", file = "hook.stl", scale = [1, 0, 1] }', "looks.a.scale: must not be 0"),
    ],
)
def test_wrong_looks_are_told(path, line, flaw):
    path.write_text(FILE.replace("[joints.hinge]", f"a = {line}\n[joints.hinge]"))
    with pytest.raises(ModelError) as error:
        rd.read_scenario(path)
    assert flaw in str(error.value)


def test_schema_knows_looks_and_limits():
    schema = make_schema()
    kinds = schema["properties"]["bodies"]["additionalProperties"]["anyOf"][0]["properties"]["looks"]
    assert "BoxLook" in str(kinds)
    assert "effort_limit" in schema["properties"]["joints"]["additionalProperties"]["properties"]
