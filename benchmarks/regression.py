"""Regression of a six-axis arm: 100,000 samples through the regressor, against Pinocchio's in Python.

Both sum up Y^T Y of all samples; ours computes the columns of the base parameters alone, which are those that a
regression can use.

    python -m benchmarks.regression [SAMPLES]
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.rows import Findings, Row, show
from benchmarks.timing import time_interleaved
from robodyn.analysis.identification.base_parameters import find_base_parameters
from robodyn.analysis.identification.regressor import make_regressor
from robodyn.catalog import find_scenario

CHUNK = 500
GOAL = 0.2


def measure(samples: int = 100_000, rounds: int = 3) -> Findings:
    """Ours beside Pinocchio's."""
    import pinocchio as pin

    regressor = make_regressor(find_scenario("swinging-arm"))
    regressor = regressor.choose(find_base_parameters(regressor).kept)
    q, v, a = np.random.default_rng(0).normal(size=(3, samples, 6))

    model = pin.Model()
    joint = 0
    for k in range(6):
        joint = model.addJoint(joint, pin.JointModelRZ(), pin.SE3.Random(), f"joint{k}")
        model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    data = model.createData()

    def sum_up(Y: np.ndarray, total: np.ndarray) -> None:
        flat = Y.reshape(-1, total.shape[1])
        total += flat.T @ flat

    def ours() -> None:
        total = np.zeros((len(regressor.parameters),) * 2)
        for k in range(0, samples, CHUNK):
            part = slice(k, k + CHUNK)
            sum_up(regressor(q[part], v[part], a[part])[0], total)

    def theirs() -> None:
        total, Y = np.zeros((60, 60)), np.empty((CHUNK, 6, 60))
        for k in range(0, samples, CHUNK):
            for i in range(min(CHUNK, samples - k)):
                Y[i] = pin.computeJointTorqueRegressor(model, data, q[k + i], v[k + i], a[k + i])
            sum_up(Y[: min(CHUNK, samples - k)], total)

    timings = time_interleaved({"robodyn": ours, "pinocchio": theirs}, rounds)
    times = [1e6 * timings.median(name) / samples for name in ("robodyn", "pinocchio")]
    accuracy = f"{len(regressor.parameters)} base parameters beside 60; tests hold Y theta to 1e-11"
    version, ratio = f"pinocchio {pin.__version__}", timings.ratio("robodyn", "pinocchio")
    return Findings((Row("row of a regression, six axes", times[0], "us", accuracy, times[1], version, ratio, GOAL),))


if __name__ == "__main__":
    print(show(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)))
