"""What `make` offers works: the long targets in a short form, each as a user calls it, but for the installation."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = {"verify", "demo", "soak", "sanitize", "coverage", "clean"}
"""Run by the tests below, `clean` by those of test_any_folder.py."""
CI = {"setup", "system-packages", "test", "test-library", "test-studies", "lint"}
"""Run by .ci/run."""
ELSEWHERE = {"bench", "docs"}
"""These install more first: what they run then has tests of its own."""

pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="there is no make here: its targets are NOT tested")


def make(*arguments, place=ROOT):
    """What `make` says in the environment of these tests, named by a relative path: make knows no spaces."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS", "PYTEST", "COV"))}
    venv = os.path.relpath(sys.prefix, place)
    # As it is: nothing is installed anew where a file is younger than the installation.
    installed = [f"VENV={venv}", "--assume-old=setup", f"--assume-old={venv}/.demo"]
    command = ["make", "--no-print-directory", *installed, *map(str, arguments)]
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_target_is_run_somewhere():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert set(phony.split()) == HERE | ELSEWHERE | CI
    assert set(re.findall(r"^([\w-]+):(?!=)", text, re.MULTILINE)) == set(phony.split())


def test_ci_makes_what_tests_and_lints():
    command = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1]
    assert command.startswith("make ")
    wanted = [word for word in command.split()[1:] if not word.startswith("-")]
    plan = make("--dry-run", *wanted)
    # What is made at the same time is made by another make, whose plan is shown too.
    for step in ("-m pytest", "--rootdir studies studies/tests", "ruff check .", "bin/mypy", "bin/lint-imports"):
        assert step in plan


def test_the_demo_tells_its_run_and_writes_its_page(tmp_path):
    out = os.path.relpath(tmp_path, ROOT)
    said = make("demo", f"OUT={out}").splitlines()
    # The answer first: how far the weld misses, why, and whether that can be trusted.
    assert said[0] == "rx90-weld: reached the end time 6.85 s"
    assert re.match(r"Largest path deviation +\d[\d.]* µm ", said[2])
    assert re.match(r"Main cause +[A-Z][\w ]+ \d+ % ", said[3])
    assert re.match(r"Can you trust it\? +\d+ of \d+ +checks passed", said[5])
    assert said[-3] == f"{out}/rx90-weld.html"
    assert said[-2].startswith("Open this page: ")
    page = (tmp_path / "rx90-weld.html").read_text(encoding="utf-8")
    note = (ROOT / "examples" / "weld_demo.md").read_text(encoding="utf-8")
    assert note.splitlines()[0].lstrip("# ") in page
    assert [path.name for path in tmp_path.iterdir()] == ["rx90-weld.html"]


def test_a_demo_that_fails_says_so(tmp_path):
    out = os.path.relpath(tmp_path, ROOT)
    (tmp_path / "rx90-weld.html").mkdir()
    with pytest.raises(AssertionError, match="rx90-weld.html: is a folder, name a file in it"):
        make("demo", f"OUT={out}")


def test_the_soak_reads_spoiled_files_and_tries_machines_and_robots():
    said = make("soak", "FILES=5", "MACHINES=1", "TWINS=1", "BARS=1", "ROBOTS=tests/support/robots/arm.urdf")
    columns = re.findall(r"^[\w-]+ +(\d+) +(\d+) +(\d+)$", said, re.MULTILINE)
    assert sum(int(count) for row in columns for count in row) == 5
    assert "1 machines: 0 failed" in said
    assert "0 twins differ" in said
    assert re.search(r"^\d+\.\d\d % cover$", said, re.MULTILINE)
    assert "robots/arm.urdf: " in said
    assert said.endswith("0 differ\n")


def test_proofs_are_written_as_a_page(tmp_path):
    page = tmp_path / "page.md"
    said = make("verify", "WORKERS=0", "PROOFS=tests/references/test_pendulum.py", f"PAGE={page}")
    assert "2 comparisons, 2 cases" in said
    assert page.read_text(encoding="utf-8").count("`pytest tests/references/test_pendulum.py::") == 2


def test_the_page_of_proof_names_tests_that_are_there():
    page = (ROOT / "docs" / "verification.md").read_text(encoding="utf-8")
    named = re.findall(r"`pytest (\S+)::(\w+)`", page)
    assert len(named) >= 25
    assert [name for file, name in named if f"def {name}(" not in (ROOT / file).read_text(encoding="utf-8")] == []


@pytest.mark.skipif(sys.platform != "linux", reason="the runtimes of sanitisers are elsewhere")
def test_engines_that_check_themselves_run_the_tests():
    said = make("sanitize", "WORKERS=0", "ENGINE_TESTS=tests/unit/engine/test_ticks.py")
    assert len(re.findall(r"100%\]", said)) == 2
    assert "FAILED" not in said


@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("gcov"), reason="there is no gcov here")
def test_coverage_of_the_engine_is_reported_and_no_allocation_breaks_it():
    said = make("coverage", "WORKERS=0", "COVERED=tests/unit/engine/test_ticks.py", "MUTANTS=0")
    lines = dict(re.findall(r"^([\w.]+) .*?([\d.]+)%$", said, re.MULTILINE))
    assert float(lines["hybrid.c"]) > 40
    assert 5 < float(lines["all"]) < 100
    assert len(re.findall(r"each failed once: ", said)) == 6
    assert "is another one" not in said
    assert "0 mutants of " in said
