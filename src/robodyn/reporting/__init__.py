"""Pictures and pages made from runs; the only home of plotting code."""

from .against import draw_against, plot_against
from .bands import draw_bands, plot_bands
from .budget import draw_budget, plot_budget
from .coupling import draw_coupling_errors, draw_stability, plot_coupling_errors, plot_stability
from .differences import draw_difference, plot_difference
from .fitted import draw_fit, plot_fit
from .frequency import draw_frequency, plot_frequency
from .loops import draw_loops, draw_nyquist, plot_loops, plot_nyquist
from .modes import draw_modes, draw_poles, plot_modes, plot_poles
from .stacked import draw_stacked, plot_stacked
from .sweeps import draw_histogram, draw_influence, draw_measure, plot_sweep
from .timeseries import draw_signals, plot_signals
from .toolpath import draw_path, plot_path
from .tornado import draw_tornado, plot_tornado
from .workspace_map import draw_workspace, plot_workspace

__all__ = [
    "draw_against",
    "draw_bands",
    "draw_budget",
    "draw_coupling_errors",
    "draw_difference",
    "draw_fit",
    "draw_frequency",
    "draw_loops",
    "draw_histogram",
    "draw_influence",
    "draw_measure",
    "draw_modes",
    "draw_nyquist",
    "draw_path",
    "draw_poles",
    "draw_signals",
    "draw_stability",
    "draw_stacked",
    "draw_tornado",
    "draw_workspace",
    "plot_against",
    "plot_bands",
    "plot_budget",
    "plot_coupling_errors",
    "plot_difference",
    "plot_fit",
    "plot_frequency",
    "plot_loops",
    "plot_modes",
    "plot_nyquist",
    "plot_path",
    "plot_poles",
    "plot_signals",
    "plot_stability",
    "plot_stacked",
    "plot_sweep",
    "plot_tornado",
    "plot_workspace",
]
