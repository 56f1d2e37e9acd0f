"""How long do 100,000 Euler steps of the swinging arm take, beside MuJoCo's?

robodyn's `euler` is explicit. MuJoCo's Euler is semi-implicit: it moves the positions with new velocities. So
does robodyn's `symplectic_euler`, which is therefore timed too and must end in MuJoCo's state.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.agreement import largest_difference, require_agreement
from benchmarks.arm import N_JOINTS, arm_kernel, arm_system, mujoco_arm, random_states
from benchmarks.prepared import prepare
from benchmarks.rows import Findings, Row
from benchmarks.timing import Timings, time_interleaved
from robodyn.model import Solver

STEPS, STEP = 100_000, 1e-4
ROUNDS = 21
GOAL = 1 / 8
METHODS = ("euler", "symplectic_euler")
AGREEMENT = 1e-9
# Rounding of 1e-16 a step adds up over 1e5 steps, and the motion magnifies it further.
END_AGREEMENT = 1e-8


def measure() -> Findings:
    """Free motion from the scenario's start; ours keeps only the end, MuJoCo's rollout keeps every state."""
    import mujoco
    from mujoco import rollout

    model = mujoco_arm(STEP)
    data = mujoco.MjData(model)
    accelerations = compare_accelerations(mujoco, model, data)
    solvers = {method: Solver(method, step=STEP) for method in METHODS}
    prepared = {method: prepare(arm_system(), solver, ("joint1.position",)) for method, solver in solvers.items()}
    start = np.zeros((1, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[0, 1 : 1 + 2 * N_JOINTS] = prepared["euler"].x
    states = np.empty((1, STEPS, start.shape[1]))
    roll = partial(rollout.rollout, model, data, start, nstep=STEPS, state=states, skip_checks=False)
    contenders = {method: partial(prepared[method].run, solvers[method], STEPS * STEP) for method in METHODS}
    timings = time_interleaved({**contenders, "mujoco": roll}, ROUNDS)
    end = contenders["symplectic_euler"]()
    roll()
    difference = largest_difference([(end.x, states[0, -1, 1 : 1 + 2 * N_JOINTS])])
    ends = require_agreement(f"states after {end.counters.steps} steps", difference, END_AGREEMENT)
    version = f"mujoco.rollout {mujoco.__version__}"
    return Findings(
        (
            make_row(
                "euler",
                "explicit Euler",
                timings,
                version,
                f"{accelerations}; MuJoCo's Euler is semi-implicit",
            ),
            make_row("symplectic_euler", "semi-implicit Euler", timings, version, f"{accelerations}; {ends}"),
        )
    )


def make_row(method: str, label: str, timings: Timings, rival: str, accuracy: str) -> Row:
    """Times per step."""
    per_step = 1e9 / STEPS
    name = f"{STEPS} steps of the swinging six-axis arm, {label}"
    return Row(
        name,
        timings.median(method) * per_step,
        "ns/step",
        accuracy,
        timings.median("mujoco") * per_step,
        rival,
        timings.ratio(method, "mujoco"),
        GOAL,
    )


def compare_accelerations(mujoco, model, data) -> str:
    """Agreement of both models' accelerations at random states under random torques."""
    kernel, pairs = arm_kernel(), []
    for q, v, tau in random_states(20):
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
        mujoco.mj_forward(model, data)
        pairs.append((kernel(q, v, tau), data.qacc.copy()))
    mujoco.mj_resetData(model, data)
    return require_agreement("accelerations at 20 random states", largest_difference(pairs), AGREEMENT)
