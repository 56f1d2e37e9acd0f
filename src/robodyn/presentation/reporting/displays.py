"""Display: what a person sees of a result, said once; rendered for the shell, notebooks, pages, reports and the studio.

    @shows
    def show_loops(table: LoopTable) -> Display: ...

makes the display of a `LoopTable`. `display(result)` finds the function by the class of the result. A display is a
heading over parts in order: sentences, tables and pictures. Numbers stay numbers until they are rendered, so that every
reader gets the same table, and only the renderers below know what it looks like.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from html import escape
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robodyn.base import evaluate, frozen, to_plain, write_file
from robodyn.base.units import ROUNDING, SMALLEST, ShownUnit, choose_unit, split_heading, with_unit

from .figures import embed_figure, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS = 40


@frozen
class Table:
    """Rows of values under headings. Numbers are of SI and are shown in units for people: those under a heading such
    as `bandwidth [Hz]` in one unit that suits the column, those of the columns `by_row` in one that suits the row.

    Attributes:
        digits: format of the numbers, of all columns or of each.
        title: above it, on pages; most: rows that pages and notebooks show.
        most_printed: rows that the shell shows; by default all.
        kinds: column by whose values the reader of a page hides rows.
        by_row: headings of columns that are in the unit which stands in the row's column `unit`.
    """

    heads: tuple[str, ...]
    rows: Sequence[Sequence[Any]]
    digits: str | Sequence[str] = ".4g"
    title: str = ""
    most: int = MOST_ROWS
    most_printed: int | None = None
    kinds: int | None = None
    by_row: tuple[str, ...] = ()

    def scaled(self) -> tuple[list[str], list[list[Any]]]:
        """Headings and rows in units for people; numbers stay numbers."""
        heads, rows = list(self.heads), [list(row) for row in self.rows]
        for column, head in enumerate(self.heads):
            name, unit = split_heading(head)
            if unit and head.endswith("]"):
                shown = _scale(unit, rows, [column])
                heads[column] = with_unit(name, shown.name)
        if self.by_row:
            place, columns = self.heads.index("unit"), [self.heads.index(head) for head in self.by_row]
            for row in rows:
                row[place] = _scale(row[place], [row], columns).name
        return heads, rows

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Headings and rows as text."""
        heads, rows = self.scaled()
        formats = [self.digits] * len(self.heads) if isinstance(self.digits, str) else self.digits
        return heads, [[show_value(*pair) for pair in zip(row, formats, strict=True)] for row in rows]

    def is_numeric(self, column: int) -> bool:
        """Whether a column holds numbers, and texts in no row."""
        values = [row[column] for row in self.rows if row[column] not in (None, "")]
        return bool(values) and all(_is_number(value) for value in values)


def _scale(unit: str, rows: Sequence[list[Any]], columns: Sequence[int]) -> ShownUnit:
    """Bring numbers of SI in some columns into the unit that suits the largest; what rounding left of 0 is 0."""
    places = [(row, column) for row in rows for column in columns if _is_number(row[column])]
    sizes = [abs(row[column]) for row, column in places if math.isfinite(row[column])]
    largest = max(sizes, default=0.0)
    shown = choose_unit(unit, largest)
    for row, column in places:
        row[column] = 0.0 if abs(row[column]) < ROUNDING * largest else row[column] / shown.size
    return shown


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@frozen
class DisplayFigure:
    """A figure, drawn when it is asked for; `option` of a command writes it into a file."""

    title: str
    draw: Callable[[], Figure]
    option: str = "plot"


Part = str | Table | DisplayFigure


@frozen
class DisplayLines:
    """Lines over an abscissa, for readers that draw by themselves: name -> (x, y)."""

    x: str
    y: str
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]]
    log: bool = False


