"""How do the linearly implicit (Rosenbrock) methods take a step?"""

from robodyn.engine.caching import compiled
from robodyn.engine.calls import floats, integers, state
from robodyn.engine.dense import combine, copy_row, weights_of
from robodyn.engine.evaluation import evaluate_rate, evaluate_time_slope, need_jacobian, need_slope
from robodyn.engine.linear import factorise, solve_factorised
from robodyn.engine.record import unit
from robodyn.engine.workspace import END, ERROR, SLOPE, STAGE, START, TRIAL


@compiled
def factorise_shifted(run, scale, shift):
    """Factorise shift I - scale J; False when singular.

    The last states, on which no rate depends, are left out: `solve_shifted` finds them by substitution.
    """
    n, core = run.n_x, run.n_x - run.n_quadratures
    factors, columns = floats(run.factors), floats(run.columns)
    for j in range(core):
        for i in range(core):
            factors[j * core + i] = -scale * columns[j * n + i]
        factors[j * (core + 1)] += shift
    run.matrix_scale, run.matrix_shift = scale, shift
    run.factorisations += 1
    return factorise(factors, integers(run.pivots), core)


@compiled
def solve_shifted(run, target):
    """Solve the system factorised last, in place of a row of states."""
    n, core, b = run.n_x, run.n_x - run.n_quadratures, state(run, target)
    solve_factorised(floats(run.factors), integers(run.pivots), core, b)
    columns = floats(run.columns)
    for i in range(core, n):
        total = 0.0
        for j in range(core):
            total += columns[j * n + i] * b[j]
        b[i] = (b[i] + run.matrix_scale * total) / run.matrix_shift


@unit
def step_rosenbrock(run):
    """One linear system a stage, Hairer and Wanner (1996), IV.7, (7.25):

        (I / (gamma h) - J) u_i = f(t + c_i h, x0 + sum_j a_ij u_j) + sum_j C_ij u_j / h + time_weight_i h f_t

    Row 0 of the stages stays the slope at the start, so that a rejected step need not compute it again.
    """
    h = run.h_tried
    need_slope(run)
    need_jacobian(run)
    moves_by_itself = run.autonomous == 1 and run.n_d == 0
    if not moves_by_itself:
        evaluate_time_slope(run, h)
    if not factorise_shifted(run, 1.0, 1.0 / (run.gamma * h)):
        return False
    for i in range(1, run.stages):
        if i == 1:
            copy_row(run, STAGE, STAGE + 1)
        else:
            combine(run, weights_of(run, run.a, i), i, 1.0, START, TRIAL)
            evaluate_rate(run, run.t + floats(run.c)[i] * h, TRIAL, STAGE + i)
        combine(run, weights_of(run, run.C, i), i, 1.0 / h, STAGE + i, STAGE + i)
        if not moves_by_itself:
            stage, slope, weight = state(run, STAGE + i), state(run, SLOPE), floats(run.time_weights)[i] * h
            for k in range(run.n_x):
                stage[k] += weight * slope[k]
        solve_shifted(run, STAGE + i)
    combine(run, floats(run.b), run.stages, 1.0, START, END)
    combine(run, floats(run.e), run.stages, 1.0, -1, ERROR)
    return True
