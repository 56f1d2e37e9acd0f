"""How does the time to compile grow with the size of the traced function?"""

from __future__ import annotations

from functools import partial

import casadi as ca

from benchmarks.arm import N_JOINTS, arm_tree
from benchmarks.rows import Findings, Table
from benchmarks.timing import time_interleaved
from robodyn.dynamics import forward_dynamics
from robodyn.native import compile_kernels, read_program

TARGETS = (10_000, 30_000)
ROUNDS = 3
STEP = 1e-3


def measure() -> Findings:
    """Compile Euler steps of the arm, as many in one function as make up the size, without any cache."""
    functions = {target: trace_steps(target) for target in TARGETS}
    contenders = {
        str(target): partial(compile_kernels, {"steps": function}, cache=False)
        for target, function in functions.items()
    }
    timings = time_interleaved(contenders, ROUNDS)
    lines = []
    for target, function in functions.items():
        operations = read_program(function).n_operations
        seconds = timings.median(str(target))
        lines.append((operations, seconds, seconds / operations * 1e6))
    return Findings(
        tables=(Table("compiling a traced function", ("operations", "s", "us an operation"), tuple(lines)),)
    )


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
