"""RX90B study, pictures: how do its figures look, redrawn?"""

from __future__ import annotations

from pathlib import Path

from robodyn.presentation.reporting import plot_loops
from robodyn.presentation.studies import Picture
from robodyn_studies import rx90_drawings as drawings
from robodyn_studies.rx90_budget import draw_budget
from robodyn_studies.rx90_identification import draw_identified
from robodyn_studies.rx90_loops import current_commands, position_loops
from robodyn_studies.rx90_spread import RUNS, spread


def _draw_spread(path: Path) -> None:
    drawings.draw_spread(spread(), path)


REDRAWN = (
    Picture(
        "task",
        "the line seen from above, 1.2 m at 0.2 m/s, and the speed along it",
        drawings.draw_task,
        "Figure 6: the robot, the straight path of its tip and a trapezoidal path speed",
    ),
    Picture(
        "joint-speeds",
        "joints 2, 3 and 5 turn back at 600 mm; joint 6 twitches where motor 6 does, whose speed is the sum of "
        "those of joints 5 and 6",
        drawings.draw_speeds,
        "Figure 7: speeds of the joints; joints 2 and 3 turn back nearly halfway",
    ),
    Picture(
        "deviation",
        "the true tip of our robot, friction's jump at 600 mm; what was measured is not public",
        drawings.draw_deviation,
        "Figure 8, simulated: horizontal and vertical path deviation, an error at about 600 mm",
    ),
    Picture(
        "identified",
        "our robot in place of the measured one, and the weld predicted with numbers identified from other "
        "motions, both by encoders and nominal kinematics",
        draw_identified,
        "Figure 8, measured: the simulation within 20 µm of the measurement, by joints and nominal kinematics",
    ),
    Picture(
        "current-3",
        "simulated alone; Coulomb friction changes its sign at the reversal",
        drawings.draw_current,
        "Figure 9: current of motor 3, measured and simulated; apart at rest, where friction sticks",
    ),
    Picture(
        "perturbation",
        "the same, and the difference; the tips are {perturbation_max_difference_um} µm apart at most",
        drawings.draw_both_ways,
        "Figure 10: deviations by the non-linear and the perturbation method, not to be told apart; below 10 µm",
    ),
)
"""Like the study's figures 6 to 10."""
BEYOND = (
    Picture(
        "measured",
        "True deviation, and what encoders and nominal kinematics show of it, where gears twist",
        drawings.draw_measured,
    ),
    Picture(
        "seam-speed",
        "Speed along the seam less the path speed; the ramps reach 1 to 4 mm/s",
        drawings.draw_seam_speed,
    ),
    Picture("currents", "Motor currents of all joints, by both simulations", drawings.draw_currents),
    Picture(
        "convergence", "Difference of both simulations over the points of linearisation", drawings.draw_convergence
    ),
    Picture(
        "elastic",
        "Deviations of the rigid robot, with elastic gears, and with flexible links",
        drawings.draw_builds,
    ),
    Picture("budget", "Of what the deviations consist, friction less what the feedforward gives for it", draw_budget),
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
"""Of what goes beyond it."""


def pictures() -> tuple[Picture, ...]:
    """All of them."""
    return (*REDRAWN, *BEYOND)
