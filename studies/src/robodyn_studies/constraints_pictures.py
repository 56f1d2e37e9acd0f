"""Constraints study, pictures: how do its figures look, redrawn?"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robodyn.reporting import plot_pole_path, plot_pole_zeros, plot_workspace
from robodyn.studies import Picture
from robodyn_studies import constraints_drawings as drawings
from robodyn_studies.constraints_delta import workspace
from robodyn_studies.constraints_linear import full_model, pole_path


def pictures() -> tuple[Picture, ...]:
    """Pictures like the study's figures 4, 5, 9, 10, 12 and 13, and of what goes beyond it."""
    return (
        Picture("drift", "Constraint of the pendulum at two tolerances, Baumgarte's method", drawings.draw_drift),
        Picture("fracture", "A pendulum whose rod breaks: its path, and the multiplier", drawings.draw_fracture),
        Picture(
            "poles",
            "Poles and zeros of the delta robot at horizontal proximal links: twelve pairs cancel at -5",
            lambda path: plot_pole_zeros(full_model(), path),
        ),
        Picture("pole-path", "Its poles while all motors turn from 0 to 40 deg; at 22 deg it is stable", _draw_path),
        Picture(
            "workspace",
            "Reach of the platform in the plane of arm 1, and how well it moves there",
            lambda path: plot_workspace(workspace(), path),
        ),
        Picture("pid", "A move under PID with gravity compensation at 1 kHz", drawings.draw_pid),
        Picture("tracking", "Pick and place under feedback linearisation, off its path", drawings.draw_tracking),
        Picture("pair", "Two delta robots lift a beam: its height, and what each carries", drawings.draw_pair),
        Picture(
            "cable-shapes", "The cable in the earthquake without control, stretched sideways", drawings.draw_shapes
        ),
        Picture(
            "cable-sway",
            "Cable sway in an earthquake, the car standing still",
            lambda path: drawings.draw_sway(path, controlled=False),
        ),
        Picture(
            "cable-controlled",
            "The same with a lead compensator that moves the car from 50 s to 350 s",
            lambda path: drawings.draw_sway(path, controlled=True),
        ),
    )


def _draw_path(path: Path) -> None:
    plot_pole_path(pole_path(), path, label="motor angle [deg]", factor=float(np.degrees(1.0)))
