"""EPAAS study, runs: which systems and runs do published values and pictures share, and what is read from them?"""

from __future__ import annotations

from functools import cache

import numpy as np

from robodyn.analysis import StepResponse, measure_step
from robodyn.computation.assembly import System, assemble
from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.description.model import Machine, Scenario
from robodyn.presentation.studies import Kind, PublishedValue
from robodyn_studies.catalog import epaas_cylinders, epaas_mechanism, epaas_rig, epaas_step
from robodyn_studies.catalog.epaas import STEP_VOLTS
from robodyn_studies.catalog.epaas_arm import CENTRES, JOINTS, angles_at
from robodyn_studies.catalog.epaas_rig import STEP_AT
from robodyn_studies.catalog.epaas_rig import STEP_VOLTS as RIG_STEP

ACTUATORS = ("l1", "l2", "l3", "l4", "joint1")
"""The study's order; the vane motor turns the first joint."""
LABELS = ("L1", "L2", "L3", "L4", "vane")
LOAD = 4.0
RIG_VOLTS = {"extend": RIG_STEP, "retract": -RIG_STEP}
REST = 0.35
"""When a step of the rig has come to rest [s]."""
PRINTED_STEP = "the study printed its results every {} ms"
REPEATED = "the study prints 40 % and 42 % for one and the same run: 2 %"


def unexplained(
    name: str, printed: float, value: float, unit: str, reason: str, source: str, measured: float | None = None
) -> PublishedValue:
    """A figure that the printed data do not give: ours beside it, without a tolerance that would let it pass."""
    return PublishedValue(name, printed, value, unit, None, reason, source, Kind.RESULT, measured=measured)


@cache
def arm_system(payload: float = 0.0, tunable: tuple[str, ...] = ()) -> System:
    """The arm with its cylinders and nothing that drives them, pistons centred."""
    machine = Machine("epaas", epaas_mechanism(payload=payload), (), epaas_cylinders(), tunable=tunable)
    start = {f"{joint}.position": angle for joint, angle in angles_at(CENTRES).items()}
    return assemble(Scenario("epaas-arm", machine, 1.0, start))


def centred() -> np.ndarray:
    """Joint angles with all pistons at their centres, (5,) [rad]."""
    angles = angles_at(CENTRES)
    return np.array([angles[joint] for joint in JOINTS])


@cache
def rig_run(direction: str, mass: float) -> Run:
    """A step of the rig's set point, the weight balanced, until it is at rest."""
    return simulate(epaas_rig(RIG_VOLTS[direction], mass, duration=STEP_AT + REST, weight=False))


def rig_response(direction: str, mass: float) -> StepResponse:
    """The measuring circuit's answer, against the level at which it comes to rest."""
    return measure_step(rig_run(direction, mass)["piston.measured.output"], STEP_AT)


@cache
def robot_run(axis: str, friction: str = "smooth", reduced: bool = False) -> Run:
    """A step of one axis of the whole robot, its weight balanced, the others holding."""
    return simulate(epaas_step(axis, friction=friction, reduced=reduced, weight=False))


def robot_response(axis: str, friction: str = "smooth", reduced: bool = False) -> StepResponse:
    """The measuring circuit's answer: cylinders against the wanted level, the vane motor against that after 100 ms."""
    run = robot_run(axis, friction, reduced)
    if axis == "vane":
        signal = run["vane.sensor.voltage"]
        return measure_step(signal, STEP_AT, final=signal(STEP_AT + 0.1))
    signal = run[f"{axis}.measured.output"]
    return measure_step(signal, STEP_AT, final=signal(STEP_AT) + STEP_VOLTS[axis])


def read_step(response: StepResponse) -> dict[str, float]:
    """First peak [ms], oscillation time [ms], overshoot [%]."""
    return {
        "peak_time": 1e3 * response.first_peak,
        "oscillation_time": 1e3 * response.oscillation_time,
        "overshoot": 100 * response.overshoot,
    }
