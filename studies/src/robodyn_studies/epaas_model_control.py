"""EPAAS study, its wish: what do controllers that know the arm gain over plain proportional loops, with 4 kg?

Sag at rest, overshoot by position, error along the path of piston positions. The study asks for such controllers and
has none: all of it is this project's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.presentation.studies import PublishedValue, above, below
from robodyn_studies.catalog import epaas_step, epaas_trajectory
from robodyn_studies.catalog.epaas import PISTONS, STEP_AT, find_circuit
from robodyn_studies.epaas_runs import LOAD

OWN = "this project's own"
PLACES = (-0.02, 0.02)
"""Of the piston L4, from its centre [m]."""
STEP_VOLTS = 0.3


@cache
def path_run(control: str) -> Run:
    """The path through piston positions with the full load."""
    return simulate(epaas_trajectory(payload=LOAD, control=control))


def sag(control: str) -> float:
    """Largest distance of a loaded piston from its target at rest [m]."""
    run = path_run(control)
    return max(abs(run[f"{piston.name}.position"](0.0) - piston.centre) for piston in PISTONS if piston.name != "l2")


def path_error(control: str) -> float:
    """Largest distance of a piston from its target on the way [m]."""
    run, t = path_run(control), np.linspace(0.1, 1.9, 600)
    pairs = [(run[f"{piston.name}.position"](t), run[f"{piston.name}.target.position"](t)) for piston in PISTONS]
    return float(max(np.max(np.abs(found - wanted)) for found, wanted in pairs))


def overshoot(control: str, place: float) -> float:
    """Of a step of L4 [%]: how far the piston passes its target within 0.3 s."""
    scenario = epaas_step("l4", STEP_VOLTS, 0.31, {"l4": place}, payload=LOAD, control=control)
    position = simulate(scenario)["l4.position"]
    height = STEP_VOLTS / find_circuit("l4").measuring_gain
    reached = position(np.linspace(STEP_AT, 0.31, 1500)) - position(STEP_AT)
    return float(100 * (reached.max() / height - 1))


def control_figures() -> Iterator[PublishedValue]:
    """Plain loops against gravity beforehand, gains by the masses felt, and the targets' velocities beforehand."""
    reason = "the valve must open by an error before it carries the load"
    yield above("plain_sag", sag("plain"), 4e-4, "m", reason, OWN)
    yield below("gravity_sag", sag("gravity"), 1e-5, "m", "it is open beforehand", OWN)
    reason = "4 kg make the pistons' masses 5 to 25 times as large: loops tuned without them oscillate"
    yield above("plain_path_error", path_error("plain"), 1e-2, "m", reason, OWN)
    yield above("gravity_path_error", path_error("gravity"), 1e-2, "m", reason, OWN)
    yield below("scheduled_path_error", path_error("scheduled"), 2e-3, "m", "gains by the masses felt", OWN)
    yield below("moving_path_error", path_error("moving"), 5e-4, "m", "and valves open for the velocity", OWN)
    for place in PLACES:
        name = f"at_{1e3 * place:+g}mm"
        yield above(f"plain_overshoot_{name}", overshoot("plain", place), 100.0, "%", reason, OWN)
        yield below(f"scheduled_overshoot_{name}", overshoot("scheduled", place), 25.0, "%", "as without load", OWN)
