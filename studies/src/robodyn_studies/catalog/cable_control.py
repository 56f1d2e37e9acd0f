"""Vibration control of the elevator cable: while the building sways, without and with a car that moves to calm it.

As in the study, one displacement of the cable is measured, a lead compensator makes a command of it, and the car moves
up and down. The study prints no numbers: the earthquake, the limits of the car, the place of the sensor and the
compensator are this project's own choice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robodyn import symbolic as sym
from robodyn.description.laws import law
from robodyn.description.model import Block, Scenario
from robodyn_studies.catalog.cable import REST, STANDARD, Cable, Motion, cable_machine, divide, hanging_cable

# Frequencies of the earthquake's sines [Hz], the first mode of the standard cable among them; its duration [s].
BAND, SINES, SHAKEN, SEED = (0.08, 0.14), 12, 60.0, 4
# Distance of the points through which the earthquake's motion goes; time in which a steady sway swells [s].
KNOT, ONSET = 0.5, 30.0
# Of the car's speed behind its limit [s]; part of its push that a command may ask for: at the first mode, more would
# drive it into the limits of speed and reach, out of phase.
LAG, SHARE = 0.2, 0.6
NEVER = 1e9
"""A time after all runs [s]."""
SWAYING: Motion = ("shaking.position", "shaking.velocity", "shaking.acceleration")
DRIVEN: Motion = ("drive.position", "drive.velocity", "drive.acceleration")


@dataclass(frozen=True)
class CableControl:
    """What the car does against the sway; gain and pole are designed for 6 % damping of the standard cable.

    They damp finer meshes and cables of 50 and 70 m alike. Links longer than the bend is wide are no model of it: a
    compensator that calms the cable can be unstable on 100 links of 0.6 m.

    Attributes:
        place: of the sensor along the cable, as a part of its length from the car.
        gain [1/s^2], pole [rad/s]: of the compensator, from a sway [m] to a wanted acceleration of the car.
        begin, end: of the control [s].
        centring: angular frequency of the return of the car to its floor [rad/s].
        reach [m], speed [m/s], push [m/s^2]: limits of the car's motion.
    """

    place: float = 0.5
    gain: float = 4.070
    pole: float = 0.6776
    begin: float = 50.0
    end: float = 350.0
    centring: float = 0.2
    reach: float = 1.0
    speed: float = 0.5
    push: float = 0.5


CONTROL = CableControl()


def earthquake(peak: float = 0.05) -> Block:
    """A burst of noise in the building's place [m]: sines with seeded phases, swelling and dying down within 60 s."""
    phases = np.random.default_rng(SEED).uniform(0, 2 * np.pi, SINES)
    times = _knots(SHAKEN)
    noise = np.sin(2 * np.pi * np.outer(times, np.linspace(*BAND, SINES)) + phases).sum(axis=1)
    burst = noise * np.sin(np.pi * times / SHAKEN) ** 2
    return _shaking(times, peak * burst / np.max(np.abs(burst)))


def steady_sway(amplitude: float = 0.005, frequency: float = 0.108) -> Block:
    """A building that keeps swaying in the wind: amplitude [m] at one frequency [Hz], reached within 30 s."""
    parameters = {"amplitude": amplitude, "frequency": frequency, "onset": ONSET}
    return Block("shaking", keep_swaying, parameters=parameters)


def _knots(duration: float) -> np.ndarray:
    return np.linspace(0.0, duration, max(2, round(duration / KNOT) + 1))


def _shaking(times: np.ndarray, points: np.ndarray) -> Block:
    return Block("shaking", "spline_reference", parameters={"times": times, "points": points}, unit="m")


@law(
    time="s",
    amplitude="m",
    frequency="Hz",
    onset="s",
    position="m",
    velocity="m/s",
    acceleration="m/s^2",
    checks={"amplitude": "non-negative", "frequency": "positive", "onset": "positive"},
)
def keep_swaying(time, *, amplitude, frequency, onset):
    """A sine that swells from rest and goes on: `A e(t) sin(w t)`, `e = sin^2(pi t / 2 T)` until the onset T."""
    w, a = 2 * np.pi * frequency, np.pi / (2 * onset)
    t = sym.maximum(time, 0.0)
    swelling = t < onset
    e = sym.where(swelling, sym.sin(a * t) ** 2, 1.0)
    e_dot = sym.where(swelling, a * sym.sin(2 * a * t), 0.0)
    e_ddot = sym.where(swelling, 2 * a * a * sym.cos(2 * a * t), 0.0)
    sine, cosine = sym.sin(w * t), sym.cos(w * t)
    return {
        "position": amplitude * e * sine,
        "velocity": amplitude * (e_dot * sine + w * e * cosine),
        "acceleration": amplitude * ((e_ddot - w * w * e) * sine + 2 * w * e_dot * cosine),
    }


