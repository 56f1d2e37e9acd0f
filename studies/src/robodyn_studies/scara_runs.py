"""SCARA study, runs: which do published values and pictures share, and what is read from them?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial

import numpy as np

from robodyn import symbolic as sym
from robodyn.computation.assembly import System, assemble
from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.description.catalog import scara_avoid, scara_avoid_sampled, scara_phases, scara_ptp
from robodyn.description.laws import law
from robodyn.description.model import Scenario, ScenarioSequence, Solver

PAPER = "SNE 29(3) 2019"
OWN = "own"
STEPS = (4e-4, 1e-3, 2e-3)
"""Of the paper's runs [s]."""
METHODS = ("euler", "heun")
ELBOW = "elbow.position"
POSITIONS = ("shoulder.position", ELBOW, "lift.position")
CONVERGED = Solver("dopri5", rtol=1e-9, atol=1e-11)


@law(
    voltage="V",
    velocity="{x}/s",
    current="A",
    torque="{F}",
    resistance="ohm",
    inductance="H",
    torque_constant="N m/A",
    gear="",
    torque_factor="",
    current_limit="A",
    states={"current": 1.0},
)
def output_limited_motor(
    voltage, velocity, current, *, resistance, inductance, torque_constant, gear, torque_factor, current_limit
):
    """Armature whose current is limited where it is used and not where it is integrated: it winds up.

    L i_dot = U - kT n w - R i_a,   i_a = clip(i, -i_max, i_max),   tau = factor n kT i_a
    """
    used = sym.clip(current, -current_limit, current_limit)
    return {
        "torque": torque_factor * gear * torque_constant * used,
        "current_dot": (voltage - torque_constant * gear * velocity - resistance * used) / inductance,
    }


def output_limited(scenario: Scenario) -> Scenario:
    """The same robot with such motors: equation 3 of the paper and its spreadsheet as they are printed."""
    blocks = tuple(
        replace(block, law=output_limited_motor) if block.name.endswith(".motor") else block
        for block in scenario.machine.blocks
    )
    return replace(scenario, machine=replace(scenario.machine, blocks=blocks))


TASKS: Mapping[str, Callable[[float], Scenario | ScenarioSequence]] = {
    "b": lambda _: scara_ptp(),
    "b, output limited": lambda _: output_limited(scara_ptp()),
    "c": lambda _: scara_avoid(),
    "c, phases": lambda _: scara_phases(),
    "c, sampled": scara_avoid_sampled,
    "c, sampled, output limited": lambda step: output_limited(scara_avoid_sampled(step)),
    "c, released at the obstacle's height": partial(scara_avoid_sampled, safe=0.0),
}
"""Tasks of the comparison and ways to do them, by the step of what is decided once a step."""
SAMPLED = ("c, sampled", "c, released")
"""How tasks begin in which something is."""


@cache
def _compiled(task: str, step: float) -> System | ScenarioSequence:
    """A task made computable, once for all methods and, where nothing is sampled, all steps."""
    scenario = TASKS[task](step)
    return scenario if isinstance(scenario, ScenarioSequence) else assemble(scenario)


@cache
def motion(task: str, method: str = "", step: float = 0.0) -> Run:
    """A run of a task; without a method the converged one."""
    sampled = step if task.startswith(SAMPLED) else 0.0
    return simulate(_compiled(task, sampled), Solver(method, step=step) if method else CONVERGED)


def times_of(run: Run) -> dict[str, float]:
    """When each event happened last."""
    return {event.name: event.time for event in run.events}


def largest_difference(run: Run, reference: Run, names: tuple[str, ...] = POSITIONS) -> float:
    """Largest difference of positions at the steps of a run while both last [rad or m]."""
    times = run.time[run.time <= reference.time[-1]]
    return max(float(np.abs(run[name].values[: len(times)] - reference[name](times)).max()) for name in names)
