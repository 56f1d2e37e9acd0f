"""Coverage of identified intervals: how often do they hold the truth of a hidden six-axis arm?"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from benchmarks.findings import Findings, Table, require_agreement
from robodyn import Recording, simulate
from robodyn.analysis.identification.identify import plan_identification
from robodyn.computation.results import Run
from robodyn.description.catalog import find_scenario
from robodyn.description.catalog.excited_arm import MOTORS

COUNT = 2 * np.pi / 4096 / 100
"""Of a motor's encoder behind a gear of 100 [rad]."""
NOISE = 0.02
"""Of measured torques, by their spread."""
LEVEL = 0.95


@dataclass(frozen=True)
class Size:
    """Repetitions, and how far the share of intervals that hold the truth may be from 95 %: the fewer, the farther."""

    repetitions: int = 200
    allowed: float = 0.02


SIZES = {"smallest": Size(3, 0.08), "usual": Size()}


def measure(size: Size) -> Findings:
    """The share of 95 % intervals that hold the truth, of inertias and of friction and offsets."""
    scenario = find_scenario("excited-arm")
    run = simulate(scenario, recording=Recording(rate=1000.0))
    log = take_log(run, 0)
    plan = plan_identification(scenario, log)
    cutoff = plan.rows(log).cutoff
    truth = plan.base.G @ plan.regressor.given
    names = [plan.regressor.names[k] for k in plan.base.kept]
    losses = np.array([".friction." in name or "offset" in name for name in names])
    errors = []
    for seed in range(size.repetitions):
        estimate = plan.estimate([plan.rows(take_log(run, seed), cutoff)])
        errors.append((estimate.beta - truth) / estimate.spread.half_widths)
    held = np.abs(errors) < 1
    lines, agreements = [], []
    for what, chosen in {"inertias": ~losses, "friction and offsets": losses}.items():
        share, least = float(held[:, chosen].mean()), float(held[:, chosen].mean(axis=0).min())
        lines.append((what, int(chosen.sum()), f"{100 * share:.1f} %", f"{100 * least:.1f} %"))
        sentence = f"the share of 95 % intervals of {what} that hold the truth and 95 %"
        agreements.append(require_agreement(sentence, abs(share - LEVEL), size.allowed, "of 1"))
    columns = ("numbers", "count", "intervals that hold the truth", "least of one number")
    title = f"{size.repetitions} repetitions, low-pass {cutoff:.3g} Hz"
    return Findings(tables=(Table(title, columns, tuple(lines)),), agreements=tuple(agreements))


def take_log(run: Run, seed: int) -> Run:
    """Encoder counts and torques with noise, as a log would have them."""
    rng = np.random.default_rng(seed)
    motors = np.column_stack([run[f"{motor}.position"].values for motor in MOTORS])
    motors = np.round(motors / COUNT + rng.random(6)) * COUNT
    joints = np.column_stack([motors[:, :5], motors[:, 5] - motors[:, 4]])
    torques = np.column_stack([run[f"{motor}.drive.torque"].values for motor in MOTORS])
    torques += rng.normal(0, NOISE * torques.std(axis=0), torques.shape)
    names = [*(f"joint{k + 1}.position" for k in range(6)), *(f"{motor}.drive.torque" for motor in MOTORS)]
    infos = tuple(replace(run.infos[run.names.index(name)], rate=None) for name in names)
    return Run(run.time, np.column_stack([joints, torques]), infos, run.outcome, run.provenance)
