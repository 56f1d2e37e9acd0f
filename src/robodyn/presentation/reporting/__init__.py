"""Pictures and displays of runs and analyses; the only home of plotting code, which is matplotlib's.

Names are loaded when first used. Figures, panels, colours and legends are public too, for pictures of one's own that
look like these.
"""

from typing import TYPE_CHECKING

from robodyn.base import load_when_used

if TYPE_CHECKING:
    from ...base.units import with_unit
    from .accuracy import draw_circle, plot_circle, write_sheet
    from .causes import draw_budget, draw_stacked, draw_tornado, plot_budget, plot_stacked, plot_tornado
    from .displays import (
        Display,
        DisplayFigure,
        DisplayLines,
        Table,
        describe,
        display,
        shows,
        to_html,
        to_page,
        to_section,
        to_studio,
        write_display,
    )
    from .drives import draw_arm, draw_drives, draw_endurance, plot_arm, plot_drives, plot_endurance
    from .figures import (
        COLOURS,
        LINE_WIDTH,
        darken,
        empty_figure,
        finish_axes,
        label_axis,
        label_bottom,
        legend_above,
        panel_figure,
        write_figure,
    )
    from .linear import (
        draw_frequency,
        draw_loops,
        draw_measured,
        draw_modes,
        draw_nyquist,
        draw_poles,
        plot_frequency,
        plot_loops,
        plot_measured,
        plot_modes,
        plot_nyquist,
        plot_pole_path,
        plot_pole_zeros,
        plot_poles,
    )
    from .machines import draw_parallel_joint, draw_workspace, plot_parallel_joint, plot_workspace
    from .measurement import draw_fit, draw_identification, plot_fit, plot_identification
    from .runs import (
        draw_difference,
        draw_phase,
        draw_signals,
        plot_difference,
        plot_phase,
        plot_signals,
        run_lines,
        run_style,
    )
    from .space import draw_path, plot_path
    from .sweeps import draw_bands, draw_histogram, draw_influence, draw_measure, draw_yield, plot_bands, plot_sweep

__getattr__, __dir__, __all__ = load_when_used(__name__)
