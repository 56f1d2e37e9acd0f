"""Constraints study, curves: how are drift, fracture, steps and errors drawn?"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robodyn.presentation.reporting import (
    COLOURS,
    LINE_WIDTH,
    empty_figure,
    finish_axes,
    label_bottom,
    legend_above,
    panel_figure,
    write_figure,
)
from robodyn_studies.catalog.delta_tasks import ASIDE
from robodyn_studies.constraints_cable import CONTROL, SWAY, cable_run, cable_shape, steady_run
from robodyn_studies.constraints_control import LOADS, path_error, pid_run, tracking_run
from robodyn_studies.constraints_delta import pair_run
from robodyn_studies.constraints_pick import rod_forces, rods_run, stack_run
from robodyn_studies.constraints_runs import AXES, breaking_run, drift_of, pendulum_run
from robodyn_studies.constraints_speed import CASES, TOLERANCE, TOLERANCES, compare
from robodyn_studies.constraints_wall import wall_force, wall_gap, walled_run

TIME = "time [s]"


def draw_drift(path: Path) -> None:
    """h of the pendulum at two tolerances, as the study's figure 4."""
    figure, axes = panel_figure(2)
    for ax, tolerance in zip(axes, (1e-4, 1e-8), strict=True):
        run = pendulum_run(tolerance)
        shown = run.time <= 4.0
        ax.plot(run.time[shown], drift_of(run)[shown], color=COLOURS[0], linewidth=LINE_WIDTH / 2)
        finish_axes(ax, f"h [m²], tolerance {tolerance:.0e}")
    label_bottom(axes, TIME)
    figure.align_ylabels(axes)
    write_figure(figure, path)


def draw_fracture(path: Path) -> None:
    """Path of the breaking pendulum and its multiplier, as the study's figure 5."""
    run = breaking_run()
    seen = run.events[0].time
    figure = empty_figure(8.0, 4.4)
    upper, lower = figure.subplots(1, 2, width_ratios=(2, 3))
    for held, label in ((True, "on the rod"), (False, "in free flight")):
        times = np.linspace(0, seen, 200) if held else np.linspace(seen, 0.85, 200)
        place = run["x.position"](times), run["z.position"](times)
        upper.plot(*place, color=COLOURS[0 if held else 1], linewidth=LINE_WIDTH, label=label)
    upper.plot([0.0], [0.0], color="black", marker="s", linestyle="none", label="pivot")
    upper.plot(run["x.position"](seen), run["z.position"](seen), color="black", marker="x", label="fracture", ls="none")
    upper.set_aspect("equal")
    upper.set_xlabel("x [m]")
    finish_axes(upper, "z [m]")
    lower.plot(run.time, run["rod.tension"].values / 2, color=COLOURS[0], linewidth=LINE_WIDTH)
    lower.set_xlabel(TIME)
    finish_axes(lower, "multiplier [N/m]")
    legend_above(figure, upper.get_legend_handles_labels()[0])
    write_figure(figure, path)


def draw_speed(path: Path) -> None:
    """Factors of computing time and of evaluations over tolerances, the study's 1e-4 marked."""
    figure = empty_figure(7.0, 4.4)
    ax = figure.subplots()
    for k, case in enumerate(CASES):
        found = [compare(case, tolerance=tolerance) for tolerance in TOLERANCES]
        style = {"color": COLOURS[k], "linewidth": LINE_WIDTH, "marker": "o"}
        ax.loglog(TOLERANCES, [speed.ratio for speed in found], label=f"{case}, time", **style)
        counts = [speed.evaluations[0] / speed.evaluations[1] for speed in found]
        ax.loglog(TOLERANCES, counts, label=f"{case}, evaluations", linestyle="--", **style)
    for case, factor in (("pendulum", 5.0), ("delta", 10.0)):
        ax.plot([TOLERANCE], [factor], color=COLOURS[list(CASES).index(case)], marker="*", markersize=14)
    ax.axvline(TOLERANCE, color="0.8", zorder=0)
    ax.set_yticks([1, 2, 5, 10, 20], labels=["1", "2", "5", "10", "20"])
    ax.invert_xaxis()
    ax.set_xlabel("tolerance (stars: the study)")
    finish_axes(ax, "charts over Baumgarte")
    legend_above(figure, ax.get_legend_handles_labels()[0])
    write_figure(figure, path)


