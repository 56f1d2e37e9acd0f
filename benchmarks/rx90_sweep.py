"""How many robots are simulated a second when the friction of a weld is uncertain, by both methods?

A Monte-Carlo sweep on all cores over the friction of all seven places: Coulomb levels in both directions and viscous
coefficients, each by itself; every run keeps the largest and mean deviation and a curve of 300 points along the path.
Speed is that of the whole sweep, making ready included: a few runs are slower than many.
"""

from __future__ import annotations

import os

import numpy as np

from benchmarks.rows import Findings, Row
from robodyn.analysis import Distribution, SweepPlan, SweepTable, plan_sweep, run_sweep
from robodyn_studies.catalog import rx90_weld

RUNS, ALL_RUNS = 60, 1000
METHODS = ("nonlinear", "perturbation")
SPREAD = Distribution("lognormal", (0.2,))
VARIED = ("*.friction.coulomb", "*.friction.coulomb_back", "*.friction.viscous")


def measure(full: bool = False) -> Findings:
    """Both methods on the same draws; a first small sweep of each compiles and does not count."""
    plan = plan_friction(ALL_RUNS if full else RUNS)
    tables = {}
    for method in METHODS:
        run_sweep(plan_friction(2), method=method)
        tables[method] = run_sweep(plan, method=method)
    return Findings(tuple(describe(method, tables) for method in METHODS))


def plan_friction(runs: int) -> SweepPlan:
    """Friction known to about a fifth, the deviation measured and its curve kept at 1 kHz."""
    return plan_sweep(
        rx90_weld(),
        random=dict.fromkeys(VARIED, SPREAD),
        runs=runs,
        seed=1,
        measures=["max:deviation.*", "rms:deviation.*"],
        keep=["deviation.horizontal"],
        along="path.s",
        rate=1000.0,
    )


def describe(method: str, tables: dict[str, SweepTable]) -> Row:
    """Computing time per robot and simulated second, all cores together, and how far both methods are apart."""
    table = tables[method]
    worst, other = (each["max:deviation.horizontal"] for each in (table, tables[METHODS[0]]))
    low, high = np.percentile(worst, (5, 95)) * 1e6
    return Row(
        f"RX90B weld, {len(table)} runs with friction drawn at random, {method}",
        1e3 / table.rate,
        "ms/s",
        f"{table.rate:.0f} robots x seconds per second on {os.cpu_count()} cores; largest horizontal deviation "
        f"{low:.0f} to {high:.0f} um (5 to 95 %), within {np.max(np.abs(worst - other)) * 1e6:.2g} um of {METHODS[0]}",
    )
