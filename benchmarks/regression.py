"""Regression of a six-axis arm: 100,000 samples through the regressor, against Pinocchio's in Python.

Both sum up Y^T Y of all samples; ours computes the columns of the base parameters alone, which are those that a
regression can use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.arm import AGREEMENT, arm_tree, pinocchio_arm
from benchmarks.findings import Findings, find_rival, largest_difference, require_agreement
from benchmarks.timing import time_interleaved
from robodyn.analysis.identification.regressor import find_base_parameters, make_regressor
from robodyn.computation.dynamics import inverse_dynamics
from robodyn.description.catalog import find_scenario

CHUNK = 500
COMPARED = 20
GOAL = 0.2


@dataclass(frozen=True)
class Size:
    samples: int = 100_000
    rounds: int = 3


SIZES = {"smallest": Size(COMPARED, 1), "usual": Size()}


def measure(size: Size) -> Findings:
    """Ours beside Pinocchio's."""
    pin, samples = find_rival("pinocchio"), size.samples
    whole = make_regressor(find_scenario("swinging-arm"))
    base = find_base_parameters(whole)
    regressor, theta = whole.choose(base.kept), base.G @ whole.given
    q, v, a = np.random.default_rng(0).normal(size=(3, samples, 6))
    few = [(q[k], v[k], a[k]) for k in range(COMPARED)]

    Y, fixed = regressor(q[:COMPARED], v[:COMPARED], a[:COMPARED])
    torques = Y @ theta + fixed
    exact = np.array([inverse_dynamics(arm_tree(), *motion) for motion in few])
    what = f"torques of {len(theta)} base parameters at {COMPARED} samples and those of the inverse dynamics"
    agreements = [require_agreement(what, largest_difference([(torques, exact)]), AGREEMENT)]

    def sum_up(Y: np.ndarray, total: np.ndarray) -> None:
        flat = Y.reshape(-1, total.shape[1])
        total += flat.T @ flat

    def ours() -> None:
        total = np.zeros((len(theta), len(theta)))
        for k in range(0, samples, CHUNK):
            part = slice(k, k + CHUNK)
            sum_up(regressor(q[part], v[part], a[part])[0], total)

    contenders: dict[str, Callable[[], None]] = {"robodyn": ours}
    if pin:
        model, data = pinocchio_arm()
        parameters = np.concatenate([inertia.toDynamicParameters() for inertia in model.inertias[1:]])
        rows = [pin.computeJointTorqueRegressor(model, data, *motion) @ parameters for motion in few]
        # Rotors are not among Pinocchio's parameters.
        rival_torques = np.array(rows) + model.armature * a[:COMPARED]
        difference = largest_difference([(torques, rival_torques)])
        agreements.append(require_agreement("torques and those of Pinocchio's regressor", difference, AGREEMENT))

        def theirs() -> None:
            total, Y = np.zeros((60, 60)), np.empty((CHUNK, 6, 60))
            for k in range(0, samples, CHUNK):
                for i in range(min(CHUNK, samples - k)):
                    Y[i] = pin.computeJointTorqueRegressor(model, data, q[k + i], v[k + i], a[k + i])
                sum_up(Y[: min(CHUNK, samples - k)], total)

        contenders["pinocchio"] = theirs
    row = time_interleaved(contenders, size.rounds).row(
        "row of a regression, six axes",
        "robodyn",
        "us",
        1e6 / samples,
        note=f"{len(theta)} base parameters beside 60",
        rival="pinocchio",
        rival_name=f"pinocchio {pin.__version__}" if pin else "",
        goal=GOAL,
    )
    return Findings((row,), agreements=tuple(agreements), missing=() if pin else ("pinocchio",))
