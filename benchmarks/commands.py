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
from pathlib import Path
from statistics import median

from benchmarks.rows import Findings, Row, Table

ROUNDS = 7
SCENARIO, WELD = "scara-ptp", "rx90-weld"
GOALS = {
    **{"import robodyn": 0.1, "help": 0.2, "mistake, run": 0.35, "mistake, check": 0.35},
    **{"warm run": 0.5, "warm run of the weld": 0.8},
}
FIRST_GOAL = 4.0
BARE, STACK = "bare Python", "import numpy, scipy, casadi, llvmlite.binding"
BAD_INPUT = 2
MISTAKE = "duration = 1\n[blocks.filter]\nlaw = 'low_pas'\n"
# Makes the command line print to a pipe what it would print to a terminal.
AS_TERMINAL = {"FORCE_COLOR": "1"}


def measure() -> Findings:
    """Wall times of whole processes: medians, but for the first run, whose cache is a new folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands = list_commands(folder)
        for command in commands.values():
            time_process(command, folder)
        first, printed = time_process(commands["warm run"], folder, cache="empty")
        rounds = [{key: time_process(command, folder)[0] for key, command in commands.items()} for _ in range(ROUNDS)]
    note = f"median of {ROUNDS}"
    rows = [Row(key, median_of(rounds, key), "s", note, goal=goal) for key, goal in GOALS.items()]
    return Findings((*rows, make_first_row(first, "compiling" in printed)), (compare_with_stack(rounds),))


def list_commands(folder: Path) -> dict[str, list[str]]:
    """What is started, by name."""
    mistake = folder / "mistake.toml"
    mistake.write_text(MISTAKE)
    python, robodyn = [sys.executable, "-c"], find_command()
    return {
        BARE: [*python, "pass"],
        STACK: [*python, STACK],
        "import robodyn": [*python, "import robodyn"],
        "help": [robodyn, "--help"],
        "mistake, run": [robodyn, "run", str(mistake)],
        "mistake, check": [robodyn, "check", str(mistake)],
        "warm run": [robodyn, "run", SCENARIO, "--out", str(folder / "out")],
        "warm run of the weld": [robodyn, "run", WELD, "--out", str(folder / "out")],
    }


def make_first_row(seconds: float, announced: bool) -> Row:
    """The first run also has to say why it takes long."""
    message = f"one run of {SCENARIO}; {'said' if announced else 'did NOT say'} on the terminal that it compiles"
    return Row("first run, empty cache", seconds, "s", message, goal=FIRST_GOAL, holds=announced)


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


def time_process(command: Sequence[str], folder: Path, cache: str = "cache") -> tuple[float, str]:
    """Wall time of a process [s] that keeps its compiled code and bytecode in `folder`, and what it printed."""
    environment = {**os.environ, **AS_TERMINAL, "ROBODYN_CACHE": str(folder / cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    begun = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    elapsed = time.perf_counter() - begun
    if done.returncode not in (0, BAD_INPUT):
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
    return elapsed, done.stdout + done.stderr
