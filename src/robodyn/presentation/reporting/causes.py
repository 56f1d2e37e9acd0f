"""Causes drawn: of what does a force or a deviation consist, and which numbers move a result most?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.base import Array
from robodyn.base.units import ROUNDING, choose_unit, show_quantity, split_heading, with_unit

from .displays import Display, DisplayFigure, Part, Table, shows
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
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from robodyn.analysis.budget import Budget
    from robodyn.analysis.mechanics.forces import ForceSplit
    from robodyn.analysis.sensitivity.ranking import Ranking, Sensitivity


# Stacked areas: what does a force consist of along a trajectory? Signed components, a panel an axis.

_TOTAL = "total"
_TOTAL_LOOK: dict[str, Any] = {"color": "black", "linewidth": 1.2 * LINE_WIDTH, "label": _TOTAL}
_OPACITY = 0.75
# Black stands for the total.
_AREA_COLOURS = tuple(colour for colour in COLOURS if colour != "#000000")


def draw_stacked(
    components: Mapping[str, ArrayLike],
    time: ArrayLike,
    *,
    axes: Sequence[str],
    unit: str | Sequence[str] = "",
    title: str = "",
    along: str = "time [s]",
) -> Figure:
    """A figure of stacked areas: upward what is positive, downward what is negative, their sum as a line.

    Args:
        components: name -> values, (n_times, n_axes); their sum is the total.
        time: the abscissa, rising, (n_times,).
        axes: what each panel shows, such as the joints' names.
        unit: of all axes, or one for each.
        along: label of the abscissa, with its unit in brackets.
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    times = np.asarray(time, float)
    values = {name: np.asarray(entries, float) for name, entries in components.items()}
    units = [unit] * len(axes) if isinstance(unit, str) else list(unit)
    _check(values, times, axes, units)
    figure, panels = panel_figure(len(axes))
    for number, (ax, name) in enumerate(zip(panels, axes, strict=True)):
        _draw_panel(ax, times, np.array([entries[:, number] for entries in values.values()]))
        finish_axes(ax, name, units[number])
    label_bottom(panels, *split_heading(along))
    areas = [Patch(facecolor=c, alpha=_OPACITY, label=name) for c, name in zip(_AREA_COLOURS, values, strict=False)]
    legend_above(figure, [*areas, Line2D([], [], **_TOTAL_LOOK)], title or None)
    return figure


plot_stacked = into_file(draw_stacked)


def _check(values: Mapping[str, Array], time: Array, axes: Sequence[str], units: Sequence[str]) -> None:
    if not 1 <= len(values) <= len(_AREA_COLOURS):
        raise ValueError(f"from 1 to {len(_AREA_COLOURS)} components can be distinguished, not {len(values)}")
    if not axes or len(units) != len(axes):
        raise ValueError(f"{len(units)} units for {len(axes)} axes: each axis needs one")
    if time.ndim != 1 or time.size < 2 or not np.all(np.diff(time) > 0):
        raise ValueError("the time must have at least two values and increase")
    for name, entries in values.items():
        if entries.shape != (time.size, len(axes)):
            raise ValueError(f"{name}: shape {entries.shape} is not {time.size} times by {len(axes)} axes")
        if not np.all(np.isfinite(entries)):
            raise ValueError(f"{name}: some values are not finite, so they cannot be stacked")


def _draw_panel(ax: Axes, time: Array, values: Array) -> None:
    """Areas of the components, (n_components, n_times), and their sum."""
    fine, parts = add_crossings(time, values)
    upper, lower = stack_signed(parts)
    for number, colour in zip(range(len(parts)), _AREA_COLOURS, strict=False):
        look: dict[str, Any] = {"facecolor": colour, "edgecolor": "none", "alpha": _OPACITY}
        ax.fill_between(fine, upper[number], upper[number + 1], **look)
        ax.fill_between(fine, lower[number], lower[number + 1], **look)
    ax.axhline(0.0, color="0.4", linewidth=0.6)
    ax.plot(time, values.sum(axis=0), gid=_TOTAL, **_TOTAL_LOOK)


