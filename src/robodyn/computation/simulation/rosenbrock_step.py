"""Rosenbrock step, traced: how does a small stiff system take a whole step in one function?

The engine composes a step from calls of the rates and of their derivatives, with dense linear algebra between them. Of
a few states that costs more than the rates. In one function all of it stands in registers, zeros of the Jacobian cost
nothing, and several robots are computed at once:

    W u_i = f(t + c_i h, x0 + sum_j a_ij u_j) + sum_j C_ij u_j / h + time_weight_i h f_t,   W = 1 / (gamma h) - J
    x1 = x0 + sum_i b_i u_i

A graph cannot choose pivots while it runs. So the function also gives by how much the first solution misses its
equations, and the engine takes such a step itself, with pivots.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from robodyn.base.symbolic.elimination import factorise_sparse
from robodyn.computation.assembly.system import System
from robodyn.computation.engine.tableaus import ROSENBROCK, Method, method_table
from robodyn.computation.simulation.problem import STEP
from robodyn.description.model import Solver

MOST_STATES, MOST_OPERATIONS = 8, 150
"""States, and operations of the rates, up to which a step is traced: beyond, compiling takes too long; own choices."""
MISS = 1e-12
"""Part of the terms of an equation by which a solution may miss it: rounding is some 1e-15, own choice."""


def trace_rosenbrock(system: System, solver: Solver) -> dict[str, ca.Function]:
    """The step as a function of [x0, h, the latest time that may be seen]: all u_i, x1 and what is missed; nothing
    where the engine is to compose it."""
    method, n = method_table(solver.method), len(system.states)
    if method.family != ROSENBROCK or system.delays or not 0 < n <= MOST_STATES:
        return {}
    rates = system.function(system.expressions.rhs, "rates")
    if rates.n_instructions() > MOST_OPERATIONS:
        return {}
    column, result = trace_step(method, system.symbols.t, system.symbols.x, system.expressions.rhs)
    return {STEP: ca.Function(STEP, [*system.symbols._replace(x=column)], [result])}


def trace_step(method: Method, t: ca.SX, x: ca.SX, f: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Argument and result of the function for x_dot = f(t, x)."""
    h, latest = ca.SX.sym("h"), ca.SX.sym("latest")
    W = ca.SX.eye(x.numel()) / (method.gamma * h) - ca.jacobian(f, x)
    f_t, solve = ca.jacobian(f, t), factorise_sparse(W)
    u: list[ca.SX] = []
    miss = ca.SX(0)
    for i in range(1, method.stages):
        time = ca.fmin(t + method.c[i] * h, latest)
        right = ca.substitute(f, ca.vertcat(t, x), ca.vertcat(time, x + _combine(method.a[i], u, x))) if u else f
        right = right + _combine(method.C[i], u, x) / h + method.time_weights[i] * h * f_t
        u.append(solve(right))
        if i == 1:
            miss = _missed(W, u[0], right)
    return ca.vertcat(x, h, latest), ca.densify(ca.vertcat(*u, x + _combine(method.b, u, x), miss))


def _combine(weights: Any, u: list[ca.SX], x: ca.SX) -> ca.SX:
    """sum_j weights_j u_j; the engine's first stage, the slope at the start, has no weight."""
    total = ca.SX.zeros(x.numel())
    for weight, each in zip(weights[1:], u, strict=False):
        if weight != 0.0:
            total = total + float(weight) * each
    return total


def _missed(W: ca.SX, u: ca.SX, right: ca.SX) -> ca.SX:
    """By how much W u = right is missed in all, beyond rounding: 0 or more, or no number where u is none."""
    size = ca.fabs(W) @ ca.fabs(u) + ca.fabs(right)
    over = ca.fabs(W @ u - right) - MISS * size
    return ca.sum1(ca.if_else(over <= 0, 0, over))