def draw_steady(path: Path) -> None:
    """Sway at the sensor in a building that keeps swaying, free and calmed."""
    figure, axes = panel_figure(2)
    for ax, controlled, label in ((axes[0], False, "free"), (axes[1], True, "calmed")):
        run = steady_run(controlled)
        ax.plot(
            run.time, run[SWAY].values - run[SWAY].values[0], color=COLOURS[int(controlled)], linewidth=LINE_WIDTH / 2
        )
        ax.set_ylim(-0.3, 0.3)
        finish_axes(ax, f"sway, {label} [m]")
    label_bottom(axes, TIME)
    write_figure(figure, path)


def draw_pid(path: Path) -> None:
    """The platform's place beside its reference, and the motors' torques (study's figure 9)."""
    run = pid_run()
    figure, axes = panel_figure(4)
    for ax, axis, goal in zip(axes, AXES, ASIDE, strict=False):
        ax.plot(run.time, 1e3 * run[f"reference.{axis}.position"].values, color="0.6", label="wanted")
        ax.plot(run.time, 1e3 * run[f"platform.position.{axis}"].values, color=COLOURS[0], label="platform")
        ax.axhline(1e3 * goal, color="0.85", linewidth=0.8, zorder=0)
        finish_axes(ax, f"{axis} [mm]")
    legend_above(figure, axes[0].get_lines()[:2])
    for k in (1, 2, 3):
        values = run[f"arm{k}.motor.torque"].values
        axes[3].plot(run.time, values, color=COLOURS[k], linewidth=LINE_WIDTH, label=f"arm {k}")
    finish_axes(axes[3], "motor torque [N m]")
    axes[3].legend(frameon=False, fontsize="small", ncols=3)
    label_bottom(axes, TIME)
    figure.align_ylabels(axes)
    write_figure(figure, path)


def draw_tracking(path: Path) -> None:
    """Distance from the path with no payload, a known one and an unknown one."""
    figure, (ax,) = panel_figure(1)
    times = np.linspace(0, 1.2, 1500)
    labels = {"none": "no payload", "unknown": "0.3 kg unknown to the controller", "known": "0.3 kg known"}
    for colour, load in zip(COLOURS, LOADS, strict=False):
        ax.plot(times, 1e3 * path_error(tracking_run(load), times), color=colour, label=labels[load])
    ax.set_yscale("log")
    ax.set_ylim(1e-4, 20)
    finish_axes(ax, "off the path [mm]")
    label_bottom([ax], TIME)
    legend_above(figure, ax.get_lines())
    write_figure(figure, path)


def draw_pair(path: Path) -> None:
    """Height of the beam that two robots lift, and what each grip carries."""
    run = pair_run()
    figure, (upper, lower) = panel_figure(2)
    upper.plot(run.time, run["beam.body.z.position"].values, color="black", linewidth=LINE_WIDTH)
    finish_axes(upper, "height of the beam [m]")
    for robot, colour, style in (("left", COLOURS[0], "-"), ("right", COLOURS[1], "--")):
        force = -run[f"{robot}.grip.force.z"].values
        lower.plot(run.time, force, color=colour, linestyle=style, linewidth=LINE_WIDTH, label=f"{robot} grip")
    finish_axes(lower, "carries [N]")
    label_bottom([upper, lower], TIME)
    legend_above(figure, lower.get_lines())
    write_figure(figure, path)


def draw_stack(path: Path) -> None:
    """Heights of the platform and of the block that it sets down, and the force between the blocks."""
    run = stack_run()
    figure, (upper, lower) = panel_figure(2)
    for label, name in (("platform", "robot.platform.position.z"), ("top of the block", "block.top.position.z")):
        upper.plot(run.time, 1e3 * run[name].values, linewidth=LINE_WIDTH, label=label)
    finish_axes(upper, "height [mm]")
    lower.plot(run.time, run["stack.force.normal"].values, color="black", linewidth=LINE_WIDTH)
    finish_axes(lower, "between the blocks [N]")
    label_bottom([upper, lower], TIME)
    legend_above(figure, upper.get_lines())
    write_figure(figure, path)


