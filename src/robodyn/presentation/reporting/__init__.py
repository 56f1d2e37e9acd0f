"""Plots of runs and analyses, with matplotlib; the only home of plotting code.

Figures, panels, colours and legends are public too, for pictures of one's own that look like these.
"""

from .bands import draw_bands, plot_bands
from .budget import draw_budget, plot_budget
from .differences import draw_difference, plot_difference
from .displays import Display, to_html, to_section
from .figures import (
    COLOURS,
    LINE_WIDTH,
    empty_figure,
    finish_axes,
    label_bottom,
    legend_above,
    panel_figure,
    write_figure,
)
from .fitted import draw_fit, draw_identification, plot_fit, plot_identification
from .frequency import draw_frequency, draw_measured, plot_frequency, plot_measured
from .identification_page import write_identification
from .loops import draw_loops, draw_nyquist, plot_loops, plot_nyquist
from .modes import draw_modes, plot_modes
from .panels import with_unit
from .phase_plot import draw_phase, plot_phase
from .poles import draw_poles, plot_pole_path, plot_pole_zeros, plot_poles
from .runs import run_lines, run_style
from .stacked import draw_stacked, plot_stacked
from .sweeps import draw_histogram, draw_influence, draw_measure, plot_sweep
from .timeseries import draw_signals, plot_signals
from .toolpath import draw_path, plot_path
from .tornado import draw_tornado, plot_tornado
from .workspace_map import draw_workspace, plot_workspace
from .yields import draw_yield

__all__ = [
    "COLOURS",
    "Display",
    "LINE_WIDTH",
    "draw_bands",
    "draw_budget",
    "draw_difference",
    "draw_fit",
    "draw_frequency",
    "draw_histogram",
    "draw_identification",
    "draw_influence",
    "draw_loops",
    "draw_measure",
    "draw_measured",
    "draw_modes",
    "draw_nyquist",
    "draw_path",
    "draw_phase",
    "draw_poles",
    "draw_signals",
    "draw_stacked",
    "draw_tornado",
    "draw_workspace",
    "draw_yield",
    "empty_figure",
    "finish_axes",
    "label_bottom",
    "legend_above",
    "panel_figure",
    "plot_bands",
    "plot_budget",
    "plot_difference",
    "plot_fit",
    "plot_frequency",
    "plot_identification",
    "plot_loops",
    "plot_measured",
    "plot_modes",
    "plot_nyquist",
    "plot_path",
    "plot_phase",
    "plot_pole_path",
    "plot_pole_zeros",
    "plot_poles",
    "plot_signals",
    "plot_stacked",
    "plot_sweep",
    "plot_tornado",
    "plot_workspace",
    "run_lines",
    "run_style",
    "with_unit",
    "to_html",
    "to_section",
    "write_figure",
    "write_identification",
]
