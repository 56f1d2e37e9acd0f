"""How do the diagonally implicit methods with an explicit first stage take a step?"""

import numpy as np

from robodyn.engine.caching import compiled
from robodyn.engine.calls import floats, state
from robodyn.engine.dense import combine, copy_row, weights_of
from robodyn.engine.evaluation import evaluate_rate, need_jacobian, need_slope
from robodyn.engine.record import unit
from robodyn.engine.rosenbrock import factorise_shifted, solve_shifted
from robodyn.engine.workspace import END, ERROR, POINT, STAGE, START, TRIAL

MAX_ITERATIONS = 10
NEWTON_ACCURACY = 0.01
"""Newton's error as part of the tolerance of the step: it must not disturb the error estimate."""


@unit
def step_esdirk(run):
    """x_i = x0 + h sum_j<i a_ij k_j + h gamma k_i with k_i = f(t + c_i h, x_i); False when Newton does not
    converge.

    The error estimate is filtered by (I - h gamma J)^-1, so that stiff parts do not spoil it: Hosea and
    Shampine (1996).
    """
    h = run.h_tried
    need_slope(run)
    need_jacobian(run)
    if not factorise_shifted(run, run.gamma * h, 1.0):
        return False
    for i in range(1, run.stages):
        if not solve_stage(run, h, i):
            return False
    combine(run, floats(run.b), run.stages, h, START, END)
    combine(run, floats(run.e), run.stages, h, -1, ERROR)
    solve_shifted(run, ERROR)
    return True


@compiled
def solve_stage(run, h, i):
    """Simplified Newton for the stage's slope: (I - h gamma J) dk = f(x_i) - k, x_i = base + h gamma k."""
    trial, base, slope, residual = (
        state(run, TRIAL),
        state(run, END),
        state(run, STAGE + i),
        state(run, POINT),
    )
    combine(run, weights_of(run, run.a, i), i, h, START, END)
    copy_row(run, STAGE + i - 1, STAGE + i)
    size_before = 0.0
    for iteration in range(MAX_ITERATIONS):
        for k in range(run.n_x):
            trial[k] = base[k] + h * run.gamma * slope[k]
        evaluate_rate(run, run.t + floats(run.c)[i] * h, TRIAL, POINT)
        for k in range(run.n_x):
            residual[k] -= slope[k]
        solve_shifted(run, POINT)
        run.newton_iterations += 1
        size = correct(run, h, STAGE + i)
        rate = size / size_before if iteration > 0 else 0.0
        if not size < np.inf or (iteration > 1 and rate >= 1.0):
            return size < 1e-3 * NEWTON_ACCURACY
        if size < 1e-3 * NEWTON_ACCURACY or (iteration > 0 and size * rate < NEWTON_ACCURACY * (1.0 - rate)):
            return True
        size_before = size
    return False


@compiled
def correct(run, h, stage):
    """Add the correction in POINT to the stage's slope; the size of its effect on x, scaled as errors are."""
    start, slope, correction, scale = (
        state(run, START),
        state(run, stage),
        state(run, POINT),
        floats(run.scale),
    )
    total = 0.0
    for k in range(run.n_x):
        slope[k] += correction[k]
        allowed = run.atol * scale[k] + run.rtol * abs(start[k])
        total += (h * run.gamma * correction[k] / allowed) ** 2
    return np.sqrt(total / max(run.n_x, 1))
