"""Two checkouts beside each other: which rows of the benchmarks became slower or faster, on one machine, in turns?

Each side measures with its own benchmarks and its own code, in processes of their own: with the Python of the
checkout's `.venv` if it has one, else with this one, and with compiled code kept apart. Their clock is the processor's
time of a process and its children, and of several turns the least of each row counts: other work on a machine only ever
makes times longer.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.findings import align, write_between

ROUNDS = 3
LOST = 1.05
"""Beyond this ratio a row is said to have lost."""
HERE = Path(__file__).resolve().parents[1]
# A column of a table that holds times: "ns a step", "ms per simulated s", "assembly [s]"; not "at 35 ms [mm]".
TIMED = re.compile(r"(?<!\d\s)(?:^|(?<=[\s\[,(]))(ns|us|ms|s)(?=$|[\s\],)/])")
# All that either side measures by the clock on the wall it then measures by the processor's time.
MEASURE = """
import resource, runpy, sys, time
own = time.process_time
def spend():
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own() + children.ru_utime + children.ru_stime
time.perf_counter = spend
runpy.run_module("benchmarks", run_name="__main__")
"""
LIST = "import json, benchmarks.__main__ as main; print(json.dumps(main.BENCHMARKS))"


@dataclass
class Checkout:
    """One side: its code, and the least of each of its times in all turns.

    Attributes:
        folder: where its processes run and keep compiled code.
        times: (title, unit) of a row or of a cell of a table -> least time.
        ratios: title of a row -> ratios to its rival, one a turn.
        failures: benchmark -> last line of what went wrong.
    """

    root: Path
    folder: Path
    times: dict[tuple[str, str], float] = field(default_factory=dict)
    ratios: dict[str, list[float]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """This checkout's Python, with its own code before any that is installed."""
        python = self.root / ".venv" / "bin" / "python"
        paths = [self.root / "src", self.root / "studies" / "src", self.root]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(str(path) for path in paths if path.is_dir()),
            "ROBODYN_CACHE": str(self.folder / "cache"),
        }
        command = [str(python) if python.exists() else sys.executable, *arguments]
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)

    def list_benchmarks(self) -> list[str]:
        done = self.call("-c", LIST)
        if done.returncode != 0:
            raise SystemExit(f"--beside: the benchmarks of {self.root} cannot be listed:\n{done.stderr}")
        return list(json.loads(done.stdout))

    def measure(self, benchmark: str) -> float:
        """One turn of one benchmark; how long it took [s]."""
        begun = time.perf_counter()
        file = self.folder / "findings.json"
        file.unlink(missing_ok=True)
        done = self.call("-c", MEASURE, "--only", benchmark, "--json", str(file))
        report = json.loads(file.read_text()) if file.exists() else {"rows": [], "tables": [], "failures": {}}
        if not report["rows"] and not report["tables"]:
            words = (report["failures"].get(benchmark) or done.stderr or done.stdout).strip()
            self.failures[benchmark] = words.splitlines()[-1] if words else f"exit code {done.returncode}"
        for title, unit, value in list_times(report):
            self.times[title, unit] = min(value, self.times.get((title, unit), value))
        for row in report["rows"]:
            if row["ratio"] is not None:
                self.ratios.setdefault(row["name"], []).append(row["ratio"])
        return time.perf_counter() - begun


def list_times(report: dict[str, Any]) -> list[tuple[str, str, float]]:
    """Title, unit and value of every time: those of rows, and cells of tables whose heading has a unit of time."""
    times = [(row["name"], row["unit"], row["ours"]) for row in report["rows"]]
    for table in report["tables"]:
        columns, lines = table["columns"], table["lines"]
        # A line is named by its first cells, as many as tell all lines apart.
        count = next((n for n in range(1, len(columns)) if len({str(line[:n]) for line in lines}) == len(lines)), 1)
        for line in lines:
            title = f"{table['title']}: {', '.join(str(cell) for cell in line[:count])}"
            cells = zip(columns[count:], line[count:], strict=True)
            times += [
                (title, column, float(cell)) for column, cell in cells if TIMED.search(column) and is_number(cell)
            ]
    return times


