"""How is a step taken whose equations the model itself gives?

The model writes the residual of a step and its exact derivatives (`Problem.step_residual`, `step_jacobian`); here they
are solved, by Newton's method with a matrix that is kept, from step to step too, as long as it serves.
"""

import numpy as np

from robodyn.engine.caching import compiled, inlined
from robodyn.engine.calls import ask, floats, integers, state
from robodyn.engine.evaluation import need_slope
from robodyn.engine.history import read_inside
from robodyn.engine.linear import factorise, solve_factorised
from robodyn.engine.record import unit
from robodyn.engine.workspace import END, STAGE, START

MAX_ITERATIONS = 25
ACCURACY = 1e-10
"""Largest correction that still counts, relative to 1 + |u|."""
ROUNDING = 1e-11
"""The same for what h^2 u stands for: accelerations and forces that keep positions lose digits in short steps."""
FAST, STALLED = 0.1, 0.5
"""Rates of convergence: above the first the matrix is made anew, above the second nothing is gained any more."""

SAME = 1e-9
"""Part of a step by which lengths of steps differ that share a matrix."""


@unit
def step_traced(run):
    """Solve residual(x0, x_dot0, w, h, u) = 0 for u, then x1, x_dot1 and w of the next step follow; False when Newton
    does not converge."""
    fresh = run.slope_known == 0
    need_slope(run)
    t = min(run.t + run.h_tried, run.t_left)
    if run.n_d > 0:
        run.t_read = t
        read_inside(run)
    fill_inputs(run, fresh)
    ask(run, run.step_guess, t, floats(run.inputs), unknowns(run))
    if not solve_step(run, t, fresh):
        return False
    ask(run, run.step_end, t, floats(run.inputs), floats(run.finish))
    take_finish(run)
    return True


@inlined
def unknowns(run):
    """Where u is in the inputs of the kernels."""
    return floats(run.inputs + 8 * (2 * run.n_x + run.n_kept + 3))


@compiled
def fill_inputs(run, fresh):
    """The known part of the inputs: x0, x_dot0, h, whether w counts, spectral radius; w is there already."""
    n, values = run.n_x, floats(run.inputs)
    start, slope = state(run, START), state(run, STAGE)
    for i in range(n):
        values[i] = start[i]
        values[n + i] = slope[i]
    place = 2 * n + run.n_kept
    values[place] = run.h_tried
    values[place + 1] = 1.0 if fresh else 0.0
    values[place + 2] = run.spectral_radius


@compiled
def solve_step(run, t, fresh):
    """Newton's method for the unknowns, from the model's guess."""
    # The matrix depends on h, and on whether w counts: the sign tells.
    key = -run.h_tried if fresh else run.h_tried
    renew, before = abs(run.matrix_scale - key) > SAME * run.h_tried, 0.0
    for iteration in range(MAX_ITERATIONS):
        ask(run, run.step_residual, t, floats(run.inputs), floats(run.correction))
        run.evaluations += 1
        if renew and not make_matrix(run, t, key):
            return False
        solve_factorised(floats(run.factors), integers(run.pivots), run.n_unknowns, floats(run.correction))
        run.newton_iterations += 1
        size = correct_unknowns(run)
        if size == np.inf:
            break
        rate = size / before if iteration > 0 else 1.0
        if size <= ACCURACY or (rate < 1.0 and size * rate <= ACCURACY * (1.0 - rate)):
            return True
        if iteration > 1 and renew and rate > STALLED and size * run.h_tried**2 <= ROUNDING:
            return True
        renew = iteration > 0 and rate > FAST
        before = size
    run.matrix_scale = 0.0
    return False


@compiled
def make_matrix(run, t, key):
    """Evaluate and factorise the derivatives of the residual; False when singular."""
    ask(run, run.step_jacobian, t, floats(run.inputs), floats(run.factors))
    run.jacobians += 1
    run.factorisations += 1
    run.matrix_scale = key
    return factorise(floats(run.factors), integers(run.pivots), run.n_unknowns)


@compiled
def correct_unknowns(run):
    """Take the correction off the unknowns; its largest entry relative to 1 + |u|."""
    u, correction, size = unknowns(run), floats(run.correction), 0.0
    for i in range(run.n_unknowns):
        u[i] -= correction[i]
        change = abs(correction[i]) / (1.0 + abs(u[i]))
        if not change < np.inf:
            return np.inf
        size = max(size, change)
    return size


@compiled
def take_finish(run):
    """x1 into END, the three rows of the polynomial into the stages, w for the next step."""
    n, values, kept = run.n_x, floats(run.finish), floats(run.inputs + 16 * run.n_x)
    start, end = state(run, START), state(run, END)
    change, slope = state(run, STAGE + 1), state(run, STAGE + 2)
    for i in range(n):
        end[i] = values[i]
        change[i] = (values[i] - start[i]) / run.h_tried
        slope[i] = values[n + i]
    for i in range(run.n_kept):
        kept[i] = values[2 * n + i]
