"""Validity of the linearisation: does a motion stay near the nominal one, where its linear mechanics hold?"""

from __future__ import annotations

import numpy as np

from robodyn.computation.perturbation.nominal import Nominal
from robodyn.computation.results import Run, Signal

NEAR = 0.05
"""Deviation of a joint [rad or m] from which on a run is warned of: this project's own choice. The tip of an arm of 1 m
is then half the square of it, 1 mm, beside where linear mechanics see it."""


class References:
    """Positions of a nominal motion at the times of runs, which are mostly those of the run before."""

    def __init__(self, nominal: Nominal) -> None:
        self.nominal = nominal
        self._times = np.zeros(0)
        self._known: dict[int, np.ndarray] = {}

    def at(self, times: np.ndarray, column: int) -> np.ndarray:
        """Of one joint."""
        if not np.array_equal(times, self._times):
            self._times, self._known = times, {}
        if column not in self._known:
            nominal = self.nominal
            position, velocity = nominal.position[:, column], nominal.velocity[:, column]
            reference = Signal(nominal.joints[column], "", nominal.times, position, rate_values=velocity)
            self._known[column] = reference(np.clip(times, nominal.times[0], nominal.times[-1]))
        return self._known[column]


def describe_strays(references: References, run: Run) -> list[str]:
    """A sentence for each joint that went further from its reference than linear mechanics bear."""
    message = []
    names = set(run.names)
    for column, joint in enumerate(references.nominal.joints):
        name = f"{joint}.position"
        if name not in names:
            continue
        apart = np.abs(run[name].values - references.at(run.time, column))
        k = int(np.argmax(np.nan_to_num(apart, nan=-1.0)))
        if apart[k] > NEAR:
            far = f"{name} is up to {apart[k]:.3g} {run[name].unit} from the nominal motion, at {run.time[k]:.4g} s"
            message.append(f"{far}: linear mechanics hold near it only")
    return message
