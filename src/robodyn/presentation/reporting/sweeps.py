"""Sweeps drawn: how does a measure depend on the numbers that were varied? Lines, maps, clouds, histograms, yields."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.analysis.sweeps.table import SweepTable
from robodyn.analysis.sweeps.uncertainty import find_yield
from robodyn.base import Array, show_quantities, show_quantity, with_unit

from .displays import Display, DisplayFigure, DisplayLines, Part, Table, shows
from .figures import (
    COLOURS,
    LINE_WIDTH,
    empty_figure,
    finish_axes,
    into_file,
    label_axis,
    label_bottom,
    legend_above,
    panel_figure,
    write_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from robodyn.analysis.sweeps.table import Varied
    from robodyn.analysis.sweeps.uncertainty import Yield
    from robodyn.computation.results.table import Curves, RunTable


# Marks of outcomes: which points of a picture are no results, or results that should not be believed?

_SIZE, _FOOT = 7.0, 0.02


def _groups(table: RunTable) -> Iterator[tuple[str, str, Array]]:
    """Name, marker and runs of those that failed, were unstable or are suspect, where there are any."""
    failed = ~(table.done | table.unstable | table.suspect)
    for name, marker, runs in (
        ("failed", "x", failed),
        ("unstable", "^", table.unstable),
        ("suspect", "o", table.suspect),
    ):
        if runs.any():
            yield name, marker, runs


def count_outcomes(table: RunTable) -> list[str]:
    """\"3 failed\", \"2 suspect\", as far as there are such runs."""
    return [f"{int(runs.sum())} {name}" for name, _, runs in _groups(table)]


def mark_outcomes(ax: Axes, table: RunTable, x: Array, y: Array) -> None:
    """A cross for each run that failed, a triangle for an unstable one, at the foot of the picture where it has no
    value, a ring for each suspect."""
    for name, marker, runs in _groups(table):
        nowhere = runs & ~np.isfinite(y)
        look: dict[str, Any] = {"linestyle": "none", "marker": marker, "markersize": _SIZE, "color": COLOURS[1]}
        look |= {"fillstyle": "none", "gid": name, "clip_on": False}
        ax.plot(x[runs & ~nowhere], y[runs & ~nowhere], label=f"{int(runs.sum())} {name}", **look)
        if nowhere.any():
            foot = np.full(int(nowhere.sum()), _FOOT)
            ax.plot(x[nowhere], foot, transform=ax.get_xaxis_transform(), **look)
    if count_outcomes(table):
        ax.legend(loc="best", frameon=False)


# Percentile bands: where do the curves of many runs lie, along time or a path?

# Percentiles of the pale and of the dark band, and the line between.
_WIDE, _NARROW, _MIDDLE = (5.0, 95.0), (25.0, 75.0), 50.0
_PALE, _DARK = 0.22, 0.45


def draw_bands(curves: Curves) -> Figure:
    """A panel a signal: a band from the 5th to the 95th percentile of the runs, that of their middle half, a median."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    figure, axes = panel_figure(len(curves.values))
    for ax, signal in zip(axes, curves.values, strict=True):
        for ends, alpha in ((_WIDE, _PALE), (_NARROW, _DARK)):
            name = f"{signal} {ends[0]:g} to {ends[1]:g} %"
            look: dict[str, Any] = {"color": COLOURS[0], "alpha": alpha, "linewidth": 0, "gid": name}
            ax.fill_between(curves.places, *curves.band(signal, ends), **look)
        middle = curves.band(signal, [_MIDDLE])[0]
        ax.plot(curves.places, middle, color=COLOURS[1], linewidth=LINE_WIDTH, gid=f"{signal} median")
        finish_axes(ax, signal, curves.units[signal])
    label_bottom(axes, curves.along, curves.unit)
    entries: list[Any] = []
    for ends, alpha in ((_WIDE, _PALE), (_NARROW, _DARK)):
        label = f"{ends[0]:g} to {ends[1]:g} % of the runs"
        entries.append(Patch(color=COLOURS[0], alpha=alpha, linewidth=0, label=label))
    entries.append(Line2D([], [], color=COLOURS[1], linewidth=LINE_WIDTH, label="median"))
    legend_above(figure, entries)
    return figure


plot_bands = into_file(draw_bands)


# Curves of a grid: how does a whole signal change with what was varied? A line a run, coloured by the first axis.

MOST_LINES = 200
"""Beyond that lines cover each other: runs in equal distances are drawn."""


def draw_grid_curves(table: SweepTable) -> Figure:
    """A panel a signal with a line for each run, its colour the place on the first axis with more than one."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    curves = table.curves
    if curves is None:
        raise ValueError("the sweep recorded no curves: list them in keep")
    axis = next((axis for axis in table.axes if len(axis.places) > 1), table.axes[0])
    scale = Normalize(float(np.min(axis.places)), float(np.max(axis.places)))
    figure, panels = panel_figure(len(curves.values))
    shown = np.unique(np.linspace(0, len(table) - 1, min(len(table), MOST_LINES)).astype(int))
    for ax, (signal, values) in zip(panels, curves.values.items(), strict=True):
        for run in shown:
            colour = colormaps["viridis"](scale(axis.places[axis.index[run]]))
            # Suspect runs are dashed; failed ones have no values.
            style = "--" if table.suspect[run] else "-"
            ax.plot(curves.places, values[run], style, color=colour, linewidth=LINE_WIDTH, gid=f"{signal} run {run}")
        finish_axes(ax, signal, curves.units[signal])
    label_bottom(panels, curves.along, curves.unit)
    bar = figure.colorbar(ScalarMappable(scale, "viridis"), ax=panels)
    label_axis(bar.ax.yaxis, axis.label, axis.unit)
    return figure


