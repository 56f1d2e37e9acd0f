"""Drives and open arms, drawn and listed: torque over speed, how long drives hold, how repeatable arms are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.base import show_quantity

from .displays import Display, DisplayFigure, Part, Table, shows
from .figures import COLOURS, empty_figure, finish_axes, into_file, label_bottom, legend_beside, panel_figure
from .sheets import TestSheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from robodyn.analysis.accuracy.arms import ArmSheet
    from robodyn.analysis.commissioning.endurance import Endurance, HeldDrive
    from robodyn.analysis.commissioning.library import DriveComparison, NamedDrive

ZERO = 273.15


MOST_CURVES = 12
"""Drives whose curves are told apart; more of them are points."""


def draw_drives(comparison: DriveComparison) -> Figure:
    """A figure of torque over speed: what each drive can give for a moment, dashed what it gives without end.

    Of many drives it shows peak torque over no-load speed.
    """
    figure, axes = panel_figure(1)
    ax = axes[0]
    turning = [drive for drive in comparison.drives if drive.get("no_load_speed") is not None]
    if len(turning) > MOST_CURVES:
        families = sorted({drive.actuator.family for drive in turning})
        for drive in turning:
            colour = COLOURS[families.index(drive.actuator.family)]
            place = (drive["no_load_speed"], drive["peak_torque"])
            ax.loglog(*place, "o", color=colour, markersize=3)
            ax.annotate(drive.name, place, (3, 2), textcoords="offset points", fontsize=5, color=colour)
        finish_axes(ax, "peak torque [N m]")
        label_bottom(axes, "no-load speed [rad/s]")
        return figure
    for k, drive in enumerate(turning):
        end = drive.actuator.speeds[-1] if drive.actuator.speeds else drive["no_load_speed"]
        speeds = np.linspace(0.0, max(drive["no_load_speed"], end), 200)
        torques = np.array([drive.torque_at(float(speed)) for speed in speeds])
        colour = COLOURS[k % len(COLOURS)]
        ax.plot(speeds, torques, color=colour, label=drive.name)
        ax.plot(speeds, np.minimum(torques, drive["rated_torque"]), color=colour, linestyle="--", linewidth=0.9)
    ax.set_ylim(bottom=0)
    ax.set_xlim(left=0)
    if turning:
        legend_beside(ax)
    finish_axes(ax, "torque [N m]")
    label_bottom(axes, "speed of the output [rad/s]")
    return figure


plot_drives = into_file(draw_drives)


def draw_endurance(endurance: Endurance) -> Figure:
    """A figure of the time to trip over the load: a dot is what is asked for, dotted what a drive holds for ever."""
    figure, axes = panel_figure(1)
    ax = axes[0]
    for k, drive in enumerate(endurance.drives):
        colour = COLOURS[k % len(COLOURS)]
        trips = [(one.torque, one.time / 60) for one in drive.curve if math.isfinite(one.time)]
        ax.plot(*zip(*trips, strict=True), color=colour, label=drive.name)
        ax.axvline(drive.continuous, color=colour, linestyle=":", linewidth=0.9)
        if math.isfinite(drive.load.time):
            ax.plot(drive.load.torque, drive.load.time / 60, "o", color=colour)
    ax.set_yscale("log")
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter("{x:g}")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.tick_params(axis="x", which="minor", labelsize="x-small", rotation=45)
    legend_beside(ax)
    finish_axes(ax, "time to trip [min]")
    label_bottom(axes, "torque held [N m or N]")
    return figure


plot_endurance = into_file(draw_endurance)

HEADS = (
    "drive", "family", "ratio", "peak [N m]", "continuous [N m]", "no load [rpm]", "reflected inertia [kg m^2]",
    "friction [N m]", "backlash [arcmin]", "mass [kg]", "peak / mass [N m/kg]",
)  # fmt: skip
LISTED = 6
"""Columns of a list; all of them side by side."""


def _row(drive: NamedDrive) -> tuple[Any, ...]:
    """A line of the comparison; what is estimated has a tilde."""

    def told(key: str, factor: float = 1.0, value: float | None = None) -> str:
        number = drive.numbers.get(key)
        if number is None:
            return "-"
        shown = number.value * factor if value is None else value
        return f"{'~' if number.estimated else ''}{shown:.3g}"

    mass = drive.get("mass")
    density = "-" if mass is None else told("mass", value=drive["peak_torque"] / mass)
    armature = told("rotor_inertia", value=drive.armature)
    return (
        drive.name, drive.actuator.family, f"{drive['ratio']:.4g}", told("peak_torque"), told("rated_torque"),
        told("no_load_speed", 30 / math.pi), armature, told("coulomb"), told("play", 10800 / math.pi), told("mass"),
        density,
    )  # fmt: skip


@shows
def show_drives(comparison: DriveComparison) -> Display:
    """All drives in lines, with their sources or side by side; of a single one, every number with its source."""
    picture = DisplayFigure("plot", lambda: draw_drives(comparison))
    table = Table(HEADS, [_row(drive) for drive in comparison.drives], most=200)
    if len(comparison.drives) == 1 and not comparison.side_by_side:
        drive = comparison.drives[0]
        numbers = [(key, f"{number.value:.5g}", number.source) for key, number in drive.numbers.items()]
        parts: list[Any] = [table, Table(("number", "value (SI)", "source"), numbers, most=200)]
        if models := drive.friction_models():
            parts.append(f"friction {', '.join(models)} identified by github.com/Rhoban/bam: dress it with one of them")
        return Display(f"Drive {drive.name}", (*parts, picture))
    if not comparison.side_by_side:
        rows = []
        for drive in comparison.drives:
            rows.append((*_row(drive)[:LISTED], ", ".join(drive.friction_models()), drive.actuator.source))
        table = Table((*HEADS[:LISTED], "identified friction", "source"), rows, most=200)
    said = "~ estimated by a rule or only quoted: see robodyn drives NAME. For screws the units are N, N s/m and kg."
    return Display(f"{len(comparison.drives)} drives", (table, said, picture))


def _celsius(temperature: float) -> str:
    return f"{temperature - ZERO:.3g}"


def _duration(seconds: float) -> str:
    if math.isinf(seconds):
        return "indefinitely"
    return f"{seconds:.3g} s" if seconds < 120 else f"{seconds / 60:.3g} min"


def _told(drive: HeldDrive) -> tuple[Any, ...]:
    load = drive.load
    end = f"the {load.part} trips" if load.part else "holds"
    return (
        drive.name, f"{load.torque:.4g}", _duration(load.time), end, _celsius(load.winding), _celsius(load.housing),
        f"{drive.continuous:.4g}",
    )  # fmt: skip


@shows
def show_endurance(endurance: Endurance) -> Display:
    """How long each drive holds, and the curve over the load."""
    heads = (
        "drive",
        "torque [N m or N]",
        "holds",
        "then",
        "winding [°C]",
        "housing [°C]",
        "indefinitely up to [N m or N]",
    )
    parts: list[Any] = [Table(heads, [_told(drive) for drive in endurance.drives])]
    for drive in endurance.drives:
        if drive.estimated:
            parts.append(f"{drive.name}: {', '.join(drive.estimated)} estimated, see robodyn drives {drive.name}")
    parts.append(DisplayFigure("plot", lambda: draw_endurance(endurance)))
    return Display(f"Endurance of {endurance.name}", tuple(parts))


def draw_arm(sheet: ArmSheet) -> Figure:
    """A figure of each figure's median, stacked by its causes, with the interval over robots beside it."""
    figure = empty_figure(7.4, 5.0)
    axes = figure.subplots(2, 1)
    causes = list(dict.fromkeys(cause for row in sheet.figures for cause in row.causes))
    colours = {cause: COLOURS[k % len(COLOURS)] for k, cause in enumerate(causes)}
    for ax, symbol in zip(axes, ("RP", "AP"), strict=True):
        rows = [row for row in sheet.figures if row.symbol == symbol]
        for k, row in enumerate(rows):
            left = 0.0
            for cause, value in row.causes.items():
                label = cause if k == 0 else None
                ax.barh(k, 1e3 * value, 0.5, left=left, color=colours[cause], label=label)
                left += 1e3 * value
            ax.plot([1e3 * row.low, 1e3 * row.high], [k - 0.36] * 2, color="black", linewidth=1.2, marker="|")
        ax.set_yticks(range(len(rows)), [row.pose for row in rows])
        ax.invert_yaxis()
        legend_beside(ax)
        ax.set_xlabel(f"{rows[0].name} {symbol} [mm]")
        ax.set_xlim(left=0)
    return figure


