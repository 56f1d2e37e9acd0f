"""Time-series plot: how do the signals of one or more runs look over time?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.computation.results import Run, Signal

from .axis_units import check_units, choose_unit
from .events import mark_events, name_events
from .figures import finish_axes, into_file, label_bottom, legend_above, legend_beside, panel_figure
from .panels import Panel, arrange, line_styles, with_unit
from .runs import Span, Window, as_runs, run_labels, run_lines, shown_span
from .traces import trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_signals(
    runs: Run | Sequence[Run],
    names: Sequence[str] | None = None,
    *,
    labels: Sequence[str] | None = None,
    window: Window | None = None,
    units: Sequence[str] = (),
) -> "Figure":
    """A figure over time: a panel a unit and a colour a signal, or a panel a signal and a colour a run.

    Args:
        names: signal names or patterns such as '*.velocity'; without them positions, velocities, then others.
        labels: what to call each run; its scenario and how it differs if not given.
        window: from and to [s]; None in either place is the recorded end.
        units: of the axes, such as 'um' and 'deg'; otherwise of SI, with a prefix where numbers are small.
    """
    runs = as_runs(runs)
    labels = run_labels(runs, labels)
    panels = arrange(runs, names)
    check_units(units, [panel.unit for panel in panels])
    span = shown_span(runs, window)
    figure, axes = panel_figure(len(panels))
    for panel, ax in zip(panels, axes, strict=True):
        _draw_panel(ax, panel, panels, runs, span, units)
    finish_time_axes(figure, axes, runs, labels, span)
    return figure


plot_signals = into_file(draw_signals)


def draw_run(run: Run, *names: str, **options: Any) -> "Figure":
    """`run.plot("*.velocity")`: `draw_signals` of one run."""
    return draw_signals(run, names or None, **options)


def draw_signal(signal: Signal) -> "Figure":
    """`signal.plot()`: one signal over its time."""
    figure, (ax,) = panel_figure(1)
    draw_line(ax, *trace(signal, (float(signal.time[0]), float(signal.time[-1]))), {})
    finish_axes(ax, with_unit(signal.name, signal.unit))
    label_bottom([ax], "time [s]")
    return figure


def _draw_panel(
    ax: "Axes", panel: Panel, panels: Sequence[Panel], runs: Sequence[Run], span: Span, units: Sequence[str]
) -> None:
    lines = [(*trace(run[name], span), look) for run, name, look in line_styles(panel, panels, runs)]
    unit = choose_unit(panel.unit, max(_largest(values) for _, values, _ in lines), units)
    for time, values, look in lines:
        draw_line(ax, time, values if unit.size == 1 else values / unit.size, look)
    finish_axes(ax, with_unit(panel.subject, unit.name))
    if len(panel.names) > 1:
        legend_beside(ax)


def _largest(values: np.ndarray) -> float:
    numbers = np.abs(values[np.isfinite(values)])
    return float(numbers.max()) if numbers.size else 0.0


def draw_line(ax: "Axes", time: np.ndarray, values: np.ndarray, look: dict[str, Any]) -> None:
    """A line, or a dot where there is only one sample."""
    ax.plot(time, values, marker="o" if time.size == 1 else None, **look)


def finish_time_axes(
    figure: "Figure",
    axes: Sequence["Axes"],
    runs: Sequence[Run],
    labels: Sequence[str],
    span: Span,
    title: str | None = None,
) -> None:
    """Time axis, names of the runs and events of a figure over time."""
    label_bottom(axes, "time [s]")
    figure.align_ylabels(axes)
    mark_events(axes, runs, span)
    if len(runs) == 1:
        figure.suptitle(labels[0] if title is None else f"{labels[0]}: {title}", fontsize="medium")
    else:
        legend_above(figure, run_lines(labels), title)
    name_events(figure, axes, runs, span)