@frozen
class Display:
    """The readable form of a result.

    Attributes:
        parts: in the order in which they are read; more: what only pages have room for.
        notes, warnings: sentences beside the result; the shell tells them on standard error.
        values: numbers of the scenario that were found and can be taken over.
        text: what the shell prints instead of the parts, where lines read better than tables.
        verdict: "good", "fair" or "bad", by which the shell colours the first line.
        complaint: said on standard error after all else; code: with which a command ends.
    """

    heading: str
    parts: Sequence[Part] = ()
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    curves: DisplayLines | None = None
    values: Mapping[str, float] = field(default_factory=dict)
    more: Sequence[Part] = ()
    text: str = ""
    verdict: str = ""
    complaint: str = ""
    code: int = 0

    @property
    def tables(self) -> list[Table]:
        """All tables."""
        return [part for part in self.parts if isinstance(part, Table)]

    @property
    def pictures(self) -> list[DisplayFigure]:
        """Those that say most, which notebooks and reports show; others only a command's option draws."""
        return [part for part in self.parts if isinstance(part, DisplayFigure) and part.option == "plot"]

    @property
    def sentences(self) -> list[str]:
        """Everything that is said in words, the warnings first."""
        said = [part for part in self.parts if isinstance(part, str) and part]
        return [*(f"warning: {warning}" for warning in self.warnings), *self.notes, *said]


Maker = Callable[..., Display]
_MAKERS: dict[str, list[Maker]] = {}
"""By the name of the class: modules need not be loaded for classes that nobody shows."""
_HOMES = ("summaries", "linear", "causes", "machines", "drives", "accuracy", "measurement", "sweeps")
"""Modules of this package with displays, in the order in which they are searched."""


def shows(make: Maker) -> Maker:
    """Decorator of a function that makes the display of the class that its argument is annotated with."""
    kind = next(iter(make.__annotations__.values()))
    _MAKERS.setdefault(kind, []).append(make)
    return make


def display(result: Any) -> Display:
    """The display of a result.

    Raises:
        TypeError: for a value of a kind that nobody has said how to show.
    """
    if isinstance(result, Display):
        return result
    # Lists are found by what they hold, all else by its class, then by what that is derived from.
    several = isinstance(result, list) and len(result) > 0
    kinds = type(result[0] if several else result).__mro__
    for kind in kinds:
        name = f"list[{kind.__name__}]" if several else kind.__name__
        for home in (None, *_HOMES):
            if home is not None:
                import_module(f"{__package__}.{home}")
            for make in _MAKERS.get(name, ()):
                # Another package may have a class of the same name.
                meant = evaluate(next(iter(make.__annotations__.values())), make.__module__)
                if several or isinstance(result, meant):
                    return make(result)
    raise TypeError(f"no display is defined for {kinds[0].__name__}")