def add_crossings(time: Array, values: Array) -> tuple[Array, Array]:
    """Times and values, (n_components, n_times), with the times at which straight lines between samples cross zero."""
    left, right = values[:, :-1], values[:, 1:]
    crossing = left * right < 0
    share = np.divide(left, left - right, out=np.zeros_like(left), where=crossing)
    crossings = (time[:-1] + share * np.diff(time))[crossing]
    fine = np.union1d(time, crossings)
    return fine, np.array([np.interp(fine, time, row) for row in values])


def stack_signed(values: Array) -> tuple[Array, Array]:
    """Borders between the areas above and below zero, (n_components + 1, n_times) each.

    The k-th area lies between the borders k and k + 1 of one of them; the last borders' sum is the total.
    """
    floor = np.zeros((1, values.shape[1]))
    upper = np.vstack([floor, np.cumsum(np.maximum(values, 0.0), axis=0)])
    lower = np.vstack([floor, np.cumsum(np.minimum(values, 0.0), axis=0)])
    return upper, lower


# Error-budget plot: the parts of a deviation along a path as stacked areas, the total as a line.

MOST_PARTS = 5
"""Parts that are shown by themselves; all smaller ones are one area."""


def draw_budget(budget: Budget, *, title: str = "") -> Figure:
    """A panel a signal: positive parts upward, negative ones downward, their sum, the total, as a line.

    Where the motion stands still along its path only the first instant is drawn.
    """
    rows = choose_rows(budget.places)
    components = {name: values[:, rows].T for name, values in choose_areas(budget).items()}
    unit = "s" if budget.along == "time" else budget.run[budget.along].unit
    return draw_stacked(
        components,
        budget.places[rows],
        axes=budget.signals,
        unit=[budget.run[name].unit for name in budget.signals],
        title=title or f"{budget.run.provenance.scenario}: error budget",
        along=with_unit(budget.along, unit),
    )


plot_budget = into_file(draw_budget)


@shows
def show_budget(budget: Budget) -> Display:
    """Display the parts of each signal that have an effect, their sum, the remainder and the total."""
    rows = {name: budget.table(name) for name in budget.signals}
    along = "s" if budget.along == "time" else budget.run[budget.along].unit
    shown = {row.name for table in rows.values() for row in table if row.largest > ROUNDING * table[-1].largest}
    parts: list[Part] = []
    for k, (signal, table) in enumerate(rows.items()):
        unit = choose_unit(budget.run[signal].unit, table[-1].largest)
        place = budget.places[int(abs(budget.total[k]).argmax())]
        cells = []
        for row in table:
            if row.name in shown:
                numbers = (value / unit.size for value in (row.largest, row.rms, row.at_worst))
                cells.append((row.name, row.what, *numbers, f"{100 * row.share:.1f} %"))
        title = f"{with_unit(signal, unit.name)}, largest where {budget.along} = {show_quantity(place, along)}"
        heads = ("part", "of", "largest", "rms", "at the largest total", "share")
        parts += [Table(heads, cells, ".3f", title), ""]
    if idle := sorted({part.name for part in budget.parts} - shown):
        # Such as limits that are never reached.
        parts.append(f"without effect: {', '.join(idle)}")
    message = f"remainder: {100 * budget.remainder_share:.2g} % of the largest total"
    if budget.by_differences:
        reason = f"parts are differences between nonlinear motions, because {budget.by_differences}"
        parts.append(f"{message}, where three or more causes interact; {reason}")
    else:
        parts.append(f"{message}; relative to the linearised motion {100 * budget.interaction_share:.2g} %")
    return Display("Error budget", (*parts, DisplayFigure("Parts along the motion", lambda: draw_budget(budget))))


