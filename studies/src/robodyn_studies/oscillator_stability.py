"""Coupled oscillator, stability map: at which macro steps, stiffnesses and mass ratios is a coupling stable?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robodyn.description.catalog import Oscillator
from robodyn_studies.oscillator_step import MAPPED, spectral_radius

DAMPED = Oscillator(damping=(0.01, 0.01, 0.01))
"""The benchmark with its small damping: without any, what is exact neither grows nor decays."""


@dataclass(frozen=True, eq=False)
class StabilityMap:
    """Growth of the fastest growing motion, ln(spectral radius) / H [1/s]; above 0 the coupling is unstable.

    Attributes:
        against: "stiffness" (of the coupling) or "mass ratio" (second by first).
        steps: macro steps [s], (n,); values: of what it is drawn against, (m,).
        growth: coupling -> (m, n).
    """

    against: str
    unit: str
    steps: np.ndarray
    values: np.ndarray
    growth: dict[str, np.ndarray]
    scheme: str
    order: int

    def limits(self, coupling: str) -> np.ndarray:
        """Longest macro step up to which a coupling is stable without a gap [s], for each value; 0 where none is."""
        stable = self.growth[coupling] <= 0
        count = np.argmin(np.column_stack([stable, np.zeros(len(stable), bool)]), axis=1)
        return np.concatenate([[0.0], self.steps])[count]


def map_stability(
    steps: Sequence[float],
    values: Sequence[float],
    *,
    against: str = "stiffness",
    numbers: Oscillator = DAMPED,
    couplings: Sequence[str] = MAPPED,
    scheme: str = "parallel",
    order: int = 0,
) -> StabilityMap:
    """Growth on a grid of macro steps and coupling stiffnesses or mass ratios, from exact macro steps."""
    if against not in ("stiffness", "mass ratio"):
        raise ValueError(f"against: must be 'stiffness' or 'mass ratio', is {against!r}")
    growth = {}
    for coupling in couplings:
        radii = [
            [
                spectral_radius(_with(numbers, against, value), coupling, step, scheme=scheme, order=order)
                for step in steps
            ]
            for value in values
        ]
        growth[coupling] = np.log(np.array(radii)) / np.array(steps, float)
    unit = "N/m" if against == "stiffness" else ""
    return StabilityMap(against, unit, np.array(steps, float), np.array(values, float), growth, scheme, order)


def _with(numbers: Oscillator, against: str, value: float) -> Oscillator:
    if against == "stiffness":
        k1, _, k2 = numbers.stiffness
        return replace(numbers, stiffness=(k1, float(value), k2))
    return replace(numbers, masses=(numbers.masses[0], numbers.masses[0] * float(value)))
