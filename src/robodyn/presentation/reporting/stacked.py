"""Stacked areas: what does a force consist of along a trajectory? Signed components, a panel an axis."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .figures import COLOURS, LINE_WIDTH, finish_axes, into_file, label_bottom, legend_above, panel_figure
from .panels import with_unit

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
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
) -> "Figure":
    """A figure of stacked areas: upward what is positive, downward what is negative, their sum as a line.

    Args:
        components: name -> values, (n_times, n_axes); their sum is the total.
        time: the abscissa, rising, (n_times,).
        axes: what each panel shows, such as the joints' names.
        unit: of all axes, or one for each.
        along: label of the abscissa.
    """
    times = np.asarray(time, float)
    values = {name: np.asarray(entries, float) for name, entries in components.items()}
    units = [unit] * len(axes) if isinstance(unit, str) else list(unit)
    _check(values, times, axes, units)
    figure, panels = panel_figure(len(axes))
    for number, (ax, name) in enumerate(zip(panels, axes, strict=True)):
        _draw_panel(ax, times, np.array([entries[:, number] for entries in values.values()]))
        finish_axes(ax, with_unit(name, units[number]))
    label_bottom(panels, along)
    figure.align_ylabels(panels)
    legend_above(figure, _entries(list(values)), title or None)
    return figure


plot_stacked = into_file(draw_stacked)


def _check(values: Mapping[str, Floats], time: Floats, axes: Sequence[str], units: Sequence[str]) -> None:
    if not 1 <= len(values) <= len(_AREA_COLOURS):
        raise ValueError(f"from 1 to {len(_AREA_COLOURS)} components can be distinguished, not {len(values)}")
    if not axes or len(units) != len(axes):
        raise ValueError(f"{len(units)} units for {len(axes)} axes: each axis needs one")
    if time.ndim != 1 or time.size < 2 or not np.all(np.diff(time) > 0):
        raise ValueError("the time must be two or more rising numbers")
    for name, entries in values.items():
        if entries.shape != (time.size, len(axes)):
            raise ValueError(f"{name}: shape {entries.shape} is not {time.size} times by {len(axes)} axes")
        if not np.all(np.isfinite(entries)):
            raise ValueError(f"{name}: not all values are numbers, so they cannot be stacked")


def _draw_panel(ax: "Axes", time: Floats, values: Floats) -> None:
    """Areas of the components, (n_components, n_times), and their sum."""
    fine, parts = add_crossings(time, values)
    upper, lower = stack_signed(parts)
    for number, colour in zip(range(len(parts)), _AREA_COLOURS, strict=False):
        look: dict[str, Any] = {"facecolor": colour, "edgecolor": "none", "alpha": _OPACITY}
        ax.fill_between(fine, upper[number], upper[number + 1], **look)
        ax.fill_between(fine, lower[number], lower[number + 1], **look)
    ax.axhline(0.0, color="0.4", linewidth=0.6)
    ax.plot(time, values.sum(axis=0), gid=_TOTAL, **_TOTAL_LOOK)


def add_crossings(time: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Times and values, (n_components, n_times), with the times at which straight lines between samples cross zero."""
    left, right = values[:, :-1], values[:, 1:]
    crossing = left * right < 0
    share = np.divide(left, left - right, out=np.zeros_like(left), where=crossing)
    crossings = (time[:-1] + share * np.diff(time))[crossing]
    fine = np.union1d(time, crossings)
    return fine, np.array([np.interp(fine, time, row) for row in values])


def stack_signed(values: Floats) -> tuple[Floats, Floats]:
    """Borders between the areas above and below zero, (n_components + 1, n_times) each.

    The k-th area lies between the borders k and k + 1 of one of them; the last borders' sum is the total.
    """
    floor = np.zeros((1, values.shape[1]))
    upper = np.vstack([floor, np.cumsum(np.maximum(values, 0.0), axis=0)])
    lower = np.vstack([floor, np.cumsum(np.minimum(values, 0.0), axis=0)])
    return upper, lower


def _entries(names: Sequence[str]) -> "list[Artist]":
    """Legend entries for the areas and the total."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    areas = [Patch(facecolor=c, alpha=_OPACITY, label=name) for c, name in zip(_AREA_COLOURS, names, strict=False)]
    return [*areas, Line2D([], [], **_TOTAL_LOOK)]
