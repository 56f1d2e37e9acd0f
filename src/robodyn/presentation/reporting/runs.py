"""Signals of runs drawn: in which panels, colours and polylines; over time, against each other, as differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import product
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from robodyn.base import Array, check_units, frozen
from robodyn.base.signals import MOST_OF_A_UNIT, choose_first
from robodyn.computation.results import EventRecord, Run, Signal

from .figures import (
    COLOURS,
    LINE_STYLES,
    LINE_WIDTH,
    finish_axes,
    into_file,
    label_bottom,
    legend_above,
    legend_beside,
    panel_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation


# Runs of a plot: which are drawn, what is each called, and which time of them is shown?

# From and to [s]; None is the beginning or the end of what was recorded.
Window = tuple[float | None, float | None]
Span = tuple[float, float]

_SOLVER_KEYS = ("method", "step", "rtol")
_MOST_PARAMETERS = 3
_THINNEST = 0.8


def as_runs(runs: Run | Sequence[Run]) -> tuple[Run, ...]:
    """One run or several as a tuple; as many as there are colours for."""
    runs = (runs,) if isinstance(runs, Run) else tuple(runs)
    if not 1 <= len(runs) <= len(COLOURS):
        raise ValueError(f"from 1 to {len(COLOURS)} runs can be drawn in one figure, not {len(runs)}")
    return runs


def shown_span(runs: Sequence[Run], window: Window | None) -> Span:
    """The shown time [s]: the window, open ends filled in from the runs; each run must have a part in it."""
    if any(run.time.size == 0 for run in runs):
        raise ValueError("a run without recorded rows cannot be plotted")
    first, last = min(float(run.time[0]) for run in runs), max(float(run.time[-1]) for run in runs)
    start, end = (None, None) if window is None else window
    start, end = first if start is None else start, last if end is None else end
    if window is not None and not start < end:
        raise ValueError(f"the time range must end after it starts, but is {start:g} s to {end:g} s")
    for run in runs:
        if run.time[0] > end or run.time[-1] < start:
            recorded = f"recorded from {run.time[0]:.9g} s to {run.time[-1]:.9g} s"
            raise ValueError(f"{run.provenance.scenario}: {recorded}, nothing from {start:g} s to {end:g} s")
    return start, end


def run_labels(runs: Sequence[Run], labels: Sequence[str] | None = None) -> tuple[str, ...]:
    """Names of runs: as given, or by scenario and whatever distinguishes runs of one scenario."""
    if labels is not None:
        if len(labels) != len(runs):
            raise ValueError(f"{len(labels)} labels for {len(runs)} runs")
        return tuple(labels)
    names = [run.provenance.scenario for run in runs]
    if len(set(names)) == len(names):
        return tuple(names)
    # Runs of one scenario are told apart by the solver's settings that are not the same in all; a tolerance counts only
    # where no step is given. Then by parameters, while they are few.
    solvers, tables = [run.provenance.solver for run in runs], [run.provenance.parameters for run in runs]
    settings = [key for key in _SOLVER_KEYS if len({str(solver.get(key)) for solver in solvers}) > 1]
    known = dict.fromkeys(name for table in tables for name in table)
    numbers = [name for name in known if len({str(table.get(name)) for table in tables}) > 1]
    texts = []
    for name, solver, table in zip(names, solvers, tables, strict=True):
        parts = [] if len(set(names)) == 1 else [name]
        for key in settings:
            value = solver.get(key)
            if value is not None and not (key == "rtol" and solver.get("step") is not None):
                parts.append({"method": f"{value}", "step": f"step {value} s"}.get(key, f"{key} {value}"))
        for number in numbers if len(numbers) <= _MOST_PARAMETERS else ():
            if number in table:
                parts.append(f"{number} = {table[number]['value']:.6g} {table[number]['unit']}".strip())
        texts.append(", ".join(parts))
    if len(set(texts)) == len(texts):
        return tuple(texts)
    return tuple(f"{name} ({number})" for number, name in enumerate(names, start=1))


def run_lines(labels: Sequence[str]) -> list[Line2D]:
    """Legend entries for runs: a colour and a line style each."""
    from matplotlib.lines import Line2D

    return [Line2D([], [], label=label, **run_style(number)) for number, label in enumerate(labels)]


def run_style(number: int) -> dict[str, Any]:
    """Colour and line style of a run among several; the style helps where colour is not printed."""
    style = LINE_STYLES[number % len(LINE_STYLES)]
    # Later lines lie above earlier ones and are thinner: runs that agree are all seen.
    width = max(LINE_WIDTH + 0.8 - 0.3 * number, _THINNEST)
    return {"color": COLOURS[number], "linestyle": style, "linewidth": width}


# Panels and line styles: which signals share a panel, and how are panel and lines named and coloured?

MOST_COMPARED = 12


@frozen
class Panel:
    """Signals of one unit that are drawn in the same axes."""

    unit: str
    names: tuple[str, ...]

    @property
    def subject(self) -> str:
        """The parts all names share, as words."""
        head, tail = self._shared()
        parts = self.names[0].split(".")
        shared = parts if len(self.names) == 1 else parts[:head] + parts[len(parts) - tail :]
        return " ".join(shared).replace("_", " ") or "value"

    def legend(self, name: str) -> str:
        """A line's name: only the parts the axis does not name already."""
        head, tail = self._shared()
        parts = name.split(".")
        return ".".join(parts[head : len(parts) - tail])

    def _shared(self) -> tuple[int, int]:
        """How many parts at the end, then at the beginning, all names share; each keeps one of its own."""
        parts = [name.split(".") for name in self.names]
        tail = _common([part[:0:-1] for part in parts])
        head = _common([part[: len(part) - tail - 1] for part in parts])
        return (head, tail) if len(parts) > 1 else (0, 0)


