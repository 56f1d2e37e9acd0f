"""Fit plot: how well does a fit meet the data? Measured and simulated signals, and their residuals."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .figures import COLOURS, LINE_WIDTH, finish_axes, into_file, label_bottom, legend_above, panel_figure
from .panels import with_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from robodyn.analysis.fitting.result import Fit, FittedRecording, FittedSignal
    from robodyn.analysis.identification.result import Identification


def draw_fit(fit: "Fit") -> "Figure":
    """A figure over time: for each signal a panel of samples and simulation, and one of measured minus simulated.

    Several recordings stand one behind the other.
    The band of the residuals is two standard deviations of the noise to each side.
    """
    figure, axes = panel_figure(2 * len(fit.signals))
    begin = 0.0
    for recording in fit.recordings:
        time = recording.measured.time + begin
        for k, signal in enumerate(fit.signals):
            if signal.name in recording.measured:
                _draw_signal(axes[2 * k : 2 * k + 2], time, recording, signal)
        begin = float(time[-1])
        for ax in axes if recording is not fit.recordings[-1] else ():
            ax.axvline(begin, color="0.3", linewidth=0.8, linestyle=":")
    for k, signal in enumerate(fit.signals):
        finish_axes(axes[2 * k], with_unit(signal.name, signal.unit))
        finish_axes(axes[2 * k + 1], with_unit("residual", signal.unit))
    label_bottom(axes, "time [s]")
    figure.align_ylabels(axes)
    legend_above(figure, _entries())
    return figure


plot_fit = into_file(draw_fit)


def _draw_signal(
    axes: "Sequence[Axes]", time: np.ndarray, recording: "FittedRecording", signal: "FittedSignal"
) -> None:
    above, below = axes
    above.plot(time, recording.measured[signal.name].values, gid="measured", **_dots())
    above.plot(time, recording.run[signal.name].values, color=COLOURS[1], linewidth=LINE_WIDTH, gid="simulated")
    column = recording.measured.names.index(signal.name)
    _draw_residuals(below, time, recording.residuals[:, column], signal.noise)


def draw_identification(found: "Identification") -> "Figure":
    """A figure over rows: for each joint measured and predicted force, and what is left; held-out rows are shaded."""
    units = {p.joint: p.unit for p in found.predictions}
    joints = [joint for joint in found.joints if joint in units]
    figure, axes = panel_figure(2 * len(joints))
    rows = np.arange(len(found.time)) / found.rate
    for k, joint in enumerate(joints):
        column = found.joints.index(joint)
        measured, predicted = found.measured[:, column], found.predicted[:, column]
        above, below = axes[2 * k : 2 * k + 2]
        above.plot(rows, measured, gid="measured", **_dots())
        seen = np.where(np.isfinite(measured), predicted, np.nan)
        above.plot(rows, seen, color=COLOURS[1], linewidth=LINE_WIDTH, gid="predicted")
        finish_axes(above, with_unit(joint, units[joint]))
        _draw_residuals(below, rows, measured - predicted, found.noise[joint])
        finish_axes(below, with_unit("residual", units[joint]))
        for ax in (above, below):
            ax.fill_between(rows, 0, 1, where=found.fitted == 0, transform=ax.get_xaxis_transform(), color="0.95")
    label_bottom(axes, "time of the rows [s]")
    figure.align_ylabels(axes)
    legend_above(figure, _entries("predicted"))
    return figure


plot_identification = into_file(draw_identification)


def _draw_residuals(ax: "Axes", time: np.ndarray, residuals: np.ndarray, noise: float) -> None:
    ax.axhspan(-2 * noise, 2 * noise, color="0.92")
    ax.axhline(0.0, color="0.3", linewidth=0.8)
    ax.plot(time, residuals, gid="residual", **_dots())


def _dots() -> dict[str, Any]:
    return {"color": COLOURS[0], "marker": ".", "markersize": 3.0, "linestyle": "none"}


def _entries(computed: str = "simulated") -> list[Any]:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], label="measured", **_dots()),
        Line2D([], [], color=COLOURS[1], linewidth=LINE_WIDTH, label=computed),
    ]
