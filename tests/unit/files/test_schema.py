"""Does the JSON Schema accept every right file, and refuse what the reader refuses?"""

import copy
import json
import re
import tomllib
from pathlib import Path

import pytest

from robodyn import ModelError, read_scenario
from robodyn.description.catalog import SCENARIOS
from robodyn.description.files import make_schema, scenario_text
from robodyn.description.model import ScenarioSequence

jsonschema = pytest.importorskip("jsonschema")

ROOT = Path(__file__).parents[3]
VALIDATOR = jsonschema.Draft202012Validator(make_schema())


def right_files():
    """Text of every scenario file of the examples and the docs, by name."""
    texts = {path.name: path.read_text() for path in sorted((ROOT / "examples").glob("*.toml"))}
    for page in sorted((ROOT / "docs").glob("*.md")):
        for k, text in enumerate(re.findall(r"^```toml file=.*?\n(.*?)^```", page.read_text(), re.S | re.M)):
            texts[f"{page.name}-{k}"] = text
    # Those of a co-simulation are read by another reader.
    return {name: text for name, text in texts.items() if "[subsystems" not in text}


FILES = right_files()
BASE = tomllib.loads(FILES["flexible_arm.toml"])


def flaws_of(data):
    return [error.message for error in VALIDATOR.iter_errors(data)]


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(make_schema())
    assert json.loads(json.dumps(make_schema())) == make_schema()


def test_there_are_files_to_look_at():
    assert len(FILES) > 5


@pytest.mark.parametrize("name", FILES)
def test_every_example_is_right(name):
    assert flaws_of(tomllib.loads(FILES[name])) == []


@pytest.mark.parametrize("name", ["scara-ptp", "four-bar", "box-on-slope", "pendulum"])
def test_what_is_written_is_right(name):
    made = SCENARIOS[name]()
    assert not isinstance(made, ScenarioSequence)
    assert flaws_of(tomllib.loads(scenario_text(made))) == []


def broken(path, value):
    """The example with one value changed, or left out where it is None."""
    data = copy.deepcopy(BASE)
    table = data
    for key in path[:-1]:
        table = table[key]
    if value is None:
        del table[path[-1]]
    else:
        table[path[-1]] = value
    return data


FIRST_JOINT = next(iter(BASE["joints"]))
FIRST_BLOCK = next(iter(BASE["blocks"]))
BROKEN = {
    "unknown key": (("colour",), "red"),
    "missing": (("duration",), None),
    "wrong type": (("title",), 3),
    "not a quantity": (("duration",), "long"),
    "unknown joint": (("joints", FIRST_JOINT, "kind"), "revolut"),
    "unknown key of a joint": (("joints", FIRST_JOINT, "armatur"), 1.0),
    "too few numbers": (("joints", FIRST_JOINT, "axis"), [0, 1]),
    "unknown law": (("blocks", FIRST_BLOCK, "law"), "pd_contrl"),
    "list of numbers for a flag": (("blocks", FIRST_BLOCK, "native"), [1]),
    "unknown method": (("solver", "method"), "rk5"),
    "flag for a number": (("solver", "step"), True),
    "no such constraint": (("constraints",), {"c": {"rods": ["a", "b"]}}),
    "one point of two": (("constraints",), {"c": {"rod": ["a"], "length": 1.0}}),
    "unknown event": (("events",), {"e": {"level": 1.0}}),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_the_reader_refuses_the_schema_refuses(tmp_path, name):
    data = broken(*BROKEN[name])
    assert flaws_of(data)
    path = tmp_path / "broken.toml"
    path.write_text("\n".join(f"{json.dumps(key)} = {as_toml(value)}" for key, value in data.items()))
    with pytest.raises(ModelError):
        read_scenario(path)


def as_toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {as_toml(entry)}" for key, entry in value.items()) + "}"
    return f"[{', '.join(map(as_toml, value))}]" if isinstance(value, list) else json.dumps(value)
