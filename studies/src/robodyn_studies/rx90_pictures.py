"""RX90B study, pictures: how do its figures look, redrawn?"""

from __future__ import annotations

from pathlib import Path

from robodyn.reporting import plot_loops
from robodyn.studies import Picture
from robodyn_studies import rx90_drawings as drawings
from robodyn_studies.rx90_budget import draw_budget
from robodyn_studies.rx90_loops import current_commands, position_loops
from robodyn_studies.rx90_spread import RUNS, spread


def pictures() -> tuple[Picture, ...]:
    """Pictures like the study's figures 6 to 10, and of what goes beyond it."""
    return (
        Picture("task", "The line seen from above, and the speed along it (figure 6)", drawings.draw_task),
        Picture(
            "joint-speeds",
            "Speeds of the joints (figure 7): joints 2, 3 and 5 turn back; joint 6 twitches where motor 6 does, "
            "whose speed is the sum of those of joints 5 and 6",
            drawings.draw_speeds,
        ),
        Picture(
            "deviation",
            "How far the tip is from the line (figure 8, simulated; the measured curves are not public)",
            drawings.draw_deviation,
        ),
        Picture("current-3", "Motor current of joint 3 (figure 9, simulated)", drawings.draw_current),
        Picture("currents", "Motor currents of all joints, by both simulations", drawings.draw_currents),
        Picture(
            "perturbation", "Deviations by both simulations, and their difference (figure 10)", drawings.draw_both_ways
        ),
        Picture(
            "convergence", "Difference of both simulations over the points of linearisation", drawings.draw_convergence
        ),
        Picture(
            "elastic",
            "Deviations of the rigid robot, with elastic gears, and with flexible links",
            drawings.draw_builds,
        ),
        Picture(
            "budget", "Of what the deviations consist, friction less what the feed-forward gives for it", draw_budget
        ),
        Picture(
            "budget-reversal",
            "The same where joints 2 and 3 turn back",
            lambda path: draw_budget(path, 580.0, 680.0),
        ),
        Picture("rest", "Torques that friction of joint 2 holds at rest", drawings.draw_rest),
        Picture(
            "position-loops",
            "Gain once round the position loops, cut behind them, all others closed",
            lambda path: plot_loops(position_loops(), path),
        ),
        Picture(
            "current-commands",
            "Gain once round the loops cut at the current commands",
            lambda path: plot_loops(current_commands(), path),
        ),
        Picture(
            "spread", f"Deviations of {RUNS} robots whose friction differs by up to 30 %, along the path", _draw_spread
        ),
    )


def _draw_spread(path: Path) -> None:
    drawings.draw_spread(spread(), path)
