"""What does a step of each method cost on the swinging arm?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.arm import arm_system
from benchmarks.findings import Findings, Table, require_agreement
from benchmarks.timing import prepare, time_interleaved
from robodyn.description.model import Solver
from robodyn.description.model.solver import is_adaptive

STEP, RTOL = 1e-3, 1e-9
ALIKE = 0.2
"""Duration after which all methods must be in the same state [s]: later the motion magnifies what they differ by."""
# Errors of the states there, by the order of each method.
METHODS = {"euler": 5e-3, "rk4": 1e-10, "dopri5": 1e-9, "rodas4": 1e-9, "trbdf2": 1e-6}


@dataclass(frozen=True)
class Size:
    duration: float = 50.0
    rounds: int = 11


SIZES = {"smallest": Size(duration=ALIKE, rounds=1), "usual": Size()}


def measure(size: Size) -> Findings:
    """Time per step and per second of motion: adaptive methods at rtol 1e-9, others with steps of 1 ms."""
    solvers = {
        method: Solver(method, step=STEP, rtol=RTOL, atol=RTOL / 100)
        if is_adaptive(method)
        else Solver(method, step=STEP)
        for method in METHODS
    }
    ready = {method: prepare(arm_system(), solver, ("joint1.position",)) for method, solver in solvers.items()}
    exact = ready["dopri5"].run(Solver("dopri5", rtol=1e-13, atol=1e-15), ALIKE).x
    agreements = []
    for method, tolerance in METHODS.items():
        error = float(np.abs(ready[method].run(solvers[method], ALIKE).x - exact).max())
        what = f"states after {ALIKE:g} s of {method} and a converged run's"
        agreements.append(require_agreement(what, error, tolerance, "rad or rad/s"))

    runs = {method: partial(ready[method].run, solvers[method], size.duration) for method in METHODS}
    timings = time_interleaved(runs, size.rounds)
    lines = []
    for method, run in runs.items():
        counted = run().counters
        tried = counted.steps + counted.rejected
        seconds = timings.median(method)
        per_step = seconds / tried * 1e9
        cost = seconds / size.duration * 1e3
        lines.append((method, tried, f"{counted.evaluations / tried:.2f}", f"{per_step:.0f}", cost))
    columns = ("method", "steps", "right-hand sides a step", "ns a step", "ms per simulated s")
    table = Table("swinging six-axis arm: cost of a step", columns, tuple(lines))
    return Findings(tables=(table,), agreements=tuple(agreements))
