"""Do scenarios say what logs do, those that `verify/` names?"""

import tomllib
from pathlib import Path

import pytest

from robodyn.analysis import read_measured, validate
from robodyn.description.catalog import find_scenario
from robodyn.description.files import read_scenario
from robodyn.description.files.samples import read_mapping

OPTIONAL = {"map", "inputs"}
KEYS = {"what", "source", "scenario", "data", "signal", "within"} | OPTIONAL
FOLDER = Path(__file__).parents[2] / "verify"
COMPARISONS = [
    (path.parent, entry)
    for path in sorted(FOLDER.glob("*.toml"))
    for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("comparison", [])
]


@pytest.mark.parametrize(("folder", "entry"), COMPARISONS, ids=[entry["what"] for _, entry in COMPARISONS])
def test_a_log_is_met(folder, entry, proof):
    unknown, missing = entry.keys() - KEYS, KEYS - OPTIONAL - entry.keys()
    assert not unknown | missing, f"unknown keys: {sorted(unknown)}, missing ones: {sorted(missing)}"
    name = entry["scenario"]
    scenario = read_scenario(folder / name) if name.endswith(".toml") else find_scenario(name)
    mapping = read_mapping(folder / entry["map"]) if "map" in entry else None
    data = read_measured(folder / entry["data"], mapping)
    found = validate(scenario, data, entry.get("inputs", ()), method="simulation")
    errors = {error.name: error for error in found.signals}
    assert entry["signal"] in errors, f"{entry['signal']} was not compared, but {', '.join(errors)}"
    error = errors[entry["signal"]]
    given = {"source": entry["source"], "deviation": error.rms, "within": entry["within"], "unit": f"{error.unit} rms"}
    proof(entry["what"], kind="log", **given)


def test_the_example_of_the_readme_is_one_of_them():
    example = (FOLDER / "README.md").read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]
    (entry,) = tomllib.loads(example)["comparison"]
    assert entry in [known for _, known in COMPARISONS]
