"""Error-budget plot: the parts of a deviation along a path as stacked areas, the total as a line."""

from typing import TYPE_CHECKING

import numpy as np

from .figures import into_file
from .panels import with_unit
from .stacked import draw_stacked

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from robodyn.analysis.budget.result import Budget

MOST_PARTS = 5
"""Parts that are shown by themselves; all smaller ones are one area."""
SMALL = {"m": ("µm", 1e6), "rad": ("µrad", 1e6)}
"""Units in which deviations are reported: unit -> another one, and how many of it."""


def small_unit(unit: str) -> tuple[str, float]:
    """The unit that deviations are reported in, and how many of it are one of the signal's own."""
    return SMALL.get(unit, (unit, 1.0))


def draw_budget(budget: "Budget", *, title: str = "") -> "Figure":
    """A panel a signal: positive parts upward, negative ones downward, their sum, the total, as a line.

    Where the motion stands still along its path only the first instant is drawn.
    """
    rows = choose_rows(budget.places)
    scales = [small_unit(budget.run[name].unit) for name in budget.signals]
    factors = np.array([factor for _, factor in scales])[:, None]
    components = {name: (factors * values)[:, rows].T for name, values in choose_areas(budget).items()}
    unit = "s" if budget.along == "time" else budget.run[budget.along].unit
    return draw_stacked(
        components,
        budget.places[rows],
        axes=budget.signals,
        unit=[unit for unit, _ in scales],
        title=title or f"{budget.run.provenance.scenario}: error budget",
        along=with_unit(budget.along, unit),
    )


plot_budget = into_file(draw_budget)


def choose_areas(budget: "Budget") -> dict[str, np.ndarray]:
    """The largest parts, all others together, and the remainder: name -> values, (k, n_times)."""
    largest = np.max(np.abs(budget.total), axis=1, keepdims=True)
    relative = budget.values / np.where(largest > 0, largest, 1.0)[:, None]
    order = np.argsort(-np.sqrt(np.mean(relative**2, axis=(0, 2))), kind="stable")
    shown, others = np.sort(order[:MOST_PARTS]), order[MOST_PARTS:]
    areas = {budget.parts[j].name: budget.values[:, j] for j in shown}
    if len(others):
        areas[f"{len(others)} smaller parts"] = budget.values[:, others].sum(axis=1)
    return areas | {"remainder": budget.remainder}


def choose_rows(places: np.ndarray) -> np.ndarray:
    """Rows at which an abscissa is beyond all before, in rising order; it may rise or fall on the whole."""
    falls = places[-1] < places[0]
    along = -places if falls else places
    before = np.concatenate([[-np.inf], np.maximum.accumulate(along)[:-1]])
    rows = np.flatnonzero(along > before)
    return rows[::-1] if falls else rows