def is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def compare_checkouts(
    other: Path, only: Sequence[str] | None, rounds: int, file: Path | None, page: Path | None
) -> int:
    """Measure both sides in turns and print every time of both; 1 where a benchmark failed on one side."""
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name) / side for side in ("old", "new")]
        for folder in folders:
            folder.mkdir()
        old, new = Checkout(other.resolve(), folders[0]), Checkout(HERE, folders[1])
        benchmarks = {side.root: side.list_benchmarks() for side in (old, new)}
        # A benchmark that has another name on one side is measured there under that: rows are matched by their own.
        known = dict.fromkeys([*benchmarks[new.root], *benchmarks[old.root]])
        names = list(only or known)
        if unknown := [name for name in names if name not in known]:
            raise SystemExit(f"--only: neither checkout has {', '.join(unknown)}; there are {', '.join(known)}")
        for turn in range(rounds):
            for benchmark in names:
                sides = [side for side in (old, new) if benchmark in benchmarks[side.root]]
                for side in sides if turn % 2 == 0 else reversed(sides):
                    seconds = side.measure(benchmark)
                    label = "old" if side is old else "new"
                    print(f"turn {turn + 1} of {rounds}, {benchmark}, {label}: {seconds:.0f} s", flush=True)
            if file:
                file.write_text(json.dumps(describe_rows(old, new), indent=2) + "\n")
    print(show_comparison(old, new))
    if page:
        write_between(page, "benchmarks.beside", describe_lost(describe_rows(old, new)))
    return 1 if old.failures or new.failures else 0


def describe_rows(old: Checkout, new: Checkout) -> list[dict[str, Any]]:
    """Every time with its unit, old and new and their ratio, and the ratio by the rival that both were beside."""
    rows = []
    for title, unit in dict.fromkeys([*new.times, *old.times]):
        before, after = old.times.get((title, unit)), new.times.get((title, unit))
        ratio = after / before if before and after is not None else None
        beside = [min(side.ratios.get(title, [0.0])) for side in (old, new)]
        by_rival = beside[1] / beside[0] if all(beside) else None
        rows.append({"row": title, "unit": unit, "old": before, "new": after, "ratio": ratio, "by_rival": by_rival})
    return rows


def describe_lost(rows: list[dict[str, Any]]) -> str:
    """The rows that lost as a table of a page, below a sentence on all."""
    both = [row for row in rows if row["ratio"] is not None]
    lost = sorted((row for row in both if row["ratio"] > LOST), key=lambda row: -row["ratio"])
    lines = [
        f"{len(lost)} of {len(both)} rows lost more than {100 * (LOST - 1):.0f} %; the median ratio of all is "
        f"{median(row['ratio'] for row in both):.2f}.",
        "",
        "| measurement | before | now | ratio |",
        "| --- | --- | --- | --- |",
    ]
    for row in lost:
        title = row["row"].replace("|", "\\|")
        lines.append(f"| {title} | {row['old']:.4g} | {row['new']:.4g} {row['unit']} | {row['ratio']:.2f} |")
    return "\n".join(lines)


def show_comparison(old: Checkout, new: Checkout) -> str:
    """What both sides have, then what one of them has alone, then what failed."""
    rows = describe_rows(old, new)
    both = [row for row in rows if row["ratio"] is not None]
    lines = [
        (
            row["row"],
            f"{row['old']:.4g}",
            f"{row['new']:.4g} {row['unit']}",
            f"{row['ratio']:.3f}" + ("  LOST" if row["ratio"] > LOST else ""),
            "-" if row["by_rival"] is None else f"{row['by_rival']:.3f}",
        )
        for row in both
    ]
    parts = [
        f"\nold: {old.root}, new: {new.root}; the least of all turns, ratio is new / old\n",
        align(("row", "old", "new", "ratio", "of the ratios to the rival"), lines),
        f"\n{sum(row['ratio'] > LOST for row in both)} of {len(both)} rows lost more than {100 * (LOST - 1):.0f} %",
    ]
    for side, key in ((new, "new"), (old, "old")):
        alone = [row for row in rows if row["ratio"] is None and row[key] is not None]
        parts += [f"only {key}: {row['row']}, {row[key]:.4g} {row['unit']}" for row in alone]
        parts += [f"{key}: {benchmark} FAILED: {words}" for benchmark, words in side.failures.items()]
    return "\n".join(parts)
