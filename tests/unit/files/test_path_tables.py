"""Is a path in a file the reference block it describes, and is everything wrong with it reported at once?"""

import copy
import json

import numpy as np
import pytest

from robodyn import ModelError, assemble, read_scenario
from robodyn.description.paths import (
    arc_about,
    arc_through,
    build_arm,
    path_block,
    plan_path,
    point_tool,
    straight_line,
    waypoints,
)

INERTIA = [0.1, 0.1, 0.1]
BODIES = {f"link{k}": {"mass": 1.0, "inertia": INERTIA} for k in range(1, 7)}
QUARTER = "90 deg"
LIMITS = {"lower_limit": "-160 deg", "upper_limit": "160 deg", "speed_limit": "236 deg/s"}
ROWS = [
    {"joint": "joint1", "body": "link1"} | LIMITS,
    {"joint": "joint2", "body": "link2", "alpha": QUARTER},
    {"joint": "joint3", "body": "link3", "a": 0.45},
    {"joint": "joint4", "body": "link4", "alpha": "-90 deg", "d": 0.45},
    {"joint": "joint5", "body": "link5", "alpha": QUARTER},
    {"joint": "joint6", "body": "link6", "alpha": "-90 deg"},
]
LINE = {
    "kind": "line",
    "point": "tool",
    "start": ["600 mm", -0.6, -0.285],
    "end": [0.6, 0.6, -0.285],
    "orientation": {"pointing": [0, 0, -1], "spin": "10 deg", "axis": [0, 0, 1]},
    "speed": "200 mm/s",
    "acceleration": 0.8,
    "jerk": 10.0,
    "begin": "0.5 s",
    "near": [0, "20 deg", "-150 deg", 0, "-60 deg", "180 deg"],
    "singular": 0.01,
    "spacing": "20 mm",
}
FILE = {
    "duration": 8.0,
    "bodies": BODIES,
    "dh": {"convention": "modified", "rows": ROWS},
    "points": {"tool": {"body": "link6", "origin": [0, 0, 0.085]}},
    "paths": {"path": LINE},
}
NEAR = tuple(np.radians([0, 20, -150, 0, -60, 180]))
DOWN = point_tool((0, 0, -1))


def as_toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {as_toml(entry)}" for key, entry in value.items()) + "}"
    return f"[{', '.join(map(as_toml, value))}]" if isinstance(value, list) else json.dumps(value)


def read(tmp_path, data):
    path = tmp_path / "arm.toml"
    path.write_text("\n".join(f"{json.dumps(key)} = {as_toml(value)}" for key, value in data.items()))
    return read_scenario(path)


def with_path(**changes):
    """The file with some keys of its path changed, or left out where they are None."""
    data = copy.deepcopy(FILE)
    data["paths"]["path"] = {key: value for key, value in (LINE | changes).items() if value is not None}
    return data


def flaws_of(tmp_path, data):
    with pytest.raises(ModelError) as error:
        read(tmp_path, data)
    assert "arm.toml" in str(error.value)
    return {flaw.path: f"{flaw.what} ({flaw.remedy})" for flaw in error.value.flaws}


def test_a_line_is_the_block_python_makes(tmp_path):
    scenario = read(tmp_path, FILE)
    mechanism = scenario.machine.mechanism
    down = point_tool((0, 0, -1), spin=np.radians(10))
    path = straight_line((0.6, -0.6, -0.285), (0.6, 0.6, -0.285), down)
    plan = plan_path(mechanism, "tool", path, near=NEAR, spacing=0.02)
    (block,) = scenario.machine.blocks
    assert block == path_block("path", plan, speed=0.2, acceleration=0.8, jerk=10.0, begin=0.5)
    assert "path.position6" in assemble(scenario).signal_names


