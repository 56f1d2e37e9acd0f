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
from robodyn.description.catalog import scara_phases, scara_ptp
from robodyn.description.catalog.scara import ARM, LENGTH_1, LENGTH_2, LIMITS, NEAR, X_OBSTACLE
from robodyn.description.laws import law
from robodyn.description.model import Block, Scenario, ScenarioSequence, Solver
from robodyn_studies.catalog.scara_avoid import VOLTAGES, avoiding_scenario, scara_avoid, scara_avoid_sampled

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


def printed_targets(
    d_mod, height_before, shoulder_before, elbow_before, shoulder_held, elbow_held, tip, height, shoulder, elbow,
    regular, emergency, x_obstacle, critical, obstacle_height,
):  # fmt: skip
    """Targets and voltage limits of a row, as the paper prints the formulas of its sheet for task c.

    d_mod,i = IF(AND(d_mod,i-1 < d_crit; q3,i-1 - h_obs < 0); d_mod,i-1; d,i)
    q1_t,i  = IF(AND(q3,i - h_obs < 0; d_mod,i < d_crit); q1,i-1; q1_t,i-1)
    """
    frozen = sym.logical_and(d_mod < critical, height_before - obstacle_height < 0)
    distance = sym.where(frozen, d_mod, tip - x_obstacle)
    avoiding = sym.logical_and(height - obstacle_height < 0, distance < critical)
    targets = {
        "shoulder_target": sym.where(avoiding, shoulder_before, shoulder_held),
        "elbow_target": sym.where(avoiding, elbow_before, elbow_held),
    }
    limits = [sym.where(avoiding, high, low) for low, high in zip(regular, emergency, strict=True)]
    return targets | {
        "limit": tuple(limits),
        "d_mod_next": distance,
        "height_before_next": height,
        "shoulder_before_next": shoulder,
        "elbow_before_next": elbow,
        "shoulder_held_next": targets["shoulder_target"],
        "elbow_held_next": targets["elbow_target"],
    }


def printed_avoidance(step: float) -> Scenario:
    """Task c by the printed formulas of the spreadsheet, its motors too."""
    start = {"d_mod": LENGTH_1 + LENGTH_2 - X_OBSTACLE, "height_before": 0.0}
    start |= {f"{axis.joint}_before": 0.0 for axis in ARM} | {f"{axis.joint}_held": axis.target for axis in ARM}
    inputs = NEAR | {axis.joint: f"{axis.joint}.position" for axis in ARM}
    numbers = {**VOLTAGES, **LIMITS}
    steering = Block("steering", printed_targets, inputs=inputs, parameters=numbers, memory=start, period=step)
    title = "SCARA robot, collision avoidance by the formulas that the paper prints"
    solver = Solver("euler", step=step)
    return output_limited(avoiding_scenario("scara-avoid-printed", steering, (), solver, title))


TASKS: Mapping[str, Callable[[float], Scenario | ScenarioSequence]] = {
    "b": lambda _: scara_ptp(),
    "b, output limited": lambda _: output_limited(scara_ptp()),
    "c": lambda _: scara_avoid(),
    "c, phases": lambda _: scara_phases(),
    "c, sampled": scara_avoid_sampled,
    "c, sampled, output limited": lambda step: output_limited(scara_avoid_sampled(step)),
    "c, as printed": printed_avoidance,
    "c, released at the obstacle's height": partial(scara_avoid_sampled, safe=0.0),
}
"""Tasks of the comparison and ways to do them, by the step of what is decided once a step."""
SAMPLED = ("c, sampled", "c, as printed", "c, released")
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
