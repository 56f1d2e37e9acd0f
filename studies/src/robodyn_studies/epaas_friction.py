"""EPAAS study: what do three descriptions of dry friction make of the same robot?

A step of L3, then five seconds of rest. Smoothed friction creeps, bristles settle, friction that sticks stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.presentation.studies import PublishedValue, above, below
from robodyn_studies.catalog import epaas_step
from robodyn_studies.catalog.epaas import find_circuit
from robodyn_studies.catalog.epaas_arm import CENTRES
from robodyn_studies.catalog.epaas_drives import ROBOT_FLOW
from robodyn_studies.epaas_runs import robot_response, robot_run

FRICTIONS = ("smooth", "lugre", "stick")
REST_FROM, REST_TO, REST_STEP = 1.0, 3.0, 0.3
SOURCE = "own comparison"
L3 = find_circuit("l3")
DEAD = ROBOT_FLOW["openings"][2:4]


@cache
def rest_run(friction: str) -> Run:
    """The step of L3 and a long rest after it."""
    return simulate(epaas_step("l3", REST_STEP, duration=REST_TO, friction=friction))


def creep(friction: str) -> float:
    """How far the piston of L3 still moves from 1 to 3 s after the start [m]."""
    place = rest_run(friction)["l3.position"]
    return abs(float(place(REST_TO) - place(REST_FROM)))


def friction_figures() -> Iterator[PublishedValue]:
    """Result, rest, creep and steps of each description, smoothed friction being what the others are held against."""
    smooth = read_step_peak("smooth")
    steps = robot_run("l3").statistics.steps
    for friction in FRICTIONS[1:]:
        peak, overshoot = read_step_peak(friction)
        reason = "the same sliding level of 150 N: the sliding part of the motion hardly differs"
        yield below(f"friction_{friction}_peak_time_change", abs(peak - smooth[0]), 1.0, "ms", reason, SOURCE)
        reason = "a tenth of the overshoot: the loop is near its limit of stability, where small differences show"
        yield below(f"friction_{friction}_overshoot_change", abs(overshoot - smooth[1]), 5.0, "%", reason, SOURCE)
        found = robot_run("l3", friction).statistics
        # Steps end between the corners of LuGre's law, which smoothed friction does not have.
        reason = f"{found.steps} steps and {found.events} events for 110 ms, smoothed friction {steps} steps"
        yield below(f"friction_{friction}_steps_over_smooth", found.steps / steps, 1.7, "", reason, SOURCE)
    yield from _rest_figures()


def _rest_figures() -> Iterator[PublishedValue]:
    wanted = CENTRES["l3"] + REST_STEP / L3.measuring_gain
    dead_band = max(abs(DEAD[0]), abs(DEAD[1])) / L3.gain / L3.measuring_gain
    for friction in FRICTIONS:
        error = abs(float(rest_run(friction)["l3.position"](REST_TO)) - wanted)
        reason = f"3 s after the start; the valve's dead band lets L3 rest up to {1e3 * dead_band:.2f} mm away"
        yield below(f"friction_{friction}_rest_error", 1e3 * error, 1e3 * dead_band, "mm", reason, SOURCE)
    reason = "from 1 to 3 s: smoothed friction has no rest, its force needs speed"
    yield above("friction_smooth_creep", 1e6 * creep("smooth"), 1.0, "um", reason, SOURCE)
    reason = "from 1 to 3 s: bristles settle, then hold"
    yield below("friction_lugre_creep", 1e6 * creep("lugre"), 0.1, "um", reason, SOURCE)
    yield below("friction_stick_creep", 1e6 * creep("stick"), 0.0, "um", "from 1 to 3 s: exactly none", SOURCE)


def read_step_peak(friction: str) -> tuple[float, float]:
    """First peak [ms] and overshoot [%] of the step; there may be no second peak before it sticks."""
    response = robot_response("l3", friction)
    return 1e3 * response.first_peak, 100 * response.overshoot