ENDS = {"start": None, "end": None}
ARC = {"kind": "arc", "start": [0.6, -0.2, -0.2]}
SHAPES = {
    "arc through": (
        ENDS | ARC | {"middle": [0.5, 0, -0.2], "end": [0.6, 0.2, -0.2]},
        lambda: arc_through((0.6, -0.2, -0.2), (0.5, 0, -0.2), (0.6, 0.2, -0.2), DOWN),
    ),
    "arc about": (
        ENDS | ARC | {"center": [0.6, 0, -0.2], "normal": [0, 0, 1], "angle": "180 deg"},
        lambda: arc_about((0.6, 0, -0.2), (0, 0, 1), (0.6, -0.2, -0.2), np.pi, DOWN),
    ),
    "points": (
        ENDS | {"kind": "points", "points": [[0.6, -0.3, -0.2], ["700 mm", 0, -0.2], [0.5, 0.2, 0]], "radius": "50 mm"},
        lambda: waypoints([(0.6, -0.3, -0.2), (0.7, 0, -0.2), (0.5, 0.2, 0)], 0.05, DOWN),
    ),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("orientation", [{"pointing": [0, 0, -1]}, {"rpy": ["180 deg", 0, 0]}], ids=["pointing", "rpy"])
def test_every_shape_is_the_block_python_makes(tmp_path, name, orientation):
    keys, make = SHAPES[name]
    scenario = read(tmp_path, with_path(**keys, orientation=orientation, period="1 ms", jerk=None))
    plan = plan_path(scenario.machine.mechanism, "tool", make(), near=NEAR, spacing=0.02)
    (block,) = scenario.machine.blocks
    wanted = path_block("path", plan, speed=0.2, acceleration=0.8, begin=0.5, period=1e-3)
    assert block.period == wanted.period
    assert np.allclose(block.law.position, wanted.law.position, atol=1e-12)


def test_the_tool_turns_into_its_end_orientation(tmp_path):
    scenario = read(tmp_path, with_path(end_orientation={"pointing": [0.3, 0, -1]}, spacing=None))
    (block,) = scenario.machine.blocks
    R = build_arm(scenario.machine.mechanism, "tool").place(block.law.position[-1]).R
    assert np.allclose(R, point_tool((0.3, 0, -1)), atol=1e-11)


def test_a_branch_is_chosen_by_number(tmp_path):
    blocks = [read(tmp_path, with_path(near=None, branch=k)).machine.blocks[0] for k in (2, 6)]
    assert blocks[0].law.position[0] != blocks[1].law.position[0]


@pytest.mark.parametrize("key", sorted(LINE))
def test_a_misspelt_key_is_answered_with_the_right_one(tmp_path, key):
    data = with_path()
    data["paths"]["path"][f"{key}_"] = data["paths"]["path"].pop(key)
    assert f"'{key}'" in flaws_of(tmp_path, data)[f"paths.path.{key}_"]


def test_unknown_keys_of_inner_tables_are_told(tmp_path):
    data = with_path(orientation={"pointing": [0, 0, -1], "spim": 1})
    assert list(flaws_of(tmp_path, data)) == ["paths.path.orientation.spim"]


def test_a_path_keeps_within_the_joints_own_limits(tmp_path):
    data = with_path()
    data["dh"]["rows"][0]["upper_limit"] = "10 deg"
    assert "exceeds its upper limit of 10 deg by up to 35" in flaws_of(tmp_path, data)["paths.path.joints.joint1"]


@pytest.mark.parametrize(
    ("changes", "path", "message"),
    [
        ({"kind": "lime"}, "kind", "did you mean 'line'"),
        ({"point": "tol"}, "point", "did you mean 'tool'"),
        ({"speed": "200 mm"}, "speed", "m/s"),
        ({"speed": 0}, "speed", "must be positive"),
        ({"end": [0.6, -0.6, -0.285]}, "pieces[0]", "must lead somewhere"),
        ({"end": [0.6, -0.6]}, "end", "list of 3 numbers"),
        ({"orientation": None}, "orientation", "is missing"),
        ({"orientation": {}}, "orientation", "is missing"),
        ({"orientation": {"pointing": [0, 0, 0]}}, "orientation.pointing", "must not be zero"),
        ({"branch": 3}, "branch", "is given beside near"),
        ({"singular": 0.2}, "joints.joint3", "elbow singularity"),
        ({"end": [0.6, 1.6, -0.285]}, "", "out of reach from 1240."),
        ({"delay": 0.001}, "delay", "no effect on a continuous block"),
    ],
)
def test_what_is_wrong_with_a_path_is_told_with_its_key(tmp_path, changes, path, message):
    found = flaws_of(tmp_path, with_path(**changes))
    assert message in found[f"paths.path.{path}".rstrip(".")]


def test_a_path_without_a_mechanism_is_told(tmp_path):
    data = {"duration": 1.0, "paths": {"path": LINE}}
    assert "no mechanism" in flaws_of(tmp_path, data)["paths.path.point"]


def test_problems_of_the_path_are_told_beside_those_of_the_rest(tmp_path):
    data = with_path(speed="fast")
    data["bodies"]["link1"]["mass"] = "heavy"
    data["blocks"] = {"loop": {"law": "amplifier", "inputs": {"value": "pat.s"}, "parameters": {"gain": 1.0}}}
    found = flaws_of(tmp_path, data)
    assert {"bodies.link1.mass", "paths.path.speed"} <= found.keys()
    assert "did you mean 'path'" in found["blocks.loop.inputs.value"]


def test_a_block_may_not_have_a_paths_name(tmp_path):
    data = with_path()
    data["blocks"] = {"path": {"law": "constant_reference", "parameters": {"constant": 1.0}}}
    assert any("path" in key for key in flaws_of(tmp_path, data))
