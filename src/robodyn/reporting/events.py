"""Where did events happen on the time axis, and how are they named without covering each other?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from robodyn.results import EventRecord, Run

from .figures import COLOURS, LINE_STYLES
from .runs import Span

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

_MOST_NAMES = 8
# Of the time shown: events of one name that are closer have one name together.
_CLOSE = 0.03
# Points.
_LETTER_SIZE, _ROW_HEIGHT, _GAP = 7.5, 9.5, 2


def events_within(run: Run, span: Span) -> list[EventRecord]:
    """The events of a run in the time shown."""
    return [event for event in run.events if span[0] <= event.time <= span[1]]


def mark_events(axes: Sequence["Axes"], runs: Sequence[Run], span: Span) -> None:
    """A thin line at each event in every panel: grey for one run, in the colours of several."""
    for number, run in enumerate(runs):
        colour = "0.45" if len(runs) == 1 else COLOURS[number]
        style = LINE_STYLES[number % len(LINE_STYLES)]
        for event in events_within(run, span):
            for ax in axes:
                ax.axvline(event.time, color=colour, linewidth=0.7, linestyle=style, alpha=0.7, zorder=1.5)


def name_events(figure: "Figure", axes: Sequence["Axes"], runs: Sequence[Run], span: Span) -> None:
    """Names above the first panel of each column, each beside its line, in as many rows as keep them apart."""
    names = event_names(runs, span)
    tops = [ax for ax in axes if ax.get_subplotspec().rowspan.start == 0]  # type: ignore[union-attr]
    notes = [[_note(ax, text, time) for text, time in names] for ax in tops]
    # Lays the figure out, so that the texts and panels have their widths.
    figure.draw_without_rendering()
    for ax, row in zip(tops, notes, strict=True):
        _spread(ax, row)


def event_names(runs: Sequence[Run], span: Span) -> list[tuple[str, float]]:
    """Texts and times: events of one name and nearly one time count once.

    Where that is too many, each name stands once, with the number of its events; where even that is, none does.
    """
    close = _CLOSE * (span[1] - span[0])
    found: dict[str, list[float]] = {}
    for event in sorted((e for run in runs for e in events_within(run, span)), key=lambda e: e.time):
        times = found.setdefault(event.name, [])
        if not times or event.time - times[-1] > close:
            times.append(event.time)
    if sum(map(len, found.values())) > _MOST_NAMES:
        counts = {name: max(_count(run, name, span) for run in runs) for name in found}
        once = [(f"{name} ({counts[name]} times)" if counts[name] > 1 else name, t[0]) for name, t in found.items()]
        return once if len(once) <= _MOST_NAMES else []
    return sorted(((name, time) for name, times in found.items() for time in times), key=lambda pair: pair[1])


def _count(run: Run, name: str, span: Span) -> int:
    return sum(event.name == name for event in events_within(run, span))


def _note(ax: "Axes", text: str, time: float) -> "Annotation":
    return ax.annotate(
        text,
        (time, 1.0),
        xycoords=ax.get_xaxis_transform(),
        xytext=(_GAP, _GAP),
        textcoords="offset points",
        fontsize=_LETTER_SIZE,
        color="0.35",
        annotation_clip=False,
    )


def _spread(ax: "Axes", notes: Sequence["Annotation"]) -> None:
    """Give each text its side of the line and the lowest row where it has room."""
    gap = _GAP * ax.figure.dpi / 72
    # A power of ten over the axis takes the place of the first row.
    lowest = 1 if ax.yaxis.get_offset_text().get_text() else 0
    rows: list[list[tuple[float, float]]] = [[] for _ in range(lowest + len(notes))]
    for note in notes:
        width = note.get_window_extent().width + 2 * gap
        place = float(ax.transData.transform((note.xy[0], 0.0))[0])
        leftwards = place + width > ax.bbox.x1 and place - width >= ax.bbox.x0
        extent = (place - width, place) if leftwards else (place, place + width)
        row = next(k for k in range(lowest, len(rows)) if all(_apart(extent, other) for other in rows[k]))
        rows[row].append(extent)
        note.set_position((-_GAP if leftwards else _GAP, _GAP + _ROW_HEIGHT * row))
        note.set_horizontalalignment("right" if leftwards else "left")


def _apart(extent: tuple[float, float], other: tuple[float, float]) -> bool:
    return extent[1] <= other[0] or other[1] <= extent[0]
