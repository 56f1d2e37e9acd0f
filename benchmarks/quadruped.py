"""How fast does a quadruped stand and trot, beside MuJoCo with its own contacts, and how true are its feet?

Speed is one thing, contact another: the table has how deep feet sink into the floor and how far they slip while the
robot stands, which is nothing for feet that are rigid and stick.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.agreement import require_agreement
from benchmarks.mujoco_quadruped import Rival
from benchmarks.prepared import Prepared, prepare
from benchmarks.rows import Findings, Row, Table
from benchmarks.timing import Timings, time_interleaved
from robodyn import MachineDynamics, assemble
from robodyn.catalog import quadruped
from robodyn.catalog.quadruped import LEGS
from robodyn.model import Solver

DURATION, ROUNDS = 3.0, 5
GAITS = {"stands": (0.0, 0.0), "trots": (0.1, 0.06)}
STEPS = (1e-3, 2e-3)
"""Of MuJoCo [s]: small enough for its contacts, and its default."""
REAL_TIME_GOAL = 100.0
"""Computing time [ms] for a second: ten times real time."""
SAME_ROBOT = 1e-12
SOLVERS = {True: Solver("dopri5", rtol=1e-4, atol=1e-6), False: Solver("auto", rtol=1e-4, atol=1e-6)}
FEET = tuple(f"{leg}_touch.{quantity}" for quantity in ("gap", "slip") for leg in LEGS)
TIMES = np.arange(0.0, DURATION, 2e-3)


@dataclass(frozen=True)
class Truth:
    """How far feet sink in [m], how far they slip in the last two seconds [m], how far the trunk gets [m], steps."""

    sunk: float
    slipped: float
    way: float
    steps: int


def measure() -> Findings:
    """Rigid and compliant feet, standing and trotting."""
    same = check_robot()
    rows, lines = [], []
    for gait, (stride, lift) in GAITS.items():
        ours = {rigid: prepare_ours(stride, lift, rigid) for rigid in (True, False)}
        rivals = {step: Rival(step, stride, lift, DURATION) for step in STEPS}
        runs = {name_of(rigid): lambda p=p, s=SOLVERS[rigid]: p.run(s, DURATION) for rigid, p in ours.items()}
        runs |= {name_of(step): rival.run for step, rival in rivals.items()}
        timings = time_interleaved(runs, ROUNDS)
        truths = {name_of(rigid): judge_ours(p, SOLVERS[rigid]) for rigid, p in ours.items()}
        truths |= {name_of(step): judge_rival(rival) for step, rival in rivals.items()}
        rows += [compare(gait, name_of(rigid), timings, truths, same) for rigid in ours]
        rows += [keep_up(gait, name_of(rigid), timings) for rigid in ours]
        lines += [tabulate(gait, name, timings.median(name), truth) for name, truth in truths.items()]
    columns = ("gait", "feet", "x real time", "mean step, ms", "sunk in, mm", "slipped in 2 s, um", "way, m")
    return Findings(tuple(rows), (Table("the quadruped and its feet", columns, tuple(lines)),))


def name_of(kind: bool | float) -> str:
    if isinstance(kind, bool):
        return "rigid feet" if kind else "compliant feet"
    return f"MuJoCo at {kind * 1e3:g} ms"


def check_robot() -> str:
    """Both simulate the same robot: mass matrices at random angles, the trunk upright."""
    angles = np.random.default_rng(1).uniform(-1, 1, 12)
    ours = MachineDynamics(quadruped().machine).mass_matrix(np.concatenate([(0, 0, 0, 1, 0, 0, 0), angles]))
    theirs = Rival(STEPS[0], 0.0, 0.0, DURATION).mass_matrix(angles)
    return require_agreement("mass matrices", float(np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs))), SAME_ROBOT)


def prepare_ours(stride: float, lift: float, rigid: bool) -> Prepared:
    scenario = quadruped(stride, lift, rigid, duration=DURATION)
    return prepare(assemble(scenario), SOLVERS[rigid], (*FEET, "base.x.position"))


def judge_ours(prepared: Prepared, solver: Solver) -> Truth:
    trajectory = prepared.run(solver, DURATION, TIMES)
    named = {info.name: trajectory.y[:, k] for k, info in enumerate(prepared.recorded)}
    gaps, slips = np.stack([named[name] for name in FEET], axis=1).reshape(-1, 2, len(LEGS)).transpose(1, 0, 2)
    return _judge(gaps, slips, named["base.x.position"][-1], trajectory.counters.steps)


def judge_rival(rival: Rival) -> Truth:
    states = rival.run()
    return _judge(*rival.feet(states), states[-1, 1], len(states))


def _judge(gaps: np.ndarray, slips: np.ndarray, way: float, steps: int) -> Truth:
    """Args: gaps, slips: of equally spaced rows, (n_rows, 4)."""
    late = slips[len(slips) // 3 :]
    slipped = np.max(np.sum(late, axis=0)) * DURATION / len(slips)
    return Truth(max(0.0, -float(np.min(gaps))), float(slipped), float(way), steps)


def compare(gait: str, name: str, timings: Timings, truths: dict[str, Truth], same: str) -> Row:
    """Ours beside MuJoCo at its smaller step."""
    rival, truth = name_of(STEPS[0]), truths[name]
    seconds = timings.median(name) / DURATION
    feet = f"feet sink in by {truth.sunk * 1e3:.2g} mm, MuJoCo's by {truths[rival].sunk * 1e3:.2g} mm"
    return Row(
        f"{gait}, {name}: computing time of a second",
        seconds * 1e3,
        "ms",
        f"{same}; {feet}",
        timings.median(rival) / DURATION * 1e3,
        rival,
        timings.ratio(name, rival),
    )


def keep_up(gait: str, name: str, timings: Timings) -> Row:
    """Ten times real time."""
    seconds = timings.median(name) / DURATION
    return Row(f"{gait}, {name}: beside the clock", seconds * 1e3, "ms", "of a simulated second", goal=REAL_TIME_GOAL)


def tabulate(gait: str, name: str, seconds: float, truth: Truth) -> tuple[object, ...]:
    slipped = f"{truth.slipped * 1e6:.2g}" if gait == "stands" else "-"
    return gait, name, DURATION / seconds, DURATION / truth.steps * 1e3, truth.sunk * 1e3, slipped, truth.way
