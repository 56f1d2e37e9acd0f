"""How do the diagonally implicit methods with an explicit first stage take a step?"""

import numpy as np

from robodyn.engine.caching import compiled
from robodyn.engine.evaluation import evaluate_rate, need_jacobian, need_slope
from robodyn.engine.explicit import combine
from robodyn.engine.linear import solve_factorised
from robodyn.engine.rosenbrock import factorise_shifted
from robodyn.engine.workspace import END, ERROR, POINT, STAGE, START, TRIAL

MAX_ITERATIONS = 10
NEWTON_ACCURACY = 0.01
"""Newton's error as part of the tolerance of the step: it must not disturb the error estimate."""


@compiled
def step_esdirk(problem, method, work, run, h):
    """x_i = x0 + h sum_j<i a_ij k_j + h gamma k_i with k_i = f(t + c_i h, x_i); False when Newton does not converge.

    The error estimate is filtered by (I - h gamma J)^-1, so that stiff parts do not spoil it: Hosea and Shampine (1996).
    """
    need_slope(problem, work, run)
    need_jacobian(problem, work, run)
    if not factorise_shifted(work, run, method.gamma * h, 1.0):
        return False
    for i in range(1, method.stages):
        if not solve_stage(problem, method, work, run, h, i):
            return False
    combine(work.x, method.b, method.stages, h, START, END)
    combine(work.x, method.e, method.stages, h, -1, ERROR)
    solve_factorised(work.matrix, work.pivots, work.x, ERROR)
    return True


@compiled
def solve_stage(problem, method, work, run, h, i):
    """Simplified Newton for the stage's slope: (I - h gamma J) dk = f(x_i) - k, x_i = base + h gamma k."""
    x = work.x
    stage = STAGE + i
    combine(x, method.a[i], i, h, START, END)
    for k in range(problem.n_x):
        x[stage, k] = x[stage - 1, k]
    size_before, rate = 0.0, 0.0
    for iteration in range(MAX_ITERATIONS):
        for k in range(problem.n_x):
            x[TRIAL, k] = x[END, k] + h * method.gamma * x[stage, k]
        evaluate_rate(problem, work, run, run.t + method.c[i] * h, TRIAL, POINT)
        for k in range(problem.n_x):
            x[POINT, k] -= x[stage, k]
        solve_factorised(work.matrix, work.pivots, x, POINT)
        run.newton_iterations += 1
        size = correct(problem, method, work, run, h, stage)
        rate = size / size_before if iteration > 0 else 0.0
        if not size < np.inf or (iteration > 1 and rate >= 1.0):
            return size < 1e-3 * NEWTON_ACCURACY
        if size < 1e-3 * NEWTON_ACCURACY or (iteration > 0 and size * rate < NEWTON_ACCURACY * (1.0 - rate)):
            return True
        size_before = size
    return False


@compiled
def correct(problem, method, work, run, h, stage):
    """Add the correction in POINT to the stage's slope; the size of its effect on x, scaled as errors are."""
    x = work.x
    total = 0.0
    for k in range(problem.n_x):
        x[stage, k] += x[POINT, k]
        allowed = run.atol * problem.scale[k] + run.rtol * abs(x[START, k])
        total += (h * method.gamma * x[POINT, k] / allowed) ** 2
    return np.sqrt(total / max(problem.n_x, 1))
