"""RX90B study: which part of the path error is whose? Beyond the study: parts that add up to the whole deviation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from robodyn.analysis import Budget, split_deviation
from robodyn.description.model import Solver
from robodyn.presentation.reporting import plot_stacked
from robodyn.presentation.studies import PublishedValue, above, below
from robodyn_studies.rx90_runs import DEVIATIONS, MICRO, OWN, REVERSAL, SIDES, STEP, weld

GROUPS = {
    **{f"friction of joint {k}, compensated": (f"joint{k}.friction", f"axis{k}.feed_forward") for k in (1, 2, 3)},
    "friction of the wrist, compensated": ("*.friction", "*.feed_forward"),
    "encoders, limits, sampling, delay": ("*.encoder", "*.*_loop", "sampling*"),
}
"""Parts that are shown together: friction and what the feedforward gives for it nearly cancel."""
LARGEST = 0.05
"""Part of the largest deviation that the remainder may be."""


@cache
def weld_budget() -> Budget:
    """The deviations of the weld, split."""
    return split_deviation(weld(), DEVIATIONS, along="path.s", solver=Solver("rosw2", step=STEP))


def budget_figures() -> Iterator[PublishedValue]:
    """How well the parts add up, and which is the largest at the reversal."""
    budget = weld_budget()
    reason = "largest difference between the non-linear deviation and the sum of all parts, of the largest deviation"
    yield below("budget_remainder_share", budget.remainder_share, LARGEST, "", reason, OWN)
    reason = "the same against the perturbation method's deviation, which is linear: only rounding is left"
    yield below("budget_remainder_linear_share", budget.interaction_share, 1e-6, "", reason, OWN)
    friction, fed = (MICRO * at_reversal(budget, name) for name in ("joint3.friction", "axis3.feed_forward"))
    total = MICRO * float(np.max(np.abs(budget.total[0][_near_reversal(budget)])))
    reason = "friction of joint 3 by itself near the reversal, horizontally: far more than the deviation itself"
    yield above("budget_joint3_friction_um", friction, total, "um", reason, OWN)
    reason = "what its feedforward gives against it: more than half of it is compensated"
    yield above("budget_joint3_compensation_um", fed, friction / 2, "um", reason, OWN)


def _near_reversal(budget: Budget, reach: float = 0.05) -> np.ndarray:
    return np.abs(budget.places - REVERSAL) <= reach


def at_reversal(budget: Budget, part: str) -> float:
    """Largest size of a part of the horizontal deviation near the reversal [m]."""
    return float(np.max(np.abs(budget.part(part, DEVIATIONS[0])[_near_reversal(budget)])))


def draw_budget(path: Path, first: float = 0.0, last: float = 1200.0) -> None:
    """The parts of both deviations along a piece of the path [mm], stacked."""
    budget = weld_budget().grouped(GROUPS)
    ways = 1e3 * budget.places
    rows = np.flatnonzero((np.diff(ways, prepend=-1.0) > 0) & (first <= ways) & (ways <= last))
    parts = {part.name: MICRO * budget.values[:, k][:, rows].T for k, part in enumerate(budget.parts)}
    parts["remainder"] = MICRO * budget.remainder[:, rows].T
    axes = [f"{side} deviation" for side in SIDES]
    plot_stacked(parts, ways[rows], path, axes=axes, unit="µm", along="along the path [mm]")
