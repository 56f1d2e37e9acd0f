"""RX90B study, curves: how are its runs drawn? The study's figures 6 to 10, and what goes beyond them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robodyn.analysis import Curves, SweepTable
from robodyn.computation.results import Run
from robodyn.presentation.reporting import (
    COLOURS,
    LINE_WIDTH,
    empty_figure,
    finish_axes,
    label_bottom,
    legend_above,
    panel_figure,
    plot_bands,
    write_figure,
)
from robodyn_studies.catalog.rx90_parameters import AXES
from robodyn_studies.rx90_agreement import COUNTS, convergence
from robodyn_studies.rx90_measured import measured_deviations
from robodyn_studies.rx90_rest import SHARES, holding_run
from robodyn_studies.rx90_runs import MICRO, POINTS, SIDES, along_path, perturbed_run, weld_run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WAY, TIME = "along the path [mm]", "time [s]"
TURNING = 600.0


def draw_task(path: Path) -> None:
    """The line seen from above, and the speed along it (study's figure 6)."""
    run = weld_run()
    figure = empty_figure(8.0, 7.6)
    above, below = figure.subplots(2, 1, height_ratios=(1.9, 1.0))
    x, y = (1e3 * run[f"tool.position.{axis}"].values for axis in "xy")
    above.plot(y, x, color=COLOURS[0], linewidth=2 * LINE_WIDTH)
    for k, name in ((0, "start"), (-1, "end")):
        above.annotate(name, (y[k], x[k]), (0, 8), textcoords="offset points", ha="center")
    above.plot([0.0], [0.0], marker="o", color="black", markersize=9)
    above.annotate("axis of joint 1", (0.0, 0.0), (10, 6), textcoords="offset points")
    above.set(aspect="equal", xlim=(-700, 700), ylim=(-80, 700), xlabel="y [mm]")
    finish_axes(above, "x [mm]")
    below.plot(run.time, 1e3 * run["path.speed"].values, color=COLOURS[0], linewidth=LINE_WIDTH)
    below.set_xlabel(TIME)
    finish_axes(below, "path speed [mm/s]")
    figure.align_ylabels([above, below])
    write_figure(figure, path)


def draw_speeds(path: Path) -> None:
    """Speeds of all joints (study's figure 7)."""
    run = weld_run()
    figure, (ax,) = panel_figure(1)
    figure.set_figheight(4.4)
    for k in AXES:
        values = np.degrees(run[f"joint{k}.velocity"].values)
        # Joint 6 turns the tool back by what joint 1 turns it.
        style = "--" if k == 6 else "-"
        ax.plot(run.time, values, color=COLOURS[k - 1], linewidth=LINE_WIDTH, linestyle=style, label=f"joint {k}")
    finish_axes(ax, "joint speed [deg/s]")
    label_bottom([ax], TIME)
    legend_above(figure, ax.get_lines())
    write_figure(figure, path)


def _draw_deviation(ax: Axes, run: Run, side: str, look: dict[str, object]) -> None:
    """A deviation along the path."""
    ax.plot(along_path(run), MICRO * run[f"deviation.{side}"].values, **look)  # type: ignore[arg-type]
    finish_axes(ax, f"{side} deviation [µm]")


def _mark_turning(axes: list[Axes]) -> None:
    """The place where joints 2 and 3 turn back."""
    for ax in axes:
        ax.axvline(TURNING, color="0.6", linewidth=0.8, linestyle=":", zorder=0)


def draw_deviation(path: Path) -> None:
    """Horizontal and vertical deviation along the path (study's figure 8)."""
    figure, axes = panel_figure(2)
    for ax, side in zip(axes, SIDES, strict=True):
        _draw_deviation(ax, weld_run(), side, {"color": COLOURS[0], "linewidth": LINE_WIDTH})
    _mark_turning(axes)
    axes[0].annotate(
        "joints 2 and 3 turn back", (TURNING, 1.0), (8, -4), ("data", "axes fraction"), "offset points", va="top"
    )
    label_bottom(axes, WAY)
    figure.align_ylabels(axes)
    write_figure(figure, path)


def draw_measured(path: Path) -> None:
    """Deviations of the robot with elastic gears: true, and by encoders and nominal kinematics."""
    run = weld_run("elastic")
    figure, axes = panel_figure(2)
    for ax, side in zip(axes, SIDES, strict=True):
        _draw_deviation(ax, run, side, {"color": COLOURS[1], "linewidth": LINE_WIDTH, "label": "true tip"})
        seen = MICRO * measured_deviations(run)[side]
        ax.plot(along_path(run), seen, color=COLOURS[0], linewidth=0.8, label="by encoders and nominal kinematics")
    label_bottom(axes, WAY)
    figure.align_ylabels(axes)
    legend_above(figure, axes[0].get_lines())
    write_figure(figure, path)


def draw_seam_speed(path: Path) -> None:
    """Speed of the true tip along the seam, less that of the path, by the robot's build."""
    builds = ("rigid", "elastic", "flexible")
    figure, axes = panel_figure(len(builds))
    for ax, build, colour in zip(axes, builds, COLOURS, strict=False):
        run = weld_run(build)
        change = run["tool.velocity.y"].values - run["path.speed"].values
        ax.plot(along_path(run), 1e3 * change, color=colour, linewidth=0.8)
        ax.set_title({"rigid": "all rigid", "elastic": "elastic gears"}.get(build, "flexible links"), loc="left")
        # The ends of the ramps go beyond.
        ax.set_ylim(-0.5, 0.5)
        finish_axes(ax, "[mm/s]")
    label_bottom(axes, WAY)
    write_figure(figure, path)


def draw_current(path: Path) -> None:
    """Motor current of joint 3 (study's figure 9)."""
    run = weld_run()
    figure, (ax,) = panel_figure(1)
    figure.set_figheight(3.6)
    ax.plot(run.time, run["axis3.drive.current"].values, color=COLOURS[0], linewidth=0.8)
    finish_axes(ax, "current of motor 3 [A]")
    label_bottom([ax], TIME)
    write_figure(figure, path)


def draw_currents(path: Path) -> None:
    """Motor currents of all joints, by both simulations."""
    full, near = weld_run(), perturbed_run()
    figure = empty_figure(9.0, 7.4)
    axes = list(figure.subplots(3, 2, sharex=True).ravel())
    for k, ax in zip(AXES, axes, strict=True):
        name = f"axis{k}.drive.current"
        ax.plot(full.time, full[name].values, color="0.7", linewidth=2.0, label="non-linear")
        ax.plot(near.time, near[name].values, color=COLOURS[1], linewidth=0.6, label=f"perturbation, {POINTS} points")
        finish_axes(ax, f"motor {k} [A]")
    label_bottom(axes, TIME)
    figure.align_ylabels(axes)
    legend_above(figure, axes[0].get_lines())
    write_figure(figure, path)


def draw_both_ways(path: Path) -> None:
    """Deviations of both simulations, and how far they are apart (study's figure 10)."""
    full, near = weld_run(), perturbed_run()
    figure, axes = panel_figure(4)
    for k, side in enumerate(SIDES):
        upper, lower = axes[2 * k : 2 * k + 2]
        _draw_deviation(upper, full, side, {"color": "0.7", "linewidth": 3.0, "label": "non-linear"})
        look = {"color": COLOURS[1], "linewidth": 1.0, "label": f"perturbation, {POINTS} points"}
        _draw_deviation(upper, near, side, look)
        change = near[f"deviation.{side}"](full.time) - full[f"deviation.{side}"].values
        lower.plot(along_path(full), MICRO * change, color=COLOURS[0], linewidth=0.8, label="their difference")
        finish_axes(lower, f"{side} difference [µm]")
    label_bottom(axes, WAY)
    figure.align_ylabels(axes)
    legend_above(figure, [*axes[0].get_lines(), *axes[1].get_lines()])
    write_figure(figure, path)


def draw_convergence(path: Path) -> None:
    """Distance of the tips of both simulations over the number of points, encoders rounding and not."""
    figure, (ax,) = panel_figure(1)
    figure.set_figheight(4.2)
    looks = (("encoders that don't round", True, "o", COLOURS[0]), ("encoders of 18 bits", False, "s", COLOURS[1]))
    for label, smooth, marker, colour in looks:
        ax.loglog(COUNTS, convergence(smooth), color=colour, marker=marker, linewidth=LINE_WIDTH, label=label)
    slope = convergence()[-1] * (COUNTS[-1] / np.array(COUNTS)) ** 2
    ax.loglog(COUNTS, slope, color="0.6", linestyle="--", linewidth=0.8, label="order 2")
    ax.set_xticks(COUNTS, [str(count) for count in COUNTS])
    ax.minorticks_off()
    finish_axes(ax, "tips at most apart [µm]")
    label_bottom([ax], "points of linearisation")
    legend_above(figure, ax.get_lines())
    write_figure(figure, path)


def draw_builds(path: Path) -> None:
    """Deviations of the rigid robot, with elastic gears and with flexible links."""
    figure, axes = panel_figure(2)
    labels = {"rigid": "all rigid", "elastic": "elastic gears", "flexible": "flexible links"}
    colours = {"rigid": "0.6", "elastic": COLOURS[1], "flexible": COLOURS[0]}
    for ax, side in zip(axes, SIDES, strict=True):
        for build, label in labels.items():
            look = {"color": colours[build], "label": label, "linewidth": LINE_WIDTH}
            _draw_deviation(ax, weld_run(build), side, look)
    _mark_turning(axes)
    label_bottom(axes, WAY)
    figure.align_ylabels(axes)
    legend_above(figure, axes[0].get_lines()[: len(labels)])
    write_figure(figure, path)


def draw_rest(path: Path, joint: str = "joint2") -> None:
    """Friction torque of a joint at rest under preloads, within its band."""
    figure, axes = panel_figure(2)
    titles = {False: "currents kept constant", True: "loops closed, encoders of 18 bits"}
    for ax, (controlled, title) in zip(axes, titles.items(), strict=True):
        for share, colour in zip(SHARES, COLOURS, strict=False):
            run = holding_run(share, controlled=controlled)
            label = f"preload {share:+.2f}" if share else "no preload"
            ax.plot(run.time, -run[f"{joint}.friction.torque"].values, color=colour, linewidth=LINE_WIDTH, label=label)
        numbers = run.provenance.parameters
        ends = [numbers[f"{joint}.friction.{name}"]["value"] for name in ("static_back", "static")]
        ax.axhspan(-ends[0], ends[1], color="0.93", zorder=0, label="between the static levels")
        finish_axes(ax, "torque held [N m]")
        ax.set_title(title, fontsize="medium", loc="left")
    label_bottom(axes, TIME)
    handles, _ = axes[0].get_legend_handles_labels()
    legend_above(figure, handles, f"{joint.replace('joint', 'joint ')} at rest")
    write_figure(figure, path)


def draw_spread(table: SweepTable, path: Path) -> None:
    """The band of deviations of many runs along the path."""
    found = table.curves
    if found is None:
        raise ValueError("the sweep kept no curves")
    names = {f"{side} deviation": MICRO * found.values[f"deviation.{side}"] for side in SIDES}
    plot_bands(Curves("along the path", "mm", 1e3 * found.places, names, dict.fromkeys(names, "µm")), path)
