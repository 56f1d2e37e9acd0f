"""Nothing is accepted and ignored: in every table of a file an unknown key is an error."""

import copy
import json

import pytest

from robodyn import ModelError, assemble, read_scenario

INERTIA = {"xx": 0.1, "yy": 0.1, "zz": 0.1}
BODY = {"mass": 1.0, "com": [0.1, 0.0, 0.0], "inertia": INERTIA, "about": "com", "physical": True}
COMPLETE = {
    "name": "arm",
    "title": "An arm",
    "duration": 1.0,
    "gravity": [0.0, 0.0, -9.81],
    "tunable": ["upper.mass"],
    "bodies": {"upper": BODY, "lower": BODY},
    "joints": {
        "shoulder": {"kind": "revolute", "parent": "ground", "child": "upper", "rpy": [0.1, 0.0, 0.0], "armature": 0.1},
        "elbow": {"kind": "revolute", "parent": "upper", "child": "lower", "origin": [1, 0, 0], "axis": [0, 1, 0]},
    },
    "points": {"tip": {"body": "lower", "origin": [1.0, 0.0, 0.0]}, "wall": {"body": "ground"}},
    "coordinates": {
        "strut": {"between": ["wall", "tip"]},
        "height": {"point": "tip", "direction": [0.0, 0.0, 1.0]},
        "sum": {"of": {"shoulder": 1.0, "elbow": 1.0}, "inertia": 0.1},
    },
    "blocks": {
        "loop": {
            "law": "sampled_velocity_loop",
            "on": "shoulder",
            "inputs": {"velocity_command": "late.output"},
            "parameters": {"proportional": 1.0, "integral": 1.0},
            "memory": {"error_sum": 0.1},
            "period": 0.001,
            "offset": 0.001,
            "delay": 0.001,
            "hold": {"torque_command": 0.0},
            "native": True,
        },
        "friction": {
            "law": "lugre_friction",
            "inputs": {"velocity": "elbow.velocity"},
            "acts": {"torque": "elbow"},
            "states": {"bristle": 0.0},
            "parameters": {
                "stiffness": 1e4,
                "damping": 1.0,
                "viscous": 1.0,
                "coulomb": 1.0,
                "static": 1.0,
                "stribeck_velocity": 0.1,
            },
        },
    },
    "signals": {"angle": {"formula": "elbow.position + offset", "unit": "rad", "parameters": {"offset": 0.1}}},
    "delays": {"late": {"signal": "elbow.velocity", "time": 0.01, "before": 0.0}},
    "loads": {"weight": {"point": "tip", "force": [0.0, 0.0, -1.0], "torque": [0.0, 0.0, 0.0]}},
    "contacts": {
        "corner": {
            "touching": {"box": "tip", "size": [0.1, 0.1, 0.1], "rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]},
            "against": {"plane": "wall", "normal": [1.0, 0.0, 0.0]},
            "law": "kelvin_voigt",
            "parameters": {"stiffness": 1e4, "damping": 1.0},
            "friction": "sliding_friction",
            "friction_parameters": {"coefficient": 0.3, "smoothing_velocity": 0.01},
        },
        "stop": {
            "touching": {"ball": "tip", "radius": 0.1},
            "against": {"box": "wall", "size": [0.1, 0.1, 0.1]},
            "restitution": 0.5,
            "rest_speed": 0.01,
        },
    },
    "interfaces": {
        "grip": {"takes": "motion", "point": "tip", "rotates": False, "stiffness": [1e3, 1e3, 1e3], "damping": 1.0},
        "turn": {"takes": "force", "on": "elbow", "given": {"force": 1.0}},
    },
    "initial": {"elbow.position": 0.3},
    "events": {
        "far": {
            "signal": "elbow.position",
            "level": 1.0,
            "direction": "rising",
            "stop": False,
            "set": {"elbow.velocity": 0.0},
        }
    },
    "recording": {"rate": 100.0, "signals": ["*"]},
    "solver": {"method": "rk4", "step": 1e-3},
}
ROW = {"joint": "turn", "body": "upper", "kind": "revolute", "armature": 0.1}
ROW |= {"a": 0.1, "alpha": 0.2, "d": 0.3, "theta": 0.4}
WITH_ROWS = {"duration": 1.0, "bodies": {"upper": BODY}, "dh": {"convention": "modified", "rows": [ROW]}}
ROUND = {"kind": "rod", "radius": 0.01, "young": 7e10, "shear": 2.7e10, "density": 2700.0, "shear_area": 1e-4}
KEPT = {"interfaces": ["tip"], "highest": 1e5, "directions": ["y", "rz"], "stiffening": False}
WITH_FLEXIBLE = {
    "duration": 1.0,
    "sections": {"round": ROUND},
    "bodies": {
        "upper": {
            "stiffness": 1.0,
            "damping": 0.01,
            "rayleigh": {"mass": 0.1, "stiffness": 1e-4},
            "points": True,
            "beam": {"length": 1.0, "section": "round", "elements": 1, "modes": 0, **KEPT},
        },
        "fork": {
            "frame": {
                "root": "root",
                "nodes": {"root": [0, 0, 0], "tip": [1, 0, 0]},
                "elements": [{"start": "root", "end": "tip", "section": "round", "parts": 2, "up": [0, 0, 1]}],
                "frequency": 1e4,
                "directions": ["rz"],
            }
        },
        "hand": {
            "modal": {
                "mass": [1.0, 1.0],
                "position": [[0, 0, 0], [1, 0, 0]],
                "shift": [[[0, 0, 0]], [[0, 1, 0]]],
                "turn": [[[0, 0, 0]], [[0, 0, 1]]],
                "tensor": [[[0, 0, 0], [0, 0, 0], [0, 0, 0]]] * 2,
                "stiffness": [100.0],
                "nodes": {"end": {"position": [1, 0, 0], "shift": [[0, 1, 0]], "turn": [[0, 0, 1]]}},
            }
        },
    },
    "joints": {
        "shoulder": {"kind": "revolute", "parent": "ground", "child": "upper"},
        "elbow": {"kind": "revolute", "parent": "upper", "child": "fork", "node": "tip"},
        "grip": {"kind": "fixed", "parent": "fork", "child": "hand", "node": "tip"},
    },
    "points": {"end": {"body": "hand", "node": "end"}},
}
# Tables whose keys are names the writer of the file chooses; their entries are tables.
GROUPS = (
    "bodies",
    "joints",
    "points",
    "coordinates",
    "blocks",
    "delays",
    "signals",
    "loads",
    "contacts",
    "interfaces",
    "events",
)
GROUPS += ("sections", "nodes")
# Tables whose keys are names of other things in the file.
REFERRING = (
    "of", "inputs", "parameters", "friction_parameters", "states", "memory", "acts", "hold", "set", "initial", "given",
)  # fmt: skip


def as_toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {as_toml(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    return "inf" if value == float("inf") else json.dumps(value)


def use(tmp_path, data):
    """Read and assemble a file with this content."""
    path = tmp_path / "arm.toml"
    path.write_text("\n".join(f"{json.dumps(key)} = {as_toml(value)}" for key, value in data.items()))
    return assemble(read_scenario(path))


def tables_of(data, path=()):
    """Paths of all tables in tables and lists."""
    if isinstance(data, dict):
        yield path
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        if isinstance(value, (dict, list)):
            yield from tables_of(value, (*path, key))


def table_at(data, path):
    for key in path:
        data = data[key]
    return data


CASES = [(data, path) for data in (COMPLETE, WITH_ROWS, WITH_FLEXIBLE) for path in tables_of(data)]
NAMES = ["/".join(map(str, path)) or "top" for _, path in CASES]
FIXED = [
    (data, path, key)
    for data, path in CASES
    if not path or (path[-1] not in GROUPS and path[-1] not in REFERRING)
    for key in table_at(data, path)
]


@pytest.mark.parametrize("data", [COMPLETE, WITH_ROWS, WITH_FLEXIBLE], ids=["joints", "dh", "flexible"])
def test_the_complete_files_are_right(tmp_path, data):
    assert use(tmp_path, data).scenario.duration > 0


@pytest.mark.parametrize(("data", "path"), CASES, ids=NAMES)
def test_an_unknown_key_fails_in_every_table(tmp_path, data, path):
    data = copy.deepcopy(data)
    table = table_at(data, path)
    # In tables of names a right value, so that nothing but the key can be what is wrong.
    table["unknown_key"] = next(iter(table.values())) if path and path[-1] in REFERRING else 1.0
    with pytest.raises(ModelError, match="unknown_key"):
        use(tmp_path, data)


@pytest.mark.parametrize(("data", "path", "key"), FIXED, ids=lambda value: value if isinstance(value, str) else "")
def test_a_misspelt_key_is_answered_with_the_right_one(tmp_path, data, path, key):
    data = copy.deepcopy(data)
    table = table_at(data, path)
    misspelt = f"{key}_"
    table[misspelt] = table.pop(key)
    with pytest.raises(ModelError) as error:
        use(tmp_path, data)
    assert any(flaw.path.endswith(misspelt) and f"'{key}'" in flaw.remedy for flaw in error.value.flaws)


@pytest.mark.parametrize(("data", "path", "key"), FIXED, ids=lambda value: value if isinstance(value, str) else "")
def test_a_value_of_the_wrong_type_is_a_told_error_or_has_a_meaning(tmp_path, data, path, key):
    """No value whatever may end in anything but a right scenario or a ModelError."""
    data = copy.deepcopy(data)
    value = table_at(data, path)[key]
    for wrong in (float("inf"), True, "wrong", [], {}):
        table_at(data, path)[key] = wrong
        meant = type(value) is type(wrong) or not wrong
        try:
            use(tmp_path, data)
        except ModelError:
            meant = True
        assert meant, wrong
