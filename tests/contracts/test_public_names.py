"""What `robodyn` offers by name is there, documented, and loaded only when it is used."""

import importlib
import importlib.util
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import robodyn

FLOORS = [f"robodyn.{name}" for _, name, is_package in pkgutil.iter_modules(robodyn.__path__) if is_package]
ROOMS = [
    f"{floor}.{name}".removeprefix("robodyn.")
    for floor in FLOORS
    for _, name, is_package in pkgutil.iter_modules(importlib.import_module(floor).__path__)
    if is_package and floor != "robodyn.cli"
]
PACKAGES = ["analysis", "cli", *ROOMS]
# The engine's library ends like an extension module and is none.
LIBRARY = "robodyn.computation.engine._engine"
QUESTIONS = {
    "How",
    "What",
    "Which",
    "Where",
    "When",
    "Who",
    "Does",
    "Do",
    "Did",
    "Is",
    "Are",
    "Can",
    "May",
    "Of",
    "In",
    "By",
}
API_PAGES = Path(__file__).parents[2] / "docs" / "extensions" / "api_pages.py"
HEAVY = ("casadi", "llvmlite", "numpy", "matplotlib", "typer", "rich")


@pytest.mark.parametrize("name", robodyn.__all__)
def test_a_public_name_is_there_and_documented(name):
    found = getattr(robodyn, name)
    if inspect.isclass(found) or inspect.isroutine(found):
        assert (found.__doc__ or "").strip()
        assert found.__doc__ != f"{name}{inspect.signature(found)}", "a docstring made up by dataclass"


def test_public_names_are_sorted_and_shown():
    assert len(set(robodyn.__all__)) == len(robodyn.__all__)
    assert set(robodyn.__all__) <= set(dir(robodyn))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="simulat"):
        _ = robodyn.simulat


def test_the_version_is_that_of_the_installed_package():
    from importlib.metadata import version

    assert robodyn.__version__ == version("robodyn")


@pytest.mark.parametrize("package", PACKAGES)
def test_what_a_package_lists_is_there(package):
    module = importlib.import_module(f"robodyn.{package}")
    for name in getattr(module, "__all__", ()):
        assert hasattr(module, name)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_listed_name_is_hidden_by_a_module_of_the_same_name(package):
    module = importlib.import_module(f"robodyn.{package}")
    own = {name for _, name, _ in pkgutil.iter_modules(module.__path__)}
    # Imported at once, a name takes the place of the module; loaded when used, it would be the module.
    assert not (hasattr(module, "__getattr__") and own & set(module.__all__))


@pytest.mark.parametrize("package", PACKAGES)
def test_names_that_a_package_loads_when_used_are_those_it_lists(package):
    module = importlib.import_module(f"robodyn.{package}")
    assert set(getattr(module, "__all__", ())) <= set(dir(module))
    with pytest.raises(AttributeError, match="simulat"):
        _ = module.simulat


def test_a_mistake_in_a_file_is_told_without_loading_what_simulates_and_a_plain_run_needs_no_scipy():
    code = "import sys; from robodyn.cli.targets import load_scenario\n"
    code += "try: load_scenario('missing.toml')\n"
    code += "except ValueError: print([name for name in ('llvmlite', 'scipy', 'rich') if name in sys.modules])\n"
    code += "from robodyn import simulate; from robodyn.description.catalog import pendulum; simulate(pendulum())\n"
    code += "print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "False"]


def test_every_module_says_what_it_is_for():
    modules = {module.name for module in pkgutil.walk_packages(robodyn.__path__, "robodyn.")} - {LIBRARY}
    begin = {name: Path(importlib.util.find_spec(name).origin).read_text(encoding="utf-8").lstrip() for name in modules}
    assert len(begin) > 300
    assert [name for name, text in begin.items() if not text.startswith('"""')] == []
    # The technical term comes first, the question behind it: that is what one searches for.
    assert [name for name, text in begin.items() if text[3:].split()[0] in QUESTIONS] == []


def test_importing_the_package_loads_nothing_heavy():
    code = f"import robodyn, sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def load_api_pages():
    spec = importlib.util.spec_from_file_location("api_pages", API_PAGES)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_and_its_members_are_described_in_the_reference():
    reference = load_api_pages()
    described, undocumented = [], []
    for package, names in reference.public_names().items():
        found = {name: getattr(importlib.import_module(package), name) for name in names}
        described += [(name, id(value)) for name, value in found.items()]
        classes = {name: value for name, value in found.items() if inspect.isclass(value)}
        documented = {**classes, **{name: value for name, value in found.items() if inspect.isroutine(value)}}
        undocumented += [f"{package}.{name}" for name, value in documented.items() if not (value.__doc__ or "").strip()]
        members = [(name, *member) for name, cls in classes.items() for member in reference.members_of(cls)]
        undocumented += [f"{package}.{name}.{member}" for name, member, _, doc in members if not doc.strip()]
    packages = [robodyn, *(importlib.import_module(f"robodyn.{package}") for package in PACKAGES)]
    offered = {(name, id(getattr(module, name))) for module in packages for name in getattr(module, "__all__", ())}
    assert set(described) == offered
    assert not undocumented
