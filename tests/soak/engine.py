"""The engine in C, tested as databases are: which branches do tests take, what if memory ends, which faults are seen?

    make coverage                                             all three; ENGINE_TESTS and MUTANTS choose less
    python tests/soak/engine.py coverage tests/unit/engine    branches of each file that these tests take
    python tests/soak/engine.py memory                        each allocation fails once, and nothing breaks
    python tests/soak/engine.py mutants --count 500           how many small faults do the tests see?

The engine writes no files: what fails there is tested with the writers in Python (`tests/unit/test_atomic.py`).
"""

from __future__ import annotations

import argparse
import ctypes
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "src" / "robodyn" / "computation" / "engine"
BUILD = ROOT / "build"
FAST_TESTS = ["tests/unit/engine", "tests/convergence/test_hybrid.py", "tests/convergence/test_smooth.py"]
"""What mutants are tried with."""
LONGEST = 300
"""Seconds that the tests of a mutant may take: one that hangs is seen."""
FAILING = """
#include <stdint.h>
#include <stdlib.h>
__attribute__((visibility("default"))) int64_t allocations_left = -1, allocations_made = 0;
static int fails(void) {
  allocations_made++;
  return allocations_left >= 0 && allocations_left-- == 0;
}
void *failing_malloc(size_t size) { return fails() ? NULL : malloc(size); }
void *failing_calloc(size_t n, size_t size) { return fails() ? NULL : calloc(n, size); }
void *failing_realloc(void *old, size_t size) { return fails() ? NULL : realloc(old, size); }
"""
SHIM = [f"-D{name}=failing_{name}" for name in ("malloc", "calloc", "realloc")]
PROTOTYPES = """
#include <stddef.h>
void *failing_malloc(size_t), *failing_calloc(size_t, size_t), *failing_realloc(void *, size_t);
"""
EDITS = [
    (r"(?<![<>=!+\-*/])<(?![<=])", "<="),
    (r"(?<![<>=!\-])>(?![>=])", ">="),
    (r"<=", "<"),
    (r">=", ">"),
    (r"==", "!="),
    (r"!=", "=="),
    (r"&&", "||"),
    (r"\|\|", "&&"),
    (r"(?<=[\w\])] )\+(?= [\w(])", "-"),
    (r"(?<=[\w\])] )-(?= [\w(])", "+"),
    (r"(?<=[\w\])] )\*(?= [\w(])", "/"),
    (r"\+\+", "--"),
    (r"\b0\.5\b", "0.25"),
    (r"\b1\.0\b", "2.0"),
    (r"\breturn 0;", "return 1;"),
    (r"\breturn 1;", "return 0;"),
    (r"\bif \(", "if (!"),
    (r"\bleast\(", "largest("),
    (r"\blargest\(", "least("),
]
"""Small faults: one of these at one place makes a mutant."""


def compile_engine(folder: Path, place: Path, library: Path, *flags: str, extra: str = "") -> None:
    """A library of the sources in a folder, with its objects at a place, so that `gcov` finds what it needs."""
    sys.path.insert(0, str(FOLDER))
    import building

    place.mkdir(parents=True, exist_ok=True)
    digest = building.source_digest(FOLDER)
    own = [flag for flag in building.FLAGS if not flag.startswith(("-O", "-W"))]
    command = [*building.find_compiler(), *own, "-w", "-DENGINE_LIBRARY", f'-DENGINE_DIGEST="{digest}"', *flags]
    objects = []
    for source in sorted(folder.glob("*.c"), key=lambda path: (path.name == building.LAST, path.name)):
        objects.append(str(place / f"{source.stem}.o"))
        subprocess.run([*command, "-I", str(FOLDER), "-c", str(source), "-o", objects[-1]], check=True)
    if extra:
        (place / "extra.c").write_text(extra, encoding="utf-8")
        subprocess.run([building.find_compiler()[0], "-fPIC", "-c", "extra.c", "-o", "extra.o"], cwd=place, check=True)
        objects.append(str(place / "extra.o"))
    subprocess.run([*command, "-shared", *objects, "-o", str(library), "-lm"], check=True)


