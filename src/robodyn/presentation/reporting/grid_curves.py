"""Curves of a grid: how does a whole signal change with what was varied? A line a run, coloured by the first axis."""

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from .figures import LINE_WIDTH, finish_axes, label_bottom, panel_figure
from .panels import with_unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from robodyn.analysis.sweeps.table import SweepTable

LETTERS = 32
"""Of a label that fits beside one panel."""
MOST_LINES = 200
"""Beyond that lines cover each other: runs in equal distances are drawn."""


def draw_grid_curves(table: "SweepTable") -> "Figure":
    """A panel a signal with a line for each run, its colour the place on the first axis with more than one."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    curves = table.curves
    if curves is None:
        raise ValueError("the sweep kept no curves: name them in keep")
    axis = next((axis for axis in table.axes if len(axis.places) > 1), table.axes[0])
    scale = Normalize(float(np.min(axis.places)), float(np.max(axis.places)))
    figure, panels = panel_figure(len(curves.values))
    shown = np.unique(np.linspace(0, len(table) - 1, min(len(table), MOST_LINES)).astype(int))
    for ax, (signal, values) in zip(panels, curves.values.items(), strict=True):
        for run in shown:
            colour = colormaps["viridis"](scale(axis.places[axis.index[run]]))
            # Suspect runs are dashed; failed ones have no values.
            style = "--" if table.suspect[run] else "-"
            ax.plot(curves.places, values[run], style, color=colour, linewidth=LINE_WIDTH, gid=f"{signal} run {run}")
        finish_axes(ax, with_unit(signal, curves.units[signal]))
    label_bottom(panels, with_unit(curves.along, curves.unit))
    label = "\n".join(textwrap.wrap(with_unit(axis.label, axis.unit), LETTERS))
    figure.colorbar(ScalarMappable(scale, "viridis"), ax=panels, label=label)
    return figure
