"""The engine in C, tested as databases are: which branches do tests take, and what if memory ends?

    make coverage                                             coverage, and the mutants of `engine_mutants.py`
    python tests/soak/engine.py coverage tests/unit/engine    branches that these tests and failing memory take
    python tests/soak/engine.py memory                        each allocation fails once, and nothing breaks

The engine writes no files: what fails there is tested with the writers in Python (`tests/unit/test_atomic.py`).
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache, partial
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "src" / "robodyn" / "computation" / "engine"
sys.path.insert(0, str(FOLDER))
import building  # noqa: E402

BUILD = ROOT / "build"
find_compiler = cache(building.find_compiler)
IGNORED = [f"--ignore=tests/unit/engine/{name}.py" for name in ("test_building", "test_library")]
"""Tests of how an engine is built, which know nothing of one that is given."""
LONGEST = 6000
"""Seconds that all tests may take."""
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


def compile_engine(folder: Path, place: Path, library: Path, *flags: str, extra: str = "") -> dict[str, Path]:
    """A library of the sources in a folder; its objects, by their names, lie at a place, where `gcov` finds them."""
    place.mkdir(parents=True, exist_ok=True)
    sources = sorted(folder.glob("*.c"), key=lambda path: (path.name == building.LAST, path.name))
    objects = {source.stem: compile_file(source, place, *flags) for source in sources}
    if extra:
        (place / "extra.c").write_text(extra, encoding="utf-8")
        objects["extra"] = compile_file(place / "extra.c", place)
    link_engine([*objects.values()], library, *flags)
    return objects


def compile_file(source: Path, place: Path, *flags: str) -> Path:
    """One file of the engine as an object at a place."""
    made = place / f"{source.stem}.o"
    own = [flag for flag in building.FLAGS if not flag.startswith(("-O", "-W"))]
    digest = building.source_digest(FOLDER)
    command = [*find_compiler(), *own, "-w", "-DENGINE_LIBRARY", f'-DENGINE_DIGEST="{digest}"', *flags]
    command += ["-I", str(FOLDER), "-c", str(source), "-o", str(made)]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return made


def link_engine(objects: list[Path], library: Path, *flags: str) -> None:
    instruments = [flag for flag in flags if flag.startswith(("--coverage", "-fsanitize="))]
    command = [*find_compiler(), "-shared", *instruments, *map(str, objects), "-o", str(library), "-lm"]
    subprocess.run(command, check=True)


def run_tests(library: Path, tests: list[str], *options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ROBODYN_ENGINE": str(library), "OPENBLAS_NUM_THREADS": "1"}
    environment.setdefault("ROBODYN_OPTIMISATION", "0")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *IGNORED, *options, *tests]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=LONGEST
    )


def report_coverage(tests: list[str], workers: int) -> int:
    """Lines and branches of each file that tests and failing allocations reach; 1 where these fail."""
    place = BUILD / "coverage"
    shutil.rmtree(place, ignore_errors=True)
    compile_failing(place, "-O0", "--coverage")
    done = run_tests(place / "engine.so", tests, "-n", str(workers))
    broken = fail_memory(place / "engine.so")
    totals: Counter[str] = Counter()
    open_branches: list[str] = []
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
        open_branches += [f"{source.name}:{place}" for place in find_open_branches(section)]
    print(_row("all", totals), *open_branches, sep="\n")
    if done.returncode:
        print(done.stdout[-3000:])
    return int(done.returncode != 0 or broken != 0)


def find_open_branches(section: str) -> list[str]:
    """Line, numbers and text of all branches that no test takes, from what `gcov` says of a file."""
    found: dict[str, list[str]] = {}
    place = ""
    for line in section.splitlines():
        if match := re.match(r" *(?:\d+\*?|#####|=====|-): *(\d+):(.*)", line):
            place = f"{match[1]}: {match[2].strip()}"
        elif match := re.match(r"branch +(\d+) (?:never|taken 0\b)", line):
            found.setdefault(place, []).append(match[1])
    return [f"{place}  [{' '.join(numbers)}]" for place, numbers in found.items()]


def _row(name: str, counts: dict[str, int]) -> str:
    cells = [f"{counts[f'{what} hit']:5}/{counts[what]:<5}" for what in ("lines", "branches")]
    shares = [100 * counts[f"{what} hit"] / max(counts[what], 1) for what in ("lines", "branches")]
    return f"{name:22} {cells[0]} {shares[0]:4.1f}% {cells[1]} {shares[1]:4.1f}%"


def compile_failing(place: Path, *flags: str) -> None:
    """An engine at a place whose allocations can be made to fail."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "prototypes.h").write_text(PROTOTYPES, encoding="utf-8")
    flags = (*flags, *SHIM, "-include", str(place / "prototypes.h"))
    compile_engine(FOLDER, place, place / "engine.so", *flags, extra=FAILING)


def fail_memory(library: Path) -> int:
    """Each allocation of some runs fails once: the run says so, or goes on without; the next run is right."""
    environment = {**os.environ, "ROBODYN_ENGINE": str(library), "ROBODYN_OPTIMISATION": "0"}
    environment["PYTHONPATH"] = f"{ROOT / 'tests'}:{os.environ.get('PYTHONPATH', '')}"
    return subprocess.run(
        [sys.executable, __file__, "memory-child", str(library)], env=environment, check=False
    ).returncode


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
        # New laws change the machines that seeds draw: a stiff one must not take minutes, as each runs a hundred times.
        found[f"machine {seed} by {method}"] = partial(_run_anew, system, rd.Solver(method, max_steps=2000))
    return found


def _run_anew(system, solver):
    """A run that takes all its memory, none of the run before."""
    import robodyn as rd
    from robodyn.computation.simulation.run_functions import compile_system

    return rd.simulate(compile_system(system, solver, quick=True), solver)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("coverage", "memory", "memory-child"))
    parser.add_argument("tests", nargs="*", default=["tests/unit/engine"])
    parser.add_argument("--workers", type=int, default=0, help="processes of the tests")
    wanted = parser.parse_intermixed_args()
    if wanted.what == "coverage":
        return report_coverage(wanted.tests, wanted.workers)
    if wanted.what == "memory":
        compile_failing(BUILD / "memory", "-O1")
        return fail_memory(BUILD / "memory" / "engine.so")
    return fail_memory_here(wanted.tests[0])


if __name__ == "__main__":
    sys.exit(main())
