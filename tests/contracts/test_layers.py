"""The packages import each other in one direction only, and the contract that holds this is the right one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("importlinter")

ROOT = Path(__file__).parents[2]
_DESCRIPTION = {"symbolic", "spatial", "laws", "model"}
_BELOW_ASSEMBLY = _DESCRIPTION | {"paths", "structures", "robots", "feedback", "files", "catalog", "dynamics"}
_BELOW_SIMULATION = _BELOW_ASSEMBLY | {"assembly", "native", "engine", "results"}
_ABOVE_SIMULATION = _BELOW_SIMULATION | {"simulation", "perturbation", "cosimulation", "workbook", "codegen", "gym"}
# What each package may import, the modules beside the packages aside, which all may.
MAY_IMPORT = {
    "symbolic": set(),
    "spatial": {"symbolic"},
    "laws": {"symbolic", "spatial"},
    "model": {"symbolic", "spatial", "laws"},
    "paths": _DESCRIPTION,
    "structures": _DESCRIPTION,
    "robots": _DESCRIPTION,
    "feedback": _DESCRIPTION,
    "files": _DESCRIPTION | {"paths", "structures", "robots"},
    "catalog": _DESCRIPTION | {"paths", "structures", "robots", "files"},
    "dynamics": {"symbolic", "spatial"},
    "assembly": _BELOW_ASSEMBLY,
    "native": {"symbolic"},
    "engine": {"native"},
    "results": set(),
    "simulation": _BELOW_SIMULATION,
    "perturbation": _BELOW_SIMULATION | {"simulation"},
    "cosimulation": _BELOW_SIMULATION | {"simulation"},
    "workbook": _BELOW_SIMULATION | {"simulation"},
    "codegen": _BELOW_SIMULATION | {"simulation"},
    "gym": _BELOW_SIMULATION | {"simulation"},
    "fmi": _ABOVE_SIMULATION,
    "analysis": _ABOVE_SIMULATION | {"fmi"},
    "commissioning": _ABOVE_SIMULATION | {"fmi", "analysis"},
    "reporting": {"results", "analysis"},
    "pages": {"results", "analysis"},
    "studies": _ABOVE_SIMULATION | {"fmi", "analysis", "commissioning", "reporting", "pages"},
    "studio": _ABOVE_SIMULATION | {"fmi", "analysis", "commissioning", "reporting", "pages"},
    "cli": _ABOVE_SIMULATION | {"fmi", "analysis", "commissioning", "reporting", "pages", "studies", "studio"},
}


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


def write_package(source, imports):
    """A package of the real one's shape whose parts import each other as told."""
    root = source / "robodyn"
    root.mkdir(parents=True)
    (root / "__init__.py").touch()
    modules = "atomic errors extensions lazy records signals units untrusted waiting"
    for module in modules.split():
        (root / f"{module}.py").touch()
    for name, imported in imports.items():
        (root / name).mkdir()
        lines = [f"import robodyn.{other}\n" for other in sorted(imported | {"errors"})]
        (root / name / "__init__.py").write_text("".join(lines))
    (source / "robodyn_studies").mkdir()
    (source / "robodyn_studies" / "__init__.py").write_text("import robodyn.presentation.studies\n")


def test_the_package_keeps_its_contracts():
    done = lint_imports(ROOT / "src")
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_intended_import_is_allowed(tmp_path):
    write_package(tmp_path, MAY_IMPORT)
    done = lint_imports(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_other_import_is_refused(tmp_path):
    wrong = {name: MAY_IMPORT.keys() - allowed - {name} for name, allowed in MAY_IMPORT.items()}
    write_package(tmp_path, wrong)
    done = lint_imports(tmp_path)
    pairs = {f"robodyn.{name} -> robodyn.{other}" for name, others in wrong.items() for other in others}
    missed = {pair for pair in pairs if f"{pair} " not in done.stdout}
    assert done.returncode != 0
    assert not missed, done.stdout


def test_the_errors_module_imports_no_package(tmp_path):
    write_package(tmp_path, MAY_IMPORT)
    (tmp_path / "robodyn" / "errors.py").write_text("import robodyn.symbolic\n")
    assert "robodyn.base.errors -> robodyn.symbolic" in lint_imports(tmp_path).stdout


def test_the_library_cannot_import_the_studies_made_with_it(tmp_path):
    write_package(tmp_path, MAY_IMPORT)
    (tmp_path / "robodyn" / "lazy.py").write_text("import robodyn_studies\n")
    assert "robodyn.base.lazy -> robodyn_studies" in lint_imports(tmp_path).stdout
