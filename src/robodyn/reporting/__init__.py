"""Pictures and pages made from runs; the only home of plotting code."""

from .timeseries import draw_signals, plot_signals

__all__ = ["draw_signals", "plot_signals"]
