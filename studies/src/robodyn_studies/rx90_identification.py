"""RX90B study: do inertias, spring and friction come back from motions and currents? (sections 1 to 4)

The study identifies its robot before it simulates it. Our robot's numbers are known: it moves along Fourier series,
fast ones for inertias and slow ones for friction, and all that the identification gets is what encoders and current
sensors give, beside a first guess that is far off. With what was found the weld is simulated, which took no part, and
compared with the robot's own as the study compares its simulation with its measurement.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import numpy as np

from robodyn.analysis import (
    AxisSeries,
    Excitation,
    Identification,
    design_excitation,
    find_base_parameters,
    identify,
    make_regressor,
)
from robodyn.computation.results import Run, SignalInfo
from robodyn.computation.simulation import simulate
from robodyn.description.model import Block, Recording, Scenario, Solver
from robodyn.presentation.reporting import COLOURS, finish_axes, label_bottom, legend_above, panel_figure, write_figure
from robodyn.presentation.studies import PublishedValue, above, below
from robodyn_studies.catalog.rx90 import resting_start, rx90_hold, weld_angles
from robodyn_studies.catalog.rx90_parameters import AXES, DRIVES, FRICTIONS, SLOW, SPEEDS, WELD_LENGTH
from robodyn_studies.rx90_measured import AGREED, joint_angles, measured_deviations
from robodyn_studies.rx90_runs import MICRO, OWN, SEEN, SIDES, STEP, STUDY, along_path, weld, weld_run

REACH = (60, 30, 35, 70, 50, 90)
"""How far joints may move from the middle of the weld [degrees]; half their top speeds and 0.7 of the currents."""
EXPERIMENTS = ((0.1, 20.0), (0.01, 50.0))
"""Frequency of the series [Hz] and time measured [s]: fast for inertias, slow for friction."""
RATE, NOISE = 200.0, 0.01
"""Rows a second; noise of a measured current, by the drive's limit."""
LEVELS = ("coulomb", "coulomb_back", "static", "static_back")
GUESSED = {"mass": 0.7, "spring": 0.8, "friction": 0.5}
"""What the first guess has of the true numbers."""


@cache
def designed() -> Excitation:
    """The series that tell most of the robot, within its limits."""
    limits: dict[str, float] = {}
    for (joint, angle), reach, speed, axis in zip(
        weld_angles(WELD_LENGTH / 2).items(), REACH, SPEEDS, DRIVES, strict=True
    ):
        limits |= {
            f"{joint}.lower_limit": angle - math.radians(reach),
            f"{joint}.upper_limit": angle + math.radians(reach),
        }
        limits[f"{joint}.speed_limit"] = 0.5 * math.radians(speed)
        limits[f"{joint}.effort_limit"] = 0.7 * axis.current_limit * axis.torque_constant * axis.gear
    return design_excitation(rx90_hold(1.0, 0.0), frequency=EXPERIMENTS[0][0], limits=limits, iterations=30)


@cache
def excited(frequency: float, duration: float) -> Scenario:
    """The robot following the series."""
    base = rx90_hold(duration, 0.0)
    axes = [axis for axis in designed().axes if isinstance(axis, AxisSeries)]
    series = [_series(k, axis, frequency) for k, axis in zip(AXES, axes, strict=True)]
    quantities = {"positions": "value", "velocities": "rate", "accelerations": "acceleration"}
    inputs = {key: tuple(f"series{k}.{name}" for k in AXES) for key, name in quantities.items()}
    points = Block("setpoints", "sampled_set_points", inputs=inputs, period=SLOW)
    others = tuple(block for block in base.machine.blocks if block.name not in ("path", "setpoints"))
    return dataclasses.replace(
        base,
        name="rx90-excited",
        machine=dataclasses.replace(base.machine, blocks=(*series, points, *others)),
        initial=resting_start({axis.joint: axis.offset + sum(axis.cosines) for axis in axes}),
        solver=Solver("rosw2", step=STEP),
        nominal={},
    )


def _series(k: int, axis: AxisSeries, frequency: float) -> Block:
    numbers = {"sines": axis.sines, "cosines": axis.cosines, "offset": axis.offset, "frequency": frequency}
    return Block(f"series{k}", "multisine_reference", parameters=numbers)


def measure(run: Run, seed: int) -> Run:
    """What a log of the robot would have: joints by the encoders, and currents with noise."""
    limits = np.array([axis.current_limit for axis in DRIVES])
    currents = np.column_stack([run[f"axis{k}.drive.current"].values for k in AXES])
    currents = currents + np.random.default_rng(seed).normal(0, NOISE * limits, currents.shape)
    infos = [SignalInfo(f"joint{k}.position", "rad") for k in AXES]
    infos += [SignalInfo(f"axis{k}.drive.current", "A") for k in AXES]
    return Run(run.time, np.hstack([joint_angles(run), currents]), tuple(infos), run.outcome, run.provenance)


