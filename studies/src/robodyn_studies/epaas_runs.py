"""EPAAS study, runs: which systems and runs do published values and pictures share, and what is read from them?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Reading:
    """One way to read the study's steps, which prints neither their heights nor the levels of its overshoots.

    Attributes:
        weight: whether it acts on the valves; rig, robot: heights of the steps [V], positive extends.
    """

    weight: bool
    rig: float
    robot: Mapping[str, float] = field(hash=False)

    @property
    def label(self) -> str:
        return "with the weight" if self.weight else "without weight"

    def rig_volts(self, direction: str) -> float:
        """Height of a step that extends or retracts [V]."""
        return self.rig if direction == "extend" else -self.rig


LOADED = Reading(True, RIG_STEP, STEP_VOLTS)
"""The equations as the study writes them, weight and all: a height for the rig, one for each axis of the robot."""
BALANCED = Reading(False, 0.4, {"vane": 0.3, "l3": 0.53, "l4": 0.53, "l1": -0.53, "l2": -0.53})
"""Valves that carry no weight: the heights that suit the tables best then, one for all cylinders of the robot."""


@cache
def rig_run(direction: str, mass: float, reading: Reading = LOADED) -> Run:
    """A step of the rig's setpoint until it is at rest."""
    return simulate(epaas_rig(reading.rig_volts(direction), mass, weight=reading.weight))


def rig_response(direction: str, mass: float, reading: Reading = LOADED) -> StepResponse:
    """The measuring circuit's answer, against the level at which it comes to rest."""
    return measure_step(rig_run(direction, mass, reading)["piston.measured.output"], STEP_AT)


@cache
def robot_run(axis: str, friction: str = "smooth", reduced: bool = False, reading: Reading = LOADED) -> Run:
    """A step of one axis of the whole robot, the others holding."""
    volts = reading.robot[axis]
    return simulate(epaas_step(axis, volts, friction=friction, reduced=reduced, weight=reading.weight))


def robot_response(
    axis: str, friction: str = "smooth", reduced: bool = False, reading: Reading = LOADED
) -> StepResponse:
    """The measuring circuit's answer: cylinders against the wanted level, the vane motor against that after 100 ms."""
    run = robot_run(axis, friction, reduced, reading)
    if axis == "vane":
        signal = run["vane.sensor.voltage"]
        return measure_step(signal, STEP_AT, final=signal(STEP_AT + 0.1))
    signal = run[f"{axis}.measured.output"]
    return measure_step(signal, STEP_AT, final=signal(STEP_AT) + reading.robot[axis])


def read_step(response: StepResponse) -> dict[str, float]:
    """First peak [ms], oscillation time [ms], which is nan where it sticks before a second peak, overshoot [%]."""
    return {
        "peak_time": 1e3 * response.first_peak,
        "oscillation_time": 1e3 * response.oscillation_time if len(response.peaks) > 1 else float("nan"),
        "overshoot": 100 * response.overshoot,
    }
