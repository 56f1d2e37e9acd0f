"""The floors import each other downwards only, and the contracts that hold this are the right ones."""

import importlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from robodyn.base.lazy import VIEWS

pytest.importorskip("importlinter")

ROOT = Path(__file__).parents[2]
FLOORS = [("cli",), ("presentation",), ("analysis", "exchange"), ("computation",), ("description",), ("base",)]
"""From the top floor to the ground; two on one level do not know each other."""


def lint_imports(source):
    """Run the project's import contracts on the package in a source folder."""
    command = [
        str(Path(sys.executable).with_name("lint-imports")),
        "--no-cache",
        "--config",
        str(ROOT / "pyproject.toml"),
    ]
    environment = os.environ | {"PYTHONPATH": str(source), "COLUMNS": "200"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=source, check=False)


def contract(words):
    """The import contract whose name has these words."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return next(each for each in contracts if words in each["name"])


def levels(words):
    """The layers of a contract, each as the set of its modules."""
    return [set(layer.replace(" ", "").split("|")) for layer in contract(words)["layers"]]


def rooms():
    """All packages and modules that the contract of the rooms names."""
    return sorted(set().union(*levels("rooms of a floor")))


def write_package(source, imports):
    """A package of the real one's shape; imports: module -> modules that it imports."""
    for module in {*rooms(), *(f"robodyn.{floor}" for level in FLOORS for floor in level), *imports}:
        folder = source.joinpath(*module.split("."))
        folder.mkdir(parents=True, exist_ok=True)
        lines = [f"import {other}\n" for other in sorted(imports.get(module, ()))]
        (folder / "__init__.py").write_text("".join(lines))
    (source / "robodyn" / "__init__.py").touch()
    (source / "robodyn_studies").mkdir(exist_ok=True)
    (source / "robodyn_studies" / "__init__.py").write_text("import robodyn.presentation.studies\n")


def test_the_package_keeps_its_contracts():
    done = lint_imports(ROOT / "src")
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_package_stands_in_a_room_and_every_room_is_there():
    there = {
        f"robodyn.{floor}.{path.stem}"
        for floor in ("base", "description", "computation", "exchange", "presentation")
        for path in (ROOT / "src" / "robodyn" / floor).iterdir()
        if not path.name.startswith("__")
    }
    named = {room for room in rooms() if not room.startswith("robodyn.analysis")}
    assert there == named


def test_each_floor_may_import_all_below_it(tmp_path):
    names = [[f"robodyn.{floor}" for floor in level] for level in FLOORS]
    imports = {floor: set().union(*names[k + 1 :]) for k, level in enumerate(names) for floor in level}
    write_package(tmp_path, imports)
    done = lint_imports(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("words", ["a floor imports", "rooms of a floor"])
def test_nothing_imports_what_is_above_or_beside_it(tmp_path, words):
    order = levels(words)
    above = [set().union(*order[: k + 1]) for k in range(len(order))]
    wrong = {module: above[k] - {module} for k, level in enumerate(order) for module in level}
    write_package(tmp_path, wrong)
    done = lint_imports(tmp_path)
    pairs = {f"{module} -> {other}" for module, others in wrong.items() for other in others}
    assert done.returncode != 0
    assert not {pair for pair in pairs if f"{pair} " not in done.stdout}, done.stdout


def test_the_library_cannot_import_the_studies_made_with_it(tmp_path):
    write_package(tmp_path, {"robodyn.base.lazy": {"robodyn_studies"}})
    assert "robodyn.base.lazy -> robodyn_studies" in lint_imports(tmp_path).stdout


def test_no_floor_names_one_above_it_in_a_text():
    """Views of results are the only calls upwards: the package says which module holds each of them."""
    names = [name for level in FLOORS for name in level]
    asked = set()
    for k, level in enumerate(FLOORS):
        above = [name for upper in FLOORS[: k + 1] for name in upper if name not in level]
        for file in (path for floor in level for path in (ROOT / "src" / "robodyn" / floor).rglob("*.py")):
            text = file.read_text(encoding="utf-8")
            found = re.findall(r'"robodyn\.(\w+)[.:\w]*"', text)
            assert not set(found) & set(above), file
            asked |= set(re.findall(r'= view\("(\w+)"\)', text))
    assert len(names) == 7
    assert asked == set(VIEWS)
    for name, module in VIEWS.items():
        assert callable(getattr(importlib.import_module(module), name))
