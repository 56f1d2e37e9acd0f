"""How do the explicit methods take a step?"""

from robodyn.engine.calls import ask, floats, state
from robodyn.engine.dense import combine, weights_of
from robodyn.engine.evaluation import clip_row, evaluate_rate, need_slope
from robodyn.engine.record import unit
from robodyn.engine.workspace import END, ERROR, STAGE, START, TRIAL


@unit
def step_explicit(run):
    """Runge-Kutta: k_i = f(t + c_i h, x0 + h sum_j a_ij k_j), x1 = x0 + h sum_i b_i k_i.

    With fixed steps, stages too are kept within the limits of limited states; an adaptive step meets limits at its end.
    """
    h = run.h_tried
    need_slope(run)
    for i in range(1, run.stages):
        target = END if run.reuses_last == 1 and i == run.stages - 1 else TRIAL
        combine(run, weights_of(run, run.a, i), i, h, START, target)
        if run.adaptive == 0 and run.n_limited > 0:
            clip_row(run, run.t + floats(run.c)[i] * h, target)
        evaluate_rate(run, run.t + floats(run.c)[i] * h, target, STAGE + i)
    if run.reuses_last == 0:
        combine(run, floats(run.b), run.stages, h, START, END)
    if run.adaptive == 1:
        combine(run, floats(run.e), run.stages, h, -1, ERROR)
    return True


@unit
def step_symplectic(run):
    """Symplectic Euler: v1 = v0 + h v_dot, z1 = z0 + h z_dot, then q1 = q0 + h q_dot(q0, v1)."""
    h = run.h_tried
    need_slope(run)
    start, trial, end = state(run, START), state(run, TRIAL), state(run, END)
    slope, change = state(run, STAGE), state(run, STAGE + 1)
    for i in range(run.n_x):
        trial[i] = start[i] if i < run.n_q else start[i] + h * slope[i]
    if run.n_q > 0:
        ask(run, run.position_rate, min(run.t + h, run.t_left), trial, change)
    for i in range(run.n_x):
        if i >= run.n_q:
            change[i] = slope[i]
        end[i] = start[i] + h * change[i]
    return True
