"""Co-simulation study, manoeuvre: where are arm, payload and wall over time (the study's figure 1a)?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robodyn.computation.results import Run
from robodyn.presentation.reporting import COLOURS, LINE_WIDTH, empty_figure, finish_axes, write_figure
from robodyn_studies.catalog.space_arm import BOOM, JOINTS, TIP
from robodyn_studies.catalog.space_case import SIDE, WALL
from robodyn_studies.cosimulation_case import whole
from robodyn_studies.cosimulation_singular import singular_time

SHOULDER = np.array([JOINTS[0][2][0], JOINTS[1][2][2]])
"""Of the pitch joint in the plane [m]."""
RISE = -JOINTS[6][2][2]
"""From the wrist's pitch joint down to its roll axis [m]."""


def draw_manoeuvre(path: Path) -> None:
    """The flexible arm from the side at the start, on its way, where the rigid one is singular, and at the wall."""
    run = whole(True)
    touch = next(event.time for event in run.events if event.name == "touch.touches")
    figure = empty_figure(8.0, 5.6)
    ax = figure.subplots()
    instants = (0.0, 12.0, singular_time(False, 0.0), touch)
    for time, colour in zip(instants, COLOURS, strict=False):
        _draw_pose(ax, run, time, colour)
    ax.axvline(WALL, color="black", linewidth=4 * LINE_WIDTH)
    ax.axhline(SHOULDER[1] - RISE, color="0.6", linewidth=LINE_WIDTH, linestyle=":")
    ax.set_aspect("equal")
    ax.set_xlabel("to the right [m]")
    ax.legend(fontsize="small")
    finish_axes(ax, "up [m]")
    write_figure(figure, path)


def _draw_pose(ax: Any, run: Run, time: float, colour: Any) -> None:
    """Booms, effector and payload at an instant."""
    upper, elbow, wrist = (float(run[f"{name}_pitch.position"](time)) for name in ("shoulder", "elbow", "wrist"))
    angles = (-upper, -upper - elbow, -upper - elbow - wrist)
    places = [SHOULDER]
    for angle in angles[:2]:
        places.append(places[-1] + BOOM * _along(angle))
    axis = places[-1] - RISE * _along(angles[2] + np.pi / 2)
    tip = axis + TIP[0] * _along(angles[2])
    line = np.array([*places, axis, tip]).T
    ax.plot(*line, "o-", color=colour, linewidth=2 * LINE_WIDTH, markersize=3, label=f"{time:.1f} s")
    out, across = SIDE * _along(angles[2]), SIDE / 2 * _along(angles[2] + np.pi / 2)
    corners = np.array([tip - across, tip + across, tip + across + out, tip - across + out, tip - across]).T
    ax.plot(*corners, color=colour, linewidth=LINE_WIDTH)
    ax.annotate("A", tip + across + out, color=colour)


def _along(angle: float) -> np.ndarray:
    return np.array([np.cos(angle), np.sin(angle)])
