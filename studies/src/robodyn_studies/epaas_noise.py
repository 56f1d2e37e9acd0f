"""EPAAS study: what do its estimation procedures find in noise, where the truth is known? (chapter 6)

The study excites its rig with noise, reads resonance, peak and phase from measured frequency responses, and estimates
by them. Here the rig is simulated, with the study's own parameters: what the procedures find beside these says how far
they can be trusted. As there, feedback is made so weak that it only keeps the piston from drifting.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from robodyn.analysis import MeasuredResponse, estimate_response
from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.description.model import Block, Machine, Recording, Scenario, Solver
from robodyn.presentation.studies import PublishedValue
from robodyn_studies.catalog.epaas_drives import CYLINDER, MEASURING_DELAY, VALVE, VALVE_DELAY, make_circuit
from robodyn_studies.catalog.epaas_rig import RIG_CIRCUIT, rig_mechanism
from robodyn_studies.epaas_published import RESONANCES
from robodyn_studies.hydraulic_estimation import (
    CylinderEstimate,
    ResonatorEstimate,
    estimate_cylinder,
    estimate_delay,
    estimate_resonator,
)

PERIOD, DURATION, RESOLUTION = 2e-4, 6.0, 4.0
CURRENT = 0.05
"""Of the noise at the valve, its standard deviation [A]: well beyond the dead band, within the table of flows."""
WEAK = 0.002
"""Gain of the controller [A/V]: its loop is at 0.2 Hz."""
BARE_PISTON = 0.214
"""Mass of piston and rod [kg], section 6.1.4.1."""
SPEED, INPUT, LOW = "piston.velocity", "piston.control.current", (8.0, 20.0)
OWN = "this project's own"


@cache
def noise_run(mass: float, seed: int = 1) -> Run:
    """The rig with a mass under noise [kg]; the weight is balanced, as in the tables of steps."""
    circuit = replace(RIG_CIRCUIT, gain=WEAK)
    deviation = CURRENT / WEAK / circuit.measuring_gain
    numbers = {"deviation": deviation, "seed": float(seed)}
    target = Block("piston.target", "noise", parameters=numbers, unit="m", period=PERIOD)
    blocks, delays = make_circuit(circuit, target)
    machine = Machine("epaas-rig", rig_mechanism(mass, weight=False), blocks, delays=delays)
    names = (INPUT, SPEED, "piston.position", "piston.measured.output")
    recording = Recording(rate=1 / PERIOD, signals=names)
    return simulate(Scenario("epaas-rig-noise", machine, DURATION, recording=recording), Solver("dopri5", rtol=1e-5))


@cache
def noise_response(mass: float, input: str = INPUT, output: str = SPEED) -> MeasuredResponse:
    """From the valve's current to the piston's speed, or between two other signals."""
    return estimate_response(noise_run(mass), input, output, resolution=RESOLUTION)


def read_peak(response: MeasuredResponse, above: float = 30.0, below: float = 250.0) -> tuple[float, float]:
    """Frequency [Hz] of a response's peak and its height over the level at 8 to 20 Hz, by a parabola around it."""
    f, size = response.frequency, np.log(response.magnitude)
    low = np.mean(size[(f >= LOW[0]) & (f <= LOW[1])])
    inside = np.flatnonzero((f > above) & (f < below) & response.reliable)
    top = inside[np.argmax(size[inside])]
    near = inside[np.abs(np.log(f[inside] / f[top])) < 0.2]
    a, b, c = np.polyfit(np.log(f[near] / f[top]), size[near] - low, 2)
    return float(f[top] * np.exp(-b / (2 * a))), float(np.exp(c - b**2 / (4 * a)))


def valve_response(frequency: np.ndarray) -> np.ndarray:
    """Of the valve as the model has it, its delay included."""
    s = 2j * np.pi * frequency / VALVE["natural_frequency"]
    return np.exp(-2j * np.pi * frequency * VALVE_DELAY) / (s**2 + 2 * VALVE["damping"] * s + 1)


