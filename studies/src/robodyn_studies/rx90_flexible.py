"""RX90B study: what do links that bend change, and do both simulations still agree?

The study has rigid links: all figures are this project's own.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import eigh

from robodyn.computation.assembly import assemble
from robodyn.presentation.studies import PublishedValue, above, below
from robodyn_studies.catalog import rx90_flexible_mechanism
from robodyn_studies.rx90_agreement import differences, more_than_rigid, speeds_of, step_halving
from robodyn_studies.rx90_runs import MICRO, OWN, TIP, apart, perturbed_run, weld, weld_run

FLEXIBLE = "flexible"
STIFF = 20.0
"""First frequency [Hz] below which an industrial robot of this size would be called soft: own choice."""


def locked_frequencies() -> np.ndarray:
    """Frequencies of the arm at the start of the weld with all joints held [Hz], ascending, (n_modes,)."""
    system = assemble(weld(FLEXIBLE))
    columns = ([info.start for info in group] for group in (system.states, (), system.memory))
    numbers = [number.value for number in system.parameters]
    M = np.array(system.function(system.mass_matrix)(0.0, *columns, numbers))
    stiffness = np.concatenate([body.modal_stiffness for body in rx90_flexible_mechanism().flexible_bodies])
    n = len(stiffness)
    return np.sqrt(eigh(np.diag(stiffness), M[-n:, -n:], eigvals_only=True)) / (2 * np.pi)


def flexible_figures() -> Iterator[PublishedValue]:
    """Both simulations with an upper arm and a forearm that bend, their gears rigid."""
    reason = "joints held at the start of the weld; the tubes are this project's own choice"
    yield above("flexible_first_frequency_hz", float(locked_frequencies()[0]), STIFF, "Hz", reason, OWN)
    yield from differences(FLEXIBLE)
    smooth = MICRO * float(np.max(apart(weld_run(FLEXIBLE, True), perturbed_run(FLEXIBLE, True))))
    reason = "the same with encoders that don't round: what linear mechanics and 400 points leave out"
    yield below("perturbation_flexible_smooth_difference_um", smooth, 0.2, "um", reason, OWN)
    yield _sag()
    yield from more_than_rigid(FLEXIBLE, "links bend under the arm's weight and its acceleration")
    yield step_halving(FLEXIBLE)
    yield from speeds_of(FLEXIBLE)


def _sag() -> PublishedValue:
    """How far the tip hangs below that of the rigid arm at the start."""
    low, high = (weld_run(build)[TIP[2]].values[0] for build in (FLEXIBLE, "rigid"))
    reason = "at rest at the start; motors hold the joints where they should be and don't see it"
    return PublishedValue("flexible_sag_um", None, MICRO * float(high - low), "um", reason=reason, source=OWN)
