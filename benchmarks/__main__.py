"""Measure everything and print it, check that all contenders agree, or compare two checkouts.

    python -m benchmarks [--only NAME ...] [--full] [--json FILE] [--page FILE]
    python -m benchmarks --check [--only NAME ...]
    python -m benchmarks --beside CHECKOUT [--rounds N] [--only NAME ...] [--json FILE] [--page FILE]

A benchmark is a module with `measure(size) -> Findings` and `SIZES`: "smallest" for a check in seconds, "usual", and
perhaps "full". What it asserts, it asserts at every size. `--page` writes all rows, and the tables and remarks of each
benchmark, into a page, between its marks, with `--beside`
those that lost. A missed goal is printed and is no error. The exit code is 1 where contenders
disagree or a benchmark fails, 2 where a rival was not there to be measured.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import traceback
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.beside import ROUNDS, compare_checkouts
from benchmarks.findings import (
    HEADINGS,
    Disagreement,
    Findings,
    as_line,
    as_markdown,
    describe_details,
    read_blocks,
    show,
    show_agreements,
    write_blocks,
)

BENCHMARKS = (
    "forward_dynamics",
    "free_motion",
    "equal_error",
    "creep",
    "closed_loop",
    "hydraulics",
    "commands",
    "steppers",
    "auto",
    "compilation",
    "flexible_arm",
    "coupled_arm",
    "chain",
    "constraint_methods",
    "constraints",
    "quadruped",
    "rx90",
    "rx90_rival",
    "rx90_perturbed",
    "rx90_sweep",
    "many",
    "lanes",
    "environments",
    "regression",
    "fit_slopes",
)
# Those that are measured only where they are named, and checked always: pictures, and a statistic without times.
ON_REQUEST = ("growth", "scaling", "coverage")
# Those that can do more than there is patience for every day.
LONGER = ("auto", "rx90_sweep", "many", "lanes")
# Rows of all benchmarks on a page, and their headings there.
OVERVIEW = "benchmarks"
PAGE_HEADINGS = {"ratio": "ratio (least to largest)"}
DEFAULT_FILE = Path("out/benchmarks.json")
PACKAGES = ("robodyn", "numpy", "casadi", "llvmlite", "scipy", "pin", "mujoco", "exudyn", "drake", "newton")
FAILED, MISSING = 1, 2


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen benchmarks in turn; what was found is kept also where another one fails."""
    options = parse_arguments(arguments)
    if options.beside:
        return compare_checkouts(options.beside, options.only, options.rounds, options.json, options.page)
    findings: dict[str, Findings] = {}
    failures: dict[str, str] = {}
    names = options.only or BENCHMARKS + (ON_REQUEST if options.check else ())
    for name in names:
        # Whatever happens to one must not lose what the others found.
        try:
            findings[name] = run_benchmark(name, options)
        except Exception as error:  # noqa: BLE001
            failures[name] = describe_failure(error)
            print(f"{name}: FAILED: {failures[name]}", flush=True)
    if options.check:
        print(f"\n{len(findings)} of {len(names)} benchmarks agree")
        return FAILED if failures else 0
    results = gather(findings)
    report = {"machine": describe_machine(), "failures": failures, **results}
    for path in {DEFAULT_FILE, options.json or DEFAULT_FILE}:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(report, indent=2) + "\n")
    if options.page:
        write_page(options.page, findings, report["machine"], not options.only)
    print(f"\n{describe_goals(results['rows'])}; kept in {DEFAULT_FILE}")
    missing = any(each.missing for each in findings.values())
    return FAILED if failures else MISSING if missing else 0


def run_benchmark(name: str, options: argparse.Namespace) -> Findings:
    """Run one benchmark and print what it says: all of it, or what it asserts."""
    benchmark = import_module(f"benchmarks.{name}")
    print(f"\n{name}: {str(benchmark.__doc__).splitlines()[0]}", flush=True)
    size = "smallest" if options.check else "full" if options.full and name in LONGER else "usual"
    findings: Findings = benchmark.measure(benchmark.SIZES[size])
    if not findings.agreements:
        raise Disagreement("nothing was asserted")
    print(show_agreements(findings) if options.check else show(findings), flush=True)
    return findings