@cache
def resonances(corrected: bool) -> tuple[ResonatorEstimate, ...]:
    """Resonance and damping with each of the study's masses.

    Args:
        corrected: whether the valve's own response is taken out first; the study says nothing of it.
    """
    found = []
    for mass, _, _ in RESONANCES:
        response = noise_response(mass)
        if corrected:
            response = replace(response, values=response.values / valve_response(response.frequency))
        found.append(estimate_resonator(*read_peak(response, below=150.0)))
    return tuple(found)


def cylinder_estimate(corrected: bool) -> CylinderEstimate:
    """Compliance, leakage and friction by the study's procedure from these."""
    pairs = [(pair.frequency, pair.damping) for pair in resonances(corrected)]
    return estimate_cylinder([mass for mass, _, _ in RESONANCES], *np.array(pairs).T)


def delay_from_noise(upto: float = 193.0) -> float:
    """Of the measuring circuit [s]: from the piston's place to the measured voltage, at frequencies that are told."""
    response = noise_response(BARE_PISTON, "piston.position", "piston.measured.output")
    good = response.reliable & (response.frequency > 20) & (response.frequency <= upto)
    return estimate_delay(response.frequency[good], np.unwrap(np.angle(response.values[good]))).delay.value


def valve_from_noise() -> tuple[ResonatorEstimate, float]:
    """The valve by the bare piston: the element of second order, and the delay that its phase has beyond that [s]."""
    response = noise_response(BARE_PISTON)
    f0, damping = (found := estimate_resonator(*read_peak(response, below=300.0))).frequency, found.damping
    good = response.reliable & (response.frequency > 20) & (response.frequency < f0)
    f = response.frequency[good]
    s = 1j * f / f0
    # Held samples are half a period late.
    rest = np.unwrap(np.angle(response.values[good] * (s**2 + 2 * damping * s + 1) * np.exp(1j * np.pi * f * PERIOD)))
    return found, estimate_delay(f, rest).delay.value


def noise_figures() -> Iterator[PublishedValue]:
    """What the procedures find, beside what the model has."""
    reason = "from the phase between piston and measured voltage, 20 to 193 Hz, by least squares; 1 %"
    delay = delay_from_noise()
    yield PublishedValue("noise_measuring_delay", MEASURING_DELAY, delay, "s", 0.01 * MEASURING_DELAY, reason, OWN)
    valve, delay = valve_from_noise()
    frequency = VALVE["natural_frequency"] / (2 * np.pi)
    reason = "from the peak of the bare piston's response, whose own oil it counts with; 10 %"
    yield PublishedValue("noise_valve_frequency", frequency, valve.frequency, "Hz", 0.1 * frequency, reason, OWN)
    reason = "from the height of that peak; 15 %"
    damping = VALVE["damping"]
    yield PublishedValue("noise_valve_damping", damping, valve.damping, "", 0.15 * damping, reason, OWN)
    c, k, b = CYLINDER["oil_compliance"], CYLINDER["leakage"], RIG_CIRCUIT.viscous
    lag = (k * BARE_PISTON + c * b) / (1 + k * b)
    reason = (
        f"from the phase beyond second order: the valve's {1e3 * VALVE_DELAY:.3f} ms and, which the study does not "
    )
    reason += f"count, {1e3 * lag:.2f} ms by which oil and friction hold the bare piston back; 5 %"
    expected = VALVE_DELAY + lag
    yield PublishedValue("noise_valve_delay", expected, delay, "s", 0.05 * expected, reason, OWN)
    yield from _cylinder_figures()


def _cylinder_figures() -> Iterator[PublishedValue]:
    true = {"c0": CYLINDER["oil_compliance"], "ch_inverse": CYLINDER["leakage"], "B": RIG_CIRCUIT.viscous}
    units = {"c0": "m/N", "ch_inverse": "m/(N s)", "B": "N s/m"}
    for corrected in (False, True):
        found = cylinder_estimate(corrected)
        values = {"c0": found.compliance, "ch_inverse": found.leakage, "B": found.friction}
        for key, estimate in values.items():
            name = f"noise_{key}_{'corrected' if corrected else 'as_read'}"
            how = "the valve's response taken out" if corrected else "peaks as they are read"
            reason = f"{how}; standard error {estimate.error:.2g}"
            yield PublishedValue(name, true[key], estimate.value, units[key], None, reason, OWN)
