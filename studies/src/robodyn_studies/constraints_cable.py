"""Constraints study: does the elevator's travelling cable hang, vibrate and calm down? (section 6)

The study prints no numbers of its cable. Cable, earthquake, car and compensator are this project's own choice. One
system with the controller serves both runs: a control that never begins leaves the car where it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from robodyn.analysis import LinearModel, Mode, design_lead, find_modes, linearise
from robodyn.assembly import System, assemble
from robodyn.results import Run
from robodyn.simulation import simulate
from robodyn.studies import Kind, PublishedValue, above, below
from robodyn_studies.catalog import Cable, CableControl, cable_probe, cable_sway
from robodyn_studies.constraints_runs import OWN, STUDY

CABLE, CONTROL = Cable(), CableControl()
SECTION = f"{STUDY}, section 6 and figures 12, 13"
CHAIN = "own reference by an independent chain model"
FREQUENCIES = (0.10818, 0.15625, 0.24964, 0.31991, 0.3996)
"""Of the first five modes [Hz]."""
COMMAND, SWAY = "command.constant", "sensor.displacement"
NEVER = 1e9
LATE, MIDDLE = (250.0, 350.0), (150.0, 250.0)
"""The last and the second third of the time of control [s]."""


@cache
def cable_system() -> System:
    """100 links in an earthquake, with the controller."""
    return assemble(cable_sway(CABLE, control=CONTROL))


@cache
def cable_run(controlled: bool) -> Run:
    """360 s from rest; the control begins after 50 s, or never."""
    return simulate(cable_system(), parameters={} if controlled else {"drive.begin": NEVER})


@cache
def probed_cable() -> LinearModel:
    """From a command of the car's acceleration to the sway at the sensor, about the rest."""
    return linearise(assemble(cable_probe(CABLE, CONTROL)), inputs=[COMMAND], outputs=[SWAY])


def swinging_modes() -> list[Mode]:
    """Modes of the cable: the car's own return and errors of constraints are damped more."""
    return [mode for mode in find_modes(probed_cable()).oscillating if mode.damping < 0.5]


def cable_shape(run: Run, time: float) -> tuple[np.ndarray, np.ndarray]:
    """Ends of all links seen from the hoistway, x and z from the car's end [m], (links + 1,)."""
    angles = np.cumsum([float(run[f"{joint}.position"](time)) for joint in CABLE.joints])
    steps = CABLE.pitch * np.sin(angles), -CABLE.pitch * np.cos(angles)
    across, up = (np.concatenate([[0.0], np.cumsum(step)]) for step in steps)
    return across, up


def sway_within(run: Run, begin: float, end: float) -> float:
    """Root mean square of the cable's sway at the sensor, about its mean [m]."""
    times = np.arange(begin, end, 0.1)
    return float(np.std(run[SWAY](times)))


def rest_figures() -> Iterator[PublishedValue]:
    """Where it hangs, and what pulls at the wall."""
    run = cable_run(True)
    lowest = float(-cable_shape(run, 0.0)[1].min())
    yield PublishedValue("cable_lowest_point", 34.80, lowest, "m", 0.005, "known to four digits, below the car", CHAIN)
    pulls = {axis: abs(float(run[f"wall_{axis}.force"].values[0])) for axis in "xz"}
    yield PublishedValue("cable_multiplier_horizontal", 0.125, pulls["x"], "N", 5e-4, "known to three digits", CHAIN)
    yield PublishedValue("cable_multiplier_vertical", 268.84, pulls["z"], "N", 5e-3, "known to five digits", CHAIN)


def mode_figures() -> Iterator[PublishedValue]:
    """Five natural frequencies, the damping of the first, and the compensator that follows from them."""
    modes = swinging_modes()
    for k, (expected, mode) in enumerate(zip(FREQUENCIES, modes, strict=False), start=1):
        frequency = mode.pole.imag / (2 * np.pi)
        yield PublishedValue(
            f"cable_f{k}", expected, frequency, "Hz", 1e-5, "known to four or five digits, damped", CHAIN
        )
    damping = 100 * modes[0].damping
    yield PublishedValue("cable_damping_1", 1.4, damping, "%", 0.05, "known to two digits", CHAIN)
    lead = design_lead(probed_cable(), COMMAND, SWAY, frequency=FREQUENCIES[0], damping=0.07)
    reason = "designed from the frequency response for a damping of 7 %; exact poles of the closed loop"
    yield above("cable_damping_1_closed", 100 * lead.damped, 4 * damping, "%", reason, SECTION)
    resonant = 100 * (1 - lead.damping / lead.damped)
    reason = (
        "steady sway at the first mode's frequency: its amplitude goes with the inverse of the damping, car unlimited"
    )
    yield above("cable_attenuation_at_resonance", resonant, 75.0, "%", reason, SECTION)
    reason = "the catalogue's compensator has four digits of the one designed"
    yield PublishedValue("cable_lead_gain", lead.gain, CONTROL.gain, "1/s^2", 5e-4 * abs(lead.gain), reason, OWN)


def _attenuation(span: tuple[float, float]) -> float:
    """By how much the control lowers the sway within a span of time [%]."""
    return 100 * (1 - sway_within(cable_run(True), *span) / sway_within(cable_run(False), *span))


def control_figures() -> Iterator[PublishedValue]:
    """Sway with and without the control, and the car's limits."""
    swaying, calmed = cable_run(False), cable_run(True)
    late, middle, whole = (_attenuation(span) for span in (LATE, MIDDLE, (CONTROL.begin, CONTROL.end)))
    reason = (
        "root mean square in the last 100 s of the control against that without; our choice of span, see the next two"
    )
    yield above("cable_attenuation", late, 75.0, "%", f"asked for are 75 %; {reason}", SECTION, Kind.RESULT)
    reason = "the study does not say over which span it took its 75 %; this is"
    where = f"{reason} from 150 to 250 s"
    yield PublishedValue("cable_attenuation_middle", 75.0, middle, "%", None, where, SECTION, Kind.RESULT)
    message = f"{reason} all 300 s, with the large sway of the beginning, when the car is at its limits"
    yield PublishedValue("cable_attenuation_whole", 75.0, whole, "%", None, message, SECTION, Kind.RESULT)
    before = np.arange(0.0, CONTROL.begin, 0.1)
    apart = np.abs(swaying[SWAY](before) - calmed[SWAY](before)).max()
    reason = "until the control begins both are one motion, to the solver's tolerance"
    yield below("cable_same_before_control", float(apart), 1e-4, "m", reason, OWN)
    for name, signal, limit in (("reach", "position", CONTROL.reach), ("speed", "velocity", CONTROL.speed)):
        largest = float(np.abs(calmed[f"lift.{signal}"].values).max())
        unit = "m" if name == "reach" else "m/s"
        yield below(f"cable_car_{name}", largest, limit, unit, "this project's own limit of the car", OWN)
    left = calmed.statistics.extra["constraint_position_error"]
    yield below("cable_drift", left, 1e-4, "m", "of 60 m, solved at 1e-5", SECTION)
