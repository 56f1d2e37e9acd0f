"""Do the studies use only what robodyn offers to everybody: names that it or one of its packages exports?"""

import ast
import importlib.util
from pathlib import Path

import pytest

import robodyn_studies

FILES = sorted(Path(robodyn_studies.__file__).parent.rglob("*.py"))


def imported(file):
    """(module, name) of everything that a file takes from robodyn."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "robodyn":
            yield from ((node.module, alias.name) for alias in node.names)
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.split(".")[0] == "robodyn")


def is_public(module, name):
    """Exported by robodyn, by a package of it, or by a module that a package exports."""
    path = module.split(".")
    if len(path) == 1:
        return name in importlib.import_module(module).__all__ or name == "symbolic"
    if len(path) == 2 and importlib.util.find_spec(f"{module}.{name}"):
        return True  # a package, as in `from robodyn.description import paths`
    # A package is a room of a floor, as `robodyn.description.catalog`; `robodyn.analysis` is a floor with names itself.
    depth = 2 if path[1] == "analysis" and "commissioning" not in path else 3
    package = importlib.import_module(".".join(path[:depth]))
    if len(path) == depth:
        # `robodyn.base.errors` is a module of its own and hides nothing.
        return name in getattr(package, "__all__", vars(package)) and not name.startswith("_")
    return len(path) == depth + 1 and path[depth] in package.__all__ and not name.startswith("_")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_only_public_names_are_used(file):
    assert [f"{module}: {name}" for module, name in imported(file) if not is_public(module, name)] == []


def test_what_is_hidden_is_seen():
    assert not is_public("robodyn.description.model.numbers", "check_finite")
    assert not is_public("robodyn.computation.engine", "integrator_of_nobody")
    assert is_public("robodyn.description.catalog.scara", "AXES")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_module_says_what_it_is_for(file):
    assert ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