def choose_areas(budget: Budget) -> dict[str, Array]:
    """The largest parts, all others together, and the remainder: name -> values, (k, n_times)."""
    largest = np.max(np.abs(budget.total), axis=1, keepdims=True)
    relative = budget.values / np.where(largest > 0, largest, 1.0)[:, None]
    order = np.argsort(-np.sqrt(np.mean(relative**2, axis=(0, 2))), kind="stable")
    shown, others = np.sort(order[:MOST_PARTS]), order[MOST_PARTS:]
    areas = {budget.parts[j].name: budget.values[:, j] for j in shown}
    if len(others):
        areas[f"{len(others)} smaller parts"] = budget.values[:, others].sum(axis=1)
    return areas | {"remainder": budget.remainder}


def choose_rows(places: Array) -> Array:
    """Rows at which an abscissa is beyond all before, in rising order; it may rise or fall on the whole."""
    falls = places[-1] < places[0]
    along = -places if falls else places
    before = np.concatenate([[-np.inf], np.maximum.accumulate(along)[:-1]])
    rows = np.flatnonzero(along > before)
    return rows[::-1] if falls else rows


# Tornado chart: which parameters move a result most? Bars to both sides of the present value, the longest on top.

MOST_BARS = 30
# Inches.
_WIDTH, _BAR_HEIGHT, _MARGIN = 7.0, 0.32, 1.4
_BAR = 0.7


def draw_tornado(rows: Sequence[Sensitivity], *, unit: str = "") -> Figure:
    """A figure of one measure: a bar a parameter, from the measure with less of it to that with more.

    Bars are those of the finite changes, or of the exact slope over one percent where there are none. A line marks what
    the exact slope foretells of the same change.

    Args:
        rows: of one measure, as `SensitivityTable.of` gives them.
        unit: of the measure.
    """
    rows = list(rows)
    measures = {row.measure for row in rows}
    if len(measures) != 1:
        raise ValueError(f"a ranking shows one measure, not {len(measures)}")
    if len(rows) > MOST_BARS:
        raise ValueError(f"{len(rows)} bars are too many for one figure, {MOST_BARS} fit: choose fewer parameters")
    rows.sort(key=lambda row: max(abs(end - row.value) for end in _ends(row)))
    figure = empty_figure(_WIDTH, _MARGIN + _BAR_HEIGHT * len(rows))
    ax = figure.subplots()
    for place, row in enumerate(rows):
        _draw_bar(ax, place, row)
    ax.axvline(rows[0].value, color="0.3", linewidth=0.8)
    changes = [row.change if row.lower is not None else 0.01 for row in rows]
    labels = [f"{row.parameter} \N{PLUS-MINUS SIGN}{100 * c:g} %" for row, c in zip(rows, changes, strict=True)]
    ax.set_yticks(range(len(rows)), labels)
    label_axis(ax.xaxis, rows[0].measure, unit)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    legend_above(figure, _bar_entries(rows))
    return figure


plot_tornado = into_file(draw_tornado)


def _draw_bar(ax: Axes, place: int, row: Sensitivity) -> None:
    less, more = _ends(row)
    for end, colour in ((less, COLOURS[1]), (more, COLOURS[0])):
        ax.barh(place, end - row.value, left=row.value, height=_BAR, color=colour, gid=row.parameter)
    if row.slope is not None and row.lower is not None:
        ends = [row.value + sign * row.slope * row.parameter_value * row.change for sign in (-1, 1)]
        ax.plot(ends, [place, place], color="black", marker="|", linewidth=0.8, gid=f"{row.parameter} exact")


def _ends(row: Sensitivity) -> tuple[float, float]:
    """The measure with less and with more of the parameter."""
    if row.lower is not None and row.upper is not None:
        return row.lower, row.upper
    step = row.per_percent or 0.0
    return row.value - step, row.value + step