# Yield plot: which share of the robots keeps a limit, and where are the values of the numbers that break it?

MOST_BREAKING, BINS = 3, 40
_KEPT, _BROKEN = COLOURS[:2]
# Inches; letters of a title that fit an inch.
_YIELD_WIDTH, _PANEL_HEIGHT, _LETTERS = 7.0, 2.4, 12


def draw_yield(table: RunTable, answer: Yield) -> Figure:
    """Robots that keep a limit and others: over the measure, and over each of the numbers that set them apart most.

    The bars of both stand on each other. Runs that were not carried through have no place over the measure.
    """
    shown = answer.breaking[:MOST_BREAKING]
    with np.errstate(invalid="ignore"):
        good = table.done & (table[answer.measure] <= answer.limit)
    figure = empty_figure(_YIELD_WIDTH, _PANEL_HEIGHT * (1 + len(shown)) + 0.6)
    panels = figure.subplots(1 + len(shown), 1, squeeze=False)[:, 0]
    top = panels[0]
    _stack(top, table[answer.measure], good, with_unit(answer.measure, answer.unit), _edges(table, answer))
    top.axvline(answer.limit, color="black", linewidth=2 * LINE_WIDTH, gid="limit", label="limit")
    for label in count_outcomes(table):
        top.plot([], [], linestyle="none", label=label)
    top.legend(loc="best", framealpha=0.9)
    top.set_title(
        "\n".join(textwrap.wrap(answer.sentence, int(_LETTERS * _YIELD_WIDTH))), fontsize="medium", loc="left"
    )
    for ax, one in zip(panels[1:], shown, strict=True):
        _stack(ax, table.inputs[one.name], good, with_unit(one.name, one.unit))
        for median, colour in ((one.kept, _KEPT), (one.broken, _BROKEN)):
            ax.axvline(median, color="white", linewidth=3 * LINE_WIDTH)
            ax.axvline(median, color=colour, linestyle="--", linewidth=LINE_WIDTH)
    return figure


def _edges(table: RunTable, answer: Yield) -> list[float] | int:
    """Bins of which two meet at the limit, where it is among the values."""
    values = table[answer.measure][np.isfinite(table[answer.measure])]
    low, high = np.min(values, initial=answer.limit), np.max(values, initial=answer.limit)
    width = (high - low) / BINS
    if not (low < answer.limit < high and width > 0):
        return BINS
    below, above = (int(np.ceil(span / width)) for span in (answer.limit - low, high - answer.limit))
    return (answer.limit + width * np.arange(-below, above + 1)).tolist()


def _stack(ax: Axes, values: Array, good: Array, label: str, bins: list[float] | int = BINS) -> None:
    finite = np.isfinite(values)
    parts = [values[finite & good], values[finite & ~good]]
    look: dict[str, Any] = {"color": (_KEPT, _BROKEN), "edgecolor": "white", "linewidth": 0.3}
    names = [f"{len(part)} {word}" for part, word in zip(parts, ("keep it", "do not"), strict=True)]
    ax.hist(parts, bins=bins, stacked=True, label=names, **look)
    ax.set_xlabel(label)
    finish_axes(ax, "runs")
    ax.set_axisbelow(True)


# Sweep plots: how does a measure depend on the numbers that were varied? Lines, maps, clouds, histograms.

MOST_INFLUENCES = 20
# Inches.
_WIDTH, _HEIGHT, _PANEL_WIDTH, _BAR_HEIGHT = 7.0, 4.2, 3.2, 0.3
_DOT = 3.0
# Range of percentiles over the draws at one place.
_SPREAD = (5.0, 95.0)


def plot_sweep(runs: RunTable, folder: str | Path, limits: Mapping[str, float] | None = None) -> list[Path]:
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


