"""How many operations does a traced six-axis arm cost? Speed is a benchmark; this count is exact."""

import casadi as ca
import numpy as np
import pytest
from tests.support.random_trees import random_inertia

from robodyn.base.spatial import Pose, from_rpy
from robodyn.computation.dynamics import Link, Tree, bias, forward_dynamics, inverse_dynamics, mass_matrix

RIGHT = np.pi / 2
TWISTS = [0.0, -RIGHT, 0.0, RIGHT, -RIGHT, RIGHT]
OFFSETS = [[0, 0, 0.4], [0, 0, 0], [0.45, 0, 0], [0, 0.45, 0], [0, 0, 0], [0, 0.085, 0]]


def six_axis_arm():
    """Arm with axes along z after twists by right angles, and general inertias."""
    rng = np.random.default_rng(0)
    z = np.array([0.0, 0.0, 1.0])
    frames = [Pose(from_rpy(twist, 0.0, 0.0), offset) for twist, offset in zip(TWISTS, OFFSETS, strict=True)]

    return Tree(
        tuple(
            Link(f"link{k}", f"joint{k}", "revolute", k - 1, frame, z, random_inertia(rng), armature=0.1)
            for k, frame in enumerate(frames)
        )
    )


def count_operations(expression, symbols):
    function = ca.Function("traced", symbols, [ca.cse(ca.densify(expression))])
    idle = {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST}

    return sum(function.instruction_id(k) not in idle for k in range(function.n_instructions()))


# Limits are the counts measured when written, plus a few percent for another CasADi's way of folding.
@pytest.mark.parametrize(
    ("trace", "limit"),
    [
        (lambda tree, q, v, u: bias(tree, q, v), 570),
        (lambda tree, q, v, u: inverse_dynamics(tree, q, v, u), 615),
        (lambda tree, q, v, u: mass_matrix(tree, q), 340),
        (lambda tree, q, v, u: forward_dynamics(tree, q, v, u), 1060),
        (lambda tree, q, v, u: forward_dynamics(tree, q, v, u, method="articulated"), 1440),
    ],
    ids=["bias", "inverse", "mass_matrix", "composite", "articulated"],
)
def test_traced_six_axis_arm_stays_small(trace, limit):
    symbols = [ca.SX.sym(name, 6) for name in ("q", "v", "u")]

    assert count_operations(trace(six_axis_arm(), *symbols), symbols) <= limit
