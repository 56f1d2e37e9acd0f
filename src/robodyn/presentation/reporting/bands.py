"""Percentile bands: where do the curves of many runs lie, along time or a path?"""

from typing import TYPE_CHECKING, Any

from .figures import COLOURS, LINE_WIDTH, finish_axes, into_file, label_bottom, legend_above, panel_figure
from .panels import with_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from robodyn.computation.results.table import Curves

# Percentiles of the pale and of the dark band, and the line between.
_WIDE, _NARROW, _MIDDLE = (5.0, 95.0), (25.0, 75.0), 50.0
_PALE, _DARK = 0.22, 0.45


def draw_bands(curves: "Curves") -> "Figure":
    """A panel a signal: a band from the 5th to the 95th percentile of the runs, that of their middle half, a median."""
    figure, axes = panel_figure(len(curves.values))
    for ax, signal in zip(axes, curves.values, strict=True):
        _draw_band(ax, curves, signal)
        finish_axes(ax, with_unit(signal, curves.units[signal]))
    label_bottom(axes, with_unit(curves.along, curves.unit))
    figure.align_ylabels(axes)
    legend_above(figure, _entries())
    return figure


plot_bands = into_file(draw_bands)


def _draw_band(ax: "Axes", curves: "Curves", signal: str) -> None:
    places = curves.places
    for ends, alpha in ((_WIDE, _PALE), (_NARROW, _DARK)):
        lower, upper = curves.band(signal, ends)
        name = f"{signal} {ends[0]:g} to {ends[1]:g} %"
        ax.fill_between(places, lower, upper, color=COLOURS[0], alpha=alpha, linewidth=0, gid=name)
    ax.plot(places, curves.band(signal, [_MIDDLE])[0], color=COLOURS[1], linewidth=LINE_WIDTH, gid=f"{signal} median")


def _entries() -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    bands = [
        Patch(color=COLOURS[0], alpha=alpha, linewidth=0, label=f"{ends[0]:g} to {ends[1]:g} % of the runs")
        for ends, alpha in ((_WIDE, _PALE), (_NARROW, _DARK))
    ]
    return [*bands, Line2D([], [], color=COLOURS[1], linewidth=LINE_WIDTH, label="median")]
