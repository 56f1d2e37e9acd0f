"""Constraints study: does the cable strike the wall of its hoistway, and does the control prevent it? (section 6)

That is what the study's control is for. Wall and cable are this project's own choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from robodyn.computation.assembly import assemble
from robodyn.computation.results import Run
from robodyn.computation.simulation import CompiledSystem, compile_system, simulate
from robodyn.presentation.studies import PublishedValue, below
from robodyn_studies.catalog.cable_control import NEVER
from robodyn_studies.catalog.cable_wall import GAP, HARDNESS, cable_controlled_wall, near_wall
from robodyn_studies.constraints_cable import CABLE, SWAY
from robodyn_studies.constraints_runs import OWN

TOUCHES = tuple(f"touch{k}" for k in near_wall(CABLE))
SPAN = (80.0, 120.0)
"""From when the control has had time to act, to the end of the run [s]."""


@cache
def walled_cable() -> CompiledSystem:
    """The standard cable with its controller beside the wall."""
    return compile_system(assemble(cable_controlled_wall(SPAN[1])))


@cache
def walled_run(controlled: bool) -> Run:
    """120 s from rest; the control begins after 50 s, or never."""
    return simulate(walled_cable(), parameters={} if controlled else {"drive.begin": NEVER})


def wall_gap(run: Run) -> np.ndarray:
    """Least distance of the cable from the wall [m], (n_times,); negative where it presses into it."""
    return np.min([run[f"{touch}.gap"].values for touch in TOUCHES], axis=0)


def wall_force(run: Run) -> np.ndarray:
    """Force of the cable on the wall [N], (n_times,)."""
    return np.sum([run[f"{touch}.force.normal"].values for touch in TOUCHES], axis=0)


def strikes(run: Run, begin: float, end: float) -> list[float]:
    """Instants at which a part of the cable strikes the wall within a span [s]."""
    return [event.time for event in run.events if event.name.endswith(".touches") and begin <= event.time < end]


def peak_sway(run: Run, begin: float, end: float) -> float:
    """Largest displacement from rest at the sensor within a span [m]."""
    times = np.arange(begin, end, 0.1)
    return float(np.max(np.abs(run[SWAY](times) - run[SWAY](0.0))))


def wall_figures() -> Iterator[PublishedValue]:
    """Peak sway, strikes and clearance, without control and with it."""
    free, held = walled_run(False), walled_run(True)
    span = f"{SPAN[0]:g} to {SPAN[1]:g} s, the wall {GAP:g} m behind the cable's end"
    sways = [peak_sway(run, *SPAN) for run in (free, held)]
    reason = f"peak sway at the sensor, {sways[0]:.3f} m without control, {span}: 0.6 of it"
    yield below("cable_wall_peak_sway", sways[1], 0.6 * sways[0], "m", reason, OWN)
    counts = [len(strikes(run, 0.0, SPAN[1])) for run in (free, held)]
    reason = f"strikes of links at the wall, {counts[0]} without control. Most come before it begins, 50 s after the "
    reason += "earthquake as in the study: it cannot prevent them"
    yield below("cable_wall_strikes", counts[1], counts[0], "", reason, OWN)
    late = held.time >= SPAN[0]
    reason = f"least clearance with control, {span}; without it {np.min(wall_gap(free)[late]):.3f} m"
    yield PublishedValue("cable_wall_clearance", None, float(np.min(wall_gap(held)[late])), "m", None, reason, OWN)
    forces = [float(np.max(wall_force(run))) for run in (free, held)]
    reason = (
        f"largest force on the wall, {forces[0]:.3g} N without control, all the time; of {HARDNESS['stiffness']:g} "
    )
    reason += "N/m per metre of cable"
    yield PublishedValue("cable_wall_force", None, forces[1], "N", None, reason, OWN)
    last = [max(strikes(run, 0.0, SPAN[1]), default=0.0) for run in (free, held)]
    reason = f"the last strike with control; without it at {last[0]:.0f} s, the end of the run being {SPAN[1]:g} s"
    yield below("cable_wall_last_strike", last[1], last[0], "s", reason, OWN)