def _bar_entries(rows: Sequence[Sensitivity]) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    entries: list[Any] = [Patch(color=COLOURS[1], label="less"), Patch(color=COLOURS[0], label="more")]
    if any(row.slope is not None and row.lower is not None for row in rows):
        entries.append(Line2D([], [], color="black", marker="|", linewidth=0.8, label="from the exact derivative"))
    return entries


@shows
def show_ranking(ranking: Ranking) -> Display:
    """Numbers by their effect on a measure, by exact derivatives and by finite changes."""
    # Effects of all parameters are of one unit, that of the measure; values are each of their own.
    effects = [(row.per_percent, row.finite_per_percent) for row in ranking.rows]
    sizes = [abs(effect) for pair in effects for effect in pair if effect is not None and np.isfinite(effect)]
    unit = choose_unit(ranking.unit, max(sizes, default=0.0))
    rows = []
    for row, pair in zip(ranking.rows, effects, strict=True):
        scaled = [None if effect is None else effect / unit.size for effect in pair]
        rows.append((row.parameter, row.parameter_value, row.unit, *scaled))
    heads = ("parameter", "value", "unit", *(with_unit(how, unit.name) for how in ("exact per %", "finite per %")))
    sentence = f"{ranking.measure} of {ranking.of}: {show_quantity(ranking.rows[0].value, ranking.unit, 6)}"
    picture = DisplayFigure("Effects of the parameters", lambda: draw_tornado(ranking.rows, unit=ranking.unit))
    reason = (f"finite differences instead of exact derivatives: {ranking.reason}",) if ranking.reason else ()
    parts = (sentence, Table(heads, rows, ("", ".6g", "", "+.5g", "+.5g"), by_row=("value",)), picture)
    return Display("Sensitivity", parts, notes=(*reason, *ranking.notes))


@shows
def show_forces(split: ForceSplit) -> Display:
    """Forces of the drives of each joint and their purposes, largest values and over time, and loads of the joints."""
    joints = split.joints
    sizes = {part: max(joint.parts[part].largest / (joint.drive.largest or 1.0) for joint in joints.values())
             for part in split.forces.components}  # fmt: skip
    shown = [part for part, size in sizes.items() if size > ROUNDING]
    parts: list[Part] = []
    for title in ("largest", "rms"):
        rows = []
        for name, joint in joints.items():
            least = ROUNDING * joint.drive.largest
            numbers = []
            for one in (joint.drive, *(joint.parts[part] for part in shown)):
                number = one.largest if title == "largest" else one.rms
                # What rounding leaves is nothing.
                numbers.append(number if one.largest > least else 0.0)
            rows.append((name, *numbers, joint.unit))
        parts += [Table((title, "drive", *shown, "unit"), rows, by_row=("drive", *shown)), ""]
    loads = []
    for name, load in split.loads.items():
        ranges = (load.force, load.axial, load.radial, load.torque, load.bending)
        loads.append((name, *(one.largest if one else None for one in ranges), load.force.time))
    if loads:
        heads = ("joint carries", "force [N]", "axial [N]", "radial [N]", "torque [N m]", "bending [N m]", "at [s]")
        parts.append(Table(heads, loads))
    return Display("Forces", [*parts, DisplayFigure("Forces of the drives", lambda: draw_forces(split))], split.notes)


def draw_forces(split: ForceSplit) -> Figure:
    """A panel a joint: parts of what its drives give as stacked areas, their sum as a line."""
    forces = split.forces
    # Two rows of one time are the sides of a jump: the first of them is drawn.
    rows = np.flatnonzero(np.diff(forces.time, prepend=-np.inf) > 0)
    largest = np.abs(split.drives).max(axis=0)
    drawn = {}
    for part, values in forces.components.items():
        if np.any(np.abs(values).max(axis=0) > ROUNDING * largest):
            drawn[part] = values[rows]
    title = f"{split.run.provenance.scenario}: forces of the drives"
    return draw_stacked(drawn, forces.time[rows], axes=forces.names, unit=forces.units, title=title)