def _common(rows: Sequence[Sequence[str]]) -> int:
    """The number of equal first entries."""
    equal = [len(set(column)) == 1 for column in zip(*rows, strict=False)]
    return equal.index(False) if False in equal else len(equal)


def quantity(name: str) -> str:
    """The last part of a signal's name: 'velocity' of 'elbow.velocity'."""
    return name.rpartition(".")[2]


def owner(name: str) -> str:
    """The part of a signal's name before the quantity, or the whole name if there is none."""
    return name.rpartition(".")[0] or name


def arrange(runs: Sequence[Run], names: Sequence[str] | None, *, apart: bool = False) -> tuple[Panel, ...]:
    """Panels for the named signals, or for a first look at a run if no names are given.

    One run: a panel a unit, more where it would hold more than a few lines. Several runs, whose lines lie close
    together: a panel a signal.

    Args:
        names: signal names or shell patterns such as '*.velocity'; each must fit a signal of some run.
        apart: a panel a signal for one run, too.
    """
    units = _units(runs)
    apart = apart or len(runs) > 1
    if names is None:
        chosen = choose_first(info for run in runs for info in run.infos)[:MOST_COMPARED]
    else:
        chosen = match_names(runs, names, units)
    if not chosen:
        raise ValueError("there is no signal to plot")
    if apart:
        return tuple(Panel(units[name], (name,)) for name in chosen)
    groups = ([n for n in chosen if units[n] == unit] for unit in dict.fromkeys(units[name] for name in chosen))
    return tuple(Panel(units[part[0]], tuple(part)) for group in groups for part in _split(group))


def _units(runs: Sequence[Run]) -> dict[str, str]:
    """The unit of each signal, which must be the same in all runs."""
    units: dict[str, str] = {}
    for info in (info for run in runs for info in run.infos):
        if units.setdefault(info.name, info.unit) != info.unit:
            raise ValueError(f"{info.name}: units {units[info.name]!r} and {info.unit!r} cannot share an axis")
    return units


