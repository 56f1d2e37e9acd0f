"""Measure everything and print it: `python -m benchmarks [--only NAME ...] [--full] [--json FILE]`.

A missed goal is printed and is no error. The exit code is 1 where contenders disagree, 2 where a rival is not
installed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.agreement import Disagreement
from benchmarks.rows import Findings, show

BENCHMARKS = (
    "forward_dynamics",
    "free_motion",
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
# Those that can do more than there is patience for every day.
LONGER = ("rx90_sweep", "many", "lanes")
DEFAULT_FILE = Path("out/benchmarks.json")
PACKAGES = ("robodyn", "numpy", "casadi", "llvmlite", "scipy", "pin", "mujoco", "exudyn")
DISAGREED, MISSING = 1, 2


def main() -> int:
    """Run the chosen benchmarks in turn; what was measured is kept also where another one fails."""
    options = parse_arguments()
    findings: dict[str, Findings] = {}
    failures: dict[str, str] = {}
    code = 0
    for name in options.only or BENCHMARKS:
        try:
            findings[name] = measure(name, full=options.full and name in LONGER)
        except Disagreement as error:
            failures[name], code = str(error), DISAGREED
        except ModuleNotFoundError as error:
            failures[name], code = f"{error}: pip install 'robodyn[bench]'", code or MISSING
        if name in failures:
            print(f"{name}: not measured: {failures[name]}", flush=True)
    results = gather(findings)
    report = {"machine": describe_machine(), "failures": failures, **results}
    for path in {DEFAULT_FILE, options.json or DEFAULT_FILE}:
        write(path, report)
    print(f"\n{describe_goals(results['rows'])}; kept in {DEFAULT_FILE}")
    return code


def measure(name: str, full: bool = False) -> Findings:
    """Measure one benchmark, perhaps at full length, and print what it says."""
    benchmark = import_module(f"benchmarks.{name}")
    print(f"\n{name}: {str(benchmark.__doc__).splitlines()[0]}", flush=True)
    findings: Findings = benchmark.measure(full=True) if full else benchmark.measure()
    print(show(findings), flush=True)
    return findings


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="robodyn beside its rivals, measured in one run."
    )
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, help="measure only these")
    parser.add_argument("--full", action="store_true", help=f"at full length, a minute more: {', '.join(LONGER)}")
    parser.add_argument("--json", type=Path, help=f"also write the findings to this file (always: {DEFAULT_FILE})")
    options = parser.parse_args()
    if options.full and options.only and not set(LONGER) & set(options.only):
        parser.error(f"--full has an effect only on {', '.join(LONGER)}")
    return options


def gather(findings: dict[str, Findings]) -> dict[str, list[dict[str, Any]]]:
    """All rows and tables, each with the benchmark it is from."""
    rows = [{"benchmark": name, **row.as_json()} for name, found in findings.items() for row in found.rows]
    tables = [{"benchmark": name, **table.as_json()} for name, found in findings.items() for table in found.tables]
    return {"rows": rows, "tables": tables}


def describe_goals(rows: list[dict[str, Any]]) -> str:
    """How many goals are met."""
    goals = [row["met"] for row in rows if row["met"] is not None]
    return f"{sum(goals)} of {len(goals)} goals met"


def describe_machine() -> dict[str, Any]:
    """What the times depend on beside the code."""
    return {
        "platform": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load": os.getloadavg() if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "versions": {package: find_version(package) for package in PACKAGES},
    }


def find_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def write(path: Path, report: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
