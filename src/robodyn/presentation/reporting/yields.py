"""Yield plot: which share of the robots keeps a limit, and where are the values of the numbers that break it?"""

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from .figures import COLOURS, LINE_WIDTH, empty_figure, finish_axes
from .outcome_marks import count_outcomes
from .panels import with_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from robodyn.analysis.sweeps.yields import Yield
    from robodyn.computation.results.table import RunTable

MOST_BREAKING, BINS = 3, 40
_KEPT, _BROKEN = COLOURS[:2]
# Inches; letters of a title that fit an inch.
_WIDTH, _PANEL_HEIGHT, _LETTERS = 7.0, 2.4, 12


def draw_yield(table: "RunTable", answer: "Yield") -> "Figure":
    """Robots that keep a limit and others: over the measure, and over each of the numbers that set them apart most.

    The bars of both stand on each other. Runs that were not carried through have no place over the measure.
    """
    shown = answer.breaking[:MOST_BREAKING]
    with np.errstate(invalid="ignore"):
        good = table.done & (table[answer.measure] <= answer.limit)
    figure = empty_figure(_WIDTH, _PANEL_HEIGHT * (1 + len(shown)) + 0.6)
    panels = figure.subplots(1 + len(shown), 1, squeeze=False)[:, 0]
    top = panels[0]
    _stack(top, table[answer.measure], good, with_unit(answer.measure, answer.unit), _edges(table, answer))
    top.axvline(answer.limit, color="black", linewidth=2 * LINE_WIDTH, gid="limit", label="limit")
    for label in count_outcomes(table):
        top.plot([], [], linestyle="none", label=label)
    top.legend(loc="best", framealpha=0.9)
    top.set_title("\n".join(textwrap.wrap(answer.sentence, int(_LETTERS * _WIDTH))), fontsize="medium", loc="left")
    for ax, one in zip(panels[1:], shown, strict=True):
        _stack(ax, table.inputs[one.name], good, with_unit(one.name, one.unit))
        for median, colour in ((one.kept, _KEPT), (one.broken, _BROKEN)):
            ax.axvline(median, color="white", linewidth=3 * LINE_WIDTH)
            ax.axvline(median, color=colour, linestyle="--", linewidth=LINE_WIDTH)
    return figure


def _edges(table: "RunTable", answer: "Yield") -> list[float] | int:
    """Bins of which two meet at the limit, where it is among the values."""
    values = table[answer.measure][np.isfinite(table[answer.measure])]
    low, high = np.min(values, initial=answer.limit), np.max(values, initial=answer.limit)
    width = (high - low) / BINS
    if not (low < answer.limit < high and width > 0):
        return BINS
    below, above = (int(np.ceil(span / width)) for span in (answer.limit - low, high - answer.limit))
    return (answer.limit + width * np.arange(-below, above + 1)).tolist()


def _stack(ax: "Axes", values: np.ndarray, good: np.ndarray, label: str, bins: list[float] | int = BINS) -> None:
    finite = np.isfinite(values)
    parts = [values[finite & good], values[finite & ~good]]
    look: dict[str, Any] = {"color": (_KEPT, _BROKEN), "edgecolor": "white", "linewidth": 0.3}
    names = [f"{len(part)} {word}" for part, word in zip(parts, ("keep it", "do not"), strict=True)]
    ax.hist(parts, bins=bins, stacked=True, label=names, **look)
    ax.set_xlabel(label)
    finish_axes(ax, "runs")
    ax.set_axisbelow(True)
