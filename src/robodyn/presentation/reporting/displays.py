"""Rich displays: how do descriptions, runs and analyses show themselves, in notebooks and in reports?

Each kind of object becomes a `Display`: a heading, sentences, tables and pictures. Classes below this layer name the
function that makes theirs as text (`robodyn.base.lazy.later`), so that nothing below knows of pictures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from .figures import embed_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS = 40
STYLE = "border-collapse:collapse;font-size:90%;margin:6px 0"
CELL = "padding:2px 14px 2px 0;text-align:left"


@dataclass(frozen=True)
class Table:
    """Headings, and rows of texts; `more` rows were left out."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int = 0


@dataclass(frozen=True)
class Display:
    """What there is to show of an object; figures are drawn when they are asked for."""

    heading: str
    sentences: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Callable[[], Figure], ...] = ()


def make_table(heads: Sequence[str], rows: Iterable[Sequence[Any]], most: int = MOST_ROWS) -> Table:
    """A table of whatever the rows hold, numbers with four digits."""
    shown = [tuple(show_value(cell) for cell in row) for row in rows]
    return Table(tuple(heads), tuple(shown[:most]), max(0, len(shown) - most))


def show_value(value: Any) -> str:
    """A number with four digits, a dash for what is none; all else as text."""
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value + 0.0:.4g}"
    return str(value)


def to_html(display: Display, *, pictures: bool = True) -> str:
    """The display as HTML, every text of it escaped."""
    parts = [f"<b>{escape(display.heading)}</b>"]
    parts += [f"<div>{escape(sentence)}</div>" for sentence in display.sentences]
    parts += [_table_html(table) for table in display.tables]
    if pictures:
        parts += [_image(draw) for draw in display.figures]
    return f"<div>{''.join(parts)}</div>"


def to_section(display: Display) -> dict[str, Any]:
    """The display as plain values, for a report page."""
    return {
        "title": display.heading,
        "sentences": list(display.sentences),
        "tables": [{"heads": list(t.heads), "rows": [list(r) for r in t.rows], "more": t.more} for t in display.tables],
        "images": [embed_figure(draw()) for draw in display.figures],
    }


def _table_html(table: Table) -> str:
    heads = "".join(f'<th style="{CELL}">{escape(head)}</th>' for head in table.heads)
    rows = "".join(
        "<tr>" + "".join(f'<td style="{CELL}">{escape(cell)}</td>' for cell in row) + "</tr>" for row in table.rows
    )
    more = f"<div><i>and {table.more} more</i></div>" if table.more else ""
    return f'<table style="{STYLE}"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{more}'


def _image(draw: Callable[[], Figure]) -> str:
    try:
        return f'<img style="max-width:100%" alt="" src="{embed_figure(draw())}">'
    except ImportError as error:
        return f"<div>pictures need {escape(error.name or 'matplotlib')}: pip install 'robodyn[plot]'</div>"
    except ValueError as error:
        return f"<div>no picture: {escape(str(error))}</div>"
