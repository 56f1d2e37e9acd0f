"""Laws for a contest: how does a machine become one with another friction or gear, and where does a search begin?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.analysis.fitting.experiments import Experiment
from robodyn.analysis.identification.contest import with_friction
from robodyn.base.errors import Flaw, ModelError
from robodyn.computation.simulation import simulate
from robodyn.description.model import Block, ElasticGear, Scenario, with_elastic_joints

SIMPLEST = "coulomb_friction"
ELASTIC, BACKLASH, LOAD = "elastic_gear", "backlash_gear", "gear_loss"
LAWS = (
    SIMPLEST, "viscous_friction", "stick_friction", "two_way_stick_friction", "stribeck_friction", "lugre_friction",
    "warm_friction", LOAD, ELASTIC, BACKLASH,
)  # fmt: skip
STATIC = 1.3
"""Static level that searches begin with, by the Coulomb level."""
SLOW, SMOOTH, SHORT = 0.05, 1e-3, 1e-3
"""Stribeck and smoothing velocities by the fastest speed, play and bending of bristles by the range of motion."""
LOST = 0.03
"""Share of the load that searches begin with."""
TWIST = 0.01
"""Twist of a gear under its friction that searches begin with, by the range of motion."""


@dataclass(frozen=True)
class Candidate:
    """A scenario to be fitted: the numbers that are free in it, and names that data have there instead of their own."""

    name: str
    scenario: Scenario
    free: tuple[str, ...]
    renamed: Mapping[str, str]


@dataclass(frozen=True)
class Axis:
    """A place with friction: levels, smoothing, speed and range of motion in the data, and the drive's force there."""

    place: str
    coulomb: float
    viscous: float
    smoothing: float
    speed: float
    range: float
    drive: str


def find_axes(scenario: Scenario, blocks: Sequence[Block], experiments: Sequence[Experiment]) -> list[Axis]:
    """Levels by the friction there is, motions by the data, or by a simulation where they do not have them."""
    places = list(dict.fromkeys(str(block.on) for block in blocks))
    example = experiments[0].data
    run = example
    if not all(f"{place}.position" in example for place in places):
        run = simulate(scenario.with_numbers(experiments[0].numbers).replaced(duration=float(example.time[-1])))
    axes = []
    for place in places:
        position = run[f"{place}.position"].values
        steps = np.diff(run.time) > 0
        speeds = np.abs(np.diff(position)[steps] / np.diff(run.time)[steps])
        span = max(float(np.nanmax(position) - np.nanmin(position)), 1e-12)
        speed = max(float(np.nanpercentile(speeds, 99)), 1e-12)
        own = {key: sum(_number(b, key) for b in blocks if b.on == place) for key in ("coulomb", "viscous")}
        coulomb = own["coulomb"] or 0.1 * own["viscous"] * speed
        viscous = own["viscous"] or 0.1 * coulomb / speed
        smoothing = max(_number(b, "smoothing_velocity") for b in blocks if b.on == place) or SMOOTH * speed
        axes.append(Axis(place, coulomb, viscous, smoothing, speed, span, _drive(scenario, place)))
    return axes


def _number(block: Block, key: str) -> float:
    value = block.parameters.get(key, 0.0)
    return float(value) if isinstance(value, int | float) else 0.0


def _drive(scenario: Scenario, place: str) -> str:
    """The force that a drive puts on a place, "" where there is none or more than one."""
    owners = [
        b.name for b in scenario.machine.blocks if b.on == place and not b.info.disturbance and not b.info.passive
    ]
    return f"{owners[0]}.torque" if len(owners) == 1 else ""


def propose(
    law: str, scenario: Scenario, blocks: Sequence[Block], axes: Sequence[Axis], link_side: Sequence[str]
) -> Candidate:
    """The scenario with one law on all axes, and the numbers to be fitted."""
    own = SIMPLEST if law in (ELASTIC, BACKLASH, LOAD) else law
    numbers = {axis.place: _first_values(own, axis) for axis in axes}
    laws = [(own, numbers)]
    renamed: dict[str, str] = {}
    if law == LOAD:
        lost = {a.place: {"load_loss": LOST, "smoothing_velocity": a.smoothing} for a in axes}
        laws.append((LOAD, lost))
        _check_drives(axes)
    inputs = {axis.place: {"load": axis.drive} for axis in axes}
    made = with_friction(scenario, blocks, laws, inputs)
    free = [f"{place}.{name}.{key}" for name, of in laws for place, keys in of.items() for key in keys
            if key != "smoothing_velocity"]  # fmt: skip
    if law in (ELASTIC, BACKLASH):
        gears = {axis.place: _gear(made, axis, law == BACKLASH) for axis in axes}
        made = made.replaced(machine=with_elastic_joints(made.machine, gears))
        free += [f"{gear.drive}.gear.{key}" for gear in gears.values() for key in _gear_keys(law)]
        renamed = dict(_motor_side(gears, link_side))
    return Candidate(law, made, tuple(free), renamed)


def _gear_keys(law: str) -> tuple[str, ...]:
    return ("stiffness", "damping", "gap") if law == BACKLASH else ("stiffness", "damping")


def _motor_side(gears: Mapping[str, ElasticGear], link_side: Sequence[str]) -> Iterator[tuple[str, str]]:
    for joint, gear in gears.items():
        for quantity in ("position", "velocity", "acceleration"):
            if f"{joint}.{quantity}" not in link_side:
                yield f"{joint}.{quantity}", f"{gear.drive}.{quantity}"


def _check_drives(axes: Sequence[Axis]) -> None:
    none = [axis.place for axis in axes if not axis.drive]
    if none:
        what = "has no drive, or more than one, whose force could be the load"
        raise ModelError([Flaw(place, what) for place in none], "contest of laws")


def _gear(scenario: Scenario, axis: Axis, play: bool) -> ElasticGear:
    """Numbers that the search for a gear begins with."""
    mechanism = scenario.machine.mechanism
    joint = next((j for j in mechanism.joints if j.name == axis.place), None) if mechanism else None
    if joint is None or not joint.armature:
        what = "no rotor is there that a gear could twist against"
        raise ModelError(
            [Flaw(f"{axis.place}.armature", what, "give the joint its motor's inertia, by the gear squared")]
        )
    stiffness = (axis.coulomb + axis.viscous * axis.speed) / (TWIST * axis.range)
    damping = 0.1 * float(np.sqrt(stiffness * joint.armature))
    return ElasticGear(f"{axis.place}_drive", stiffness, damping, SHORT * axis.range if play else 0.0)


def _first_values(law: str, axis: Axis) -> dict[str, float]:
    """Numbers of a law that a search begins with."""
    level = {"coulomb": axis.coulomb, "viscous": axis.viscous}
    smooth = {"smoothing_velocity": axis.smoothing}
    slow = {"static": STATIC * axis.coulomb, "stribeck_velocity": SLOW * axis.speed}
    stiffness = axis.coulomb / (SHORT * axis.range)
    power = axis.coulomb * axis.speed + axis.viscous * axis.speed**2
    return {
        "viscous_friction": {"viscous": axis.viscous + axis.coulomb / axis.speed},
        "coulomb_friction": level | smooth,
        "stick_friction": level | {"static": STATIC * axis.coulomb},
        "two_way_stick_friction": level | {"coulomb_back": axis.coulomb},
        "stribeck_friction": level | slow | smooth,
        "lugre_friction": level | slow | {"stiffness": stiffness, "damping": 0.1 * axis.viscous},
        "warm_friction": level | smooth | {"softening": 2 * power, "time_constant": axis.range / axis.speed * 3},
    }[law]