def run_tests(library: Path, tests: list[str], *options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ROBODYN_ENGINE": str(library), "OPENBLAS_NUM_THREADS": "1"}
    environment.setdefault("ROBODYN_OPTIMISATION", "0")
    ignored = [f"--ignore=tests/unit/engine/{name}.py" for name in ("test_building", "test_library")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *ignored, *options, *tests]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=LONGEST * 20
    )


def report_coverage(tests: list[str], workers: int) -> int:
    """Lines and branches of each file that tests reach; 1 where these fail."""
    place = BUILD / "coverage"
    shutil.rmtree(place, ignore_errors=True)
    compile_engine(FOLDER, place, place / "engine.so", "-O0", "--coverage")
    done = run_tests(place / "engine.so", tests, "-n", str(workers))
    totals: Counter[str] = Counter()
    print(f"{'file':22} {'lines':>13} {'branches':>13}")
    for source in sorted(FOLDER.glob("*.c")):
        command = ["gcov", "--branch-counts", "--branch-probabilities", "--stdout", "-o", str(place), str(source)]
        text = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False).stdout
        # Of the sections of all files that are included only that of this one.
        section = next((s for s in text.split("        -:    0:Source:") if s.startswith(str(source))), "")
        lines = re.findall(r"^ *(\d+\*?|#####|=====): +\d+:", section, re.MULTILINE)
        branches = re.findall(r"^branch +\d+ (never executed|taken (\d+))", section, re.MULTILINE)
        counts = {
            "lines": len(lines), "lines hit": sum(line[0].isdigit() for line in lines),
            "branches": len(branches), "branches hit": sum(bool(count) and int(count) > 0 for _, count in branches),
        }  # fmt: skip
        totals.update(counts)
        print(_row(source.name, counts))
    print(_row("all", totals))
    if done.returncode:
        print(done.stdout[-3000:])
    return int(done.returncode != 0)


def _row(name: str, counts: dict[str, int]) -> str:
    cells = [f"{counts[f'{what} hit']:5}/{counts[what]:<5}" for what in ("lines", "branches")]
    shares = [100 * counts[f"{what} hit"] / max(counts[what], 1) for what in ("lines", "branches")]
    return f"{name:22} {cells[0]} {shares[0]:4.1f}% {cells[1]} {shares[1]:4.1f}%"


def fail_memory() -> int:
    """Each allocation of some runs fails once: the run says so, or goes on without; the next run is right."""
    place = BUILD / "memory"
    compile_engine(FOLDER, place, place / "engine.so", "-O1", *SHIM, "-include", _prototypes(place), extra=FAILING)
    environment = {**os.environ, "ROBODYN_ENGINE": str(place / "engine.so"), "ROBODYN_OPTIMISATION": "0"}
    environment["PYTHONPATH"] = f"{ROOT / 'tests'}:{os.environ.get('PYTHONPATH', '')}"
    command = [sys.executable, __file__, "memory-child", str(place / "engine.so")]
    return subprocess.run(command, env=environment, check=False).returncode


def _prototypes(place: Path) -> str:
    place.mkdir(parents=True, exist_ok=True)
    (place / "prototypes.h").write_text(PROTOTYPES, encoding="utf-8")
    return str(place / "prototypes.h")


def fail_memory_here(library: str) -> int:
    """In the process that has loaded that library."""
    import robodyn as rd
    from robodyn.computation.results.compare import identical

    handle = ctypes.CDLL(library)
    left, made = (ctypes.c_int64.in_dll(handle, name) for name in ("allocations_left", "allocations_made"))
    failed = 0
    for name, run in _runs(rd).items():
        left.value = -1
        right = run()
        made.value = 0
        run()
        count, outcomes = made.value, Counter[str]()
        for k in range(count):
            left.value = k
            try:
                outcomes[run().outcome.kind.name] += 1
            except MemoryError:
                outcomes["MemoryError"] += 1
            left.value = -1
            if not identical(run(), right):
                failed += 1
                print(f"{name}: the run after allocation {k + 1} failed is another one")
        said = ", ".join(f"{kind} {number}" for kind, number in outcomes.most_common())
        print(f"{name}: {count} allocations, each failed once: {said}")
    return int(failed > 0)


