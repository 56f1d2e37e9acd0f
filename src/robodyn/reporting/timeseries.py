"""How do the signals of one or more runs look over time?"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from robodyn.results import EventRecord, Run, Signal
from robodyn.results.atomic import replacing

from .panels import Panel, arrange, colour_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito (2008): told apart with any colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999933")
LINE_STYLES: tuple[Literal["-", "--", ":", "-."], ...] = ("-", "--", ":", "-.")
# Of the panel's width and in points, for the small letters of event names.
_LETTER_WIDTH, _ROW_HEIGHT = 0.012, 9
_MOST_EVENT_NAMES = 8
_LEGEND_ROWS = 8
# Points a cubic interval is drawn with, where the record is coarse enough to show corners.
_REFINEMENT = 8
_COARSE = 4000
_DPI = 150


def plot_signals(
    runs: Run | Sequence[Run],
    names: Sequence[str] | None,
    path: str | Path,
    *,
    labels: Sequence[str] | None = None,
) -> Path:
    """Draw signals over time into a picture file, PNG, SVG or PDF by its ending; see `draw_signals`."""
    figure = draw_signals(runs, names, labels=labels)
    path = Path(path)
    with replacing(path) as draft:
        figure.savefig(draft, format=path.suffix.lstrip(".") or "png", dpi=_DPI)
    return path


def draw_signals(
    runs: Run | Sequence[Run], names: Sequence[str] | None = None, *, labels: Sequence[str] | None = None
) -> "Figure":
    """A figure with one panel a unit, one colour a signal and one line style a run; events are vertical.

    Args:
        names: signal names or patterns such as '*.velocity'; without them positions, velocities, then others.
        labels: what to call each run in the legend; its scenario's name if not given.
    """
    runs = (runs,) if isinstance(runs, Run) else tuple(runs)
    if not 1 <= len(runs) <= len(LINE_STYLES):
        raise ValueError(f"from 1 to {len(LINE_STYLES)} runs can be drawn in one figure, not {len(runs)}")
    labels = _labels(runs, labels)
    panels = arrange(runs, names)
    figure, axes = _empty_figure(len(panels))
    for panel, ax in zip(panels, axes, strict=True):
        _draw_panel(ax, panel, runs, colour_numbers(panel, panels))
    _mark_events(axes, runs)
    _finish(figure, axes, runs, labels)
    return figure


def _empty_figure(n_panels: int) -> tuple["Figure", list["Axes"]]:
    """A figure of its own canvas: pyplot and its global state are never touched."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 1.2 + 2.1 * n_panels), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(n_panels, 1, sharex=True, squeeze=False)[:, 0]
    return figure, list(axes)


def _draw_panel(ax: "Axes", panel: Panel, runs: Sequence[Run], colours: Sequence[int]) -> None:
    for number, name in zip(colours, panel.names, strict=True):
        for run, style in zip(runs, LINE_STYLES, strict=False):
            if name in run:
                label = panel.legend(name) if name not in _drawn(ax) else None
                _draw_signal(ax, run[name], COLOURS[number % len(COLOURS)], style, label)
    ax.set_ylabel(panel.label)
    ax.grid(True, color="0.9", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    if len(panel.names) > 1:
        columns = -(-len(panel.names) // _LEGEND_ROWS)
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), ncols=columns, frameon=False, fontsize="small")


def _drawn(ax: "Axes") -> set[str]:
    return {str(line.get_gid()) for line in ax.get_lines()}


def _draw_signal(ax: "Axes", signal: Signal, colour: str, style: str, label: str | None) -> None:
    time, values = trace(signal)
    steps = "steps-post" if signal.kind == "held" else "default"
    ax.plot(
        time,
        values,
        color=colour,
        linestyle=style,
        linewidth=1.2,
        drawstyle=steps,
        label=label,
        gid=signal.name,
    )


def trace(signal: Signal) -> tuple[np.ndarray, np.ndarray]:
    """Times and values to draw; a coarse record with known rates is drawn as the cubic it stands for."""
    if signal.kind == "held" or signal.rate_values is None or not 1 < signal.time.size < _COARSE:
        return signal.time, signal.values
    shares = np.arange(1, _REFINEMENT) / _REFINEMENT
    inside = signal.time[:-1, None] + shares * np.diff(signal.time)[:, None]
    inside = np.minimum(inside, signal.time[1:, None])
    time = np.column_stack([signal.time[:-1], inside]).ravel()
    values = np.column_stack([signal.values[:-1], signal(inside)]).ravel()
    return np.append(time, signal.time[-1]), np.append(values, signal.values[-1])


def _mark_events(axes: Sequence["Axes"], runs: Sequence[Run]) -> None:
    """A thin line at each event in every panel; names on top while they are few enough to be read."""
    for ax in axes:
        for run, style in zip(runs, LINE_STYLES, strict=False):
            for event in run.events:
                ax.axvline(event.time, color="0.45", linewidth=0.8, linestyle=style, zorder=1.5)
    events = _different_events(runs)
    if len(events) <= _MOST_EVENT_NAMES:
        _name_events(axes[0], events)


def _name_events(ax: "Axes", events: Sequence[EventRecord]) -> None:
    """Names above the panel, each beside its line, in as many rows as keep them apart."""
    start, end = ax.get_xlim()
    rows: list[list[tuple[float, float]]] = []
    for event in sorted(events, key=lambda event: event.time):
        place = (event.time - start) / (end - start)
        width = _LETTER_WIDTH * (len(event.name) + 2)
        span = (place, place + width) if place + width < 1 else (place - width, place)
        row = next((k for k, taken in enumerate(rows) if all(_apart(span, other) for other in taken)), len(rows))
        rows[row : row + 1] = [[*(rows[row] if row < len(rows) else []), span]]
        _name_event(ax, event, "left" if span[0] == place else "right", row)


def _apart(span: tuple[float, float], other: tuple[float, float]) -> bool:
    return span[1] <= other[0] or other[1] <= span[0]


def _name_event(ax: "Axes", event: EventRecord, side: str, row: int) -> None:
    ax.annotate(
        event.name,
        (event.time, 1.0),
        xycoords=ax.get_xaxis_transform(),
        xytext=(2 if side == "left" else -2, 2 + _ROW_HEIGHT * row),
        textcoords="offset points",
        horizontalalignment=side,
        fontsize="x-small",
        color="0.4",
        annotation_clip=False,
    )


def _different_events(runs: Sequence[Run]) -> list[EventRecord]:
    """Events of all runs; those of the same name at nearly the same time count once."""
    found = {(event.name, round(event.time, 2)): event for run in runs for event in run.events}
    return list(found.values())


def _finish(figure: "Figure", axes: Sequence["Axes"], runs: Sequence[Run], labels: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    axes[-1].set_xlabel("time [s]")
    figure.align_ylabels(axes)
    if len(runs) == 1:
        figure.suptitle(labels[0], fontsize="medium")
        return
    styles = zip(LINE_STYLES, labels, strict=False)
    entries = [Line2D([], [], color="0.2", linestyle=style, label=label) for style, label in styles]
    figure.legend(handles=entries, loc="outside upper center", ncols=len(entries), frameon=False, fontsize="small")


def _labels(runs: Sequence[Run], labels: Sequence[str] | None) -> tuple[str, ...]:
    if labels is None:
        return tuple(run.provenance.scenario for run in runs)
    if len(labels) != len(runs):
        raise ValueError(f"{len(labels)} labels for {len(runs)} runs")
    return tuple(labels)
