"""Coverage of identified intervals: how often do they hold the truth of a hidden six-axis arm?

python benchmarks/coverage.py [REPETITIONS]
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from robodyn import Recording, simulate
from robodyn.analysis.identification.identify import plan_identification
from robodyn.catalog import find_scenario
from robodyn.catalog.excited_arm import MOTORS
from robodyn.results import Run

COUNT = 2 * np.pi / 4096 / 100
"""Of a motor's encoder behind a gear of 100 [rad]."""
NOISE = 0.02
"""Of measured torques, by their spread."""


def measure(run: Run, seed: int) -> Run:
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


def main(repetitions: int = 200) -> dict[str, float]:
    """Print and return the share of 95 % intervals that hold the truth, of inertias and of friction and offsets."""
    scenario = find_scenario("excited-arm")
    run = simulate(scenario, recording=Recording(rate=1000.0))
    plan = plan_identification(scenario, measure(run, 0))
    cutoff = plan.rows(measure(run, 0)).cutoff
    truth = plan.base.G @ plan.regressor.given
    names = [plan.regressor.names[k] for k in plan.base.kept]
    losses = np.array([".friction." in name or "offset" in name for name in names])
    errors = []
    for seed in range(repetitions):
        found = plan.estimate([plan.rows(measure(run, seed), cutoff)])
        errors.append((found.beta - truth) / np.sqrt(np.diag(found.covariance)))
    held = np.abs(errors) < 1.959964
    shares = {"inertias": float(held[:, ~losses].mean()), "friction": float(held[:, losses].mean())}
    print(f"{repetitions} repetitions, {len(names)} numbers, low-pass {cutoff:.3g} Hz")
    for what, share in shares.items():
        print(f"{what:<10} {100 * share:.1f} % of 95 % intervals hold the truth")
    worst = int(np.argmin(held.mean(axis=0)))
    print(f"least: {plan.base.names[worst][:60]}, {100 * held.mean(axis=0)[worst]:.1f} %")
    return shares


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