def _runs(rd):
    """Runs that take memory in all ways: rows, events, delays, stiff steps, drives, contacts, many at once."""
    from support.random_machines import random_scenario

    found = {}
    for seed, method in ((0, "dopri5"), (8, "auto"), (12, "rodas4"), (38, "dopri5"), (67, "dopri5"), (83, "rodas4p")):
        system = rd.assemble(random_scenario(seed, 2))
        found[f"machine {seed} by {method}"] = partial(_run_anew, system, rd.Solver(method))
    return found


def _run_anew(system, solver):
    """A run that takes all its memory, none of the run before."""
    import robodyn as rd
    from robodyn.computation.simulation.run_functions import compile_system

    return rd.simulate(compile_system(system, solver, quick=True), solver)


def sample_mutants(count: int, seed: int, tests: list[str]) -> int:
    """How many of a sample of small faults the tests see; those that they do not are listed."""
    rng, seen, survivors = random.Random(seed), Counter[str](), []
    places = list(_find_places())
    for number, (path, line, edit) in enumerate(rng.sample(places, min(count, len(places)))):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place, "sources")
            shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("*.py", "*.so", "__pycache__"))
            text = (folder / path).read_text(encoding="utf-8").splitlines(keepends=True)
            text[line] = edit
            (folder / path).write_text("".join(text), encoding="utf-8")
            kind = _try_mutant(folder, Path(place), tests)
        seen[kind] += 1
        if kind == "survived":
            survivors.append(f"{path}:{line + 1}: {edit.strip()}")
            print(f"survived: {survivors[-1]}", flush=True)
        if number % 20 == 19:
            print(f"{number + 1} mutants: {dict(seen)}", flush=True)
    valid = sum(seen.values()) - seen["not compiled"]
    killed = valid - seen["survived"]
    print(f"{valid} mutants of {len(places)} places: {killed} seen, {100 * killed / max(valid, 1):.1f} %, {dict(seen)}")
    return 0


def _find_places():
    """All mutants: file, line, and what the line becomes; comments and declarations of constants aside."""
    for source in sorted(FOLDER.glob("*.c")):
        inside = False
        for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(keepends=True)):
            code = line.split("/*")[0]
            inside = (inside or "/*" in line) and "*/" not in line.rpartition("/*")[2]
            if inside or line.startswith(("#", "/*", "   ")) and not line.startswith("    "):
                continue
            for pattern, replacement in EDITS:
                for match in re.finditer(pattern, code):
                    changed = code[: match.start()] + replacement + code[match.end() :]
                    if pattern.startswith(r"\bif"):
                        changed = _negate(code, match.end())
                    if changed and changed != code:
                        yield source.name, number, changed + line[len(code) :]


def _negate(code: str, begin: int) -> str:
    """A line whose condition is turned round; nothing where it goes on in the next line."""
    depth = 1
    for k in range(begin, len(code)):
        depth += {"(": 1, ")": -1}.get(code[k], 0)
        if depth == 0:
            return f"{code[:begin]}!({code[begin:k]}){code[k:]}"
    return ""


def _try_mutant(folder: Path, place: Path, tests: list[str]) -> str:
    try:
        compile_engine(folder, place / "objects", place / "engine.so", "-O1")
    except subprocess.CalledProcessError:
        return "not compiled"
    try:
        environment = {**os.environ, "ROBODYN_ENGINE": str(place / "engine.so"), "ROBODYN_OPTIMISATION": "0"}
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider", *tests]
        command += [f"--ignore=tests/unit/engine/{name}.py" for name in ("test_building", "test_library")]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return "hung"
    return "survived" if done.returncode == 0 else "seen"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("coverage", "memory", "memory-child", "mutants"))
    parser.add_argument("tests", nargs="*", default=FAST_TESTS)
    parser.add_argument("--count", type=int, default=500, help="of mutants")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=0, help="processes of the tests")
    wanted = parser.parse_intermixed_args()
    if wanted.what == "coverage":
        return report_coverage(wanted.tests, wanted.workers)
    if wanted.what == "memory":
        return fail_memory()
    if wanted.what == "memory-child":
        return fail_memory_here(wanted.tests[0])
    return sample_mutants(wanted.count, wanted.seed, wanted.tests)


if __name__ == "__main__":
    sys.exit(main())
