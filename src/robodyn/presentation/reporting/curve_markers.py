"""Curve markers: where on a curve without a time axis did the run start and end, and where did events happen?"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from robodyn.computation.results import Run, Signal

from .events import events_within
from .runs import Span

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

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
    ax: "Axes",
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


def _mark(ax: "Axes", signals: Sequence[Signal], time: float, factor: float, look: dict[str, Any]) -> None:
    ax.plot(*([factor * signal(time)] for signal in signals), linestyle="none", zorder=5, **look)


def mark_entries(runs: Sequence[Run], span: Span) -> list["Line2D"]:
    """Legend entries for start, end and events."""
    markers = event_markers(runs, span)
    named = [(name, marker) for name, marker in markers.items() if marker != _OTHER_MARKER]
    if len(named) < len(markers):
        named.append((_OTHERS, _OTHER_MARKER))
    events = ((name, {"marker": marker, "markersize": _EVENT_SIZE}) for name, marker in named)
    return list(_entries([("start", START), ("end", END), *events]))


def _entries(looks: Iterable[tuple[str, dict[str, Any]]]) -> Iterable["Line2D"]:
    from matplotlib.lines import Line2D

    for label, look in looks:
        yield Line2D([], [], color="0.3", linestyle="none", label=label, **look)
