"""EPAAS study: which parameters follow from its measurements, and does a fit find them again? (chapter 6)

How far the rounding of the printed data can move an estimate is computed: the sum of what half a unit of the last digit
of each number does to it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from robodyn.analysis import Fit, fit_parameters
from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.description.model import Recording, Scenario
from robodyn.presentation.studies import Kind, PublishedValue
from robodyn_studies import epaas_published as published
from robodyn_studies.catalog import epaas_rig
from robodyn_studies.epaas_runs import unexplained
from robodyn_studies.hydraulic_estimation import estimate_cylinder, estimate_delay, estimate_resonator

LAST_DIGITS = np.array([0.1, 0.1, 0.001])
FREE = {
    "c0": "piston.actuator.oil_compliance",
    "ch_inverse": "piston.actuator.leakage",
    "B": "piston.friction.viscous",
}
UNITS = {"c0": "m/N", "ch_inverse": "m/(N s)", "B": "N s/m"}
SIGNALS = ("piston.measured.output", "piston.actuator.oil_force")
NOISE = {"piston.measured.output": 2e-3, "piston.actuator.oil_force": 1.0}
WRONG = {"c0": 1.4, "ch_inverse": 0.6, "B": 1.5}
"""What the fit begins with, over the true values."""


def estimation_figures() -> Iterator[PublishedValue]:
    """The study's own procedures on its own data."""
    yield from _cylinder_figures()
    yield from _phase_figures()
    found = estimate_resonator(169.0, 10 ** (3 / 20))
    reason = "+3 dB printed in whole dB: 0.36 to 0.41"
    yield PublishedValue("valve_damping_estimate", 0.38, found.damping, "", 0.025, reason, "section 6.1", Kind.RESULT)
    reason = (
        "a peak at 169 Hz of +3 dB gives 201 Hz; 239 Hz where the root of 1 - 2 b^2 is forgotten. It uses 1443 rad/s"
    )
    yield unexplained("valve_frequency_estimate", 240, found.frequency, "Hz", reason, "section 6.1")
    delay = estimate_delay([193.0], [np.radians(-45.7)]).delay.value
    reason = "frequency in whole Hz and phase in 0.1 degrees: 0.4 %"
    where = "section 6.1"
    yield PublishedValue(
        "measuring_delay_estimate", 0.658, 1e3 * delay, "ms", 0.004 * 0.658, reason, where, Kind.RESULT
    )


def _phase_figures() -> Iterator[PublishedValue]:
    """Delay of the valve from the phase beyond its own and the measuring circuit's; the vane motor by one mode."""
    beyond = -290.0 + 90.0 + 360.0 * 240.0 * 0.658e-3
    delay = 1e3 * estimate_delay([240.0], [np.radians(beyond)]).delay.value
    reason = "-290 degrees at 240 Hz, less 90 of the valve and those of the measuring circuit; read to 5 degrees"
    yield PublishedValue(
        "valve_delay_estimate", 1.629, delay, "ms", 5 / 360 / 0.24, reason, "section 6.1.3", Kind.RESULT
    )
    vane = estimate_cylinder([0.338], [33.0], [0.4], leakage=0.0)
    where, reason = "section 6.2.4.2", "from 33 Hz at 0.338 kg m^2, in whole Hz: 3 %"
    c = vane.compliance.value
    yield PublishedValue("vane_c0_estimate", 69e-6, c, "rad/(N m)", 0.03 * 69e-6, reason, where, Kind.RESULT)
    reason = "with the relative damping 0.4, which the study calls an educated guess; 33 Hz in whole Hz: 3 %"
    b = vane.friction.value
    yield PublishedValue("vane_B_estimate", 56.0, b, "N m s/rad", 0.03 * 56.0, reason, where, Kind.RESULT)


def _cylinder_figures() -> Iterator[PublishedValue]:
    data = np.array(published.RESONANCES)
    printed = {"c0": 1.25e-6, "ch_inverse": 7.46e-5, "B": 501.0}
    digits = {"c0": 0.005e-6, "ch_inverse": 0.005e-5, "B": 0.5}
    values, slack = estimate_with_rounding(data, _estimate)
    for k, (name, figure) in enumerate(printed.items()):
        reason = "by least squares; what half the last digit of each printed number can do to it, as computed"
        tolerance = float(slack[k]) + digits[name]
        where = "section 6.1"
        yield PublishedValue(
            f"{name}_estimate", figure, float(values[k]), UNITS[name], tolerance, reason, where, Kind.RESULT
        )


def _estimate(data: np.ndarray) -> np.ndarray:
    """c_0, 1/c_h and B from rows of mass, frequency and damping."""
    found = estimate_cylinder(*data.T)
    return np.array([found.compliance.value, found.leakage.value, found.friction.value])


def estimate_with_rounding(
    data: np.ndarray, estimate: Callable[[np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """An estimate and how far the rounding of its data can move it: the sum over all numbers."""
    values = estimate(data)
    moved = np.zeros_like(values)
    for row in range(data.shape[0]):
        for column, digit in enumerate(LAST_DIGITS):
            other = data.copy()
            other[row, column] += digit / 2
            moved += np.abs(estimate(other) - values)
    return values, moved


@cache
def synthetic_data() -> Run:
    """The rig's voltage and oil force every 0.5 ms, extending 5.1 kg, with noise of 2 mV and 1 N."""
    scenario = dataclasses.replace(_sought(), recording=Recording(rate=2000.0, signals=SIGNALS))
    run = simulate(scenario)
    columns = [run.names.index(name) for name in SIGNALS]
    noise = np.random.default_rng(6).normal(size=(run.time.size, len(SIGNALS))) * [NOISE[name] for name in SIGNALS]
    infos = tuple(dataclasses.replace(run.infos[column], rate=None) for column in columns)
    # Noise is not smooth: nothing is interpolated across samples.
    values = run.values[:, columns] + noise
    return dataclasses.replace(run, values=values, infos=infos, knots=None, probes=None)


def _sought() -> Scenario:
    return epaas_rig(duration=0.08)


@cache
def fitted() -> Fit:
    """The three parameters fitted to that from wrong ones."""
    true = _sought().numbers()
    wrong = {name: WRONG[key] * true[name].value for key, name in FREE.items()}
    return fit_parameters(_sought().with_numbers(wrong), synthetic_data(), list(FREE.values()), noise=NOISE)


def fit_figures() -> Iterator[PublishedValue]:
    """What the fit finds beside what the data were made with."""
    true = _sought().numbers()
    found = {parameter.name: parameter for parameter in fitted().parameters}
    for key, name in FREE.items():
        parameter = found[name]
        # A 95 % interval is 1.96 standard errors to both sides.
        error = (parameter.upper - parameter.lower) / (2 * 1.96)
        reason = f"three standard errors; begun at {WRONG[key]:g} times the true value, which the data were made with"
        yield PublishedValue(f"fit_{key}", true[name].value, parameter.value, UNITS[key], 3 * error, reason, "own")