def _split(names: Sequence[str]) -> list[Sequence[str]]:
    """Parts of nearly equal length, none of more curves than a plot should have."""
    count = -(-len(names) // MOST_OF_A_UNIT)
    length = -(-len(names) // count)
    return [names[start : start + length] for start in range(0, len(names), length)]


def line_styles(
    panel: Panel, panels: Sequence[Panel], runs: Sequence[Run]
) -> Iterator[tuple[Run, str, dict[str, Any]]]:
    """Run, signal and properties of each line in a panel: a colour a signal, or a run if there are several."""
    for name, look in zip(panel.names, signal_looks(panel, panels), strict=True):
        for number, run in enumerate(runs):
            if name in run:
                own = run_style(number) if len(runs) > 1 else look | {"label": panel.legend(name)}
                yield run, name, own | {"gid": name}


def signal_looks(panel: Panel, panels: Sequence[Panel]) -> list[dict[str, Any]]:
    """Line properties of each signal of one run.

    A joint has its colour in every panel; a second signal of it, such as its reference, is dashed over the first.
    Where a panel shows more of a joint than these two, all signals have colours of their own.
    """
    roots = [name.partition(".")[0] for name in panel.names]
    owners = list(dict.fromkeys(name.partition(".")[0] for p in panels for name in p.names))
    looks = [(owners.index(root), roots[:place].count(root)) for place, root in enumerate(roots)]
    if len(set(roots)) == 1 < len(roots) or len(owners) > len(COLOURS) or max(rank for _, rank in looks) > 1:
        looks = [(place, 0) for place in range(len(roots))]
    return [
        {"color": COLOURS[colour], "linestyle": LINE_STYLES[rank], "linewidth": LINE_WIDTH} for colour, rank in looks
    ]


def match_names(runs: Sequence[Run], patterns: Sequence[str], units: dict[str, str]) -> list[str]:
    """The signal names that fit the patterns, each once, in the order of the patterns."""
    chosen: dict[str, None] = {}
    for pattern in patterns:
        fitting = [pattern] if pattern in units else [name for name in units if fnmatchcase(name, pattern)]
        if not fitting:
            # Raises the KeyError that suggests the nearest names.
            runs[0][pattern]
        chosen.update(dict.fromkeys(fitting))
    return list(chosen)


# Polylines: which points, joined by straight lines, stand for a signal in a picture?


# Pieces a recorded interval is drawn with, where the rows shown are few enough to show corners.
_REFINEMENT = 8
_COARSE = 4000


def trace(signal: Signal, span: Span | None = None) -> tuple[Array, Array]:
    """Times and values to draw: what `signal(t)` gives between rows, steps where values are held, jumps as they are.

    The times depend on the recorded times and the span alone: two signals of one run can be drawn against each other.

    Args:
        span: first and last time shown [s]; all if not given.
    """
    if signal.time.size < 2:
        return signal.time, signal.values
    rows = slice(None)
    if span is not None:
        # The rows inside the span and one more on each side.
        first = max(int(np.searchsorted(signal.time, span[0], side="left")) - 1, 0)
        rows = slice(first, int(np.searchsorted(signal.time, span[1], side="right")) + 1)
    time, values = _refine(signal, rows)
    return (time, values) if span is None else _clip(time, values, span)


def _refine(signal: Signal, rows: slice) -> tuple[Array, Array]:
    """Each interval from its right limit at the start to its left limit at the end, in equal pieces.

    The last sample follows, which a held signal reaches by a step.
    """
    recorded, samples = signal.time[rows], signal.values[rows]
    pieces = _REFINEMENT if recorded.size < _COARSE else 1
    starts, ends = recorded[:-1, None], recorded[1:, None]
    shares = np.arange(1, pieces) / pieces
    inside = np.minimum(starts + shares * (ends - starts), ends)
    time = np.hstack([starts, inside, ends])
    left, right = samples[:-1, None], samples[1:, None]
    # A run that failed may end in numbers that are none; they leave gaps in the picture.
    with np.errstate(invalid="ignore", over="ignore"):
        held = signal.kind == "held"
        values = np.broadcast_to(left, time.shape) if held else np.hstack([left, signal(inside), right])
    return np.append(time, ends[-1]), np.append(values, right[-1])


def _clip(time: Array, values: Array, span: Span) -> tuple[Array, Array]:
    """The part inside the span; where the span cuts a line, it ends on the cut."""
    inside = (time >= span[0]) & (time <= span[1])
    cuts = np.array([cut for cut in span if time[0] < cut < time[-1] and not np.any(time == cut)])
    all_times = np.concatenate([time[inside], cuts])
    all_values = np.concatenate([values[inside], np.interp(cuts, time, values)])
    order = np.argsort(all_times, kind="stable")
    return all_times[order], all_values[order]


# Event markers on the time axis: where did events happen, and how are they named without covering each other?

_MOST_NAMES = 8
_LAYOUT_PASSES = 2
# Of the time shown: events of one name that are closer have one name together.
_CLOSE = 0.03
# More events than this in a run are ticks at the bottom instead of lines through the panel.
_MOST_LINES = 12
_TICK_HEIGHT = 0.05
# Points; the last is the room for a power of ten over the axis.
_LETTER_SIZE, _ROW_HEIGHT, _GAP, _POWER_HEIGHT = 7.5, 9.5, 4, 14


def events_within(run: Run, span: Span) -> list[EventRecord]:
    """The events of a run in the time shown."""
    return [event for event in run.events if span[0] <= event.time <= span[1]]


def mark_events(axes: Sequence[Axes], runs: Sequence[Run], span: Span) -> None:
    """A thin line at each event in every panel, short where they are many: grey for one run, else its colour."""
    for number, run in enumerate(runs):
        events = events_within(run, span)
        height = 1.0 if len(events) <= _MOST_LINES else _TICK_HEIGHT
        colour = "0.45" if len(runs) == 1 else COLOURS[number]
        look = {"color": colour, "linestyle": LINE_STYLES[number % len(LINE_STYLES)] if height == 1.0 else "-"}
        for event, ax in product(events, axes):
            ax.axvline(event.time, 0.0, height, linewidth=0.7, alpha=0.7, zorder=1.5, **look)


def name_events(figure: Figure, axes: Sequence[Axes], runs: Sequence[Run], span: Span) -> None:
    """Names above the first panel of each column, each at the right of a stem over its line."""
    names = event_names(runs, span)
    if not names:
        return
    tops = [ax for ax in axes if ax.get_subplotspec().rowspan.start == 0]  # type: ignore[union-attr]
    notes = [[_note(ax, text, time) for text, time in names] for ax in tops]
    # Laid out, texts and panels have their widths; names at the right edge then make the panels narrower.
    height = figure.get_figheight()
    for _ in range(_LAYOUT_PASSES):
        figure.draw_without_rendering()
        n_rows = max(_spread(ax, row) for ax, row in zip(tops, notes, strict=True))
        figure.set_figheight(height + n_rows * _ROW_HEIGHT / 72)


def event_names(runs: Sequence[Run], span: Span) -> list[tuple[str, float]]:
    """Texts and times: events of one name and nearly one time count once.

    Where that is too many, each name stands once, with the number of its events; where even that is, none does.
    """
    close = _CLOSE * (span[1] - span[0])
    times_by_name: dict[str, list[float]] = {}
    for event in sorted((e for run in runs for e in events_within(run, span)), key=lambda e: e.time):
        times = times_by_name.setdefault(event.name, [])
        if not times or event.time - times[-1] > close:
            times.append(event.time)
    if sum(map(len, times_by_name.values())) > _MOST_NAMES:
        shown = [[event.name for event in events_within(run, span)] for run in runs]
        counts = {name: max(names.count(name) for names in shown) for name in times_by_name}
        once = [
            (f"{name} ({counts[name]} times)" if counts[name] > 1 else name, t[0]) for name, t in times_by_name.items()
        ]
        return sorted(once, key=itemgetter(1)) if len(once) <= _MOST_NAMES else []
    return sorted(((name, time) for name, times in times_by_name.items() for time in times), key=itemgetter(1))


def _note(ax: Axes, text: str, time: float) -> Annotation:
    """A name, apart by a space from the stem at its left."""
    return ax.annotate(
        f" {text}",
        (time, 1.0),
        xycoords=ax.get_xaxis_transform(),
        xytext=(0, _GAP),
        textcoords="offset points",
        fontsize=_LETTER_SIZE,
        color="0.35",
        annotation_clip=False,
        arrowprops={"arrowstyle": "-", "color": "0.6", "linewidth": 0.6, "shrinkA": 0, "shrinkB": 0, "relpos": (0, 0)},
    )


def _spread(ax: Axes, notes: Sequence[Annotation]) -> int:
    """Raise each name over all later ones it would touch, so that no stem crosses a name; returns the rows used.

    Args:
        notes: in the order of their times.
    """
    base = _GAP + (_POWER_HEIGHT if ax.yaxis.get_offset_text().get_text() else 0)
    later: list[tuple[float, int]] = []
    for note in reversed(notes):
        place = float(ax.get_xaxis_transform().transform(note.xy)[0])
        end = place + note.get_window_extent().width + _GAP * ax.figure.dpi / 72
        row = max((row + 1 for other, row in later if other < end), default=0)
        later.append((place, row))
        note.set_position((0, base + _ROW_HEIGHT * row))
    return 1 + max(row for _, row in later)


# Curve markers: where on a curve without a time axis did the run start and end, and where did events happen?

START: dict[str, Any] = {"marker": "o", "markersize": 6, "fillstyle": "none"}
END: dict[str, Any] = {"marker": "s", "markersize": 5}
_EVENT_SIZE, _CROWDED_SIZE = 6, 2.5
_CROWD = 12
_EVENT_MARKERS = ("D", "^", "v", "P", "*", "X")
_OTHER_MARKER, _OTHERS = ".", "other events"


def event_markers(runs: Sequence[Run], span: Span) -> dict[str, str]:
    """A marker for each event name in the time shown; names beyond the markers share a dot."""
    names = list(dict.fromkeys(event.name for run in runs for event in events_within(run, span)))
    own = dict(zip(names, _EVENT_MARKERS, strict=False))
    return dict.fromkeys(names, _OTHER_MARKER) | own


def mark_course(
    ax: Axes,
    run: Run,
    signals: Sequence[Signal],
    span: Span,
    colour: str,
    markers: Mapping[str, str],
    factor: float = 1.0,
) -> None:
    """Mark start, end and events on a curve in two or three dimensions; many events are small marks.

    Args:
        markers: of each event name, see `event_markers`.
        factor: from the unit of the signals to that of the axes.
    """
    first, last = max(span[0], float(run.time[0])), min(span[1], float(run.time[-1]))
    _mark(ax, signals, first, factor, START | {"color": colour, "gid": "start"})
    _mark(ax, signals, last, factor, END | {"color": colour, "gid": "end"})
    events = events_within(run, span)
    size = _EVENT_SIZE if len(events) <= _CROWD else _CROWDED_SIZE
    for event in events:
        look = {"marker": markers[event.name], "markersize": size, "color": colour, "gid": event.name}
        _mark(ax, signals, event.time, factor, look | {"markeredgewidth": 0})


def _mark(ax: Axes, signals: Sequence[Signal], time: float, factor: float, look: dict[str, Any]) -> None:
    ax.plot(*([factor * signal(time)] for signal in signals), linestyle="none", zorder=5, **look)


def mark_entries(runs: Sequence[Run], span: Span) -> list[Line2D]:
    """Legend entries for start, end and events."""
    from matplotlib.lines import Line2D

    markers = event_markers(runs, span)
    named = [(name, marker) for name, marker in markers.items() if marker != _OTHER_MARKER]
    if len(named) < len(markers):
        named.append((_OTHERS, _OTHER_MARKER))
    events = ((name, {"marker": marker, "markersize": _EVENT_SIZE}) for name, marker in named)
    looks = [("start", START), ("end", END), *events]
    return [Line2D([], [], color="0.3", linestyle="none", label=label, **look) for label, look in looks]


# Time-series plot: how do the signals of one or more runs look over time?


def draw_signals(
    runs: Run | Sequence[Run],
    names: Sequence[str] | None = None,
    *,
    labels: Sequence[str] | None = None,
    window: Window | None = None,
    units: Sequence[str] = (),
) -> Figure:
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
        for run, name, look in line_styles(panel, panels, runs):
            draw_line(ax, *trace(run[name], span), look)
        finish_axes(ax, panel.subject, panel.unit, units)
        if len(panel.names) > 1:
            legend_beside(ax)
    finish_time_axes(figure, axes, runs, labels, span)
    return figure


plot_signals = into_file(draw_signals)


def draw_run(run: Run, *names: str, **options: Any) -> Figure:
    """`run.plot("*.velocity")`: `draw_signals` of one run."""
    return draw_signals(run, names or None, **options)


def draw_signal(signal: Signal) -> Figure:
    """`signal.plot()`: one signal over its time."""
    figure, (ax,) = panel_figure(1)
    draw_line(ax, *trace(signal, (float(signal.time[0]), float(signal.time[-1]))), {})
    finish_axes(ax, signal.name, signal.unit)
    label_bottom([ax], "time", "s")
    return figure


def draw_line(ax: Axes, time: Array, values: Array, look: dict[str, Any]) -> None:
    """A line, or a dot where there is only one sample."""
    ax.plot(time, values, marker="o" if time.size == 1 else None, **look)


def finish_time_axes(
    figure: Figure,
    axes: Sequence[Axes],
    runs: Sequence[Run],
    labels: Sequence[str],
    span: Span,
    title: str | None = None,
) -> None:
    """Time axis, names of the runs and events of a figure over time."""
    label_bottom(axes, "time", "s")
    mark_events(axes, runs, span)
    if len(runs) == 1:
        figure.suptitle(labels[0] if title is None else f"{labels[0]}: {title}", fontsize="medium")
    else:
        legend_above(figure, run_lines(labels), title)
    name_events(figure, axes, runs, span)


# Difference plots: how far are runs from a reference, over time?

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
) -> Figure:
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
        name, positive = panel.names[0], False
        for number, run in enumerate(runs):
            time, apart = difference(run, reference, name, span)
            values = np.abs(apart) if scale == "log" else apart
            positive = positive or bool(np.any(values > 0))
            draw_line(ax, time, values, run_style(number) | {"gid": name})
        # Where all runs are equal to the reference, no power of ten can be shown.
        if scale == "log" and positive:
            ax.set_yscale("log", nonpositive="mask")
        change = f"\N{GREEK CAPITAL LETTER DELTA} {panel.subject}"
        finish_axes(ax, f"|{change}|" if scale == "log" else change, panel.unit)
    *names_of_runs, name_of_reference = all_labels
    finish_time_axes(figure, axes, runs, names_of_runs, span, f"difference from {name_of_reference}")
    return figure


plot_difference = into_file(draw_difference)


def difference(run: Run, reference: Run, name: str, span: Span) -> tuple[Array, Array]:
    """Times and run - reference there, halfway between all samples of both: never on a jump of either."""
    first, second = run[name], reference[name]
    if first.unit != second.unit:
        raise ValueError(f"{name}: units {first.unit!r} and {second.unit!r} cannot be compared")
    start, end = max(span[0], first.time[0], second.time[0]), min(span[1], first.time[-1], second.time[-1])
    if start > end:
        raise ValueError(f"{run.provenance.scenario} and the reference do not overlap in the time range shown")
    times = np.union1d(np.union1d(first.time, second.time), (start, end))
    times = times[(times >= start) & (times <= end)]
    middles = (times[:-1] + times[1:]) / 2
    middles = middles[np.diff(times) > _SAME_INSTANT * (end - start)] if start < end else times
    # A run that failed may end in numbers that are none; they leave gaps in the picture.
    with np.errstate(invalid="ignore", over="ignore"):
        return middles, first(middles) - second(middles)


# Phase plot: how does one signal look against another, for example velocity against position?


def draw_phase(
    runs: Run | Sequence[Run],
    horizontal: str,
    names: Sequence[str],
    *,
    labels: Sequence[str] | None = None,
    window: Window | None = None,
) -> Figure:
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
    figure, axes = panel_figure(len(panels))
    if len(panels) == 1:
        # Here shapes matter: a single panel is twice as high as over time.
        figure.set_figheight(5.4)
    markers = event_markers(runs, span)
    for panel, ax in zip(panels, axes, strict=True):
        for run, name, look in line_styles(panel, panels, runs):
            signals = run[horizontal], run[name]
            ax.plot(*(trace(signal, span)[1] for signal in signals), **look)
            mark_course(ax, run, signals, span, look["color"], markers)
        finish_axes(ax, panel.subject, panel.unit)
        if len(panel.names) > 1:
            legend_beside(ax)
    # Coordinates of one point in the only panel have one scale; panels that share their horizontal axis cannot.
    owners = {owner(name) for name in (horizontal, *panels[0].names)}
    if len(panels) == 1 and across.unit == panels[0].unit and len(owners) == 1:
        axes[0].set_aspect("equal", adjustable="datalim")
    label_bottom(axes, across.subject, across.unit)
    marks = mark_entries(runs, span)
    if len(runs) == 1:
        legend_above(figure, marks, labels[0])
    else:
        legend_above(figure, [*run_lines(labels), *marks])
    return figure


plot_phase = into_file(draw_phase)