def guess(scenario: Scenario) -> Scenario:
    """The robot with masses, spring and friction that are far off."""
    numbers = scenario.numbers()
    mechanism = scenario.machine.mechanism
    assert mechanism is not None
    shares = {f"{body.name}.mass": GUESSED["mass"] for body in mechanism.bodies if body.mass > 0}
    shares |= {
        f"{place}.friction.{level}": GUESSED["friction"] for place in FRICTIONS for level in (*LEVELS, "viscous")
    }
    shares["balance.spring.stiffness"] = GUESSED["spring"]
    return scenario.with_numbers({name: share * numbers[name].value for name, share in shares.items()})


@cache
def identified() -> Identification:
    """What was found from both experiments; current sensors have no offset."""
    signals = tuple(f"axis{k}.{name}" for k in AXES for name in ("encoder.measured", "drive.current"))
    recording = Recording(rate=RATE, signals=signals)
    runs = [simulate(excited(*experiment), recording=recording) for experiment in EXPERIMENTS]
    logs = [measure(run, seed) for seed, run in enumerate(runs)]
    return identify(guess(excited(*EXPERIMENTS[0])), logs, offsets=False, held_out=0.0)


@cache
def predicted_weld(found: bool = True) -> Run:
    """The weld of the robot that was found, or of the first guess; its controller is the robot's own."""
    robot = weld().with_numbers(identified().numbers) if found else guess(weld())
    return simulate(robot, recording=Recording(rate=1000.0, signals=SEEN))


def identification_figures() -> Iterator[PublishedValue]:
    """How near the found numbers are, and how well the weld is predicted with them."""
    found, true = identified(), base_parameters()
    held = np.mean([b.lower <= value <= b.upper for b, value in zip(found.base, true, strict=True)])
    reason = "share of the base parameters whose 95 % interval holds the true one; 0.95 less four deviations of a count"
    yield above(
        "identification_intervals_hold_share", held, 0.95 - 4 * (0.95 * 0.05 / len(true)) ** 0.5, "", reason, OWN
    )
    errors = [abs(_mean_level(found.numbers, place) / numbers.coulomb - 1) for place, numbers in FRICTIONS.items()]
    reason = (
        "Coulomb friction, mean of both directions, largest of seven places; from half of it. What differs between the "
        "directions is one constant torque, and three places of the wrist share two axes: that is not told apart"
    )
    yield below("identification_coulomb_error_percent", 100 * max(errors), 2.0, "%", reason, OWN)
    where = f"{OWN}; the study's simulation is within 20 um of its measurement ({STUDY}, section 7, figure 8)"
    for name, run, make in (("identified", predicted_weld(), below), ("guessed", predicted_weld(False), above)):
        reason = "largest distance of the weld's deviation, by encoders and nominal kinematics, from the robot's own, "
        reason += "simulated with the numbers found" if run is predicted_weld() else "simulated with the first guess"
        yield make(f"{name}_weld_apart_um", MICRO * _apart(run), AGREED, "um", reason, where)


def base_parameters() -> np.ndarray:
    """Base parameters of the robot itself."""
    scenario = excited(*EXPERIMENTS[0])
    regressor = make_regressor(scenario)
    return find_base_parameters(regressor).G @ regressor.given


def _mean_level(numbers: Mapping[str, float], place: str) -> float:
    return (numbers[f"{place}.friction.coulomb"] + numbers[f"{place}.friction.coulomb_back"]) / 2


def _apart(run: Run) -> float:
    """Largest difference of the measured deviations from those of the robot itself [m]."""
    found, own = measured_deviations(run), measured_deviations(weld_run())
    return max(float(np.max(np.abs(found[side] - own[side]))) for side in SIDES)


def draw_identified(path: Path) -> None:
    """Deviation of the weld by encoders: of the robot, predicted with the found numbers, and their difference."""
    figure, axes = panel_figure(4)
    own, found = measured_deviations(weld_run()), measured_deviations(predicted_weld())
    way = along_path(weld_run())
    for k, side in enumerate(SIDES):
        upper, lower = axes[2 * k : 2 * k + 2]
        upper.plot(way, MICRO * own[side], color="0.7", linewidth=3.0, label="the robot, as measured")
        upper.plot(way, MICRO * found[side], color=COLOURS[1], linewidth=1.0, label="simulated, numbers identified")
        finish_axes(upper, f"{side} deviation [µm]")
        lower.plot(way, MICRO * (found[side] - own[side]), color=COLOURS[0], linewidth=0.8, label="their difference")
        finish_axes(lower, f"{side} difference [µm]")
    label_bottom(axes, "along the path [mm]")
    figure.align_ylabels(axes)
    legend_above(figure, [*axes[0].get_lines(), *axes[1].get_lines()])
    write_figure(figure, path)
