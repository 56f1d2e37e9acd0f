"""Polar plot of a circular test: where does a machine leave its circle, and by how many micrometres?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.analysis.accuracy.circle import CircleTest

from .figures import empty_figure, into_file, legend_above
from .runs import run_lines, run_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIZE = 6.4


def draw_circle(tests: CircleTest | Sequence[CircleTest]) -> "Figure":
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
