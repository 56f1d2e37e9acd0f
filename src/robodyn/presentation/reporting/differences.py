"""Difference plots: how far are runs from a reference, over time?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from robodyn.computation.results import Run

from .figures import finish_axes, into_file, panel_figure
from .panels import Panel, arrange, with_unit
from .runs import Span, Window, as_runs, run_labels, run_style, shown_span
from .timeseries import draw_line, finish_time_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Scale = Literal["linear", "log"]
# Of the time shown: samples closer than this are one instant, located by two runs to rounding.
_SAME_INSTANT = 1e-9


def draw_difference(
    runs: Run | Sequence[Run],
    reference: Run,
    names: Sequence[str] | None = None,
    *,
    scale: Scale = "linear",
    labels: Sequence[str] | None = None,
    window: Window | None = None,
) -> "Figure":
    """A figure of run - reference over the time both cover: a panel a signal, a colour a run.

    Args:
        names: signal names or patterns that the reference has; without them positions, velocities, then others.
        scale: "log" draws the magnitude.
        labels: what to call each run; how it differs from the others and the reference if not given.
        window: from and to [s]; None in either place is the recorded end.
    """
    runs = as_runs(runs)
    if scale not in ("linear", "log"):
        raise ValueError(f"scale must be 'linear' or 'log', is {scale!r}")
    all_labels = run_labels([*runs, reference], None if labels is None else [*labels, "reference"])
    panels = arrange([reference], names, apart=True)
    span = shown_span([reference], window)
    figure, axes = panel_figure(len(panels))
    for panel, ax in zip(panels, axes, strict=True):
        _draw_panel(ax, panel, runs, reference, span, scale)
    *names_of_runs, name_of_reference = all_labels
    finish_time_axes(figure, axes, runs, names_of_runs, span, f"difference from {name_of_reference}")
    return figure


plot_difference = into_file(draw_difference)


def _draw_panel(ax: "Axes", panel: Panel, runs: Sequence[Run], reference: Run, span: Span, scale: Scale) -> None:
    name = panel.names[0]
    positive = False
    for number, run in enumerate(runs):
        time, apart = difference(run, reference, name, span)
        values = np.abs(apart) if scale == "log" else apart
        positive = positive or bool(np.any(values > 0))
        draw_line(ax, time, values, run_style(number) | {"gid": name})
    # Where all runs are equal to the reference, no power of ten can be shown.
    if scale == "log" and positive:
        ax.set_yscale("log", nonpositive="mask")
    change = f"\N{GREEK CAPITAL LETTER DELTA} {panel.subject}"
    finish_axes(ax, with_unit(f"|{change}|" if scale == "log" else change, panel.unit))


def difference(run: Run, reference: Run, name: str, span: Span) -> tuple[np.ndarray, np.ndarray]:
    """Times and run - reference there, halfway between all samples of both: never on a jump of either."""
    first, second = run[name], reference[name]
    if first.unit != second.unit:
        raise ValueError(f"{name}: units {first.unit!r} and {second.unit!r} cannot be compared")
    start, end = max(span[0], first.time[0], second.time[0]), min(span[1], first.time[-1], second.time[-1])
    if start > end:
        raise ValueError(f"{run.provenance.scenario} and the reference share no time that is shown")
    times = np.union1d(np.union1d(first.time, second.time), (start, end))
    times = times[(times >= start) & (times <= end)]
    middles = (times[:-1] + times[1:]) / 2
    middles = middles[np.diff(times) > _SAME_INSTANT * (end - start)] if start < end else times
    # A run that failed may end in numbers that are none; they leave gaps in the picture.
    with np.errstate(invalid="ignore", over="ignore"):
        return middles, first(middles) - second(middles)
