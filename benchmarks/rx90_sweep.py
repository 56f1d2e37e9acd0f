"""How many robots are simulated a second when the friction of a weld is uncertain, by both methods?

A Monte Carlo sweep on all cores over the friction of all seven places: Coulomb levels in both directions and viscous
coefficients, each by itself; every run keeps the largest and mean deviation and a curve of 300 points along the path.
Speed is that of the whole sweep, making ready included: a few runs are slower than many.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.findings import Findings, Row, require_agreement
from benchmarks.rx90 import WHOLE
from robodyn.analysis import Distribution, SweepPlan, SweepTable, plan_sweep, run_sweep
from robodyn_studies.catalog import rx90_weld

METHODS = ("nonlinear", "perturbation")
SPREAD = Distribution("lognormal", (0.2,))
VARIED = ("*.friction.coulomb", "*.friction.coulomb_back", "*.friction.viscous")


# Of largest deviations, which are some 50 um [m].
SAME_DEVIATION = 1e-6


@dataclass(frozen=True)
class Size:
    """Runs, their duration [s] (motion begins at 0.3 s), and whether code is compiled before."""

    runs: int = 60
    duration: float = WHOLE
    compiled: bool = True


SIZES = {"smallest": Size(3, 0.6, compiled=False), "usual": Size(), "full": Size(1000)}


def measure(size: Size) -> Findings:
    """Both methods on the same draws; a first small sweep of each compiles and does not count."""
    tables = {}
    for method in METHODS:
        if size.compiled:
            run_sweep(plan_friction(2, size.duration), method=method)
        tables[method] = run_sweep(plan_friction(size.runs, size.duration), method=method)
    one, other = (tables[method]["peak:deviation.horizontal"] for method in METHODS)
    what = f"largest deviations of {size.runs} welds by both methods"
    agreement = require_agreement(what, float(np.max(np.abs(one - other))), SAME_DEVIATION, "m")
    return Findings(tuple(describe(method, tables) for method in METHODS), agreements=(agreement,))


def plan_friction(runs: int, duration: float) -> SweepPlan:
    """Friction known to about a fifth, the deviation measured and its curve kept at 1 kHz."""
    return plan_sweep(
        replace(rx90_weld(), duration=duration),
        random=dict.fromkeys(VARIED, SPREAD),
        runs=runs,
        seed=1,
        measures=["peak:deviation.*", "rms:deviation.*"],
        keep=["deviation.horizontal"],
        along="path.s",
        rate=1000.0,
    )


def describe(method: str, tables: dict[str, SweepTable]) -> Row:
    """Computing time per robot and simulated second, all cores together, and how far both methods are apart."""
    table = tables[method]
    low, high = np.percentile(table["peak:deviation.horizontal"], (5, 95)) * 1e6
    return Row(
        f"RX90B weld, {len(table)} runs with friction drawn at random, {method}",
        1e3 / table.rate,
        "ms/s",
        f"{table.rate:.0f} robots x seconds per second on {os.cpu_count()} cores; largest horizontal deviation "
        f"{low:.0f} to {high:.0f} um (5 to 95 %)",
    )
