"""Pictures and displays of runs and analyses; the only home of plotting code, which is matplotlib's.

Names are loaded when first used. Figures, panels, colours and legends are public too, for pictures of one's own that
look like these.
"""

from robodyn.base.lazy import load_when_used

_HOMES = {
    "accuracy": "draw_circle plot_circle write_sheet",
    "causes": "draw_budget plot_budget draw_stacked plot_stacked draw_tornado plot_tornado",
    "displays": "Display DisplayFigure DisplayLines Table describe display shows to_html to_page to_section to_studio "
    "write_display",
    "drives": "draw_drives plot_drives draw_endurance plot_endurance draw_arm plot_arm",
    "figures": "COLOURS LINE_WIDTH darken empty_figure finish_axes label_axis label_bottom legend_above panel_figure "
    "with_unit write_figure",
    "linear": "draw_frequency plot_frequency draw_measured plot_measured draw_loops plot_loops draw_nyquist "
    "plot_nyquist draw_modes plot_modes draw_poles plot_poles plot_pole_path plot_pole_zeros",
    "machines": "draw_parallel_joint draw_workspace plot_parallel_joint plot_workspace",
    "measurement": "draw_fit plot_fit draw_identification plot_identification",
    "runs": "draw_difference plot_difference draw_phase plot_phase draw_signals plot_signals run_lines run_style",
    "space": "draw_path plot_path",
    "sweeps": "draw_bands plot_bands draw_histogram draw_influence draw_measure plot_sweep draw_yield",
}
__all__ = sorted(name for names in _HOMES.values() for name in names.split())
__getattr__, __dir__ = load_when_used(__name__, {f"{__name__}.{home}": names for home, names in _HOMES.items()})
