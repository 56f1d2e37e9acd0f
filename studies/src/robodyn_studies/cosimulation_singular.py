"""Co-simulation study: what does the rigid arm's singularity do to its reduced interface model, not the flexible one's?

In the study's manoeuvre the wrist's roll axis becomes parallel to the three pitch axes: four joints then turn about
parallel axes, where three could do the same, and two are left for the three other directions, the wall's normal among
them.

In the variant in a plane, roll of the shoulder, yaw and roll of the wrist are rotations about lines in the arm's plane;
where the wrist crosses the line of the shoulder's roll they meet in one point, the wrist, and none of them moves it out
of the plane. A force on the wrist along the pitch axes then meets an unbounded inertia.

An unbounded inertia is no harm by itself: the true arm does not give way there either. Harm comes where the arm is
asked to: two sides that met halfway would have it make up half of what they are apart, by turning its shoulder by that
over the wrist's height. In the plane nothing is apart in that direction; in the variant with a rolling shoulder it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from robodyn.computation.results import Run
from robodyn_studies.catalog.space_case import PORT, YAW, Manoeuvre, move_in_plane
from robodyn_studies.cosimulation_case import LENGTH, Case, Way, couple, whole

ROLL = 0.5
"""Of the shoulder in the variant [rad]: own choice."""
NEAR = 0.05
"""Macro step of the variant, about [s]."""
HIT, MISSED = (-0.01, 0.0, 0.01), (0.5,)
"""Distances of the singular instant from a communication point, in macro steps; how far the arm is thrown varies."""
FROM, TO = 20.0, 34.0
"""Part of the manoeuvre in which effective masses are looked at [s]."""
ROLL_JOINT = "shoulder_roll"


def wrist_above_roll_axis(run: Run) -> np.ndarray:
    """Height of the wrist over the shoulder's roll axis, in the plane of the arm as it has rolled [m]."""
    # The effector's frame begins at the wrist, its centre lies halfway to its tip.
    y, z = (2 * run[f"centre.position.{axis}"].values - run[f"tip.position.{axis}"].values for axis in "yz")
    roll = run[f"{ROLL_JOINT}.position"].values
    return z * np.cos(roll) - y * np.sin(roll)


@cache
def singular_time(flexible: bool, roll: float) -> float:
    """When the wrist of the monolithic run of the variant crosses the roll axis [s]."""
    run = whole(flexible, move_in_plane(roll))
    height = wrist_above_roll_axis(run)
    k = int(np.flatnonzero(np.diff(np.sign(height)))[-1])
    return float(run.time[k] - height[k] * (run.time[k + 1] - run.time[k]) / (height[k + 1] - height[k]))


def singular_step(flexible: bool, roll: float, near: float, phase: float = 0.0) -> float:
    """A macro step near a given one with a communication point where the monolithic run is singular [s].

    Args:
        phase: how far that instant is from the communication point, in macro steps.
    """
    instant = singular_time(flexible, roll)
    return instant / (round(instant / near) + phase)


def rolling(flexible: bool, join: str, phase: float = 0.0) -> Case:
    """The variant with models in both directions, and with a communication point where the arm is singular, or near."""
    way = Way("model-model", flexible, join=join, manoeuvre=move_in_plane(ROLL))
    return couple(way, singular_step(flexible, ROLL, NEAR, phase), watched=False)


def rolling_error(flexible: bool, join: str, phases: Sequence[float] = HIT) -> float:
    """Largest error of point A in space against the monolithic run of the variant [m]."""
    return max(rolling(flexible, join, phase).displacement for phase in phases)


@cache
def effective_masses(flexible: bool, manoeuvre: Manoeuvre = YAW) -> tuple[np.ndarray, np.ndarray]:
    """Times, and the largest effective mass of the arm at its interface, rotations in units of a length [s, kg]."""
    run = whole(flexible, manoeuvre)
    unit = Way("model-model", flexible, manoeuvre=manoeuvre).units()[0]
    names = [state.name for state in unit.system.states]
    known = {name: run[name].values for name in names if name in run}
    rows = np.flatnonzero((run.time >= FROM) & (run.time <= TO))
    scale = np.array([1.0] * 3 + [LENGTH] * 3)
    masses = []
    for row in rows:
        unit.move(np.array([known[name][row] if name in known else 0.0 for name in names]))
        mobility = unit.reduced_model(PORT).mobility
        masses.append(1 / np.linalg.eigvalsh(scale[:, None] * mobility * scale)[0])
    return run.time[rows], np.array(masses)