def _wide(table: SweepTable) -> list[Varied]:
    """Axes with more than one place."""
    return [axis for axis in table.axes if len(axis.places) > 1]


def _changing(table: SweepTable) -> list[str]:
    """Inputs that take more than one value."""
    return [name for name, values in table.inputs.items() if np.ptp(values) > 0]


def draw_measure(table: SweepTable, measure: str) -> Figure:
    """A measure over the grid: a line along one axis, a map over two, a cloud along each of more.

    With draws, the line is the median at each place with a bar from the 5th to the 95th percentile, the map the median.
    """
    axes = _wide(table)
    if not axes:
        raise ValueError("no parameter of the sweep takes more than one value: draw the histogram instead")
    if len(axes) == 1:
        return _draw_line(table, measure, axes[0])
    return _draw_map(table, measure, axes[0], axes[1]) if len(axes) == 2 else _draw_clouds(table, measure, axes)


def _draw_line(table: SweepTable, measure: str, axis: Varied) -> Figure:
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
    label_axis(ax.xaxis, axis.label, axis.unit)
    finish_axes(ax, measure, table.units[measure])
    mark_outcomes(ax, table, axis.places[axis.index], table[measure])
    return figure


def _draw_map(table: SweepTable, measure: str, first: Varied, second: Varied) -> Figure:
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
    label_axis(figure.colorbar(filled, ax=ax).ax.yaxis, measure, table.units[measure])
    for axis, name in ((first, "x"), (second, "y")):
        _scale_axis(ax, axis, name)
    label_axis(ax.xaxis, first.label, first.unit)
    finish_axes(ax, second.label, second.unit)
    ax.grid(False)
    mark_outcomes(ax, table, first.places[first.index], second.places[second.index])
    return figure


def _scale_axis(ax: Any, axis: Varied, name: str = "x") -> None:
    """Places spaced by factors are drawn so."""
    places = np.sort(axis.places)
    if len(places) > 2 and places[0] > 0 and np.ptp(np.diff(np.log(places))) < 1e-6 * np.log(places[-1] / places[0]):
        ax.set(**{f"{name}scale": "log"})


def _draw_clouds(table: SweepTable, measure: str, axes: Sequence[Varied]) -> Figure:
    figure = empty_figure(1.0 + _PANEL_WIDTH * len(axes), _HEIGHT)
    panels = figure.subplots(1, len(axes), sharey=True)
    for ax, axis in zip(panels, axes, strict=True):
        look: dict[str, Any] = {"color": COLOURS[0], "marker": ".", "markersize": _DOT, "linestyle": "none"}
        ax.plot(axis.places[axis.index], table[measure], gid=axis.label, **look)
        label_axis(ax.xaxis, axis.label, axis.unit)
        finish_axes(ax, "")
        mark_outcomes(ax, table, axis.places[axis.index], table[measure])
    label_axis(panels[0].yaxis, measure, table.units[measure])
    return figure


def draw_histogram(table: SweepTable, measure: str) -> Figure:
    """How often a measure falls where, over all runs that were carried through; lines at 5, 50 and 95 %."""
    values = _finite(table[measure])
    if not values.size:
        raise ValueError(f"{measure}: no run was completed")
    figure = empty_figure(_WIDTH, _HEIGHT)
    ax = figure.subplots()
    spread = np.ptp(values) > 1e-12 * np.max(np.abs(values))
    ax.hist(values, bins="fd" if spread else 1, color=COLOURS[0], edgecolor="white", linewidth=0.4)
    for value, style in zip(np.percentile(values, (5, 50, 95)), ("--", "-", "--"), strict=True):
        ax.axvline(float(value), color=COLOURS[1], linestyle=style, linewidth=LINE_WIDTH)
    # Runs that the bars leave out, or that should not be believed.
    labels = count_outcomes(table)
    for label in labels:
        ax.plot([], [], linestyle="none", label=label)
    if labels:
        ax.legend(loc="best", frameon=False)
    label_axis(ax.xaxis, measure, table.units[measure])
    finish_axes(ax, "runs")
    ax.set_axisbelow(True)
    return figure


def draw_influence(table: SweepTable, measure: str) -> Figure:
    """Which of the varied numbers decide a measure? Spearman's rank correlation of each with it, the largest on top."""
    influences = rank_influences(table, measure)[:MOST_INFLUENCES][::-1]
    figure = empty_figure(_WIDTH, 1.2 + _BAR_HEIGHT * len(influences))
    ax = figure.subplots()
    for place, (name, correlation) in enumerate(influences):
        ax.barh(place, correlation, height=0.7, color=COLOURS[0 if correlation >= 0 else 1], gid=name)
    ax.axvline(0.0, color="0.3", linewidth=0.8)
    ax.set_yticks(range(len(influences)), [name for name, _ in influences])
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
    correlations = zip(names, np.nan_to_num(last).tolist(), strict=True)
    return sorted(correlations, key=lambda row: -abs(row[1]))


