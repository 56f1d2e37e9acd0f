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

from benchmarks.agreement import Disagreement
from benchmarks.rows import Findings, Row

IMPORTS, RUNS = 11, 5
IMPORT_GOAL, WARM_GOAL, FIRST_GOAL = 0.3, 2.0, 40.0
SCENARIO = "scara-ptp"


def measure() -> Findings:
    """Wall times of whole processes."""
    with tempfile.TemporaryDirectory() as folder:
        cache, out = Path(folder) / "cache", Path(folder) / "out"
        command = [find_command(), "run", SCENARIO, "--out", str(out)]
        first, printed = time_process(command, cache)
        _require_announcement(printed)
        warm = median(time_process(command, cache)[0] for _ in range(RUNS))
        imports = [
            time_process([sys.executable, "-c", "import robodyn"], cache)[0] for _ in range(IMPORTS + 1)
        ]
        bare = [time_process([sys.executable, "-c", "pass"], cache)[0] for _ in range(IMPORTS)]
    note = f"whole process, of which bare Python {median(bare):.3f} s"
    return Findings(
        (
            Row("import robodyn", median(imports[1:]), "s", f"{note}; median of {IMPORTS}", goal=IMPORT_GOAL),
            Row(
                f"robodyn run {SCENARIO}, warm", warm, "s", f"whole process; median of {RUNS}", goal=WARM_GOAL
            ),
            Row(
                f"robodyn run {SCENARIO}, empty cache",
                first,
                "s",
                "one run; said that it compiles",
                goal=FIRST_GOAL,
            ),
        )
    )


def find_command() -> str:
    """The installed command beside this Python."""
    found = shutil.which("robodyn", path=str(Path(sys.executable).parent))
    if found is None:
        raise FileNotFoundError(f"no command 'robodyn' beside {sys.executable}: pip install -e '.[dev]'")
    return found


def time_process(command: Sequence[str], cache: Path) -> tuple[float, str]:
    """Wall time of a process [s] that keeps its compiled code in `cache`, and what it printed."""
    environment = {**os.environ, "ROBODYN_CACHE": str(cache)}
    begun = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return time.perf_counter() - begun, done.stdout + done.stderr


def _require_announcement(printed: str) -> None:
    if "compiling" not in printed:
        raise Disagreement("the first run with an empty cache did not say that it is compiling")
