"""EPAAS study: which of its numbers would explain what it measured beyond what it simulated? (sections 7.1 to 7.4)

The study's sensitive numbers are the loop's gain and the oil's compliance (or the mass, which does the same). Both are
varied together, for each step that it measured; what is best is compared with its own adjustment, 10 % less gain and
20 % less compliance. The misfit is the root mean square of peak and oscillation time and overshoot, by what they are
printed to.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from robodyn.analysis import measure_step
from robodyn.computation.results import Signal
from robodyn.description.model import Scenario
from robodyn.presentation.studies import PublishedValue
from robodyn_studies import epaas_published as published
from robodyn_studies.catalog import epaas_hold, epaas_rig
from robodyn_studies.catalog.epaas import find_circuit
from robodyn_studies.catalog.epaas_rig import RIG_CIRCUIT, STEP_AT
from robodyn_studies.epaas_readings import Numbers, run_steps
from robodyn_studies.epaas_runs import LOADED, read_step

GAINS = (0.4, 0.5, 0.6, 0.7, 0.85, 1.0)
COMPLIANCES = (0.8, 1.0, 1.5, 2.2, 3.0, 4.0)
PRINTED_TO = {"rig": (0.5, 0.5, 2.0), "l3": (1.0, 1.0, 2.0), "l4": (1.0, 1.0, 2.0)}
OWN = "this project's own"
MISSED = 10.0
"""Greatest misfit, such as that of a piston that sticks before a second peak."""


class Gap(NamedTuple):
    """What is left between measured and simulated steps: misfit by gain and by compliance, (n_gains, n_compliances)."""

    misfit: np.ndarray

    @property
    def before(self) -> float:
        """With the study's numbers."""
        return float(self.misfit[GAINS.index(1.0), COMPLIANCES.index(1.0)])

    @property
    def best(self) -> tuple[float, float, float]:
        """Gain and compliance over the study's, and the misfit that is left."""
        g, c = np.unravel_index(np.argmin(self.misfit), self.misfit.shape)
        return GAINS[g], COMPLIANCES[c], float(self.misfit[g, c])


@cache
def gap_of(what: str) -> Gap:
    """Of the rig's four steps together, or of a cylinder of the robot."""
    if what == "rig":
        steps = [(mass, LOADED.rig_volts(way), seen) for (way, mass), (_, seen) in published.RIG_STEPS.items()]
        rows = [{"load.mass": mass, "piston.target.after": RIG_CIRCUIT.position_at(v)} for mass, v, _ in steps]
        measured = [(v, seen) for _, v, seen in steps]
        return _search(epaas_rig(duration=0.16), "piston", rows, measured, PRINTED_TO[what])
    volts = LOADED.robot[what]
    row = {f"{what}.target.after": find_circuit(what).position_at(volts), f"{what}.target.at": STEP_AT}
    measured = [(volts, published.ROBOT_STEPS[what][1])]
    return _search(epaas_hold(0.13), what, [row], measured, PRINTED_TO[what])


def _search(
    scenario: Scenario,
    name: str,
    rows: list[dict[str, float]],
    measured: list[tuple[float, published.Step]],
    printed_to: tuple[float, ...],
) -> Gap:
    numbers = scenario.numbers()
    varied = [f"{name}.control.gain", f"{name}.actuator.oil_compliance"]
    pairs = [(g, c) for g in GAINS for c in COMPLIANCES]
    changed: list[Numbers] = [
        row | {key: share * numbers[key].value for key, share in zip(varied, pair, strict=True)}
        for pair in pairs
        for row in rows
    ]
    signals = run_steps(scenario, changed, f"{name}.measured.output")
    off = [_deviations(s, *m, printed_to) for s, m in zip(signals, measured * len(pairs), strict=True)]
    squares = np.square(off).reshape(len(GAINS), len(COMPLIANCES), -1)
    return Gap(np.sqrt(np.mean(np.minimum(squares, MISSED**2), axis=2)))


def _deviations(signal: Signal, volts: float, seen: published.Step, printed_to: tuple[float, ...]) -> list[float]:
    response = measure_step(signal, STEP_AT, final=float(signal(STEP_AT)) + volts)
    if len(response.peaks) < 2:
        return [MISSED] * 3
    return [
        (ours - theirs) / unit
        for ours, theirs, unit in zip(read_step(response).values(), seen, printed_to, strict=True)
    ]


def gap_figures() -> Iterator[PublishedValue]:
    """Misfit with the study's numbers and with the best of gain and compliance."""
    for what in PRINTED_TO:
        gap = gap_of(what)
        gain, compliance, left = gap.best
        label = "the rig's four steps" if what == "rig" else f"the step of {what.upper()}"
        reason = (
            f"{label} as measured, in units of what they are printed to; {gap.before:.1f} with the study's numbers. "
        )
        reason += f"Best with {gain:g} of its gain and {compliance:g} of its compliance (or mass)"
        yield PublishedValue(f"gap_{what}_misfit_left", None, left, "", None, reason, OWN)
        for name, share in (("gain", gain), ("compliance", compliance)):
            why = "over the study's, as the measured steps ask for it; on a grid"
            yield PublishedValue(f"gap_{what}_{name}", None, share, "", None, why, OWN)
