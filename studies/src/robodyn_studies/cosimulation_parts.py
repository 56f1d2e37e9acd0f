"""Co-simulation study: do its parts hold by themselves? Beams, the arm's frequencies, the linear benchmark."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from robodyn.analysis import find_modes, linearise
from robodyn.computation.assembly import assemble
from robodyn.description.model import Scenario
from robodyn.description.structures import Reduction, Section, beam
from robodyn.presentation.studies import PublishedValue, below
from robodyn_studies.catalog.space_arm import space_arm_machine
from robodyn_studies.oscillator_errors import CouplingErrors, find_coupling_errors
from robodyn_studies.oscillator_stability import StabilityMap, map_stability

CLOSED = "closed form"
OWN = "own calculation"
ROOTS = (1.875104068711961, 4.694091132974175)
"""Of `cos x cosh x = -1`: the clamped beam's first two modes."""
LENGTH = 2.0
SLENDER = Section(7.0e10, 2.7e10, 2700.0, 1.0e-3, 1.0e-9, 2.0e-9, 1.7e-9)
"""A flat bar of aluminium, so slender that what slices have of inertia in turning does not count: own choice."""
MODEL, SIGNALS = "model-model", "force-displacement"
BENCHMARK_STEPS = (0.001, 0.002, 0.005, 0.01)


def beam_figures() -> Iterator[PublishedValue]:
    """Frequencies of a clamped beam, and its deflection under a force at its tip, by the closed forms."""
    body = beam("beam", LENGTH, SLENDER, Reduction(modes=3, directions=("y", "rz")))
    rigidity, mass = SLENDER.young * SLENDER.iz, SLENDER.density * SLENDER.area
    for k, (root, limit) in enumerate(zip(ROOTS, (1e-4, 1e-3), strict=True)):
        exact = root**2 * np.sqrt(rigidity / (mass * LENGTH**4)) / (2 * np.pi)
        reason = "three fixed-interface modes and the motions of the tip, eight elements"
        yield below(f"beam_f{k + 1}_error", abs(float(body.frequencies[k]) / exact - 1), limit, "", reason, CLOSED)
    shape = np.array(body.node("tip").shift)[:, 1]
    deflection = float(np.sum(shape**2 / np.array(body.modal_stiffness)))
    error = abs(deflection / (LENGTH**3 / (3 * rigidity)) - 1)
    yield below("static_deflection_error", error, 1e-9, "", "constraint modes hold static deflections exactly", CLOSED)


def arm_figures() -> Iterator[PublishedValue]:
    """The straight arm on its joints' springs, no payload."""
    for name, flexible, expected, reason in (
        ("arm_f1_straight_hz", False, 0.389, "rigid booms; three digits were computed beforehand by another program"),
        ("arm_f1_straight_flexible_hz", True, 0.2949, "fourteen modes a boom give the same four digits"),
    ):
        scenario = Scenario("straight", space_arm_machine(flexible), 1.0)
        modes = find_modes(linearise(assemble(scenario), at="start"))
        first = min(mode.frequency for mode in modes.oscillating)
        yield PublishedValue(name, expected, first, "Hz", 6e-4 if not flexible else 6e-5, reason, OWN)


@cache
def benchmark_errors() -> CouplingErrors:
    """The oscillator's errors by macro step, parallel scheme, signals held."""
    return find_coupling_errors(BENCHMARK_STEPS, couplings=(SIGNALS, MODEL))


def oscillator_figures() -> Iterator[PublishedValue]:
    """The linear benchmark at a macro step of 1 ms, with the errors of exact sub-integration beside it."""
    errors, k = benchmark_errors().errors, BENCHMARK_STEPS.index(0.001)
    for name, coupling, expected, tolerance in (
        ("oscillator_rim_error_1ms", MODEL, 9.5e-6, 0.1e-6),
        ("oscillator_signal_error_1ms", SIGNALS, 0.22, 0.005),
    ):
        reason = "error of the first mass after 10 s; two digits were computed beforehand with exact sub-integration"
        yield PublishedValue(name, expected, float(errors[coupling][k]), "m", tolerance, reason, OWN)


def benchmark_map() -> StabilityMap:
    """Growth by macro step and stiffness of the coupling."""
    steps, values = np.geomspace(1e-4, 0.1, 25).tolist(), np.geomspace(1.0, 1e5, 25).tolist()
    return map_stability(steps, values, couplings=(SIGNALS, MODEL))
