"""How long do 100,000 Euler steps of the swinging arm take, beside MuJoCo's?

robodyn's `euler` is explicit. MuJoCo's Euler is semi-implicit: it moves the positions with new velocities. So
does robodyn's `symplectic_euler`, which is therefore timed too and must end in MuJoCo's state.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.arm import (
    AGREEMENT,
    N_JOINTS,
    arm_kernel,
    arm_system,
    check_kernel,
    mujoco_arm,
    random_states,
    step_by_hand,
)
from benchmarks.findings import Findings, find_rival, largest_difference, require_agreement
from benchmarks.timing import prepare, time_interleaved
from robodyn.description.model import Solver

STEP = 1e-4
GOAL = 1 / 8
METHODS = {"euler": "explicit Euler", "symplectic_euler": "semi-implicit Euler"}
# Rounding of 1e-16 a step adds up over 1e5 steps, and the motion magnifies it further.
END_AGREEMENT = 1e-8
BY_HAND = 100
"""Steps that are also made in Python, one call of the forward dynamics each."""


@dataclass(frozen=True)
class Size:
    steps: int = 100_000
    rounds: int = 21


SIZES = {"smallest": Size(steps=200, rounds=1), "usual": Size()}


def measure(size: Size) -> Findings:
    """Free motion from the scenario's start; ours keeps only the end, MuJoCo's rollout keeps every state."""
    mujoco = find_rival("mujoco")
    solvers = {method: Solver(method, step=STEP) for method in METHODS}
    prepared = {method: prepare(arm_system(), solver, ("joint1.position",)) for method, solver in solvers.items()}
    agreements = [check_kernel(20)]
    for method, solver in solvers.items():
        end = prepared[method].run(solver, BY_HAND * STEP).x
        by_hand = step_by_hand(prepared[method].x, BY_HAND, STEP, semi_implicit=method == "symplectic_euler")
        what = f"states after {BY_HAND} steps of {method} and those made in Python"
        agreements.append(require_agreement(what, largest_difference([(end, by_hand)]), AGREEMENT))

    contenders = {method: partial(prepared[method].run, solvers[method], size.steps * STEP) for method in METHODS}
    if mujoco:
        agreements.append(compare_accelerations(mujoco))
        contenders["mujoco"] = prepare_rollout(mujoco, prepared["euler"].x, size.steps)
    timings = time_interleaved(contenders, size.rounds)
    if mujoco:
        end, theirs = contenders["symplectic_euler"]().x, contenders["mujoco"]()[0, -1, 1 : 1 + 2 * N_JOINTS]
        what = f"states after {size.steps} semi-implicit steps and MuJoCo's"
        agreements.append(require_agreement(what, largest_difference([(end, theirs)]), END_AGREEMENT))
    rows = tuple(
        timings.row(
            f"{size.steps} steps of the swinging six-axis arm, {label}",
            method,
            "ns/step",
            1e9 / size.steps,
            note="MuJoCo's Euler is semi-implicit" if method == "euler" else "",
            rival="mujoco",
            rival_name=f"mujoco.rollout {mujoco.__version__}" if mujoco else "",
            goal=GOAL,
        )
        for method, label in METHODS.items()
    )
    return Findings(rows, agreements=tuple(agreements), missing=() if mujoco else ("mujoco",))


def prepare_rollout(mujoco: Any, x: np.ndarray, steps: int) -> partial[np.ndarray]:
    """MuJoCo's own loop over all steps, which returns every state."""
    from mujoco import rollout

    model = mujoco_arm(STEP)
    start = np.zeros((1, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[0, 1 : 1 + 2 * N_JOINTS] = x
    states = np.empty((1, steps, start.shape[1]))
    data = mujoco.MjData(model)

    def roll() -> np.ndarray:
        rollout.rollout(model, data, start, nstep=steps, state=states, skip_checks=False)
        return states

    return partial(roll)


def compare_accelerations(mujoco: Any) -> str:
    """Agreement of both models' accelerations at random states under random torques."""
    model = mujoco_arm(STEP)
    data, kernel, pairs = mujoco.MjData(model), arm_kernel(), []
    for q, v, tau in random_states(20):
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
        mujoco.mj_forward(model, data)
        pairs.append((kernel(q, v, tau), data.qacc.copy()))
    return require_agreement("accelerations and MuJoCo's there", largest_difference(pairs), AGREEMENT)