def show_value(value: Any, digits: str = ".4g") -> str:
    """A number in this format, a dash for what is none, yes or no; all else as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if not isinstance(value, float):
        return str(value)
    text = f"{0.0 if abs(value) < SMALLEST else value:{digits}}"
    # 1,110 and 1.11e+03 have the same digits, but only one is read at a glance.
    return f"{float(text):.5g}" if digits.endswith("g") and "e+0" in text and abs(value) < 1e5 else text


# The shell.


def to_text(shown: Display, width: int | None = None) -> str:
    """Sentences and tables as lines, which fit a width where one is given; pictures are left out."""
    lines: list[str] = []
    for part in [shown.text] if shown.text else shown.parts:
        if isinstance(part, Table):
            lines += table_lines(part, width)
        elif isinstance(part, str):
            lines += wrap_text(part, width)
    return "\n".join(lines)


def describe(result: Any) -> str:
    """A result as lines of text."""
    return to_text(display(result))


def wrap_text(text: str, width: int | None) -> list[str]:
    """Lines that fit a width, each line of the text by itself; what follows is indented a little more."""
    if width is None:
        return text.split("\n")
    lines = []
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        lines += textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False) or [""]
    return lines


_NARROWEST, _LONGEST_PIECE = 12, 24
"""Letters that a column of texts keeps, however narrow the terminal is, and those of a piece that is not broken."""


def _pieces_of(text: str) -> list[str]:
    """Pieces that a text may be broken into: words, and names at their dots and underscores; a unit is one piece."""
    return re.findall(r"\[.*?\]|[^\s._/]+[._/]*|[._/]+", text)


def _break_cell(text: str, room: int) -> list[str]:
    """Lines of a cell that fit: broken between words where that will do, otherwise within names."""
    if len(text) <= room:
        return [text]
    lines = [""]
    for word in re.findall(r"\[.*?\]|\S+", text):
        for k, piece in enumerate([word] if len(word) <= room else _pieces_of(word)):
            gap = " " if k == 0 and lines[-1] else ""
            if lines[-1] and len(lines[-1] + gap + piece) > room:
                lines.append("")
                gap = ""
            # Only a piece that is longer than a line is broken anywhere.
            lines[-1:] = textwrap.wrap(lines[-1] + gap + piece, room) or [""]
    return lines


def table_lines(table: Table, width: int | None = None) -> list[str]:
    """Columns of equal width, numbers to the right, texts to the left, broken where the width is too small; what does
    not fit beside the first column even so stands below, beside the first column again."""
    heads, cells = table.cells()
    most = len(cells) if table.most_printed is None else table.most_printed
    rows = [*([heads] if any(heads) else []), *cells[:most]]
    numeric = [table.is_numeric(column) for column in range(len(heads))]
    widest = [max((len(cell) for cell in column), default=0) for column in zip(*rows, strict=True)]
    # Numbers are never broken; headings and texts between words, and names at their dots and underscores.
    least = []
    for column, is_numeric in enumerate(numeric):
        own = [len(row[column]) for row in cells[:most]] if is_numeric else [min(widest[column], _NARROWEST)]
        pieces = [len(piece) for piece in _pieces_of(heads[column])]
        if not is_numeric:
            pieces += [min(len(piece), _LONGEST_PIECE) for row in cells[:most] for piece in _pieces_of(row[column])]
        least.append(max([*own, *pieces], default=0))
    lines = [table.title] if table.title else []
    remaining = list(range(len(heads)))
    while remaining:
        # As many columns as there is room for, two spaces between them or, if need be, one.
        count = len(remaining)
        while width is not None and count > 2 and sum(least[column] + 1 for column in remaining[:count]) - 1 > width:
            count -= 1
        columns, remaining = remaining[:count], remaining[count:]
        gap = 2 if width is None or sum(least[column] + 2 for column in columns) - 2 <= width else 1
        widths = _fit_columns([widest[c] for c in columns], [least[c] for c in columns], gap, width)
        for row in rows:
            broken = [_break_cell(row[c], max(room, 1)) for c, room in zip(columns, widths, strict=True)]
            for line in zip_longest(*broken, fillvalue=""):
                padded = []
                for cell, room, column in zip(line, widths, columns, strict=True):
                    padded.append(cell.rjust(room) if numeric[column] else cell.ljust(room))
                lines.append((" " * gap).join(padded).rstrip())
        if remaining:
            remaining = [0, *remaining]
            lines.append("")
    if len(cells) > most:
        lines.append(f"and {len(cells) - most} more {heads[0] or 'row'}s")
    return lines


def _fit_columns(widest: Sequence[int], least: Sequence[int], gap: int, width: int | None) -> list[int]:
    """Widths of columns between the least and the widest, the widest narrowed first until they fit."""
    widths = list(widest)
    while width is not None and (excess := sum(widths) + gap * (len(widths) - 1) - width) > 0:
        slack = [own - low for own, low in zip(widths, least, strict=True)]
        column = max(range(len(widths)), key=lambda column: (slack[column] > 0, widths[column]))
        if slack[column] <= 0:
            break
        widths[column] -= min(excess, slack[column], max(1, slack[column] // 2))
    return widths


# Report pages and the studio: plain values that a script shows.


def to_section(shown: Display) -> dict[str, Any]:
    """The display as a section of a report page."""
    tables = []
    for table in shown.tables:
        heads, cells = table.cells()
        more = max(0, len(cells) - table.most)
        tables.append({"heads": heads, "rows": cells[: table.most], "title": table.title, "more": more})
    images = [embed_figure(picture.draw()) for picture in shown.pictures]
    return {"title": shown.heading, "sentences": shown.sentences, "tables": tables, "images": images}


def to_studio(shown: Display) -> dict[str, Any]:
    """The display for the studio, whose script formats numbers and draws curves by itself."""
    tables = []
    for part in (*shown.parts, *shown.more):
        if isinstance(part, Table):
            heads, rows = part.scaled()
            tables.append({"heads": heads, "rows": rows, "title": part.title})
    message: dict[str, Any] = {"tables": tables, "notes": shown.sentences, "values": dict(shown.values) or None}
    if shown.curves:
        lines = [{"name": name, "x": list(x), "y": list(y)} for name, (x, y) in shown.curves.lines.items()]
        axes = {"x": shown.curves.x, "y": shown.curves.y, "log": shown.curves.log}
        message["picture"] = axes | {"curves": lines}
    return message


# Notebooks and pages: HTML in which every text is escaped.

TABLE_STYLE = "border-collapse:collapse;font-size:90%;margin:6px 0"
CELL_STYLE = "padding:2px 14px 2px 0;text-align:"
PAGE_STYLE = """body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#222}
table{border-collapse:collapse;width:100%}td,th{padding:.25rem .6rem;text-align:left;vertical-align:top;
border-bottom:1px solid #ddd}.n{text-align:right;white-space:nowrap}td{overflow-wrap:anywhere}img{width:100%}
label{margin-right:1rem}tr[data-kind="choice"]{background:#fff6da}tr[data-kind="not used"]{color:#777}
@media print{body{margin:0;max-width:none;font-size:11px}}"""
PAGE_SCRIPT = """for (const box of document.querySelectorAll("input")) box.onchange = () => {
  for (const row of document.querySelectorAll("tr[data-kind]")) {
    if (row.dataset.kind === box.value) row.hidden = !box.checked; } };"""


def to_html(shown: Display, *, pictures: bool = True) -> str:
    """The display inside a notebook."""
    parts = [f"<b>{escape(shown.heading)}</b>"]
    parts += [f"<div>{escape(sentence)}</div>" for sentence in shown.sentences]
    parts += [f"{_caption(table, 'b')}{table_html(table, inline=True)}" for table in shown.tables]
    if pictures:
        parts += [_image(picture, ' style="max-width:100%"') for picture in shown.pictures]
    return f"<div>{''.join(parts)}</div>"


def to_page(shown: Display) -> str:
    """One HTML page that needs nothing from elsewhere and may run its own script and no other."""
    parts = [f"<p>{escape(sentence)}</p>" for sentence in (*(f"warning: {w}" for w in shown.warnings), *shown.notes)]
    for part in (*shown.parts, *shown.more):
        if isinstance(part, Table):
            parts.append(f"{_caption(part, 'h2')}{_filter(part)}{table_html(part)}")
        elif isinstance(part, DisplayFigure):
            parts.append(f"<h2>{escape(part.title)}</h2>{_image(part)}" if part.option == "plot" else "")
        elif part:
            parts.append(f"<p>{escape(part)}</p>")
    title, body = escape(shown.heading), "\n".join(parts)
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy_of(PAGE_STYLE, PAGE_SCRIPT)}">
<title>{title}</title><style>{PAGE_STYLE}</style>
<h1>{title}</h1>
{body}<script>{PAGE_SCRIPT}</script></html>
"""


def policy_of(style: str, script: str, *rules: str, images: str = "data:", also: str = "") -> str:
    """The content security policy of a page: its own style and script, pictures inside it, nothing from elsewhere.

    Args:
        rules: further ones; also: what the script may do besides.
    """
    # A style or a script is named by its hash: no other text is run.
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    common = ("default-src 'none'", f"img-src {images}", "base-uri 'none'", "form-action 'none'")
    own = (f"style-src 'sha256-{hashes[0]}'", f"script-src 'sha256-{hashes[1]}'{also}")
    return "; ".join((*common, *rules, *own))


def _caption(table: Table, tag: str) -> str:
    return f"<{tag}>{escape(table.title)}</{tag}>" if table.title else ""


def _filter(table: Table) -> str:
    """Boxes that hide the rows of a kind."""
    if table.kinds is None:
        return ""
    kinds = [str(row[table.kinds]) for row in table.rows]
    boxes = [
        f'<label><input type="checkbox" checked value="{escape(kind)}"> {escape(kind)}: {kinds.count(kind)}</label>'
        for kind in dict.fromkeys(kinds)
    ]
    return f"<p>{''.join(boxes)}</p>"


def table_html(table: Table, inline: bool = False) -> str:
    """A table, styled by the page or, in notebooks, cell by cell; a page that hides rows has all of them."""
    right = [table.is_numeric(column) for column in range(len(table.heads))]
    if inline:
        looks = [f' style="{CELL_STYLE}{"right" if numeric else "left"}"' for numeric in right]
    else:
        looks = [' class="n"' if numeric else "" for numeric in right]

    def line(tag: str, cells: Sequence[str]) -> Iterator[str]:
        for cell, look in zip(cells, looks, strict=True):
            yield f"<{tag}{look}>{escape(cell)}</{tag}>"

    heads, cells = table.cells()
    most = len(cells) if table.kinds is not None else table.most
    rows = []
    for row in cells[:most]:
        kind = "" if table.kinds is None else f' data-kind="{escape(row[table.kinds])}"'
        rows.append(f"<tr{kind}>{''.join(line('td', row))}</tr>")
    more = f"<div><i>and {len(cells) - most} more</i></div>" if len(cells) > most else ""
    head = "".join(line("th", heads))
    style = f' style="{TABLE_STYLE}"' if inline else ""
    return f"<table{style}><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{more}"


def _image(picture: DisplayFigure, look: str = "") -> str:
    try:
        source = embed_figure(picture.draw())
    except ImportError as error:
        return f"<div>pictures need {escape(error.name or 'matplotlib')}: pip install 'robodyn[plot]'</div>"
    except ValueError as error:
        return f"<div>no picture: {escape(str(error))}</div>"
    return f'<img{look} alt="{escape(picture.title)}" src="{source}">'


def notebook_html(result: Any) -> str:
    """`_repr_html_` of every result that notebooks show."""
    return to_html(display(result))


def write_picture(shown: Display, option: str, path: str | Path, *, dark: bool = False) -> None:
    """Draw the picture of a display that an option asks for, PNG, SVG or PDF by the ending of the path.

    Raises:
        ValueError: where there is no such picture.
    """
    drawn = [part for part in shown.parts if isinstance(part, DisplayFigure) and part.option == option]
    if not drawn:
        raise ValueError("there is nothing to draw")
    write_figure(drawn[0].draw(), path, dark=dark)


def write_display(result: Any, path: str | Path) -> Path:
    """Write a result into a file, by its ending as a page (.html) or as JSON (.json)."""
    import json

    path = Path(path)
    if path.suffix == ".json":
        write_file(path, json.dumps(to_plain(result), indent=2, allow_nan=False) + "\n")
    elif path.suffix == ".html":
        write_file(path, to_page(display(result)))
    else:
        raise ValueError(f"{path}: must end in .html or .json")
    return path
