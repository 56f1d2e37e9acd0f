"""A clone works in any folder: one called as the package is, one with a space in its name, one with other letters."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from robodyn.computation.engine.building import LIBRARY

ROOT = Path(__file__).parents[2]
FILES = ("pyproject.toml", "README.md", "LICENSE", "hatch_build.py", "Makefile", ".gitignore")
EVERYWHERE = (
    "tests/contracts/test_hostile_files.py::test_the_guard_tells_which_of_several_went_wrong",
    "tests/unit/engine/test_library.py::test_another_library_can_be_named_if_it_is_from_the_same_sources",
    "tests/unit/native/test_cache.py::test_second_compilation_is_read_from_disk",
    "tests/unit/native/test_cache.py::test_two_processes_may_compile_the_same_at_once",
    "tests/unit/robots/test_mesh_files.py",
)
"""Tests that build, load, write and look for files."""
FURTHER = {
    "robodyn": ["tests/contracts/test_hostile_files.py::test_the_guard_tells_errors_hangs_floods_and_crashes"],
    "a b": [
        "tests/systems/test_code_export.py::test_the_program_gives_the_run_to_the_last_bit[bouncing-ball]",
        "tests/unit/engine/test_building.py::test_a_source_distribution_holds_the_sources_and_no_library",
    ],
    "Prüfstand-机": [
        "tests/systems/test_fmu_export.py::test_an_input_moves_the_cart_as_newton_says[2]",
        "tests/systems/test_report_page.py::test_data_without_a_machine_has_plots_and_no_replay",
    ],
}
COMMAND = "from robodyn.cli import main; main()"


@pytest.fixture(params=FURTHER)
def clone(request, tmp_path):
    """The parts of this repository that are needed to run it, in a folder of some name."""
    folder = tmp_path / request.param
    folder.mkdir()
    for part in ("src", "tests", "examples"):
        # With the times of files: modules that have been compiled are not compiled again.
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("_engine-*", "*.pyc.*"))
    for name in FILES:
        shutil.copy2(ROOT / name, folder)
    return folder


def call(clone, *arguments, program=(sys.executable,)):
    """What a program says that runs in a clone, finds the clone's package and keeps its files there."""
    inherited = {name: text for name, text in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "PYTEST"))}
    places = {"PYTHONPATH": str(clone / "src"), "ROBODYN_CACHE": str(clone / "build" / "cache")}
    command = [*program, *map(str, arguments)]
    done = subprocess.run(command, cwd=clone, env=inherited | places, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_what_depends_on_paths_works_in_folders_of_any_name(clone):
    library = clone / "src" / "robodyn" / "computation" / "engine" / LIBRARY
    compiled_here = clone.name == "a b"
    if compiled_here:
        library.unlink(missing_ok=True)
    said = call(clone, "-c", COMMAND, "run", "examples/limited_arm.toml", "--out", "build/runs")
    assert ("robodyn: compiling the engine" in said) == compiled_here
    assert "limited_arm: reached the end time 3 s" in said
    call(clone, "-c", COMMAND, "report", "build/runs/limited_arm.run", "--out", clone / "build" / "arm.html")
    assert "limited_arm" in (clone / "build" / "arm.html").read_text(encoding="utf-8")
    tests = [*EVERYWHERE, *FURTHER[clone.name]]
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", f"--basetemp={clone / 'build' / 'tests'}"]
    assert "[100%]" in call(clone, "-m", "pytest", *options, *tests)
    if shutil.which("make"):
        call(clone, "clean", "VENV=.venv", program=["make"])
        assert not (clone / "build").exists()
        assert not library.exists()


def test_no_address_of_a_file_is_made_without_quoting():
    """`Path.as_uri` does it: in an address, spaces and other letters are written in other ways than in a path."""
    sources = [path for part in ("src", "tests", "studies", "docs") for path in (ROOT / part).rglob("*.py")]
    assert len(sources) > 800
    pasted = re.compile(r"file:/+\{\w|file:/+%s|[\"']file:/+[\"'] *\+")
    assert [path for path in sources if pasted.search(path.read_text(encoding="utf-8"))] == []