def _finite(values: Array) -> Array:
    return values[np.isfinite(values)]


# Displays.

FEW_RUNS, FEW_COLUMNS, MOST_LISTED = 12, 6, 500
"""Runs and numbers of each that are printed as they are; runs that pages and the studio list."""


@shows
def show_sweep(table: SweepTable) -> Display:
    """Every run of a small grid; else percentiles of every measure, and where on the grid it is lowest and highest."""
    parts: list[Part] = [f"{table.scenario}: {len(table)} runs, {table.carried_through} of them completed"]
    if np.isfinite(table.rate):
        speed = f"{table.rate:.4g} times real time"
        parts.append(f"{table.simulated:.5g} s simulated in {table.elapsed:.3g} s: {speed}")
    for kind, count in table.failures.items():
        first = table.outcomes.index(kind)
        parts.append(f"{count} {kind.replace('_', ' ')}, run {first}: {table.sentences[first]}")
    few = not table.drawn and len(table) <= FEW_RUNS and len(table.axes) + len(table.measures) <= FEW_COLUMNS
    more = [_runs_table(table)] if len(table) <= MOST_LISTED else []
    if few:
        parts += more
        more = []
    else:
        rows = [(name, *table.percentiles(name).tolist(), table.units.get(name, "")) for name in table.measures]
        numbers = ("lowest", "5 %", "50 %", "95 %", "highest")
        parts.append(Table(("measure", *numbers, "unit"), rows, ".5g", by_row=numbers))
        parts += _ends(table)
    if len(table) > 1 and _wide(table):
        measure = next(iter(table.measures))
        parts.append(DisplayFigure(measure, lambda: draw_measure(table, measure)))
    elif len(table) > 1 and table.drawn:
        drawn = next(iter(table.measures))
        parts.append(DisplayFigure(drawn, lambda: draw_histogram(table, drawn)))
    return Display(f"Sweep of {len(table)} runs", parts, curves=_curves(table), more=more)


def _runs_table(table: SweepTable) -> Table:
    """A row a run: what was varied, its measures, and how it ended where that was not as asked for."""
    units = {axis.label: axis.unit for axis in table.axes} | {name: table.units[name] for name in table.drawn}
    units |= {name: table.units[name] for name in table.measures}
    columns = [axis.places[axis.index] for axis in table.axes]
    columns += [*(table.inputs[name] for name in table.drawn), *table.measures.values()]
    rows = []
    for run, (done, kind) in enumerate(zip(table.done, table.outcomes, strict=True)):
        numbers = (float(column[run]) for column in columns)
        rows.append((run, *numbers, "" if done else kind.replace("_", " ")))
    heads = (f"{name} [{unit}]" if unit else name for name, unit in units.items())
    return Table(("run", *heads, ""), rows, ".6g")


def _ends(table: SweepTable) -> Iterator[str]:
    """Where on the grid each measure is lowest and highest, and that such a run is suspect."""
    for name, values in table.measures.items():
        if not table.axes or not np.isfinite(values).any():
            continue
        for word, run in (("lowest", int(np.nanargmin(values))), ("highest", int(np.nanargmax(values)))):
            places = (
                f"{axis.label} = {show_quantity(float(axis.places[axis.index[run]]), axis.unit, 5)}"
                for axis in table.axes
            )
            suspect = " (suspect)" if table.suspect[run] else ""
            yield f"{name} {word} in run {run}: {', '.join(places)}{suspect}"


def _curves(table: SweepTable) -> DisplayLines | None:
    """The first measure over the only number that was varied."""
    if len(table.inputs) != 1 or not table.measures:
        return None
    (name, values), (measure, results) = next(iter(table.inputs.items())), next(iter(table.measures.items()))
    order = np.argsort(values)
    lines = {measure: (values[order].tolist(), results[order].tolist())}
    return DisplayLines(with_unit(name, table.units[name]), with_unit(measure, table.units[measure]), lines)


def yield_lines(answer: Yield) -> list[str]:
    """The sentence, and a line for each number that breaks the limit."""
    lines = [answer.sentence]
    if answer.good < answer.runs and not answer.breaking:
        lines.append("no single parameter separates the failures better than chance")
    for one in answer.breaking:
        (broken, kept), unit = show_quantities([one.broken, one.kept], one.unit, 5)
        apart = f"median {broken} where it is violated, {kept} {unit}".rstrip()
        lines.append(f"broken by {one.name}: {apart} else (distance {one.distance:.2g})")
    return lines
