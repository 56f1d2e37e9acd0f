"""How fast are many robots where one call computes four: forward dynamics, rollouts, welds by both methods?

Rivals run right beside, in as many threads: MuJoCo's rollout of the same arm, the engine with one robot a call.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import robodyn as rd
from benchmarks.arm import N_JOINTS, arm_kernel, arm_system, mujoco_arm, step_by_hand
from benchmarks.findings import Findings, Row, find_rival, largest_difference, require_agreement
from benchmarks.many import DEVIATION, compiled_weld, draw_friction
from benchmarks.rx90 import WHOLE, shorten
from benchmarks.timing import time_interleaved
from robodyn.computation.perturbation import Perturbed
from robodyn.computation.simulation import CompiledSystem, compile_rollout
from robodyn_studies.catalog import rx90_weld

STEP = 1e-3
AGREEMENT, END_AGREEMENT = 1e-12, 1e-9
# Of largest deviations, which are some 50 um [m]: a few counts of the encoders.
SAME_DEVIATION = 2e-6


@dataclass(frozen=True)
class Size:
    """Numbers of robots and steps, and the duration of a weld [s]."""

    robots: int = 4096
    arms: int = 1000
    steps: int = 100
    welds: int = 32
    weld: float = WHOLE
    rounds: int = 9


SIZES = {"smallest": Size(16, 8, 10, 4, 0.6, 1), "usual": Size(), "full": Size(welds=1000)}


def measure(size: Size) -> Findings:
    """Both arms and the welds of one robot and of many."""
    mujoco = find_rival("mujoco")
    rows, agreements = [], []
    for row, sentences in (_measure_rates(size), _measure_rollout(mujoco, size), *_measure_welds(size)):
        rows.append(row)
        agreements += sentences
    return Findings(tuple(rows), agreements=tuple(agreements), missing=() if mujoco else ("mujoco",))


def _random_states(count: int) -> np.ndarray:
    return np.random.default_rng(1).uniform(-1.0, 1.0, (count, 2 * N_JOINTS))


def _measure_rates(size: Size) -> tuple[Row, list[str]]:
    """Accelerations without torques, beside single calls of the same kernel."""
    rollout, states, kernel = compile_rollout(arm_system()), _random_states(size.robots), arm_kernel()
    few, torque = states[:64], np.zeros(N_JOINTS)
    single = [kernel(x[:N_JOINTS], x[N_JOINTS:], torque) for x in few]
    difference = largest_difference(zip(rollout.rates(few)[:, N_JOINTS:], single, strict=True))
    agreements = [require_agreement("accelerations of many at once and of single calls", difference, AGREEMENT)]
    timings = time_interleaved({"many": partial(rollout.rates, states)}, 3 * size.rounds)
    name = f"forward dynamics, six-axis arm, {size.robots} at once, each"
    return timings.row(name, "many", "ns", 1e9 / size.robots, goal=60.0), agreements


def _measure_rollout(mujoco: Any, size: Size) -> tuple[Row, list[str]]:
    """Semi-implicit Euler steps of free arms, one thread on both sides."""
    rollout, states = compile_rollout(arm_system()), _random_states(size.arms)
    ours = partial(rollout.roll, states, size.steps, STEP)
    contenders: dict[str, Any] = {"robodyn": ours}
    ends, by_hand = ours(), step_by_hand(states[0], size.steps, STEP, semi_implicit=True)
    what = f"states after {size.steps} steps"
    difference = largest_difference([(ends[0], by_hand)])
    agreements = [require_agreement(f"{what} and those made in Python", difference, END_AGREEMENT)]
    if mujoco:
        from mujoco import rollout as rival

        model = mujoco_arm(STEP)
        start = np.zeros((size.arms, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
        start[:, 1 : 1 + 2 * N_JOINTS] = states
        theirs = np.empty((size.arms, size.steps, start.shape[1]))
        settings = {"nstep": size.steps, "state": theirs, "skip_checks": False}
        contenders["mujoco"] = partial(rival.rollout, model, mujoco.MjData(model), start, **settings)
        contenders["mujoco"]()
        difference = largest_difference([(ends, theirs[:, -1, 1 : 1 + 2 * N_JOINTS])])
        agreements.append(require_agreement(f"{what} and MuJoCo's", difference, END_AGREEMENT))
    row = time_interleaved(contenders, size.rounds).row(
        f"rollout of {size.arms} six-axis arms, a step of each",
        "robodyn",
        "ns",
        1e9 / (size.arms * size.steps),
        rival="mujoco",
        rival_name=f"mujoco.rollout {mujoco.__version__}" if mujoco else "",
        goal=1 / 30,
    )
    return row, agreements


def _measure_welds(size: Size) -> list[tuple[Row, list[str]]]:
    """The weld by both methods, friction drawn; processor time of one thread."""
    near = Perturbed(replace(rx90_weld(), duration=size.weld), signals=(DEVIATION,)).compiled({})
    full, values = shorten(compiled_weld(), size.weld), draw_friction(size.welds)
    return [_measure_pair(full, near, {name: drawn[:n] for name, drawn in values.items()}, n) for n in (1, size.welds)]


def _measure_pair(
    full: CompiledSystem, near: CompiledSystem, values: dict[str, np.ndarray], n: int
) -> tuple[Row, list[str]]:
    lanes = n > 1
    seconds, largest = {}, {}
    for name, compiled in (("full", full), ("near", near)):
        kept = {"measures": [f"peak:{DEVIATION}"], "record": rd.Recording(rate=1000.0, signals=(DEVIATION,))}
        run = partial(rd.simulate_many, compiled, values, **kept, threads=1, lanes=lanes)
        run()
        begun = time.thread_time()
        largest[name] = run()[f"peak:{DEVIATION}"]
        seconds[name] = (time.thread_time() - begun) / (n * compiled.system.scenario.duration)
    row = Row(
        f"RX90B weld, {n} robot{'s in lanes' if lanes else ''}, perturbation method",
        1e3 * seconds["near"],
        "ms/s",
        rival=1e3 * seconds["full"],
        rival_name="non-linear, alike",
        ratio=seconds["near"] / seconds["full"],
        goal=1 / 10 if lanes else 1 / 3,
    )
    apart = float(np.max(np.abs(largest["full"] - largest["near"])))
    return row, [require_agreement(f"largest deviations of {n} by both methods", apart, SAME_DEVIATION, "m")]
