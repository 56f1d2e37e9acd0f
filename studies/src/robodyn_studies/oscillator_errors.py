"""Coupled oscillator, errors: how large are those of each coupling, by the macro step, against the exact solution?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.computation.cosimulation import Connection, CosimSettings, CosimulationRun, ScenarioUnit, cosimulate
from robodyn.description.catalog import COUPLINGS, PORT, Oscillator, oscillator_sides
from robodyn_studies.oscillator_exact import energy_of, solve_exactly


@dataclass(frozen=True, eq=False)
class CouplingErrors:
    """Errors at the end of the run.

    Attributes:
        steps: macro steps [s], (n,).
        errors: coupling -> |x1 - exact| [m], (n,); energies: coupling -> energy by that at the start, (n,).
    """

    steps: np.ndarray
    errors: dict[str, np.ndarray]
    energies: dict[str, np.ndarray]
    scheme: str
    order: int


def cosimulate_oscillator(
    coupling: str,
    step: float,
    *,
    numbers: Oscillator | None = None,
    scheme: str = "parallel",
    order: int = 0,
) -> CosimulationRun:
    """The two masses of the oscillator as units `first` and `second`."""
    sides = oscillator_sides(coupling, numbers)
    units = [ScenarioUnit(side, name=name) for side, name in zip(sides, ("first", "second"), strict=True)]
    connection = Connection(f"first.{PORT}", f"second.{PORT}", order)
    return cosimulate(units, [connection], settings=CosimSettings(step, scheme), name=f"oscillator-{coupling}")


def final_state(run: CosimulationRun) -> np.ndarray:
    """(x1, v1, x2, v2) at the end."""
    return np.array(
        [run[unit][f"slide.{key}"].final for unit in ("first", "second") for key in ("position", "velocity")]
    )


def find_coupling_errors(
    steps: Sequence[float],
    *,
    couplings: Sequence[str] = tuple(COUPLINGS),
    numbers: Oscillator | None = None,
    scheme: str = "parallel",
    order: int = 0,
) -> CouplingErrors:
    """Errors of co-simulated runs."""
    numbers = numbers or Oscillator()
    exact = solve_exactly(numbers, numbers.duration)
    begin = energy_of(numbers, np.array([0.0, numbers.velocities[0], 0.0, numbers.velocities[1]]))
    errors, energies = {}, {}
    for coupling in couplings:
        ends = [
            final_state(cosimulate_oscillator(coupling, step, numbers=numbers, scheme=scheme, order=order))
            for step in steps
        ]
        errors[coupling] = np.array([abs(end[0] - exact[0]) for end in ends])
        energies[coupling] = np.array([energy_of(numbers, end) for end in ends]) / begin
    return CouplingErrors(np.array(steps, float), errors, energies, scheme, order)