@law(place="m", sway="m", displacement="m")
def measure_sway(place, sway):
    """Displacement of the cable at the sensor, seen from the hoistway."""
    return {"displacement": place - sway}


@law(
    command="m/s^2",
    position="m",
    velocity="m/s",
    acceleration="m/s^2",
    reach="m",
    speed="m/s",
    push="m/s^2",
    centring="rad/s",
    begin="s",
    end="s",
    states={"position": 1.0, "velocity": 1.0},
    breaks=lambda p: [p["begin"], p["end"]],
)
def drive_car(command, time, position, velocity, *, begin, end, centring, reach, speed, push):
    """An acceleration as commanded and back to the floor, as far as the car's limits allow.

        a = u - 2 w v - w^2 y,  w: centring,  |u| <= 0.6 push, only between begin and end
        |a| <= push,  (v_low - v) / T <= a <= (v_high - v) / T,  T: lag

    where v_high is the speed from which half of the push still stops the car within its reach.
    """
    engaged = sym.logical_and(time >= begin, time < end)
    message = sym.clip(command, -SHARE * push, SHARE * push)
    wanted = sym.where(engaged, message, 0.0) - 2 * centring * velocity - centring**2 * position
    # The speed follows its limit late by the lag: the way is looked at where the car will be then.
    ahead = position + 2 * LAG * velocity
    highest, lowest = (_stoppable(reach - side * ahead, speed, push) for side in (1, -1))
    above, below = (sym.clip((limit - velocity) / LAG, -push, push) for limit in (highest, -lowest))
    a = sym.minimum(sym.maximum(wanted, below), above)
    return {"acceleration": a, "position_dot": velocity, "velocity_dot": a}


def _stoppable(way, speed, push):
    """Speed from which half the push stops within a way [m/s]."""
    return sym.minimum(speed, sym.sqrt(sym.maximum(push * way, 0.0)))


def sensor_block(cable: Cable, place: float) -> Block:
    """Measures the sway of the link at a part of the cable's length."""
    link = cable.link_at(place)
    return Block("sensor", measure_sway, inputs={"place": f"link{link}_x.position", "sway": "sway.position"})


def drive_block(control: CableControl, command: str) -> Block:
    """The car, commanded by a signal."""
    keys = ("begin", "end", "centring", "reach", "speed", "push")
    parameters = {key: getattr(control, key) for key in keys}
    return Block("drive", drive_car, inputs={"command": command}, parameters=parameters)


def cable_sway(
    cable: Cable = STANDARD,
    shaking: Block | None = None,
    control: CableControl | None = None,
    duration: float = 360.0,
    links: int | None = None,
) -> Scenario:
    """An elevator cable swings in a building that begins to sway.

    Args:
        links: into which the cable is divided, another number of them.
        shaking: of the building; the earthquake by default.
        control: of the car, which stands still without it.
    """
    cable = divide(cable, links)
    blocks: tuple[Block, ...] = (shaking or earthquake(), sensor_block(cable, (control or CONTROL).place))
    if control:
        # The loop is u = -C y.
        lead = {"gain": -control.gain, "pole": control.pole}
        inputs = {"value": "sensor.displacement"}
        blocks += (Block("lead", "lead_compensator", inputs=inputs, parameters=lead, unit="m/s^2"),)
        blocks += (drive_block(control, "lead.output"),)
    name, what = ("cable-controlled", "calmed by its car") if control else ("cable-sway", "swaying")
    return hanging_cable(
        name,
        cable,
        cable_machine(cable, SWAYING, DRIVEN if control else REST, blocks),
        duration,
        f"Travelling cable of an elevator {what} in an earthquake, {cable.links} links",
    )


def cable_controlled(links: int | None = None) -> Scenario:
    """An elevator cable swings in an earthquake; from 50 s on the car damps it for 300 s by moving up and down."""
    return cable_sway(divide(STANDARD, links), control=CONTROL)


def cable_steady(links: int | None = None, duration: float = 400.0) -> Scenario:
    """An elevator cable swings in a building that sways at its first mode; from 50 s on the car damps it."""
    control = replace(CONTROL, end=NEVER)
    scenario = cable_sway(divide(STANDARD, links), steady_sway(), control, duration)
    title = "Travelling cable of an elevator calmed by its car in a building that keeps swaying"
    return replace(scenario, name="cable-steady", title=title)


def cable_probe(cable: Cable = STANDARD, control: CableControl = CONTROL) -> Scenario:
    """The open loop that a compensator is designed for: from `command.constant` to `sensor.displacement`."""
    command = Block("command", "constant_reference", parameters={"constant": 0.0}, unit="m/s^2")
    always = replace(control, begin=0.0, end=np.inf)
    blocks = (command, sensor_block(cable, control.place), drive_block(always, "command.value"))
    machine = cable_machine(cable, lift=DRIVEN, blocks=blocks)
    return hanging_cable("cable-probe", cable, machine, 1.0, "Travelling cable of an elevator, its car commanded")
