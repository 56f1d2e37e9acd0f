"""RX90B study: bristles that give way by tenths of a microradian, as the study says of its robot (section 7)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robodyn.presentation.studies import Kind, PublishedValue, below
from robodyn_studies.catalog.rx90_parameters import FRICTIONS, STIFF
from robodyn_studies.rx90_agreement import BOUND, DISTANCE
from robodyn_studies.rx90_runs import (
    MICRO,
    OWN,
    REVERSAL,
    SIDES,
    STEP,
    STUDY,
    apart,
    jump_at,
    largest_deviations,
    perturbed_run,
    weld_run,
)

SECTION = f"{STUDY}, section 7"
SHORT = STEP / 4
"""A step that suits [s]: at the sample time of the fast loops the method is unstable."""


def presliding_range(stiffer: float) -> float:
    """From one static level to the other at joint 3 [urad]."""
    friction = FRICTIONS["joint3"]
    return 2e6 * friction.coulomb * friction.static / (stiffer * friction.stiffness)


def stiction_figures() -> Iterator[PublishedValue]:
    """The range, that the step is short enough, and what becomes of the path."""
    reason = "from one static level to the other at joint 3; the study says tenths of urad over which torques differ"
    yield below("presliding_range_urad", presliding_range(STIFF), 1.0, "urad", reason, SECTION, Kind.INPUT)
    reason = "of the robot that all other figures are of: its bristles are softer, this project's choice"
    yield PublishedValue("presliding_range_soft_urad", None, presliding_range(1.0), "urad", None, reason, OWN)
    stiff, soft = weld_run(smooth=True, step=SHORT, stiff=True), weld_run(smooth=True)
    halved = MICRO * float(np.max(apart(stiff, weld_run(smooth=True, step=SHORT / 2, stiff=True))))
    jumps = [MICRO * jump_at(run, REVERSAL, SIDES[0]) for run in (stiff, soft)]
    reason = (
        "distance of the tips, steps of 0.0625 against 0.03125 ms, encoders that don't round; a hundredth of the jump"
    )
    yield below("stiction_step_halving_um", halved, jumps[0] / 100, "um", reason, OWN)
    for side, size, before in zip(SIDES, largest_deviations(stiff), largest_deviations(soft), strict=True):
        reason = "with softer bristles; a tenth of it: their choice is not what decides the deviation"
        yield PublishedValue(
            f"stiction_largest_{side}_um", MICRO * before, MICRO * size, "um", MICRO * before / 10, reason, OWN
        )
    reason = "with softer bristles; a tenth of it"
    yield PublishedValue("stiction_jump_at_reversal_um", jumps[1], jumps[0], "um", jumps[1] / 10, reason, OWN)
    full, near = weld_run(step=SHORT, stiff=True), perturbed_run(step=SHORT, stiff=True)
    largest = MICRO * float(np.max(apart(full, near)))
    where = f"{SECTION}, figure 10"
    yield below("stiction_perturbation_difference_um", largest, BOUND, "um", DISTANCE, where, Kind.RESULT)
