"""Pictures and pages made from runs; the only home of plotting code."""

from .against import draw_against, plot_against
from .differences import draw_difference, plot_difference
from .timeseries import draw_signals, plot_signals
from .toolpath import draw_path, plot_path

__all__ = [
    "draw_against",
    "draw_difference",
    "draw_path",
    "draw_signals",
    "plot_against",
    "plot_difference",
    "plot_path",
    "plot_signals",
]
