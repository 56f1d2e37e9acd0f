"""Phase plot: how does one signal look against another, for example velocity against position?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from robodyn.computation.results import Run

from .curve_markers import event_markers, mark_course, mark_entries
from .figures import finish_axes, into_file, label_bottom, legend_above, legend_beside, panel_figure
from .panels import Panel, arrange, line_styles, owner
from .runs import Span, Window, as_runs, run_labels, run_lines, shown_span
from .traces import trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_phase(
    runs: Run | Sequence[Run],
    horizontal: str,
    names: Sequence[str],
    *,
    labels: Sequence[str] | None = None,
    window: Window | None = None,
) -> "Figure":
    """A figure of signals over another signal, with start, end and events marked on the curves.

    Coordinates of one point in one panel have one scale, so that circles are round.

    Args:
        horizontal: the signal on the horizontal axis; all runs must have it.
        names: signal names or patterns such as '*.velocity'.
        labels: what to call each run; its scenario and how it differs if not given.
        window: from and to [s]; None in either place is the recorded end.
    """
    runs = as_runs(runs)
    labels = run_labels(runs, labels)
    across = Panel(runs[0][horizontal].unit, (horizontal,))
    panels = arrange(runs, names)
    span = shown_span(runs, window)
    figure, axes = _empty_figure(len(panels))
    for panel, ax in zip(panels, axes, strict=True):
        _draw_panel(ax, across, panel, panels, runs, span)
    label_bottom(axes, across.label)
    figure.align_ylabels(axes)
    _name(figure, runs, labels, span)
    return figure


plot_phase = into_file(draw_phase)


def _empty_figure(n_panels: int) -> tuple["Figure", list["Axes"]]:
    """Panels as over time, a single one twice as high: here shapes matter."""
    figure, axes = panel_figure(n_panels)
    if n_panels == 1:
        figure.set_figheight(5.4)
    return figure, axes


def _draw_panel(
    ax: "Axes", across: Panel, panel: Panel, panels: Sequence[Panel], runs: Sequence[Run], span: Span
) -> None:
    horizontal = across.names[0]
    markers = event_markers(runs, span)
    for run, name, look in line_styles(panel, panels, runs):
        signals = run[horizontal], run[name]
        ax.plot(*(trace(signal, span)[1] for signal in signals), **look)
        mark_course(ax, run, signals, span, look["color"], markers)
    finish_axes(ax, panel.label)
    if len(panel.names) > 1:
        legend_beside(ax)
    # Panels that share their horizontal axis cannot have a scale of their own.
    if len(panels) == 1 and _same_scale(across, panel):
        ax.set_aspect("equal", adjustable="datalim")


def _same_scale(across: Panel, panel: Panel) -> bool:
    """Whether all are coordinates of one point."""
    owners = {owner(name) for name in (*across.names, *panel.names)}
    return across.unit == panel.unit and len(owners) == 1


def _name(figure: "Figure", runs: Sequence[Run], labels: Sequence[str], span: Span) -> None:
    """One run's name as title, several in the legend, with the marks."""
    marks = mark_entries(runs, span)
    if len(runs) == 1:
        legend_above(figure, marks, labels[0])
    else:
        legend_above(figure, [*run_lines(labels), *marks])
