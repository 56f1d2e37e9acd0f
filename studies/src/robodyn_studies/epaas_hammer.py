"""EPAAS study: what would a hammer find on the robot that gives way, and what does dry friction do? (7.3, appendix C)

A hammer hits a point and an accelerometer answers at another: a = i omega v, by the linear model with the valves shut.
The study hit and measured in the plane of the arm and in the direction of phi, and found both hardly coupled; its
points are not printed, so wrist and elbow stand for them.

Coulomb friction F_c on a piston that swings with speeds of amplitude V takes as much energy as viscous friction of

    B_d = 4 F_c / (pi V).

A loop that is unstable with viscous friction B alone, and stable from B* on, is held by it up to V* = 4 F_c / (pi (B* -
B)): beyond, the motion grows. That is the describing function of the study's appendix C.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from robodyn.analysis import FrequencyResponse, find_modes, linearise, respond
from robodyn.base.numerics import bisect
from robodyn.computation.assembly import System, assemble
from robodyn.computation.simulation import simulate
from robodyn.description.model import Load, Point
from robodyn.presentation.studies import Kind, PublishedValue, above, below
from robodyn_studies.catalog import epaas_elastic, epaas_hold, epaas_step
from robodyn_studies.catalog.epaas import find_circuit
from robodyn_studies.epaas_flexible import HELD_LOAD, MEASURED, STILL

SOURCE, OWN = "section 7.3", "this project's own"
HITS = {"plane": ("x", "z"), "phi": ("y",)}
"""Directions at the start-up position, at which the arm lies in the plane of x and z."""
SEEN = {"plane": (13.6, 35.9, 40.2, 59.2), "phi": (14.8, 25.2, 83.2)}
"""Modes that the study read from its transfer functions [Hz]."""
FREQUENCIES = np.linspace(5.0, 100.0, 1901)
STEPS = (0.45, 0.5, 0.53, 0.56, 0.6)
"""Heights of steps of L3 between which its loop begins to grow [V]."""
OTHERS = {"l1.friction.viscous": 5000.0, "vane.friction.viscous": 500.0}
"""Dry friction of the axes that hold, which does not slide: so much that they do not move."""


@cache
def hit_system() -> System:
    """The robot that gives way, without dry friction, with a hammer at its wrist and a load that may be taken away."""
    scenario = epaas_elastic(friction="none", payload=HELD_LOAD)
    machine = scenario.machine
    mechanism = machine.mechanism
    if mechanism is None:
        raise ValueError("the robot has a mechanism")
    mechanism = mechanism.replaced(points=(*mechanism.points, Point("elbow", "link2")))
    machine = machine.replaced(mechanism=mechanism, loads=(Load("hammer", "wrist"),))
    return assemble(scenario.replaced(machine=machine))


@cache
def accelerance(force: str, seen: str, payload: float = 0.0) -> FrequencyResponse:
    """Acceleration of the elbow along an axis for a force on the wrist along another [m/s^2 per N], valves shut."""
    system = hit_system()
    rest = find_modes(system).model.point
    if rest is None:
        raise ValueError("the modes of a system have an operating point")
    numbers = STILL | {"payload.mass": payload}
    model = linearise(system, rest, [f"hammer.force.{force}"], [f"elbow.velocity.{seen}"], numbers)
    speed = respond(model, frequency=FREQUENCIES)
    return FrequencyResponse(speed.input, speed.output, FREQUENCIES, 2j * np.pi * FREQUENCIES * speed.values)


def find_peaks(response: FrequencyResponse) -> np.ndarray:
    """Frequencies at which a response is higher than beside them [Hz]."""
    size = response.magnitude
    inner = np.flatnonzero((size[1:-1] > size[:-2]) & (size[1:-1] > size[2:])) + 1
    return response.frequency[inner]


def hammer_figures() -> Iterator[PublishedValue]:
    """Peaks that a hammer finds, and how little the plane of the arm has to do with phi."""
    for way, axes in HITS.items():
        peaks = np.concatenate([find_peaks(accelerance(axis, axis)) for axis in axes])
        for measured in SEEN[way]:
            nearest = float(peaks[np.argmin(np.abs(peaks - measured))])
            reason = "a spring is fitted to it" if measured in MEASURED.values() else "oil, with the numbers of the rig"
            reason = f"nearest peak of the elbow's response to a blow on the wrist; measured {measured:g} Hz, {reason}"
            near = abs(nearest - measured) < 0.2 * measured
            reason = reason if near else f"measured {measured:g} Hz: no peak within 20 % of it, so damped is this oil"
            value = nearest if near else None
            yield PublishedValue(f"hammer_{way}_{measured:g}Hz", None, value, "Hz", None, reason, OWN)
    along = {axis: float(accelerance(axis, axis).magnitude.max()) for axis in "xyz"}
    pairs = (("x", "y"), ("z", "y"), ("y", "x"), ("y", "z"))
    across = [float(accelerance(a, b).magnitude.max()) / np.sqrt(along[a] * along[b]) for a, b in pairs]
    reason = "largest response across the two directions over the mean of those along them; 'a very small coupling'"
    yield below("hammer_coupling_of_plane_and_phi", max(across), 0.1, "", reason, SOURCE, Kind.RESULT)
    bare, loaded = (find_peaks(accelerance("x", "x", payload)) for payload in (0.0, HELD_LOAD))
    shift = float(loaded[np.argmin(np.abs(loaded - 40.2))] - bare[np.argmin(np.abs(bare - 40.2))])
    reason = f"of the oil's peak by {HELD_LOAD:g} kg in the soft gripper; the study found its shifts 'not clear'"
    yield PublishedValue("hammer_shift_by_load", None, shift, "Hz", None, reason, OWN)
    yield from describing_figures()


@cache
def needed_friction() -> tuple[float, float]:
    """Viscous friction [N s/m] from which on L3's loop is stable, and the frequency there [rad/s]."""
    system = assemble(epaas_hold(friction="none"))
    rest = linearise(system).point
    if rest is None:
        raise ValueError("a linear model of a system has an operating point")

    def fastest(viscous: float) -> complex:
        poles = linearise(system, rest, parameters={**OTHERS, "l3.friction.viscous": viscous}).poles()
        return complex(poles[np.argmax(poles.real)])

    own = find_circuit("l3").viscous
    _, stable = bisect(lambda viscous: fastest(viscous).real < 0, own, 10 * own, 40)
    return float(stable), abs(fastest(float(stable)).imag)


