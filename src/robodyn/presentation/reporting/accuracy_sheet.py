"""ISO 9283 sheet as a page: figures with their formulas and causes, and what they were taken from."""

from __future__ import annotations

import textwrap
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.analysis.accuracy.causes import Figure as SheetFigure
from robodyn.analysis.accuracy.sheet import Sheet
from robodyn.base.atomic import replacing

from .figures import COLOURS, embed_figure, empty_figure, finish_axes
from .policy import policy_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE = """body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:64rem;padding:0 1rem;color:#222}
table{border-collapse:collapse;width:100%}td,th{padding:.25rem .6rem;text-align:left;vertical-align:top;
border-bottom:1px solid #ddd}.n{text-align:right;white-space:nowrap}img{width:100%}small{color:#555}
@media print{body{margin:0;max-width:none;font-size:11px}}"""
SHOWN = 5
"""Causes of a figure that are shown."""
_WIDTH, _HEIGHT = 8.3, 7.4
_PAGE, _LETTERS, _LINES = (8.3, 11.7), 88, 68


def shown_value(figure: SheetFigure, value: float) -> str:
    """A value of a figure in the unit in which people read it."""
    scale, unit = {"m": (1e6, "um"), "1": (100.0, "%"), "s": (1e3, "ms"), "m/s": (1e3, "mm/s"), "rad": (1e3, "mrad")}[
        figure.unit
    ]
    return f"{scale * value:.4g} {unit}"


def write_sheet(sheet: Sheet, path: str | Path) -> Path:
    """Write a sheet as a page, HTML or PDF by its ending; needs nothing from elsewhere."""
    path = Path(path)
    if path.suffix not in (".html", ".pdf"):
        raise ValueError(f"{path}: must end in .html or .pdf")
    with replacing(path) as draft:
        if path.suffix == ".html":
            draft.write_text(sheet_page(sheet), encoding="utf-8")
        else:
            _write_pdf(sheet, draft)
    return path


def sheet_page(sheet: Sheet) -> str:
    """One HTML page."""
    image = embed_figure(draw_sheet(sheet))
    rows = "\n".join(_row(figure) for figure in sheet.figures if not figure.pose)
    drawn = "".join(f"<li><code>{escape(k)}</code> {escape(v)}</li>" for k, v in sheet.uncertain.items())
    notes = "".join(f"<li>{escape(note)}</li>" for note in sheet.notes)
    title = escape(sheet.title or sheet.scenario)
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8">{policy_of(STYLE)}
<title>ISO 9283: {title}</title><style>{STYLE}</style>
<h1>{title}</h1>
<p>Performance by ISO 9283, simulated: each cycle is a run with what is uncertain drawn anew (seed {sheet.seed}).</p>
<h2>Poses</h2>
{_pose_table(sheet)}
<h2>Distances and path</h2>
<table><thead><tr><th></th><th>figure</th><th>formula</th><th class="n">cycles</th><th class="n">value</th>
<th>because of</th></tr></thead><tbody>
{rows}
</tbody></table>
<p><small>p attained, c commanded, d across the path, l distance from the barycentre G, a, b, c rotations about x, y, z,
D distance of two poses, S standard deviation with n - 1; j counts cycles, i places. Causes of an accuracy
add up to it; those of a repeatability are shares of the cloud's variance by what was drawn.</small></p>
<img alt="Pose cloud, path deviation, speed and causes" src="{image}">
<h2>Drawn in every cycle</h2><ul>{drawn}</ul><h2>Notes</h2><ul>{notes}</ul></html>
"""


def by_symbol(sheet: Sheet) -> dict[str, list[SheetFigure]]:
    """Figures of poses: symbol -> that of each pose."""
    found: dict[str, list[SheetFigure]] = {}
    for figure in sheet.figures:
        if figure.pose:
            found.setdefault(figure.symbol, []).append(figure)
    return found


def _pose_table(sheet: Sheet) -> str:
    """A row a figure, a column a pose; causes below where a figure is largest."""
    poses = list(dict.fromkeys(figure.pose for figure in sheet.figures if figure.pose))
    heads = "".join(f'<th class="n">{escape(pose)}</th>' for pose in poses)
    rows = []
    for symbol, figures in by_symbol(sheet).items():
        shown = {figure.pose: shown_value(figure, figure.value).split() for figure in figures}
        cells = "".join(f'<td class="n">{shown.get(pose, [""])[0]}</td>' for pose in poses)
        first, worst = figures[0], _worst(figures)
        named = f"<b>{symbol}</b></td><td>{escape(first.name)} [{shown[first.pose][1]}]"
        formula = f"<small>{escape(first.formula)}</small>"
        rows.append(f'<tr><td>{named}</td><td>{formula}</td><td class="n">{first.cycles}</td>{cells}</tr>')
        if worst.causes:
            causes = ", ".join(f"{escape(c.name)} {shown_value(worst, c.value)}" for c in worst.causes[:SHOWN])
            below = f"<small>{escape(worst.pose)} because of {causes}</small>"
            rows.append(f'<tr><td></td><td colspan="{len(poses) + 3}">{below}</td></tr>')
    head = f'<th></th><th>figure</th><th>formula</th><th class="n">cycles</th>{heads}'
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{chr(10).join(rows)}\n</tbody></table>"


def _worst(figures: list[SheetFigure]) -> SheetFigure:
    return max(figures, key=lambda figure: abs(figure.value))


def _row(figure: SheetFigure) -> str:
    causes = "<br>".join(f"{escape(c.name)} {shown_value(figure, c.value)}" for c in figure.causes[:SHOWN])
    cells = f"<td><b>{escape(figure.symbol)}</b></td><td>{escape(figure.name)}</td><td>{escape(figure.formula)}</td>"
    numbers = f'<td class="n">{figure.cycles}</td><td class="n">{shown_value(figure, figure.value)}</td>'
    return f"<tr>{cells}{numbers}<td>{causes}</td></tr>"


def draw_sheet(sheet: Sheet) -> Figure:
    """A figure: attained poses at the end, deviation across the path, speed, and causes of the pose's accuracy."""
    figure = empty_figure(_WIDTH, _HEIGHT)
    axes = figure.subplots(2, 2)
    _draw_cloud(axes[0, 0], sheet)
    _draw_path(axes[0, 1], sheet)
    _draw_speed(axes[1, 0], sheet)
    _draw_causes(axes[1, 1], sheet)
    return figure


