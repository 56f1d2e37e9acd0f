"""Constraints study, pictures: how do its figures look, redrawn?"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robodyn.presentation.reporting import plot_pole_path, plot_pole_zeros, plot_workspace
from robodyn.presentation.studies import Picture
from robodyn_studies import constraints_drawings as drawings
from robodyn_studies.constraints_delta import workspace
from robodyn_studies.constraints_linear import full_model, pole_path


def pictures() -> tuple[Picture, ...]:
    """Pictures like the study's figures 4, 5, 9, 10, 12 and 13, and of what goes beyond it."""
    return (
        Picture(
            "drift",
            "at two tolerances: the drift is of their order",
            drawings.draw_drift,
            "Figure 4: the constraint h of the pendulum by Baumgarte's method, of the order of the tolerance 1e-4",
        ),
        Picture(
            "fracture",
            "the same with a pendulum of our own",
            drawings.draw_fracture,
            "Figure 5: a pendulum whose rod breaks, its path and the multiplier",
        ),
        Picture(
            "speed",
            "Computing time in coordinates that change over that by Baumgarte's method, by tolerance (study: 1e-4)",
            drawings.draw_speed,
        ),
        Picture(
            "poles",
            "of a robot whose parameters are fitted to these poles; the twelve pairs, and that they cancel, are not",
            lambda path: plot_pole_zeros(full_model(), path),
            "Figure 10: poles and zeros of the delta robot, proximal links horizontal, twelve pairs at -5",
        ),
        Picture("pole-path", "Its poles while all motors turn from 0 to 40 deg; at 22 deg it is stable", _draw_path),
        Picture(
            "workspace",
            "Reach of the platform in the plane of arm 1, and how well it moves there",
            lambda path: plot_workspace(workspace(), path),
        ),
        Picture(
            "pid",
            "a move of ours under it at 1 kHz",
            drawings.draw_pid,
            "Figure 9: block diagram of PID with gravity compensation, without a response",
        ),
        Picture("tracking", "Pick and place under feedback linearisation, off its path", drawings.draw_tracking),
        Picture("pair", "Two delta robots lift a beam: its height, and what each carries", drawings.draw_pair),
        Picture(
            "stack",
            "Delta robot setting a block on another: heights of both, and the force between the blocks",
            drawings.draw_stack,
        ),
        Picture("rods", "What the six rods bear along the path of pick and place", drawings.draw_rods),
        Picture(
            "cable-shapes", "The cable in the earthquake without control, stretched sideways", drawings.draw_shapes
        ),
        Picture(
            "cable-sway",
            "an earthquake, a cable and a building of our own, the car standing still",
            lambda path: drawings.draw_sway(path, controlled=False),
            "Figure 12: motion of the car and sway of the cable in an earthquake, without control",
        ),
        Picture(
            "cable-controlled",
            "the same earthquake, the compensator designed on the linear model as in the study",
            lambda path: drawings.draw_sway(path, controlled=True),
            "Figure 13: the same with a lead compensator that moves the car for 300 s from 50 s on, sway less by 75 %",
        ),
        Picture(
            "cable-steady",
            "The cable in a building that keeps swaying by 5 mm, without control and with it from 50 s on",
            drawings.draw_steady,
        ),
        Picture(
            "cable-wall",
            "The cable's nearest distance to the wall of the hoistway, and the force with which it strikes it",
            drawings.draw_wall,
        ),
    )


def _draw_path(path: Path) -> None:
    plot_pole_path(pole_path(), path, label="motor angle [deg]", factor=float(np.degrees(1.0)))
