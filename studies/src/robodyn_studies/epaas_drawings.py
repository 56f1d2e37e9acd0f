"""EPAAS study, curves that are no plain signals: shares of steps, masses, workspace, orders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.analysis import StepResponse, respond
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
from robodyn_studies import epaas_published as published
from robodyn_studies.catalog.epaas_arm import CENTRES
from robodyn_studies.epaas_arm_figures import boundary_masses, wrist_masses
from robodyn_studies.epaas_friction import FRICTIONS, rest_run
from robodyn_studies.epaas_modes import linear_models
from robodyn_studies.epaas_runs import ACTUATORS, LABELS, LOAD, rig_response, robot_response, robot_run

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OURS, LOADED = COLOURS[0], COLOURS[1]
AFTER = "time after the step [ms]"
MARKS: dict[str, dict[str, Any]] = {
    "the study's simulation": {"color": COLOURS[1], "marker": "o", "linestyle": "none"},
    "the study's measurement": {"color": COLOURS[2], "marker": "D", "linestyle": "none", "fillstyle": "none"},
}
MASS_TICKS = {
    "joint1": (0.2, 0.4, 0.7, 1.0),
    "l3": (20, 40, 70, 100),
    "l4": (15, 30, 60, 120),
    "l1": (1, 3, 10, 30, 70),
}
# Whether reduced -> look.
ORDERS: dict[bool, dict[str, Any]] = {
    False: {"color": OURS, "label": "order 25"},
    True: {"color": LOADED, "linestyle": "--", "label": "order 15"},
}


def draw_rig_steps(path: Path) -> None:
    """Share of the step over time, a panel a load and direction."""
    figure, axes = panel_figure(len(published.RIG_STEPS))
    for ax, ((direction, mass), printed) in zip(axes, published.RIG_STEPS.items(), strict=True):
        _draw_response(ax, rig_response(direction, mass), printed, 0.06)
        finish_axes(ax, f"{direction} {mass:g} kg [%]")
    write_panels(figure, axes, AFTER, path)


def draw_robot_steps(path: Path) -> None:
    """Share of the step over time, a panel an axis."""
    figure, axes = panel_figure(1 + len(published.ROBOT_STEPS))
    for ax, (axis, printed) in zip(axes, published.ROBOT_STEPS.items(), strict=False):
        _draw_response(ax, robot_response(axis), printed, 0.1)
        finish_axes(ax, f"{axis.upper()} [%]")
    _draw_response(axes[-1], robot_response("vane"), (), 0.1)
    for k, look in enumerate(MARKS.values()):
        axes[-1].plot(list(published.VANE_SHARES), [row[k] for row in published.VANE_SHARES.values()], **look)
    finish_axes(axes[-1], "vane [%]")
    write_panels(figure, axes, AFTER, path)


def _draw_response(ax: Axes, response: StepResponse, printed: Sequence[published.Step], duration: float) -> None:
    """Our curve, and the first peaks that were printed."""
    time = np.linspace(0.0, duration, 600)
    ax.axhline(100.0, color="0.6", linewidth=0.8)
    ax.plot(1e3 * time, 100 * response.share(time), color=OURS, linewidth=LINE_WIDTH, label="ours")
    for step, (label, look) in zip(printed, MARKS.items(), strict=False):
        ax.plot([step.peak_time], [100 + step.overshoot], label=label, **look)


def write_panels(
    figure: Figure, axes: Sequence[Axes], below: str, path: Path, lines: Sequence[Artist] | None = None
) -> None:
    """Panels with a label below them and a legend above: that of the first panel, or of some lines."""
    label_bottom(axes, below)
    figure.align_ylabels(axes)
    legend_above(figure, axes[0].get_legend_handles_labels()[0] if lines is None else lines)
    write_figure(figure, path)


def draw_joints(path: Path) -> None:
    """What a step of L3 does to the joints it turns, and to L4, which holds."""
    run = robot_run("l3")
    time = np.linspace(0.0, run.time[-1], 600)
    figure, axes = panel_figure(2)
    for name, colour in zip(("joint2", "joint3"), COLOURS, strict=False):
        angle = run[f"{name}.position"]
        axes[0].plot(time, 1e3 * (angle(time) - angle(0.0)), color=colour, linewidth=LINE_WIDTH, label=name)
    voltage = run["l4.measured.output"]
    axes[1].plot(time, 1e3 * (voltage(time) - voltage(0.0)), color="black", linewidth=LINE_WIDTH)
    finish_axes(axes[0], "turned [mrad]")
    finish_axes(axes[1], "voltage of L4, change [mV]")
    write_panels(figure, axes, "time [s]", path)


def draw_workspace(path: Path) -> None:
    """The four trajectories in the plane of the arm."""
    boundary, _ = boundary_masses(("l3", "l4"), 0.0)
    figure = empty_figure(6.4, 6.0)
    ax = figure.add_subplot()
    for k, (r, z) in enumerate(zip(boundary.r, boundary.z, strict=True)):
        ax.plot(r, z, color=COLOURS[k], linewidth=2 * LINE_WIDTH, marker=".", label=f"trajectory {k + 1}")
        middle = len(r) // 2
        ax.annotate(str(k + 1), (r[middle], z[middle]), textcoords="offset points", xytext=(8, 8))
    ax.plot([0.0], [0.0], color="black", marker="s", linestyle="none", label="shoulder")
    ax.set_xlabel("distance r from the vertical axis [m]")
    finish_axes(ax, "height z over the shoulder [m]")
    ax.set_aspect("equal")
    ax.margins(0.08)
    legend_above(figure, ax.get_legend_handles_labels()[0])
    write_figure(figure, path)


def draw_masses(path: Path) -> None:
    """Effective masses along the trajectories, one after the other; L1 over the range of its axis."""
    shown = ("joint1", "l3", "l4", "l1")
    figure, axes = panel_figure(len(shown))
    for ax, name in zip(axes, shown, strict=True):
        column = ACTUATORS.index(name)
        for payload, colour, label in ((0.0, OURS, "no load"), (LOAD, LOADED, "4 kg in the gripper")):
            ax.plot(*_masses_drawn(name, payload), color=colour, linewidth=LINE_WIDTH, label=label)
        ax.set_yscale("log")
        ax.set_yticks(MASS_TICKS[name], [f"{tick:g}" for tick in MASS_TICKS[name]])
        ax.minorticks_off()
        finish_axes(ax, f"{LABELS[column]} [{'kg m²' if name == 'joint1' else 'kg'}]")
        for corner in range(5):
            ax.axvline(corner, color="0.8", linewidth=0.6)
    write_panels(figure, axes, "trajectory (L3 and L4 run; in the last panel L1, from -45 to 45 degrees)", path)


def _masses_drawn(name: str, payload: float) -> tuple[np.ndarray, np.ndarray]:
    """Places along the trajectories, 0 to 4, and masses there."""
    if name == "l1":
        masses = wrist_masses(name, payload)
        return np.linspace(0.0, 4.0, len(masses)), masses
    masses = boundary_masses(("l3", "l4"), payload)[1][..., ACTUATORS.index(name)]
    along = np.concatenate([k + np.linspace(0.0, 1.0, masses.shape[1]) for k in range(4)])
    return along, masses.ravel()


def draw_orders(path: Path) -> None:
    """Amplitude and phase of both orders."""
    frequency = np.geomspace(1.0, 400.0, 800)
    figure, (upper, lower) = panel_figure(2)
    for model, look in zip(linear_models("l4"), ORDERS.values(), strict=True):
        found = respond(model, frequency=frequency)
        upper.loglog(frequency, found.magnitude, linewidth=LINE_WIDTH, **look)
        lower.semilogx(frequency, found.phase, linewidth=LINE_WIDTH, **look)
    finish_axes(upper, "amplitude [m/m]")
    finish_axes(lower, "phase [deg]")
    write_panels(figure, [upper, lower], "frequency [Hz]", path)


def draw_order_steps(path: Path) -> None:
    """Voltages of L3 and L4 after their own steps."""
    figure, axes = panel_figure(2)
    time = np.linspace(0.0, 0.1, 600)
    for ax, axis in zip(axes, ("l3", "l4"), strict=True):
        for reduced, look in ORDERS.items():
            ax.plot(1e3 * time, 100 * robot_response(axis, reduced=reduced).share(time), linewidth=LINE_WIDTH, **look)
        finish_axes(ax, f"{axis.upper()} [%]")
    write_panels(figure, axes, AFTER, path)


def draw_friction(path: Path) -> None:
    """The step itself and, enlarged, the rest after it."""
    figure = empty_figure(8.0, 6.0)
    axes = figure.subplots(2, 1)
    labels = {"smooth": "smoothed", "lugre": "LuGre", "stick": "sticks"}
    spans = {"L3 [mm], step": (0.0, 0.2), "L3 [mm], rest": (0.2, 3.0)}
    for ax, (text, span) in zip(axes, spans.items(), strict=True):
        time = np.linspace(*span, 900)
        for friction, colour in zip(FRICTIONS, COLOURS, strict=False):
            place = 1e3 * (rest_run(friction)["l3.position"](time) - CENTRES["l3"])
            ax.plot(time, place, color=colour, linewidth=LINE_WIDTH, label=labels[friction])
        ax.set_xlabel("time [s]")
        finish_axes(ax, text)
    legend_above(figure, axes[0].get_lines())
    write_figure(figure, path)