def _draw_cloud(ax: Axes, sheet: Sheet) -> None:
    """Poses about the commanded ones, seen along the two axes in which they differ most."""
    clouds = {rest.name: 1e6 * cloud for rest, cloud in zip(sheet.rests, sheet.clouds, strict=True)}
    a, b = np.sort(np.argsort(-np.mean([cloud.std(axis=0) for cloud in clouds.values()], axis=0), kind="stable")[:2])
    names = ("along", "horizontal", "vertical") if sheet.rests[0].place is None else ("x", "y", "z")
    radii = {figure.pose: 1e6 * figure.value for figure in sheet.figures if figure.symbol == "RP"}
    turn = np.linspace(0, 2 * np.pi, 181)
    for number, (name, poses) in enumerate(clouds.items()):
        colour, middle = COLOURS[number % len(COLOURS)], poses.mean(axis=0)
        ax.plot(poses[:, a], poses[:, b], ".", color=colour, markersize=4, label=name)
        ax.plot([middle[a]], [middle[b]], "+", color=colour, markersize=12)
        ax.plot(middle[a] + radii[name] * np.cos(turn), middle[b] + radii[name] * np.sin(turn), color=colour)
    ax.plot([0], [0], "x", color="black", label="commanded")
    ax.set(xlabel=f"{names[a]} [um]", aspect="equal", title="attained poses, barycentres, RP")
    ax.set_adjustable("datalim")
    finish_axes(ax, f"{names[b]} [um]")
    ax.legend(fontsize="small", frameon=False)


def _draw_path(ax: Axes, sheet: Sheet) -> None:
    for number, (k, name) in enumerate(((1, "horizontal"), (2, "vertical"))):
        values = 1e6 * sheet.deviation[:, :, k]
        mean, spread = values.mean(axis=0), 3 * values.std(axis=0, ddof=1)
        ax.plot(sheet.time, mean, color=COLOURS[number], label=name)
        ax.fill_between(sheet.time, mean - spread, mean + spread, color=COLOURS[number], alpha=0.25, linewidth=0)
    ax.set(xlabel="time [s]", title="deviation across, mean, 3 S")
    finish_axes(ax, "deviation [um]")
    ax.legend(fontsize="small", frameon=False)


