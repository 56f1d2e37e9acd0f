"""How fast are many robots where one call computes four: forward dynamics, rollouts, welds by both methods?

Rivals run right beside, in as many threads: MuJoCo's rollout of the same arm, the engine with one robot a call.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np

import robodyn as rd
from benchmarks.agreement import Disagreement, largest_difference, require_agreement
from benchmarks.arm import N_JOINTS, arm_kernel, arm_system, mujoco_arm
from benchmarks.many import FRICTION, draw
from benchmarks.rows import Findings, Row
from benchmarks.timing import time_interleaved
from robodyn.perturbation import Perturbed
from robodyn.simulation import CompiledSystem, compile_rollout
from robodyn_studies.catalog import rx90_weld

ROBOTS, ARMS, STEPS, STEP = 4096, 1000, 100, 1e-3
WELDS, ALL_WELDS = 32, 1000
ROUNDS = 9
AGREEMENT, END_AGREEMENT = 1e-12, 1e-9
SIGNAL = "deviation.horizontal"


def measure(full: bool = False) -> Findings:
    """Both arms and the welds of one robot and of many."""
    counts = (1, ALL_WELDS if full else WELDS)
    return Findings((_measure_rates(), _measure_rollout(), *_measure_welds(counts)))


def _random_states(count: int) -> np.ndarray:
    return np.random.default_rng(1).uniform(-1.0, 1.0, (count, 2 * N_JOINTS))


def _measure_rates() -> Row:
    """Accelerations without torques, beside single calls of the same kernel."""
    rollout, states, kernel = compile_rollout(arm_system()), _random_states(ROBOTS), arm_kernel()
    few, torque = states[:64], np.zeros(N_JOINTS)
    single = [kernel(x[:N_JOINTS], x[N_JOINTS:], torque) for x in few]
    difference = largest_difference(zip(rollout.rates(few)[:, N_JOINTS:], single, strict=True))
    accuracy = require_agreement("accelerations at 64 random states", difference, AGREEMENT)
    timings = time_interleaved({"many": partial(rollout.rates, states)}, 3 * ROUNDS)
    per_robot = 1e9 * timings.median("many") / ROBOTS
    return Row(f"forward dynamics, six-axis arm, {ROBOTS} at once, each", per_robot, "ns", accuracy, goal=60.0)


def _measure_rollout() -> Row:
    """Semi-implicit Euler steps of free arms, one thread on both sides."""
    import mujoco
    from mujoco import rollout as rival

    rollout, states, model = compile_rollout(arm_system()), _random_states(ARMS), mujoco_arm(STEP)
    data = mujoco.MjData(model)
    start = np.zeros((ARMS, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1 : 1 + 2 * N_JOINTS] = states
    theirs = np.empty((ARMS, STEPS, start.shape[1]))
    ours = partial(rollout.roll, states, STEPS, STEP)
    roll = partial(rival.rollout, model, data, start, nstep=STEPS, state=theirs, skip_checks=False)
    timings = time_interleaved({"robodyn": ours, "mujoco": roll}, ROUNDS)
    difference = largest_difference([(ours(), theirs[:, -1, 1 : 1 + 2 * N_JOINTS])])
    return Row(
        f"rollout of {ARMS} six-axis arms, a step of each",
        1e9 * timings.median("robodyn") / (ARMS * STEPS),
        "ns",
        require_agreement(f"states after {STEPS} steps", difference, END_AGREEMENT),
        1e9 * timings.median("mujoco") / (ARMS * STEPS),
        f"mujoco.rollout {mujoco.__version__}",
        timings.ratio("robodyn", "mujoco"),
        1 / 30,
    )


def _measure_welds(counts: tuple[int, int]) -> list[Row]:
    """The weld by both methods, friction drawn; processor time of one thread."""
    scenario = rx90_weld()
    near = Perturbed(scenario, signals=(SIGNAL,)).compiled({})
    full = rd.compile_system(rd.assemble(scenario), signals=(SIGNAL,))
    names = [number.name for number in full.system.parameters if number.name.endswith(FRICTION)]
    values = draw(scenario, names, max(counts))
    return [_measure_pair(full, near, {name: one[:n] for name, one in values.items()}, n) for n in counts]


def _measure_pair(full: CompiledSystem, near: CompiledSystem, values: dict[str, np.ndarray], n: int) -> Row:
    lanes = n > 1
    seconds, found = {}, {}
    for name, compiled in (("full", full), ("near", near)):
        kept = {"measures": [f"max:{SIGNAL}"], "record": rd.Recording(rate=1000.0, signals=(SIGNAL,))}
        run = partial(rd.simulate_many, compiled, values, **kept, threads=1, lanes=lanes)
        run()
        begun = time.thread_time()
        found[name] = run()[f"max:{SIGNAL}"]
        seconds[name] = (time.thread_time() - begun) / (n * compiled.system.scenario.duration)
    apart = float(np.max(np.abs(found["full"] - found["near"]))) * 1e6
    if not apart < 20.0:
        raise Disagreement(f"both methods are {apart:.3g} um apart")
    return Row(
        f"RX90B weld, {n} robot{'s in lanes' if lanes else ''}, perturbation method",
        1e3 * seconds["near"],
        "ms/s",
        f"largest deviations within {apart:.2g} um of the non-linear ones",
        1e3 * seconds["full"],
        "non-linear, alike",
        seconds["near"] / seconds["full"],
        1 / 10 if lanes else 1 / 3,
    )
