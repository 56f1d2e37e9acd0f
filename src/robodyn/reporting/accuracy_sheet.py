"""ISO 9283 sheet as a page: figures with their formulas and causes, and what they were taken from."""

from __future__ import annotations

import base64
import io
import textwrap
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.analysis.accuracy.sheet import Figure as SheetFigure
from robodyn.analysis.accuracy.sheet import Sheet
from robodyn.results.atomic import replacing

from .figures import COLOURS, empty_figure, finish_axes

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
_PAGE, _LETTERS = (8.3, 11.7), 88


def shown_value(figure: SheetFigure, value: float) -> str:
    """A value of a figure in the unit in which people read it."""
    scale, unit = {"m": (1e6, "um"), "1": (100.0, "%"), "s": (1e3, "ms"), "m/s": (1e3, "mm/s")}[figure.unit]
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
    picture = io.BytesIO()
    draw_sheet(sheet).savefig(picture, format="png", dpi=150)
    image = base64.b64encode(picture.getvalue()).decode("ascii")
    rows = "\n".join(_row(figure) for figure in sheet.figures)
    drawn = "".join(f"<li><code>{escape(k)}</code> {escape(v)}</li>" for k, v in sheet.uncertain.items())
    notes = "".join(f"<li>{escape(note)}</li>" for note in sheet.notes)
    title = escape(sheet.title or sheet.scenario)
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>ISO 9283: {title}</title><style>{STYLE}</style>
<h1>{title}</h1>
<p>Performance by ISO 9283, simulated: each cycle is a run with what is uncertain drawn anew (seed {sheet.seed}).</p>
<table><thead><tr><th></th><th>figure</th><th>formula</th><th class="n">cycles</th><th class="n">value</th>
<th>because of</th></tr></thead><tbody>
{rows}
</tbody></table>
<p><small>p attained, c commanded, d across the path, l distance from the barycentre, S standard deviation with n - 1;
j counts cycles, i places. Causes of an accuracy add up to it; those of a repeatability are shares of the cloud's
variance by what was drawn.</small></p>
<img alt="Pose cloud, path deviation, speed and causes" src="data:image/png;base64,{image}">
<h2>Drawn in every cycle</h2><ul>{drawn}</ul><h2>Notes</h2><ul>{notes}</ul></html>
"""


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
    """Poses seen along the two axes in which they differ most."""
    poses = 1e6 * sheet.deviation[:, -1]
    a, b = np.sort(np.argsort(-poses.std(axis=0), kind="stable")[:2])
    names = ("along", "horizontal", "vertical")
    ax.plot(poses[:, a], poses[:, b], ".", color=COLOURS[0], label="attained")
    middle = poses.mean(axis=0)
    ax.plot([middle[a]], [middle[b]], "+", color=COLOURS[1], markersize=12, label="barycentre")
    radius = 1e6 * next(figure.value for figure in sheet.figures if figure.symbol == "RP")
    turn = np.linspace(0, 2 * np.pi, 181)
    ax.plot(middle[a] + radius * np.cos(turn), middle[b] + radius * np.sin(turn), color=COLOURS[1], label="RP")
    ax.set(xlabel=f"{names[a]} [um]", aspect="equal", title="poses at the end")
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
    figures = [figure for figure in sheet.figures if figure.causes]
    names = list(dict.fromkeys(cause.name for figure in figures for cause in figure.causes[:3]))
    for number, figure in enumerate(figures):
        values = {cause.name: 1e6 * cause.value for cause in figure.causes}
        places = np.arange(len(names)) + 0.8 * (number + 0.5) / len(figures) - 0.4
        sizes = [values.get(name, 0.0) for name in names]
        ax.barh(places, sizes, 0.8 / len(figures), color=COLOURS[number], label=figure.symbol)
    ax.set(xlabel="share [um]", title="causes")
    finish_axes(ax, "")
    ax.set_yticks(range(len(names)), names, fontsize="small")
    ax.invert_yaxis()
    if figures:
        ax.legend(fontsize="small", frameon=False)


def _write_pdf(sheet: Sheet, path: Path) -> None:
    from matplotlib.backends.backend_pdf import PdfPages

    settings: Any = {"CreationDate": None, "Title": f"ISO 9283: {sheet.title or sheet.scenario}"}
    with PdfPages(path, metadata=settings) as pages:
        for figure in (_table_page(sheet), draw_sheet(sheet)):
            pages.savefig(figure)


def _table_page(sheet: Sheet) -> Figure:
    figure = empty_figure(*_PAGE)
    lines = [f"{'':4}{'figure':<50}{'cycles':>7}{'value':>16}"]
    for one in sheet.figures:
        lines.append(f"{one.symbol:4}{one.name:<50}{one.cycles:>7}{shown_value(one, one.value):>16}")
        lines.append(f"{'':6}{one.formula}")
        lines += [f"{'':8}{c.name:<46}{shown_value(one, c.value):>23}" for c in one.causes[:SHOWN]]
    lines += ["", "drawn in every cycle:", *(f"    {k} {v}" for k, v in sheet.uncertain.items())]
    lines += [
        line for note in sheet.notes for line in textwrap.wrap(f"note: {note}", _LETTERS, subsequent_indent="    ")
    ]
    figure.text(0.07, 0.95, f"{sheet.title or sheet.scenario}: ISO 9283, simulated", fontsize=13, va="top")
    figure.text(0.07, 0.92, "\n".join(lines), family="monospace", fontsize=8.5, va="top")
    return figure
