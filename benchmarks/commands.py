"""How long does a user wait: for the import, for help, for a mistake to be reported, for a run, for the very first run?

Whole processes, from start to exit. Python keeps its bytecode, as it does where packages are installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.findings import Disagreement, Findings, Row, Table

SCENARIO, WELD = "scara-ptp", "rx90-weld"
GOALS = {
    **{"import robodyn": 0.1, "help": 0.2, "mistake, run": 0.35, "mistake, check": 0.35},
    **{"warm run": 0.5, "warm run of the weld": 0.8},
}
FIRST_GOAL = 4.0
BARE, STACK = "bare Python", "import numpy, scipy, casadi, llvmlite.binding"
MISTAKE = "duration = 1\n[blocks.filter]\nlaw = 'low_pas'\n"
# Makes the command line print to a pipe what it would print to a terminal.
AS_TERMINAL = {"FORCE_COLOR": "1"}


@dataclass(frozen=True)
class Size:
    """How often each process is started, and whether modules are compiled to bytecode in a place of our own before."""

    rounds: int = 7
    own_bytecode: bool = True


SIZES = {"smallest": Size(1, own_bytecode=False), "usual": Size()}


@dataclass(frozen=True)
class Command:
    """A process that is timed: how it ends, and a piece of what it prints."""

    words: tuple[str, ...]
    code: int = 0
    says: str = ""


def measure(size: Size) -> Findings:
    """Wall times of whole processes: medians, but for the first run, whose cache is a new folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands = list_commands(folder)
        if size.own_bytecode:
            for command in commands.values():
                time_process(command, folder, size)
        # The cache that this run fills is that of the rounds.
        first, _ = time_process(commands["warm run"], folder, size, cache="first")
        rounds = [
            {key: time_process(command, folder, size, cache="first")[0] for key, command in commands.items()}
            for _ in range(size.rounds)
        ]
    note = f"median of {size.rounds}"
    rows = [Row(key, median_of(rounds, key), "s", note, goal=goal) for key, goal in GOALS.items()]
    rows.append(Row("first run, empty cache", first, "s", f"one run of {SCENARIO}", goal=FIRST_GOAL))
    # Every process was held against its code and words.
    told = {key: command for key, command in commands.items() if command.says}
    agreements = [f"'{key}' ends with code {command.code} and \"{command.says}\"" for key, command in told.items()]
    return Findings(tuple(rows), (compare_with_stack(rounds),), tuple(agreements))


def list_commands(folder: Path) -> dict[str, Command]:
    """What is started, by name."""
    mistake = folder / "mistake.toml"
    mistake.write_text(MISTAKE)
    python, robodyn = (sys.executable, "-c"), find_command()
    return {
        BARE: Command((*python, "pass")),
        STACK: Command((*python, STACK)),
        "import robodyn": Command((*python, "import robodyn")),
        "help": Command((robodyn, "--help"), says="Usage"),
        "mistake, run": Command((robodyn, "run", str(mistake)), code=2, says="low_pass"),
        "mistake, check": Command((robodyn, "check", str(mistake)), code=2, says="low_pass"),
        "warm run": Command(
            (robodyn, "run", SCENARIO, "--out", str(folder / "out")), says="event 'arrived' ended the run"
        ),
        "warm run of the weld": Command(
            (robodyn, "run", WELD, "--out", str(folder / "out")), says="reached the end time 6.85 s"
        ),
    }


def compare_with_stack(rounds: Sequence[Mapping[str, float]]) -> Table:
    """Each process beside one that only imports what runs are computed with, started in the same round."""
    lines = tuple(
        (key, median_of(rounds, key), median([each[key] / each[STACK] for each in rounds])) for key in rounds[0]
    )
    return Table(f"beside '{STACK}'", ("process", "s", "ratio"), lines)


def median_of(rounds: Sequence[Mapping[str, float]], key: str) -> float:
    return median([each[key] for each in rounds])


def find_command() -> str:
    """The installed command beside this Python."""
    found = shutil.which("robodyn", path=str(Path(sys.executable).parent))
    if found is None:
        raise FileNotFoundError(f"no command 'robodyn' beside {sys.executable}: pip install -e '.[dev]'")
    return found


def time_process(command: Command, folder: Path, size: Size, cache: str = "cache") -> tuple[float, str]:
    """Wall time of a process [s] that keeps its compiled code and bytecode in `folder`, and what it printed."""
    environment = {**os.environ, **AS_TERMINAL, "ROBODYN_CACHE": str(folder / cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if size.own_bytecode:
        environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    begun = time.perf_counter()
    done = subprocess.run(command.words, env=environment, capture_output=True, text=True, check=False)
    elapsed = time.perf_counter() - begun
    printed = done.stdout + done.stderr
    if done.returncode != command.code or command.says not in printed:
        words = " ".join(command.words)
        raise Disagreement(f"'{words}' ended with code {done.returncode}, not {command.code}, and said:\n{printed}")
    return elapsed, printed
