"""What does a step of each method cost on the swinging arm?"""

from __future__ import annotations

from functools import partial

from benchmarks.arm import arm_system
from benchmarks.prepared import prepare
from benchmarks.rows import Findings, Table
from benchmarks.timing import time_interleaved
from robodyn.model import Solver
from robodyn.model.solver import is_adaptive

STEP, DURATION, RTOL = 1e-3, 50.0, 1e-9
ROUNDS = 11
METHODS = ("euler", "rk4", "dopri5", "rodas4", "trbdf2")


def measure() -> Findings:
    """Time per step and per second of motion: adaptive methods at rtol 1e-9, others with steps of 1 ms."""
    solvers = {
        method: Solver(method, step=STEP, rtol=RTOL, atol=RTOL / 100)
        if is_adaptive(method)
        else Solver(method, step=STEP)
        for method in METHODS
    }
    ready = {method: prepare(arm_system(), solver, ("joint1.position",)) for method, solver in solvers.items()}
    runs = {method: partial(ready[method].run, solvers[method], DURATION) for method in METHODS}
    timings = time_interleaved(runs, ROUNDS)
    lines = []
    for method, run in runs.items():
        counted = run().counters
        tried = counted.steps + counted.rejected
        seconds = timings.median(method)
        per_step = seconds / tried * 1e9
        lines.append((method, tried, f"{counted.evaluations / tried:.2f}", f"{per_step:.0f}", seconds / DURATION * 1e3))
    columns = ("method", "steps", "right-hand sides a step", "ns a step", "ms per simulated s")
    return Findings(tables=(Table("swinging six-axis arm: cost of a step", columns, tuple(lines)),))