def draw_rods(path: Path) -> None:
    """Tension of all six rods."""
    figure, (ax,) = panel_figure(1)
    figure.set_figheight(4.0)
    for k, (rod, values) in enumerate(rod_forces(rods_run()).items()):
        style = "-" if rod.endswith("left") else "--"
        label, colour = rod.replace(".", ", "), COLOURS[k // 2]
        ax.plot(rods_run().time, values, color=colour, linestyle=style, linewidth=LINE_WIDTH, label=label)
    finish_axes(ax, "tension [N]")
    label_bottom([ax], TIME)
    legend_above(figure, ax.get_lines())
    write_figure(figure, path)


def draw_wall(path: Path) -> None:
    """Nearest distance of the cable to the wall and the force on it, without control and with it."""
    figure, axes = panel_figure(4)
    for k, (controlled, label) in enumerate(((False, "without control"), (True, "with control"))):
        run, colour = walled_run(controlled), COLOURS[1 - k]
        axes[2 * k].plot(run.time, wall_gap(run), color=colour, linewidth=0.8)
        axes[2 * k].axhline(0.0, color="black", linewidth=0.8)
        axes[2 * k].set_title(label, loc="left", fontsize="medium")
        finish_axes(axes[2 * k], "gap [m]")
        axes[2 * k + 1].plot(run.time, wall_force(run), color=colour, linewidth=0.8)
        finish_axes(axes[2 * k + 1], "force [N]")
    label_bottom(axes, TIME)
    figure.align_ylabels(axes)
    write_figure(figure, path)


def draw_shapes(path: Path) -> None:
    """The cable at rest and at five instants of its strongest sway, the width stretched."""
    run = cable_run(False)
    figure = empty_figure(7.0, 7.0)
    ax = figure.add_subplot()
    times = np.arange(48.0, 58.0, 2.0)
    shades = np.linspace(0.15, 0.85, len(times))
    from matplotlib import colormaps

    for time, shade in zip(times, shades, strict=True):
        ax.plot(*cable_shape(run, time), color=colormaps["viridis"](shade), linewidth=LINE_WIDTH, label=f"{time:.1f} s")
    ax.plot(*cable_shape(run, 0.0), color="black", linestyle="--", linewidth=LINE_WIDTH, label="at rest")
    ax.set_xlabel("across, seen from the hoistway [m]")
    finish_axes(ax, "height from the car [m]")
    legend_above(figure, ax.get_lines())
    write_figure(figure, path)


def draw_sway(path: Path, controlled: bool) -> None:
    """Car along x and z, and the cable's sway, as the study's figures 12 and 13."""
    run = cable_run(controlled)
    figure, axes = panel_figure(3)
    curves = (
        ("car x [mm]", 1e3 * run["sway.position"].values),
        ("car z [mm]", 1e3 * run["lift.position"].values),
        ("cable sway [m]", run[SWAY].values - run[SWAY].values[0]),
    )
    free = cable_run(False)[SWAY]
    if controlled:
        axes[2].plot(
            free.time, free.values - free.values[0], color="0.8", linewidth=LINE_WIDTH, label="without control"
        )
    for ax, (label, values) in zip(axes, curves, strict=True):
        ax.plot(run.time, values, color=COLOURS[0], linewidth=LINE_WIDTH)
        finish_axes(ax, label)
    if not controlled:
        # Rounding alone.
        axes[1].set_ylim(-1.0, 1.0)
    if controlled:
        for ax in axes:
            ax.axvline(CONTROL.begin, color=COLOURS[1], linewidth=0.8, linestyle="--")
            ax.axvline(CONTROL.end, color=COLOURS[1], linewidth=0.8, linestyle="--")
        axes[2].legend(frameon=False, fontsize="small")
    label_bottom(axes, TIME)
    figure.align_ylabels(axes)
    write_figure(figure, path)