def _draw_speed(ax: Axes, sheet: Sheet) -> None:
    ax.plot(sheet.time, sheet.speed.T, color=COLOURS[0], linewidth=0.5)
    ax.plot(sheet.time, sheet.commanded, color=COLOURS[1], label="commanded")
    ax.set(xlabel="time [s]", title="speed of the tool")
    finish_axes(ax, "speed [m/s]")
    ax.legend(fontsize="small", frameon=False)


def _draw_causes(ax: Axes, sheet: Sheet) -> None:
    poses = [_worst(figures) for symbol, figures in by_symbol(sheet).items() if symbol in ("AP", "RP")]
    path = [figure for figure in sheet.figures if figure.symbol in ("AT", "RT")]
    figures = [figure for figure in (*poses, *path) if figure.causes]
    names = list(dict.fromkeys(cause.name for figure in figures for cause in figure.causes[:3]))
    for number, figure in enumerate(figures):
        values = {cause.name: 1e6 * cause.value for cause in figure.causes}
        places = np.arange(len(names)) + 0.8 * (number + 0.5) / len(figures) - 0.4
        sizes = [values.get(name, 0.0) for name in names]
        ax.barh(places, sizes, 0.8 / len(figures), color=COLOURS[number], label=f"{figure.symbol} {figure.pose}")
    ax.set(xlabel="share [um]", title="causes")
    finish_axes(ax, "")
    ax.set_yticks(range(len(names)), names, fontsize="small")
    ax.invert_yaxis()
    if figures:
        ax.legend(fontsize="small", frameon=False)


def _write_pdf(sheet: Sheet, path: Path) -> None:
    from matplotlib.backends.backend_pdf import PdfPages

    settings: Any = {"CreationDate": None, "Title": f"ISO 9283: {sheet.title or sheet.scenario}"}
    title, lines = f"{sheet.title or sheet.scenario}: ISO 9283, simulated", [*sheet_lines(sheet), *_stated(sheet)]
    texts = [_text_page(title, lines[k : k + _LINES]) for k in range(0, len(lines), _LINES)]
    with PdfPages(path, metadata=settings) as pages:
        for figure in (*texts, draw_sheet(sheet)):
            pages.savefig(figure)


def sheet_lines(sheet: Sheet, causes: int = SHOWN) -> list[str]:
    """All figures as lines of text, each with its formula, values and largest causes."""
    lines: list[str] = []
    for symbol, figures in by_symbol(sheet).items():
        first, worst = figures[0], _worst(figures)
        values = [f"{figure.pose} {shown_value(figure, figure.value)}" for figure in figures]
        lines += [f"{symbol:5}{first.name}: {first.formula}, {first.cycles} cycles", *_wrapped(values, "   ", 8)]
        lines += _cause_lines(worst, causes, f" at {worst.pose}" if len(figures) > 1 else "")
    for one in sheet.figures:
        if not one.pose:
            value = shown_value(one, one.value)
            lines += [f"{one.symbol:5}{one.name}: {one.formula}, {one.cycles} cycles", f"{'':8}{value}"]
            lines += _cause_lines(one, causes)
    return lines


def _cause_lines(figure: SheetFigure, count: int, where: str = "") -> list[str]:
    named = [f"{cause.name} {shown_value(figure, cause.value)}" for cause in figure.causes[:count]]
    return _wrapped([f"because of{where}: {named[0]}", *named[1:]], ", ", 10) if named else []


def _wrapped(items: list[str], between: str, indent: int) -> list[str]:
    """Lines that are broken between items alone."""
    lines = [" " * indent + items[0]]
    for item in items[1:]:
        longer = f"{lines[-1]}{between}{item}"
        if len(longer) <= _LETTERS:
            lines[-1] = longer
        else:
            lines.append(" " * indent + item)
    return lines


def _stated(sheet: Sheet) -> list[str]:
    drawn = ["", "drawn in every cycle:", *(f"    {k} {v}" for k, v in sheet.uncertain.items())]
    notes = [textwrap.wrap(f"note: {note}", _LETTERS, subsequent_indent="    ") for note in sheet.notes]
    return drawn + [line for note in notes for line in note]


def _text_page(title: str, lines: list[str]) -> Figure:
    figure = empty_figure(*_PAGE)
    figure.text(0.07, 0.95, title, fontsize=13, va="top")
    figure.text(0.07, 0.92, "\n".join(lines), family="monospace", fontsize=8.5, va="top")
    return figure
