"""How do the linearly implicit (Rosenbrock) methods take a step?"""

from robodyn.engine.caching import compiled
from robodyn.engine.dense import copy_row
from robodyn.engine.evaluation import evaluate_rate, evaluate_time_slope, need_jacobian, need_slope
from robodyn.engine.explicit import combine
from robodyn.engine.linear import factorise, solve_factorised
from robodyn.engine.workspace import END, ERROR, SLOPE, STAGE, START, TRIAL


@compiled
def factorise_shifted(work, run, scale, shift):
    """Factorise shift I - scale J; False when singular."""
    n = work.matrix.shape[0]
    for j in range(n):
        for i in range(n):
            work.matrix[j, i] = -scale * work.jacobian[j, i]
        work.matrix[j, j] += shift
    run.factorisations += 1
    return factorise(work.matrix, work.pivots)


@compiled
def step_rosenbrock(problem, method, work, run, h):
    """One linear system a stage, Hairer and Wanner (1996), IV.7, (7.25):

        (I / (gamma h) - J) u_i = f(t + c_i h, x0 + sum_j a_ij u_j) + sum_j C_ij u_j / h + g_i h f_t

    Row 0 of the stages stays the slope at the start, so that a rejected step need not compute it again.
    """
    x = work.x
    need_slope(problem, work, run)
    need_jacobian(problem, work, run)
    evaluate_time_slope(problem, work, run, h)
    if not factorise_shifted(work, run, 1.0, 1.0 / (method.gamma * h)):
        return False
    for i in range(1, method.stages):
        if i == 1:
            copy_row(x, STAGE, STAGE + 1)
        else:
            combine(x, method.a[i], i, 1.0, START, TRIAL)
            evaluate_rate(problem, work, run, run.t + method.c[i] * h, TRIAL, STAGE + i)
        combine(x, method.C[i], i, 1.0 / h, STAGE + i, STAGE + i)
        for k in range(problem.n_x):
            x[STAGE + i, k] += method.g[i] * h * x[SLOPE, k]
        solve_factorised(work.matrix, work.pivots, x, STAGE + i)
    combine(x, method.b, method.stages, 1.0, START, END)
    combine(x, method.e, method.stages, 1.0, -1, ERROR)
    return True

