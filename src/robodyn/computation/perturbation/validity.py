"""Validity of the linearisation: does a motion stay near the nominal one, where its linear mechanics hold?"""

from __future__ import annotations

import numpy as np

from robodyn.computation.perturbation.nominal import Nominal
from robodyn.computation.results import Run, Signal

NEAR = 0.05
"""Deviation of a joint [rad or m] from which on a run is warned of: this project's own choice. The tip of an arm of 1 m
is then half the square of it, 1 mm, beside where linear mechanics see it."""


def describe_strays(nominal: Nominal, run: Run) -> list[str]:
    """A sentence for each joint that went further from its reference than linear mechanics bear."""
    message = []
    for column, joint in enumerate(nominal.joints):
        name = f"{joint}.position"
        if name not in run.names:
            continue
        position, velocity = nominal.position[:, column], nominal.velocity[:, column]
        reference = Signal(name, run[name].unit, nominal.times, position, rate_values=velocity)
        apart = np.abs(run[name].values - reference(np.clip(run.time, nominal.times[0], nominal.times[-1])))
        k = int(np.nanargmax(apart)) if np.isfinite(apart).any() else 0
        if apart[k] > NEAR:
            far = f"{name} is up to {apart[k]:.3g} {run[name].unit} from the nominal motion, at {run.time[k]:.4g} s"
            message.append(f"{far}: linear mechanics hold near it only")
    return message
