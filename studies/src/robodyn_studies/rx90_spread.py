"""RX90B study: how far does the path error spread if friction is not what it was when measured?

Levels of dry friction at each place change together by a factor of 0.7 to 1.3, viscous friction by another: about what
warming up does to a gear. The factors are this project's choice. The controller's feedforward does not know.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from robodyn.analysis import Distribution, SweepPlan, SweepTable, plan_sweep, run_sweep
from robodyn.presentation.studies import PublishedValue, below
from robodyn_studies.catalog.rx90_parameters import FRICTIONS
from robodyn_studies.rx90_runs import DEVIATIONS, MICRO, OWN, SIDES, weld
from robodyn_studies.rx90_task import ACCURACY

RUNS = 60
FACTORS = Distribution("scale", (0.7, 1.3))
ENDS = (5.0, 95.0)
"""Percentiles between which the band lies."""


@cache
def plan_spread(runs: int = RUNS) -> SweepPlan:
    """Monte Carlo over friction, deviations kept every 2 mm of the path."""
    random = {}
    for place in FRICTIONS:
        random[f"{place}.friction.coulomb*,{place}.friction.static*"] = FACTORS
        random[f"{place}.friction.viscous"] = FACTORS
    measures = [f"peak:{name}" for name in DEVIATIONS]
    return plan_sweep(weld(), random=random, runs=runs, measures=measures, keep=DEVIATIONS, along="path.s", points=601)


@cache
def spread(method: str = "nonlinear") -> SweepTable:
    """All runs, in this process: they are short."""
    return run_sweep(plan_spread(), method=method, workers=1)


def band(table: SweepTable, side: str) -> np.ndarray:
    """Percentiles ENDS of a deviation along the path [um], (2, n_places)."""
    if table.curves is None:
        raise ValueError("the sweep kept no curves")
    return MICRO * table.curves.band(f"deviation.{side}", ENDS)


def spread_figures() -> Iterator[PublishedValue]:
    """The band of path errors."""
    table, near = spread(), spread("perturbation")
    done = sum(kind == "finished" for kind in table.outcomes)
    yield PublishedValue("spread_runs_finished", RUNS, done, "", 0.0, "a count: every run comes to its end", OWN)
    for side in SIDES:
        largest = MICRO * float(np.percentile(table[f"peak:deviation.{side}"], ENDS[1]))
        reason = "95 % of the runs deviate by less; laser welding asks for 0.1 mm"
        yield below(f"spread_largest_{side}_um", largest, ACCURACY, "um", reason, OWN)
    lower, upper = band(table, SIDES[0])
    places = 1e3 * np.asarray(table.curves.places) if table.curves else np.zeros(1)
    widest = float(places[np.argmax(upper - lower)])
    reason = "friction matters most where joints 2 and 3 turn back; the width is that of the middle 90 % of the runs"
    yield PublishedValue("spread_widest_place_mm", 600.0, widest, "mm", 25.0, f"{reason}; 25 mm as for the jump", OWN)
    change = max(float(np.max(np.abs(band(table, side) - band(near, side)))) for side in SIDES)
    reason = "the ends of the band, by the perturbation method and by the non-linear equations; the study's 2 um"
    yield below("spread_perturbation_difference_um", change, 2.0, "um", reason, OWN)
