"""Sweep plots: how does a measure depend on the numbers that were varied? Lines, maps, clouds, histograms."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.analysis.sweeps.table import SweepTable
from robodyn.analysis.sweeps.yields import find_yield

from .bands import draw_bands
from .figures import COLOURS, LINE_WIDTH, empty_figure, finish_axes, write_figure
from .grid_curves import draw_grid_curves
from .outcome_marks import count_outcomes, mark_outcomes
from .panels import with_unit
from .yields import draw_yield

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from robodyn.analysis.sweeps.table import Varied
    from robodyn.computation.results.table import RunTable

MOST_INFLUENCES = 20
# Inches.
_WIDTH, _HEIGHT, _PANEL_WIDTH, _BAR_HEIGHT = 7.0, 4.2, 3.2, 0.3
_DOT = 3.0
# Range of percentiles over the draws at one place.
_SPREAD = (5.0, 95.0)


def plot_sweep(runs: "RunTable", folder: str | Path, limits: Mapping[str, float] | None = None) -> list[Path]:
    """Draw every picture a table gives into a folder as PNG; the paths of what was drawn.

    Args:
        runs: of a sweep, or of `simulate_many`.
        limits: of measures, whose yield is drawn.
    """
    table = SweepTable.of(runs)
    pictures = {}
    for measure in table.measures:
        stem = measure.replace(":", "-")
        if not np.isfinite(table[measure]).any():
            continue
        if _wide(table):
            pictures[stem] = draw_measure(table, measure)
        if table.drawn:
            pictures[f"{stem}-histogram"] = draw_histogram(table, measure)
        if len(_changing(table)) > 1:
            pictures[f"{stem}-influence"] = draw_influence(table, measure)
    for measure, limit in (limits or {}).items():
        pictures[f"{measure.replace(':', '-')}-yield"] = draw_yield(table, find_yield(table, measure, limit))
    paths = [Path(folder) / f"{stem}.png" for stem in pictures]
    for path, figure in zip(paths, pictures.values(), strict=True):
        write_figure(figure, path)
    if table.curves is not None:
        paths.append(Path(folder) / "curves.png")
        write_figure(draw_bands(table.curves) if table.drawn else draw_grid_curves(table), paths[-1])
    return paths


def _wide(table: SweepTable) -> list["Varied"]:
    """Axes with more than one place."""
    return [axis for axis in table.axes if len(axis.places) > 1]


def _changing(table: SweepTable) -> list[str]:
    """Inputs that take more than one value."""
    return [name for name, values in table.inputs.items() if np.ptp(values) > 0]


def draw_measure(table: SweepTable, measure: str) -> "Figure":
    """A measure over the grid: a line along one axis, a map over two, a cloud along each of more.

    With draws, the line is the median at each place with a bar from the 5th to the 95th percentile, the map the median.
    """
    axes = _wide(table)
    if not axes:
        raise ValueError("no number of the sweep takes more than one place: draw its histogram")
    if len(axes) == 1:
        return _draw_line(table, measure, axes[0])
    return _draw_map(table, measure, axes[0], axes[1]) if len(axes) == 2 else _draw_clouds(table, measure, axes)


def _draw_line(table: SweepTable, measure: str, axis: "Varied") -> "Figure":
    figure = empty_figure(_WIDTH, _HEIGHT)
    ax = figure.subplots()
    order = np.argsort(axis.places)
    places = axis.places[order]
    groups = [_finite(table[measure][axis.index == k]) for k in order]
    middle = np.array([np.median(group) if group.size else np.nan for group in groups])
    ax.plot(places, middle, color=COLOURS[0], marker=".", linewidth=LINE_WIDTH, gid=measure)
    if table.drawn:
        ends = [np.percentile(group, _SPREAD) if group.size else (np.nan, np.nan) for group in groups]
        ax.vlines(places, *np.array(ends).T, color=COLOURS[0], linewidth=LINE_WIDTH, gid="spread")
    _scale_axis(ax, axis)
    ax.set_xlabel(with_unit(axis.label, axis.unit))
    finish_axes(ax, with_unit(measure, table.units[measure]))
    mark_outcomes(ax, table, axis.places[axis.index], table[measure])
    return figure


def _draw_map(table: SweepTable, measure: str, first: "Varied", second: "Varied") -> "Figure":
    figure = empty_figure(_WIDTH, _HEIGHT)
    ax = figure.subplots()
    cells = np.full((len(first.places), len(second.places)), np.nan)
    for i, k in np.ndindex(cells.shape):
        values = _finite(table[measure][(first.index == i) & (second.index == k)])
        cells[i, k] = np.median(values) if values.size else np.nan
    rows, columns = np.argsort(first.places), np.argsort(second.places)
    shown = np.ma.masked_invalid(cells[np.ix_(rows, columns)])
    look: dict[str, Any] = {"cmap": "viridis", "shading": "nearest", "rasterized": True}
    filled = ax.pcolormesh(first.places[rows], second.places[columns], shown.T, **look)
    filled.set_gid(measure)
    ax.set_facecolor("0.85")
    figure.colorbar(filled, ax=ax, label=with_unit(measure, table.units[measure]))
    for axis, name in ((first, "x"), (second, "y")):
        _scale_axis(ax, axis, name)
    ax.set_xlabel(with_unit(first.label, first.unit))
    finish_axes(ax, with_unit(second.label, second.unit))
    ax.grid(False)
    mark_outcomes(ax, table, first.places[first.index], second.places[second.index])
    return figure


def _scale_axis(ax: Any, axis: "Varied", name: str = "x") -> None:
    """Places spaced by factors are drawn so."""
    places = np.sort(axis.places)
    if len(places) > 2 and places[0] > 0 and np.ptp(np.diff(np.log(places))) < 1e-6 * np.log(places[-1] / places[0]):
        ax.set(**{f"{name}scale": "log"})


def _draw_clouds(table: SweepTable, measure: str, axes: Sequence["Varied"]) -> "Figure":
    figure = empty_figure(1.0 + _PANEL_WIDTH * len(axes), _HEIGHT)
    panels = figure.subplots(1, len(axes), sharey=True)
    for ax, axis in zip(panels, axes, strict=True):
        look: dict[str, Any] = {"color": COLOURS[0], "marker": ".", "markersize": _DOT, "linestyle": "none"}
        ax.plot(axis.places[axis.index], table[measure], gid=axis.label, **look)
        ax.set_xlabel(with_unit(axis.label, axis.unit))
        finish_axes(ax, "")
        mark_outcomes(ax, table, axis.places[axis.index], table[measure])
    panels[0].set_ylabel(with_unit(measure, table.units[measure]))
    return figure


def draw_histogram(table: SweepTable, measure: str) -> "Figure":
    """How often a measure falls where, over all runs that were carried through; lines at 5, 50 and 95 %."""
    values = _finite(table[measure])
    if not values.size:
        raise ValueError(f"{measure}: no run was carried through")
    figure = empty_figure(_WIDTH, _HEIGHT)
    ax = figure.subplots()
    spread = np.ptp(values) > 1e-12 * np.max(np.abs(values))
    ax.hist(values, bins="fd" if spread else 1, color=COLOURS[0], edgecolor="white", linewidth=0.4)
    for value, style in zip(np.percentile(values, (5, 50, 95)), ("--", "-", "--"), strict=True):
        ax.axvline(float(value), color=COLOURS[1], linestyle=style, linewidth=LINE_WIDTH)
    _report_outcomes(ax, table)
    ax.set_xlabel(with_unit(measure, table.units[measure]))
    finish_axes(ax, "runs")
    ax.set_axisbelow(True)
    return figure


def _report_outcomes(ax: Any, table: SweepTable) -> None:
    """How many runs the bars leave out or should not be believed, as a legend."""
    labels = count_outcomes(table)
    for label in labels:
        ax.plot([], [], linestyle="none", label=label)
    if labels:
        ax.legend(loc="best", frameon=False)


def draw_influence(table: SweepTable, measure: str) -> "Figure":
    """Which of the varied numbers decide a measure? Spearman's rank correlation of each with it, the largest on top."""
    found = rank_influences(table, measure)[:MOST_INFLUENCES][::-1]
    figure = empty_figure(_WIDTH, 1.2 + _BAR_HEIGHT * len(found))
    ax = figure.subplots()
    for place, (name, correlation) in enumerate(found):
        ax.barh(place, correlation, height=0.7, color=COLOURS[0 if correlation >= 0 else 1], gid=name)
    ax.axvline(0.0, color="0.3", linewidth=0.8)
    ax.set_yticks(range(len(found)), [name for name, _ in found])
    ax.set_xlim(-1.0, 1.0)
    ax.set_xlabel(f"rank correlation with {measure}")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    return figure


def rank_influences(table: SweepTable, measure: str) -> list[tuple[str, float]]:
    """Spearman's rank correlation of each changing input with a measure, the largest first; 0 where one is constant."""
    from scipy.stats import rankdata

    good = np.isfinite(table[measure])
    names = _changing(table)
    ranks = [rankdata(values[good]) for values in (*(table.inputs[name] for name in names), table[measure])]
    with np.errstate(invalid="ignore", divide="ignore"):
        last = np.atleast_2d(np.corrcoef(ranks))[-1, :-1] if good.sum() > 1 else np.zeros(len(names))
    found = zip(names, np.nan_to_num(last).tolist(), strict=True)
    return sorted(found, key=lambda row: -abs(row[1]))


def _finite(values: np.ndarray) -> np.ndarray:
    return values[np.isfinite(values)]
