"""Fast-path plot: how fast is a path gone along in the least time, and which share of the limits does it use?"""

from typing import TYPE_CHECKING

import numpy as np

from .figures import COLOURS, finish_axes, into_file, label_bottom, panel_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from robodyn.analysis.commissioning.fast_path import FastMove


def draw_fast_move(move: "FastMove") -> "Figure":
    """A figure over the way: the speed beside the fastest trapezoid's, each joint's effort by its limit, and the
    largest share of any limit, friction included."""
    figure, axes = panel_figure(2)
    taken = move.duration - float(move.time[0])
    axes[0].plot(move.way, move.speed, color=COLOURS[0], label=f"fastest, {taken:.4g} s")
    axes[0].plot(move.way, move.trapezoid_speed, color=COLOURS[1], label=f"trapezoid, {move.trapezoid:.4g} s")
    axes[0].legend(fontsize="small", frameon=False)
    finish_axes(axes[0], "speed [m/s]")
    assert move.limits is not None
    for k, (joint, limit) in enumerate(zip(move.joints, move.limits.effort, strict=True)):
        if np.isfinite(limit):
            share = 100 * move.effort[:, k] / limit
            axes[1].plot(move.way, share, color=COLOURS[k % len(COLOURS)], label=joint)
    axes[1].plot(move.way, 100 * move.use, color="black", linestyle=":", label="largest of any limit")
    axes[1].legend(fontsize="small", frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    finish_axes(axes[1], "effort without friction [%]")
    label_bottom(axes, "way [m]")
    return figure


plot_fast_move = into_file(draw_fast_move)
