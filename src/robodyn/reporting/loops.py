"""Loop-gain and Nyquist plots: how strong is a sampled loop over frequency, how near does it come to -1?"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robodyn.analysis.linear.loop_table import LoopFigures, LoopTable

from .figures import COLOURS, empty_figure, finish_axes, label_bottom, legend_above, panel_figure, write_figure
from .runs import run_lines, run_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Inches, and how far from the middle the plane of gains is shown.
_SIZE, _SHOWN = 6.0, 3.0


def plot_loops(table: LoopTable, path: str | Path) -> None:
    """Draw the gains of loops over frequency into a picture file, PNG, SVG or PDF by its ending; see `draw_loops`."""
    write_figure(draw_loops(table), path)


def plot_nyquist(table: LoopTable, path: str | Path) -> None:
    """Draw the gains of loops in the complex plane into a picture file; see `draw_nyquist`."""
    write_figure(draw_nyquist(table), path)


def draw_loops(table: LoopTable) -> "Figure":
    """A figure of magnitude and phase of the gain once round each loop, a line a loop."""
    figure, axes = panel_figure(2)
    rows = _choose(table.rows)
    for number, row in enumerate(rows):
        axes[0].loglog(row.gain.frequency, row.gain.magnitude, gid=row.name, **run_style(number))
        axes[1].semilogx(row.gain.frequency, _lag(row.gain.phase), gid=row.name, **run_style(number))
    axes[0].axhline(1.0, color="0.6", linewidth=0.8)
    axes[1].axhline(-180.0, color="0.6", linewidth=0.8)
    finish_axes(axes[0], "loop gain")
    finish_axes(axes[1], "phase [deg]")
    label_bottom(axes, "frequency [Hz]")
    legend_above(figure, run_lines([row.name for row in rows]))
    return figure


def draw_nyquist(table: LoopTable) -> "Figure":
    """A figure of the gain once round each loop in the complex plane, the unit circle and -1."""
    figure = empty_figure(_SIZE, _SIZE + 0.6)
    ax = figure.add_subplot()
    rows = _choose(table.rows)
    for number, row in enumerate(rows):
        ax.plot(row.gain.values.real, row.gain.values.imag, gid=row.name, **run_style(number))
    circle = np.exp(1j * np.linspace(0, 2 * np.pi, 181))
    ax.plot(circle.real, circle.imag, color="0.6", linewidth=0.8)
    ax.plot([-1.0], [0.0], marker="+", color="black", markersize=10)
    ax.set(xlim=(-_SHOWN, _SHOWN), ylim=(-_SHOWN, _SHOWN), aspect="equal", xlabel="real part of the loop gain")
    finish_axes(ax, "imaginary part")
    legend_above(figure, run_lines([row.name for row in rows]))
    return figure


def _lag(phase: np.ndarray) -> np.ndarray:
    """The phase [deg] in whole revolutions so that it starts as a lag of less than one."""
    return phase - 360 * np.ceil(phase[0] / 360)


def _choose(rows: Sequence[LoopFigures]) -> Sequence[LoopFigures]:
    if not 1 <= len(rows) <= len(COLOURS):
        raise ValueError(f"from 1 to {len(COLOURS)} loops can be drawn in one figure, not {len(rows)}: choose some")
    return rows
