"""RX90B study: what do encoders and nominal kinematics tell of the tip, and how even is its speed? (section 7)

The study's path positions, measured and simulated, are those of the joints by the nominal kinematics. What twists and
bends behind the encoders is in the true tip alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robodyn.computation.results import Run
from robodyn.description.paths import build_arm, jacobian
from robodyn.presentation.studies import PublishedValue, above, below
from robodyn_studies.catalog.rx90 import WELD_START
from robodyn_studies.catalog.rx90_arm import coupling_matrix, rx90_mechanism
from robodyn_studies.catalog.rx90_parameters import AXES, COUNTS, WELD_SPEED
from robodyn_studies.rx90_runs import BUILDS, MICRO, OWN, REVERSAL, SIDES, largest_deviations, weld_run

AGREED = 20.0
"""How far the study's simulation is from its measurement [um]."""
SETTLED = 0.15
"""From the ends of the ramps to where the speed is looked at [m along the path]."""


def joint_angles(run: Run) -> np.ndarray:
    """Joints as the encoders tell them, `q = T^-1 phi` [rad], (n_times, 6)."""
    turns = np.array([run[f"axis{k}.encoder.measured"].values for k in AXES])
    return np.linalg.solve(coupling_matrix(), turns).T


def measured_deviations(run: Run) -> dict[str, np.ndarray]:
    """Deviations of the tip from the line by encoders and nominal kinematics [m], (n_times,) each."""
    x, _, z = build_arm(rx90_mechanism(), "tool").place(joint_angles(run)).p.T
    return {"horizontal": WELD_START[0] - x, "vertical": z - WELD_START[2]}


def unseen(run: Run) -> dict[str, np.ndarray]:
    """True deviations less measured ones [m]."""
    found = measured_deviations(run)
    return {side: run[f"deviation.{side}"].values - found[side] for side in SIDES}


def rounding_bound(run: Run) -> dict[str, float]:
    """What half a count of all six encoders at once can shift the tip [m]: `|J| |T^-1| pi / counts`."""
    J = jacobian(build_arm(rx90_mechanism(), "tool").place(joint_angles(run)))
    shifts = np.abs(J[:, 3:]) @ np.abs(np.linalg.inv(coupling_matrix())) @ np.full(len(AXES), np.pi / COUNTS)
    return {"horizontal": float(shifts[:, 0].max()), "vertical": float(shifts[:, 2].max())}


def measured_figures() -> Iterator[PublishedValue]:
    """The path as the study's measurements see it, of the rigid robot and of those with something elastic."""
    for side in SIDES:
        apart, bound = np.max(np.abs(unseen(weld_run())[side])), rounding_bound(weld_run())[side]
        reason = "rigid robot: true tip less tip by encoders and nominal kinematics; half a count of all six encoders"
        yield below(f"measured_unseen_{side}_um", MICRO * apart, MICRO * bound, "um", reason, OWN)
    for build in (build for build in BUILDS if build != "rigid"):
        run = weld_run(build)
        hidden = MICRO * max(np.max(np.abs(part)) for part in unseen(run).values())
        reason = "what twists and bends behind the encoders: more than the 20 um to which the study's path is predicted"
        yield above(f"measured_{build}_unseen_um", hidden, AGREED, "um", reason, OWN)
        seen = MICRO * max(np.max(np.abs(part)) for part in measured_deviations(run).values())
        reason = "what such a measurement shows: less than half of the true deviation"
        yield below(f"measured_{build}_largest_um", seen, MICRO * max(largest_deviations(run)) / 2, "um", reason, OWN)


def speed_ripple(run: Run, first: float, last: float) -> float:
    """Largest less smallest true speed along the line between two places [m along the path], by the path speed."""
    way = run["path.s"].values
    return float(np.ptp(run["tool.velocity.y"].values[(way > first) & (way < last)])) / WELD_SPEED


def ripple_figures() -> Iterator[PublishedValue]:
    """Evenness of the speed along the seam, which the study names as a condition of the weld and does not print."""
    run, smooth = weld_run(), weld_run(smooth=True)
    ends = SETTLED, float(run["path.s"].values[-1]) - SETTLED
    whole = 100 * speed_ripple(run, *ends)
    reason = "largest less smallest speed along the seam, 0.15 m from its ends; encoders that round make half of it: "
    reason += "more than with others"
    yield above("seam_speed_ripple_percent", whole, 100 * speed_ripple(smooth, *ends), "%", reason, OWN)
    quiet, turning = (100 * speed_ripple(smooth, place - 0.05, place + 0.05) for place in (0.4, REVERSAL))
    reason = "over 100 mm about the reversal, encoders that don't round; more than three times what it is at 400 mm"
    yield above("seam_speed_ripple_reversal_percent", turning, 3 * quiet, "%", reason, OWN)
    for build in (build for build in BUILDS if build != "rigid"):
        more = 100 * speed_ripple(weld_run(build), *ends)
        reason = "the same with what twists or bends: more than of the rigid robot"
        yield above(f"seam_speed_ripple_{build}_percent", more, whole, "%", reason, OWN)