@cache
def swings(volts: float) -> tuple[float, bool]:
    """Largest speed of the piston L3 after a step [m/s], and whether it swings further half a second later."""
    run = simulate(epaas_step("l3", volts, duration=0.5))
    speed = run["l3.velocity"]
    first, last = (np.abs(speed(np.linspace(begin, begin + 0.05, 500))).max() for begin in (0.015, 0.45))
    return float(first), bool(last > first)


def describing_figures() -> Iterator[PublishedValue]:
    """How fast L3 may swing before its dry friction no longer holds its loop, predicted and as runs find it."""
    circuit = find_circuit("l3")
    viscous, omega = needed_friction()
    limit = 4 * circuit.coulomb / np.pi / (viscous - circuit.viscous)
    reason = f"stable from {viscous:.0f} N s/m on, at {omega / 2 / np.pi:.1f} Hz; it has {circuit.viscous:g} N s/m"
    yield above("describing_viscous_friction_needed", viscous / circuit.viscous, 1.0, "", reason, "appendix C")
    found = [swings(volts) for volts in STEPS]
    held = max(speed for speed, grows in found if not grows)
    lost = min(speed for speed, grows in found if grows)
    reason = (
        f"B_d = 4 F_c / (pi V); steps of L3 swing at first with up to {held:.3f} m/s and die, from {lost:.3f} on grow"
    )
    middle = (held + lost) / 2
    slack = 0.15 * middle
    yield PublishedValue(
        "describing_largest_speed", middle, limit, "m/s", slack, f"{reason}; first harmonic: 15 %", OWN
    )
