"""Accuracy drawn: the sheet of ISO 9283 and the circle of ISO 230-4."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.analysis.accuracy.arms import ArmSheet
from robodyn.analysis.accuracy.circle import CircleTest, CircleTests
from robodyn.analysis.accuracy.sheet import Figure as SheetFigure
from robodyn.analysis.accuracy.sheet import Sheet
from robodyn.base import choose_unit, show_quantity, with_unit

from .displays import Display, DisplayFigure, Table, shows
from .drives import open_arm_sheet
from .figures import COLOURS, empty_figure, finish_axes, into_file, label_axis, legend_above
from .runs import run_lines, run_style
from .sheets import TestSheet, show_payload, write_test_sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Polar plot of a circular test: where does a machine leave its circle, and by how many micrometres?

_SIZE = 6.4


def draw_circle(tests: CircleTest | Sequence[CircleTest]) -> Figure:
    """A polar figure of radial deviations about the nominal circle, a line a test, quadrant peaks marked."""
    shown = [tests] if isinstance(tests, CircleTest) else list(tests)
    low, high = min(test.lowest for test in shown), max(test.highest for test in shown)
    unit = choose_unit("m", max(abs(low), abs(high)))
    figure = empty_figure(_SIZE, _SIZE + 0.7)
    ax: Any = figure.add_subplot(projection="polar")
    for number, test in enumerate(shown):
        ax.plot(test.angles, test.deviation / unit.size, gid=test.name, **run_style(number))
        for peak in test.peaks:
            at = np.interp(peak.angle, test.angles, test.deviation, period=2 * np.pi)
            place = (peak.angle, float(at) / unit.size)
            # Outward of the curve, one test beside the other.
            out = np.array([(18 + 30 * number) * np.cos(peak.angle), (10 + 14 * number) * np.sin(peak.angle)])
            look = {"color": run_style(number)["color"], "fontsize": "small", "ha": "center", "va": "center"}
            ax.annotate(unit.scale(peak.height, 3), place, tuple(out), textcoords="offset points", **look)
    turn = np.linspace(0, 2 * np.pi, 361)
    ax.plot(turn, np.zeros(361), color="0.4", linewidth=0.8, gid="nominal")
    span = max(high - low, 1e-9) / unit.size
    ax.set_rlim(low / unit.size - span, high / unit.size + (0.15 + 0.1 * len(shown)) * span)
    ax.set_rlabel_position(22.5)
    ax.tick_params(axis="y", labelsize="small")
    title = f"Radial deviation [{unit.name}] from the nominal circle (grey)\nwith quadrant peaks labelled"
    legend_above(figure, run_lines([describe_circle(test) for test in shown]), title)
    return figure


plot_circle = into_file(draw_circle)


def describe_circle(test: CircleTest) -> str:
    """Name, radius, feed and direction of a test."""
    way = "clockwise" if test.clockwise else "anticlockwise"
    return f"{test.name}: radius {show_quantity(test.radius, 'm', 6)}, feed {60 * test.speed:.4g} m/min, {way}"


@shows
def show_circles(circles: CircleTests) -> Display:
    """Radial and circular deviation and quadrant peaks of each test, and the hysteresis of two."""
    sentences = [describe_circle(test) for test in circles.tests]
    picture = DisplayFigure("Radial deviation", lambda: draw_circle(circles.tests))
    return Display("Circular test by ISO 230-4", (*sentences, circle_table(circles), picture))


def circle_table(circles: CircleTests) -> Table:
    """A row a figure, a column a test."""
    rows: list[tuple[Any, ...]] = [
        ("F max", "radial deviation, largest", *(test.highest for test in circles.tests), "m"),
        ("F min", "radial deviation, smallest", *(test.lowest for test in circles.tests), "m"),
        ("G", "circular deviation", *(test.circular for test in circles.tests), "m"),
    ]
    reversals = sorted({peak.reversal for test in circles.tests for peak in test.peaks})
    for reversal in reversals:
        heights = [next((p.height for p in test.peaks if p.reversal == reversal), None) for test in circles.tests]
        rows.append(("", f"quadrant peak at {np.degrees(reversal):.0f} deg", *heights, "m"))
    if circles.hysteresis is not None:
        rows.append(("H", "circular hysteresis", circles.hysteresis, *[None] * (len(circles.tests) - 1), "m"))
    names = tuple(test.name for test in circles.tests)
    return Table(("", "figure", *names, "unit"), rows, title="Results", by_row=names)


# The sheet of ISO 9283: figures with their formulas and causes, and what they were taken from.

SHOWN = 5
"""Causes of a figure that are shown."""
_WIDTH, _HEIGHT = 8.3, 7.4
_LETTERS = 88
LEGEND = (
    "p attained, c commanded, d distance across the path, l distance from the barycentre G, a, b, c rotations about "
    "x, y, z, D distance of two poses, S standard deviation with n - 1; j counts cycles, i places. The causes of an "
    "accuracy add up to it; those of a repeatability are shares of the variance of the pose cloud."
)


@shows
def show_sheet(sheet: Sheet) -> Display:
    """Figures of poses, a column a pose, then those of distances and the path; what was drawn in every cycle."""
    poses = list(dict.fromkeys(figure.pose for figure in sheet.figures if figure.pose))
    rows: list[tuple[Any, ...]] = []
    for symbol, figures in by_symbol(sheet).items():
        first, values = figures[0], {figure.pose: figure.value for figure in figures}
        worst = _worst(figures)
        unit = choose_unit(first.unit, abs(worst.value))
        numbers = [values[pose] / unit.size if pose in values else None for pose in poses]
        because = f"{worst.pose}: {_causes(worst)}" if worst.causes else ""
        rows.append((symbol, with_unit(first.name, unit.name), first.formula, first.cycles, *numbers, because))
    others = []
    for one in sheet.figures:
        if not one.pose:
            value = show_deviation(one.value, one.unit)
            others.append((one.symbol, one.name, one.formula, one.cycles, value, _causes(one)))
    head = ("", "figure", "formula", "cycles")
    parts = (
        "Performance by ISO 9283, simulated: each cycle is a run with the uncertain numbers drawn again "
        f"(seed {sheet.seed}).",
        Table((*head, *poses, "causes"), rows, title="Poses", most=80),
        Table((*head, "value", "causes"), others, title="Distances and path", most=80),
        LEGEND,
        DisplayFigure("Pose cloud, path deviation, speed and causes", lambda: draw_sheet(sheet)),
        Table(("drawn in every cycle", ""), list(sheet.uncertain.items())),
    )
    heading = f"ISO 9283: {sheet.title or sheet.scenario}"
    return Display(heading, parts, notes=sheet.notes, text="\n".join(sheet_lines(sheet, causes=3)))


def show_deviation(value: float, unit: str) -> str:
    """A figure of the sheet with its unit; shares are percentages."""
    return f"{100 * value:.4g} %" if unit == "1" else show_quantity(value, unit)


def _causes(figure: SheetFigure) -> str:
    return ", ".join(f"{cause.name} {show_deviation(cause.value, figure.unit)}" for cause in figure.causes[:SHOWN])


def write_sheet(sheet: Sheet | CircleTests | ArmSheet, path: str | Path) -> Path:
    """Write the sheet of ISO 9283 or of ISO 230-4 for a customer, HTML or PDF by the ending of the path."""
    if isinstance(sheet, ArmSheet):
        return write_test_sheet(open_arm_sheet(sheet), path)
    return write_test_sheet(circle_sheet(sheet) if isinstance(sheet, CircleTests) else performance_sheet(sheet), path)


def performance_sheet(sheet: Sheet) -> TestSheet:
    """The sheet of ISO 9283: all figures with their main causes, what differed from cycle to cycle."""
    shown = show_sheet(sheet)
    cycles = len(sheet.speed)
    facts = (
        ("Robot", sheet.title or sheet.scenario),
        ("Payload", show_payload(sheet.payload)),
        ("Largest speed", show_quantity(float(sheet.commanded.max()), "m/s")),
        ("Cycles", f"{cycles}, seed {sheet.seed}"),
        ("Certificate", f"all checks passed in {cycles} of {cycles} runs"),
    )
    drawn = [f"{name}: {how}" for name, how in sheet.uncertain.items()]
    remarks = [LEGEND, f"Drawn in every cycle: {'; '.join(drawn)}.", *sheet.notes]
    tables = [table for table in shown.tables if table.title and table.rows]
    standard = "Performance by ISO 9283, simulated"
    return TestSheet(sheet.title or sheet.scenario, standard, facts, tables, lambda: draw_sheet(sheet), remarks)


def circle_sheet(circles: CircleTests) -> TestSheet:
    """The sheet of ISO 230-4: deviations of each direction, the hysteresis, and the polar diagram."""
    first = circles.tests[0]
    feed = ", ".join(dict.fromkeys(f"{60 * test.speed:.4g} m/min" for test in circles.tests))
    facts = (
        ("Machine", first.machine or first.name),
        ("Payload", show_payload(first.payload)),
        ("Nominal radius", show_quantity(first.radius, "m", 6)),
        ("Feed", feed),
        ("Certificate", "; ".join(dict.fromkeys(test.checks for test in circles.tests if test.checks))),
    )
    remarks = (
        "Angles are measured from the first axis towards the second. Deviations are those from the nominal circle, "
        "positive outward; G is measured from the least-squares circle.",
    )
    results = [circle_table(circles)]
    title, standard = first.machine or first.name, "Circular test by ISO 230-4, simulated"
    return TestSheet(title, standard, facts, results, lambda: draw_circle(circles.tests), remarks)


def by_symbol(sheet: Sheet) -> dict[str, list[SheetFigure]]:
    """Figures of poses: symbol -> that of each pose."""
    figures: dict[str, list[SheetFigure]] = {}
    for figure in sheet.figures:
        if figure.pose:
            figures.setdefault(figure.symbol, []).append(figure)
    return figures


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
    clouds = {rest.name: cloud for rest, cloud in zip(sheet.rests, sheet.clouds, strict=True)}
    a, b = np.sort(np.argsort(-np.mean([cloud.std(axis=0) for cloud in clouds.values()], axis=0), kind="stable")[:2])
    names = ("along", "horizontal", "vertical") if sheet.rests[0].place is None else ("x", "y", "z")
    radii = {figure.pose: figure.value for figure in sheet.figures if figure.symbol == "RP"}
    turn = np.linspace(0, 2 * np.pi, 181)
    for number, (name, poses) in enumerate(clouds.items()):
        colour, middle = COLOURS[number % len(COLOURS)], poses.mean(axis=0)
        ax.plot(poses[:, a], poses[:, b], ".", color=colour, markersize=4, label=name)
        ax.plot([middle[a]], [middle[b]], "+", color=colour, markersize=12)
        ax.plot(middle[a] + radii[name] * np.cos(turn), middle[b] + radii[name] * np.sin(turn), color=colour)
    ax.plot([0], [0], "x", color="black", label="commanded")
    ax.set(aspect="equal", title="attained poses, barycentres, RP")
    ax.set_adjustable("datalim")
    label_axis(ax.xaxis, names[a], "m")
    finish_axes(ax, names[b], "m")
    ax.legend(fontsize="small", frameon=False)


def _draw_path(ax: Axes, sheet: Sheet) -> None:
    for number, (k, name) in enumerate(((1, "horizontal"), (2, "vertical"))):
        values = sheet.deviation[:, :, k]
        mean, spread = values.mean(axis=0), 3 * values.std(axis=0, ddof=1)
        ax.plot(sheet.time, mean, color=COLOURS[number], label=name)
        ax.fill_between(sheet.time, mean - spread, mean + spread, color=COLOURS[number], alpha=0.25, linewidth=0)
    ax.set_title("deviation across, mean, 3 S")
    label_axis(ax.xaxis, "time", "s")
    finish_axes(ax, "deviation", "m")
    ax.legend(fontsize="small", frameon=False)


def _draw_speed(ax: Axes, sheet: Sheet) -> None:
    ax.plot(sheet.time, sheet.speed.T, color=COLOURS[0], linewidth=0.5)
    ax.plot(sheet.time, sheet.commanded, color=COLOURS[1], label="commanded")
    ax.set_title("speed of the tool")
    label_axis(ax.xaxis, "time", "s")
    finish_axes(ax, "speed", "m/s")
    ax.legend(fontsize="small", frameon=False)


def _draw_causes(ax: Axes, sheet: Sheet) -> None:
    poses = [_worst(figures) for symbol, figures in by_symbol(sheet).items() if symbol in ("AP", "RP")]
    path = [figure for figure in sheet.figures if figure.symbol in ("AT", "RT")]
    figures = [figure for figure in (*poses, *path) if figure.causes]
    names = list(dict.fromkeys(cause.name for figure in figures for cause in figure.causes[:3]))
    for number, figure in enumerate(figures):
        values = {cause.name: cause.value for cause in figure.causes}
        places = np.arange(len(names)) + 0.8 * (number + 0.5) / len(figures) - 0.4
        sizes = [values.get(name, 0.0) for name in names]
        ax.barh(places, sizes, 0.8 / len(figures), color=COLOURS[number], label=f"{figure.symbol} {figure.pose}")
    ax.set_title("causes")
    label_axis(ax.xaxis, "share", "m")
    finish_axes(ax, "")
    ax.set_yticks(range(len(names)), names, fontsize="small")
    ax.invert_yaxis()
    if figures:
        ax.legend(fontsize="small", frameon=False)


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
