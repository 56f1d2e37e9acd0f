"""How long does a user wait: for the import, for a run, for the very first run?"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.rows import Findings, Row

IMPORTS, RUNS = 11, 5
IMPORT_GOAL, WARM_GOAL, FIRST_GOAL = 0.3, 2.0, 40.0
SCENARIO = "scara-ptp"
# Makes the command line print to a pipe what it would print to a terminal.
AS_TERMINAL = {"FORCE_COLOR": "1"}


def measure() -> Findings:
    """Wall times of whole processes, medians but for the first run, whose cache is a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        run = [find_command(), "run", SCENARIO, "--out", str(Path(folder) / "out")]
        first, printed = time_process(run, cache)
        warm = [time_process(run, cache)[0] for _ in range(RUNS)]
        imports = [time_process([sys.executable, "-c", "import robodyn"], cache)[0] for _ in range(IMPORTS)]
        bare = [time_process([sys.executable, "-c", "pass"], cache)[0] for _ in range(IMPORTS)]
    note = f"whole process, of which bare Python {median(bare):.3f} s; median of {IMPORTS}"
    return Findings(
        (
            Row("import robodyn", median(imports), "s", note, goal=IMPORT_GOAL),
            Row(f"robodyn run {SCENARIO}, warm", median(warm), "s", f"median of {RUNS}", goal=WARM_GOAL),
            make_first_row(first, "compiling" in printed),
        )
    )


def make_first_row(seconds: float, announced: bool) -> Row:
    """The first run also has to say why it takes long."""
    told = f"one run; {'said' if announced else 'did NOT say'} on the terminal that it compiles"
    name = f"robodyn run {SCENARIO}, empty cache"
    return Row(name, seconds, "s", told, goal=FIRST_GOAL, holds=announced)


def find_command() -> str:
    """The installed command beside this Python."""
    found = shutil.which("robodyn", path=str(Path(sys.executable).parent))
    if found is None:
        raise FileNotFoundError(f"no command 'robodyn' beside {sys.executable}: pip install -e '.[dev]'")
    return found


def time_process(command: Sequence[str], cache: Path) -> tuple[float, str]:
    """Wall time of a process [s] that keeps its compiled code in `cache`, and what it printed."""
    environment = {**os.environ, **AS_TERMINAL, "ROBODYN_CACHE": str(cache)}
    begun = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return time.perf_counter() - begun, done.stdout + done.stderr