plot_arm = into_file(draw_arm)


@shows
def show_arm(sheet: ArmSheet) -> Display:
    """Repeatability and accuracy with intervals and causes, and what they rest on."""
    page = open_arm_sheet(sheet)
    parts: list[Part] = [*page.remarks[:-1], *page.results, page.remarks[-1], DisplayFigure("plot", page.picture)]
    return Display(f"Sheet of {sheet.name}", parts)


def open_arm_sheet(sheet: ArmSheet) -> TestSheet:
    """The sheet of an open arm: figures over robots that differ in what is not published, and the ranges of that."""
    figures = []
    for row in sheet.figures:
        causes = ", ".join(f"{cause} {1e3 * value:.2g}" for cause, value in row.causes.items())
        figures.append((row.symbol, row.pose, row.median, f"{1e3 * row.low:.2g} ... {1e3 * row.high:.2g}", causes))
    scale = {"calibration": (180 / math.pi, "deg"), "play": (180 / math.pi, "deg"), "length": (1e3, "mm")}
    choices = []
    for key, choice in sheet.choices.items():
        factor, unit = scale.get(key, (1.0, ""))
        choices.append((key, f"{factor * choice.least:.3g} ... {factor * choice.most:.3g} {unit}", choice.reason))
    remarks = [
        f"{sheet.title}: {sheet.standard} figures of {sheet.robots} robots that differ in their unpublished numbers.",
        "Median and 90 % interval over the robots; the causes add up to the median.",
        *([f"Known: {sheet.known}."] if sheet.known else []),
        f"Kinematics: {sheet.source}.",
    ]
    facts = (
        ("Robot", sheet.title),
        ("Payload", "none"),
        ("Robots", f"{sheet.robots}, seed {sheet.seed}"),
        ("Tool from the base", show_quantity(sheet.reach, "m")),
    )
    results = (
        Table(("figure", "pose", "median [m]", "5 ... 95 % [mm]", "causes [mm]"), figures, title="Results"),
        Table(("choice", "range", "why"), choices, title="Choices"),
    )
    standard = f"Performance by {sheet.standard}, computed"
    return TestSheet(sheet.title, standard, facts, results, lambda: draw_arm(sheet), remarks)
