"""Bode and Nyquist plots of loops: how strong is a sampled loop over frequency, how near does it come to -1?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from robodyn.analysis.linear.loop_gain import HALF_POWER
from robodyn.analysis.linear.loop_table import LoopFigures, LoopTable

from .figures import COLOURS, empty_figure, finish_axes, into_file, label_bottom, legend_above, panel_figure
from .runs import run_lines, run_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Inches, and how far from the middle the plane of gains is shown.
_SIZE, _SHOWN = 6.0, 3.0


def draw_loops(table: LoopTable) -> "Figure":
    """A Bode plot: gain [dB] and phase once round each loop, and its closed loop [dB], a line a loop.

    Dots are where the margins are read: the gain margin where the phase is -180 deg, the phase margin where the gain is
    0 dB.
    """
    figure, axes = panel_figure(3)
    rows = _choose(table.rows)
    for number, row in enumerate(rows):
        look = run_style(number)
        axes[0].semilogx(row.gain.frequency, row.gain.decibel, gid=row.name, **look)
        axes[1].semilogx(row.gain.frequency, _lag(row.gain.phase), gid=row.name, **look)
        axes[2].semilogx(row.closed.frequency, row.closed.decibel, gid=row.name, **look)
        _mark_margins(axes, row, look["color"])
    axes[0].axhline(0.0, color="0.6", linewidth=0.8)
    axes[1].axhline(-180.0, color="0.6", linewidth=0.8)
    axes[2].axhline(20 * np.log10(HALF_POWER), color="0.6", linewidth=0.8)
    for ax, label in zip(axes, ("loop gain [dB]", "phase [deg]", "closed loop [dB]"), strict=True):
        finish_axes(ax, label)
    label_bottom(axes, "frequency [Hz]")
    legend_above(figure, run_lines([row.name for row in rows]))
    return figure


plot_loops = into_file(draw_loops)


def _mark_margins(axes: "Sequence[Axes]", row: LoopFigures, colour: str) -> None:
    """Dots with the margins, at those crossings of 0 dB and of -180 deg where the curve has them."""
    frequency, size, phase = row.gain.frequency, row.gain.decibel, _lag(row.gain.phase)
    crossed = np.flatnonzero((size[:-1] > 0) != (size[1:] > 0))
    if crossed.size and np.isfinite(row.margins.phase):
        distance = np.abs((phase[crossed] + 360) % 360 - 180)
        k = int(crossed[np.argmin(np.abs(distance - row.margins.phase))])
        _mark(axes[1], frequency[k], phase[k], f"{row.margins.phase:.3g} deg", colour)
    turned = np.flatnonzero(np.diff(np.floor((phase + 180) / 360)))
    if turned.size and np.isfinite(row.margins.gain_to):
        margin = 20 * np.log10(row.margins.gain_to)
        k = int(turned[np.argmin(np.abs(size[turned] + margin))])
        _mark(axes[0], frequency[k], size[k], f"{margin:.3g} dB", colour)


def _mark(ax: "Axes", x: float, y: float, text: str, colour: str) -> None:
    ax.plot([x], [y], "o", color=colour, markersize=5)
    ax.annotate(text, (x, y), (4, 4), textcoords="offset points", color=colour, fontsize="small")


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


plot_nyquist = into_file(draw_nyquist)


def _lag(phase: np.ndarray) -> np.ndarray:
    """The phase [deg] in whole revolutions so that it starts as a lag of less than one."""
    return phase - 360 * np.ceil(phase[0] / 360)


def _choose(rows: Sequence[LoopFigures]) -> Sequence[LoopFigures]:
    if not 1 <= len(rows) <= len(COLOURS):
        raise ValueError(f"from 1 to {len(COLOURS)} loops can be drawn in one figure, not {len(rows)}: choose some")
    return rows
