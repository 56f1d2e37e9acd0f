"""Accuracy drawn: the sheet of ISO 9283 and the circle of ISO 230-4."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.analysis.accuracy.circle import CircleTest
from robodyn.analysis.accuracy.sheet import Figure as SheetFigure
from robodyn.analysis.accuracy.sheet import Sheet
from robodyn.base.atomic import replacing

from .displays import Display, Part, Picture, Table, shows, write_display
from .figures import COLOURS, empty_figure, finish_axes, into_file, legend_above
from .runs import run_lines, run_style
from .units import deviation_unit, show_deviation, with_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from robodyn.analysis.accuracy.circle import CircleTests


# Polar plot of a circular test: where does a machine leave its circle, and by how many micrometres?

_SIZE = 6.4


def draw_circle(tests: CircleTest | Sequence[CircleTest]) -> Figure:
    """A polar figure of radial deviations [um] about the nominal circle, a line a test, quadrant peaks marked."""
    shown = [tests] if isinstance(tests, CircleTest) else list(tests)
    figure = empty_figure(_SIZE, _SIZE + 0.5)
    ax: Any = figure.add_subplot(projection="polar")
    for number, test in enumerate(shown):
        ax.plot(test.angles, 1e6 * test.deviation, **run_style(number))
        for peak in test.peaks:
            at = np.interp(peak.angle, test.angles, test.deviation, period=2 * np.pi)
            label = f"{1e6 * peak.height:.3g}"
            ax.annotate(label, (peak.angle, 1e6 * float(at)), color=run_style(number)["color"], fontsize="small")
    turn = np.linspace(0, 2 * np.pi, 361)
    ax.plot(turn, np.zeros(361), color="0.4", linewidth=0.8)
    low, high = 1e6 * min(test.lowest for test in shown), 1e6 * max(test.highest for test in shown)
    span = max(high - low, 1e-3)
    ax.set_rlim(low - span, high + 0.15 * span)
    ax.set_rlabel_position(22.5)
    ax.set_title("radial deviation [um]", fontsize="medium")
    legend_above(figure, run_lines([test.name for test in shown]))
    return figure


plot_circle = into_file(draw_circle)


@shows
def show_circles(circles: CircleTests) -> Display:
    """Radial and circular deviation and quadrant peaks of each test, and the hysteresis of two."""
    parts: list[Part] = []
    for test in circles.tests:
        way = "clockwise" if test.clockwise else "anticlockwise"
        parts.append(f"{test.name}: radius {1e3 * test.radius:.6g} mm, {60 * test.speed:.4g} m/min, {way}")
        parts.append(f"  radial deviation F      {1e6 * test.lowest:+.4g} .. {1e6 * test.highest:+.4g} um")
        parts.append(f"  circular deviation G    {1e6 * test.circular:.4g} um")
        for peak in test.peaks:
            parts.append(f"  quadrant peak at {np.degrees(peak.reversal):>3.0f} deg {1e6 * peak.height:+.4g} um")
    if circles.hysteresis is not None:
        parts.append(f"circular hysteresis H     {1e6 * circles.hysteresis:.4g} um")
    parts.append(Picture("Radial deviation", lambda: draw_circle(circles.tests)))
    return Display("Circular test by ISO 230-4", parts)


# The sheet of ISO 9283: figures with their formulas and causes, and what they were taken from.

SHOWN = 5
"""Causes of a figure that are shown."""
_WIDTH, _HEIGHT = 8.3, 7.4
_PAGE, _LETTERS, _LINES = (8.3, 11.7), 88, 68
LEGEND = (
    "p attained, c commanded, d across the path, l distance from the barycentre G, a, b, c rotations about x, y, z, "
    "D distance of two poses, S standard deviation with n - 1; j counts cycles, i places. Causes of an accuracy add up "
    "to it; those of a repeatability are shares of the cloud's variance by what was drawn."
)


@shows
def show_sheet(sheet: Sheet) -> Display:
    """Figures of poses, a column a pose, then those of distances and the path; what was drawn in every cycle."""
    poses = list(dict.fromkeys(figure.pose for figure in sheet.figures if figure.pose))
    rows: list[tuple[Any, ...]] = []
    for symbol, figures in by_symbol(sheet).items():
        first, values = figures[0], {figure.pose: figure.value for figure in figures}
        unit, factor = deviation_unit(first.unit)
        numbers = [factor * values[pose] if pose in values else None for pose in poses]
        worst = _worst(figures)
        because = f"{worst.pose}: {_causes(worst)}" if worst.causes else ""
        rows.append((symbol, with_unit(first.name, unit), first.formula, first.cycles, *numbers, because))
    others = []
    for one in sheet.figures:
        if not one.pose:
            value = show_deviation(one.value, one.unit)
            others.append((one.symbol, one.name, one.formula, one.cycles, value, _causes(one)))
    head = ("", "figure", "formula", "cycles")
    parts = (
        "Performance by ISO 9283, simulated: each cycle is a run with what is uncertain drawn anew "
        f"(seed {sheet.seed}).",
        Table((*head, *poses, "because of"), rows, title="Poses", most=80),
        Table((*head, "value", "because of"), others, title="Distances and path", most=80),
        LEGEND,
        Picture("Pose cloud, path deviation, speed and causes", lambda: draw_sheet(sheet)),
        Table(("drawn in every cycle", ""), list(sheet.uncertain.items())),
    )
    heading = f"ISO 9283: {sheet.title or sheet.scenario}"
    return Display(heading, parts, notes=sheet.notes, text="\n".join(sheet_lines(sheet, causes=3)))


def _causes(figure: SheetFigure) -> str:
    return ", ".join(f"{cause.name} {show_deviation(cause.value, figure.unit)}" for cause in figure.causes[:SHOWN])


def write_sheet(sheet: Sheet, path: str | Path) -> Path:
    """Write a sheet as a page, HTML or PDF by its ending; needs nothing from elsewhere."""
    path = Path(path)
    if path.suffix not in (".html", ".pdf"):
        raise ValueError(f"{path}: must end in .html or .pdf")
    if path.suffix == ".html":
        return write_display(sheet, path)
    with replacing(path) as draft:
        _write_pdf(sheet, draft)
    return path


def by_symbol(sheet: Sheet) -> dict[str, list[SheetFigure]]:
    """Figures of poses: symbol -> that of each pose."""
    found: dict[str, list[SheetFigure]] = {}
    for figure in sheet.figures:
        if figure.pose:
            found.setdefault(figure.symbol, []).append(figure)
    return found


def _worst(figures: list[SheetFigure]) -> SheetFigure:
    return max(figures, key=lambda figure: abs(figure.value))


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
        values = [f"{figure.pose} {show_deviation(figure.value, figure.unit)}" for figure in figures]
        lines += [f"{symbol:5}{first.name}: {first.formula}, {first.cycles} cycles", *_wrapped(values, "   ", 8)]
        lines += _cause_lines(worst, causes, f" at {worst.pose}" if len(figures) > 1 else "")
    for one in sheet.figures:
        if not one.pose:
            value = show_deviation(one.value, one.unit)
            lines += [f"{one.symbol:5}{one.name}: {one.formula}, {one.cycles} cycles", f"{'':8}{value}"]
            lines += _cause_lines(one, causes)
    return lines


def _cause_lines(figure: SheetFigure, count: int, where: str = "") -> list[str]:
    named = [f"{cause.name} {show_deviation(cause.value, figure.unit)}" for cause in figure.causes[:count]]
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
