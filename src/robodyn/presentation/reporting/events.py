"""Event markers on the time axis: where did events happen, and how are they named without covering each other?"""

from collections.abc import Sequence
from itertools import product
from operator import itemgetter
from typing import TYPE_CHECKING

from robodyn.computation.results import EventRecord, Run

from .figures import COLOURS, LINE_STYLES
from .runs import Span

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

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


def mark_events(axes: Sequence["Axes"], runs: Sequence[Run], span: Span) -> None:
    """A thin line at each event in every panel, short where they are many: grey for one run, else its colour."""
    for number, run in enumerate(runs):
        events = events_within(run, span)
        height = 1.0 if len(events) <= _MOST_LINES else _TICK_HEIGHT
        colour = "0.45" if len(runs) == 1 else COLOURS[number]
        look = {"color": colour, "linestyle": LINE_STYLES[number % len(LINE_STYLES)] if height == 1.0 else "-"}
        for event, ax in product(events, axes):
            ax.axvline(event.time, 0.0, height, linewidth=0.7, alpha=0.7, zorder=1.5, **look)


def name_events(figure: "Figure", axes: Sequence["Axes"], runs: Sequence[Run], span: Span) -> None:
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
    found: dict[str, list[float]] = {}
    for event in sorted((e for run in runs for e in events_within(run, span)), key=lambda e: e.time):
        times = found.setdefault(event.name, [])
        if not times or event.time - times[-1] > close:
            times.append(event.time)
    if sum(map(len, found.values())) > _MOST_NAMES:
        counts = {name: max(_count(run, name, span) for run in runs) for name in found}
        once = [(f"{name} ({counts[name]} times)" if counts[name] > 1 else name, t[0]) for name, t in found.items()]
        return sorted(once, key=itemgetter(1)) if len(once) <= _MOST_NAMES else []
    return sorted(((name, time) for name, times in found.items() for time in times), key=itemgetter(1))


def _count(run: Run, name: str, span: Span) -> int:
    return sum(event.name == name for event in events_within(run, span))


def _note(ax: "Axes", text: str, time: float) -> "Annotation":
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


def _spread(ax: "Axes", notes: Sequence["Annotation"]) -> int:
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