def describe_failure(error: Exception) -> str:
    """What contenders disagree on, or the whole way to an error that nobody expected."""
    if isinstance(error, Disagreement):
        return str(error)
    return "".join(traceback.format_exception(error)).rstrip()


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="robodyn beside its rivals, measured in one run."
    )
    known = BENCHMARKS + ON_REQUEST
    parser.add_argument("--only", nargs="+", metavar="NAME", help=f"only these: {', '.join(known)}")
    parser.add_argument("--full", action="store_true", help=f"at full length, minutes more: {', '.join(LONGER)}")
    parser.add_argument("--check", action="store_true", help="the smallest case of each: agreements, no times")
    parser.add_argument("--beside", type=Path, metavar="CHECKOUT", help="in turns with the code of another checkout")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="turns of --beside, of which the least counts")
    parser.add_argument("--json", type=Path, help=f"also write the findings to this file (always: {DEFAULT_FILE})")
    parser.add_argument("--page", type=Path, help="also write what was found (--beside: what lost) into this page")
    options = parser.parse_args(arguments)
    # Of another checkout's benchmarks only that one knows the names.
    unknown = [name for name in options.only or () if name not in known and not options.beside]
    if unknown:
        parser.error(f"--only: no benchmark is called {', '.join(unknown)}; there are {', '.join(known)}")
    if options.full and options.only and not set(LONGER) & set(options.only):
        parser.error(f"--full has an effect only on {', '.join(LONGER)}")
    if sum(map(bool, (options.full, options.check, options.beside))) > 1:
        parser.error("--full, --check and --beside exclude one another")
    if options.check and (options.json or options.page):
        parser.error("--check measures nothing that could be written")
    if options.page and not options.page.is_file():
        parser.error(f"--page: {options.page} is no file")
    places = read_blocks(options.page) if options.page else {}
    wanted = ["benchmarks.beside"]
    if not options.beside:
        wanted = [*(f"benchmarks.{name}" for name in options.only or BENCHMARKS), OVERVIEW]
    if options.page and (absent := [name for name in wanted if name not in places]):
        parser.error(f"--page: {options.page} has no place for the numbers of {', '.join(absent)}")
    if options.rounds != ROUNDS and not options.beside:
        parser.error("--rounds has an effect only with --beside")
    if options.rounds < 1:
        parser.error(f"--rounds: must be at least 1, is {options.rounds}")
    if options.beside and not (options.beside / "benchmarks" / "__main__.py").is_file():
        parser.error(f"--beside: {options.beside} is no checkout with benchmarks")
    return options


def gather(findings: dict[str, Findings]) -> dict[str, list[dict[str, Any]]]:
    """All rows and tables, each with the benchmark it is from."""
    rows = [{"benchmark": name, **row.as_json()} for name, each in findings.items() for row in each.rows]
    tables = [{"benchmark": name, **table.as_json()} for name, each in findings.items() for table in each.tables]
    return {"rows": rows, "tables": tables}


def describe_goals(rows: list[dict[str, Any]]) -> str:
    """How many goals are met."""
    goals = [row["met"] for row in rows if row["met"] is not None]
    return f"{sum(goals)} of {len(goals)} goals met"


def write_page(page: Path, findings: dict[str, Findings], machine: dict[str, Any], whole: bool) -> None:
    """All rows as one table below the machine, and the details of each benchmark in its own place.

    Rows of benchmarks that were not measured, or failed, stay as they are, and the page says of which run each is.
    """
    text = read_blocks(page)[OVERVIEW]
    head, _, old = text.partition("| benchmark |")
    headings = ("benchmark", *(PAGE_HEADINGS.get(heading, heading) for heading in HEADINGS))
    lines = [as_markdown(headings, [])]
    for name in BENCHMARKS:
        if name in findings:
            lines += [as_line((f"`{name}`", *row.cells())) for row in findings[name].rows]
        else:
            lines += [line for line in old.splitlines() if line.startswith(f"| `{name}` |")]
    conditions = describe_conditions(machine)
    measured = ", ".join(f"`{name}`" for name in findings)
    if not whole:
        conditions = f"{head.strip()}\n\nMeasured again later, by themselves: {measured}; {conditions}"
    elif missing := ", ".join(f"`{name}`" for name in BENCHMARKS if name not in findings):
        conditions += f"\n\nOf an earlier run: {missing}."
    details = {f"benchmarks.{name}": describe_details(each) for name, each in findings.items()}
    write_blocks(page, details | {OVERVIEW: "\n".join([conditions, "", *lines])})


def describe_conditions(machine: dict[str, Any]) -> str:
    """The machine that was measured on, its load, and versions."""
    load = f", load {machine['load'][2]:.1f} over the last quarter of an hour" if machine["load"] else ""
    used = ", ".join(f"{package} {number}" for package, number in machine["versions"].items() if number)
    return f"{machine['cores']} cores of {machine['processor']}{load}; Python {machine['python']}, {used}."


def describe_machine() -> dict[str, Any]:
    """What the times depend on beside the code."""
    return {
        "platform": platform.platform(),
        "processor": find_processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg() if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "versions": {package: find_version(package) for package in PACKAGES},
    }


def find_processor() -> str:
    """Its name, where the system says it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def find_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    sys.exit(main())
