"""How does the time to compile grow with the size of the traced function?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import casadi as ca
import numpy as np

from benchmarks.arm import N_JOINTS, arm_tree
from benchmarks.findings import Findings, Table, largest_difference, require_agreement
from benchmarks.timing import time_interleaved
from robodyn.computation.dynamics import forward_dynamics
from robodyn.computation.native import compile_kernels, read_program

STEP = 1e-3
# CasADi's own evaluation takes the same operations in the same order; only its elementary functions are others.
AGREEMENT = 1e-12


@dataclass(frozen=True)
class Size:
    operations: tuple[int, ...] = (10_000, 30_000)
    rounds: int = 3


SIZES = {"smallest": Size(operations=(1000,), rounds=1), "usual": Size()}


def measure(size: Size) -> Findings:
    """Compile Euler steps of the arm, as many in one function as make up the size, without any cache."""
    functions = {target: trace_steps(target) for target in size.operations}
    contenders = {
        str(target): partial(compile_kernels, {"steps": function}, cache=False)
        for target, function in functions.items()
    }
    timings = time_interleaved(contenders, size.rounds)
    start = np.random.default_rng(1).uniform(-0.5, 0.5, 2 * N_JOINTS)
    lines, agreements = [], []
    for target, function in functions.items():
        operations = read_program(function).n_operations
        seconds = timings.median(str(target))
        lines.append((operations, seconds, seconds / operations * 1e6))
        native = contenders[str(target)]().kernels["steps"](start)
        interpreted = np.array(function(start)).ravel()
        what = f"native results of {operations} operations and CasADi's own"
        agreements.append(require_agreement(what, largest_difference([(native, interpreted)]), AGREEMENT))
    columns = ("operations", "s", "us an operation")
    return Findings(tables=(Table("compiling a traced function", columns, tuple(lines)),), agreements=tuple(agreements))


def trace_steps(operations: int) -> ca.Function:
    """(q, v) -> (q, v) after some Euler steps, with at least so many operations."""
    tree = arm_tree()
    start = ca.SX.sym("x", 2 * N_JOINTS)
    x = start
    while True:
        q, v = x[:N_JOINTS], x[N_JOINTS:]
        a = ca.SX(forward_dynamics(tree, q, v, [0.0] * N_JOINTS))
        x = ca.vertcat(q + STEP * v, v + STEP * a)
        function = ca.Function("steps", [start], [x])
        if function.n_instructions() >= operations:
            return function
