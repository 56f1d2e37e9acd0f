"""Co-simulation study, manoeuvre: where are arm, payload and wall over time (the study's figure 1a)?"""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import numpy as np

from robodyn.computation.results import Run
from robodyn.presentation.reporting import COLOURS, LINE_WIDTH, empty_figure, finish_axes, write_figure
from robodyn_studies.catalog.space_case import YAW, place_joints
from robodyn_studies.cosimulation_case import whole

VIEWS = ((0, 1, "to the side [m]"), (0, 2, "up [m]"))
"""From above and from the side: the axes that are drawn."""


def draw_manoeuvre(path: Path) -> None:
    """The arm from above and from the side at the start, on its way, turning, and at the wall."""
    run = whole(False)
    touch = next(event.time for event in run.events if event.name == "touch.touches")
    (begin, end), _ = YAW.ways
    figure = empty_figure(8.0, 9.6)
    axes = figure.subplots(2, 1, sharex=True)
    for time, colour in zip((begin, end, 0.5 * (end + touch), run.time[-1]), COLOURS, strict=False):
        chain, cube = _find_pose(run, float(time))
        for ax, (across, up, _) in zip(axes, VIEWS, strict=True):
            ax.plot(*chain[:, [across, up]].T, "o-", color=colour, linewidth=2 * LINE_WIDTH, markersize=3)
            for edge in cube:
                ax.plot(*edge[:, [across, up]].T, color=colour, linewidth=LINE_WIDTH)
            point = [float(run[f"A.position.{axis}"](time)) for axis in "xyz"]
            ax.plot(point[across], point[up], "s", color=colour, label=f"{time:.1f} s")
    axes[0].axhline(YAW.wall_place[1], color="black", linewidth=4 * LINE_WIDTH)
    axes[0].legend(fontsize="small")
    axes[1].set_xlabel("ahead [m]")
    for ax, (_, _, label) in zip(axes, VIEWS, strict=True):
        ax.set_aspect("equal")
        finish_axes(ax, label)
    write_figure(figure, path)


def _find_pose(run: Run, time: float) -> tuple[np.ndarray, list[np.ndarray]]:
    """Joints and tip one after the other, and the edges of the payload [m]."""
    chain, R = place_joints({name: float(run[f"{name}.position"](time)) for name in YAW.moving})
    half = YAW.side / 2
    signs = list(product((-1, 1), repeat=3))
    corners = {key: chain[-1] + half * R @ (np.array(key) + (1.0, 0.0, 0.0)) for key in signs}
    pairs = [(a, b) for a, b in combinations(signs, 2) if sum(np.not_equal(a, b)) == 1]
    return chain, [np.array([corners[a], corners[b]]) for a, b in pairs]
