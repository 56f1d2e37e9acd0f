"""How do the explicit methods take a step?"""

from robodyn.engine.caching import compiled, inlined
from robodyn.engine.calls import call, first, row
from robodyn.engine.evaluation import evaluate_rate, need_slope
from robodyn.engine.workspace import END, ERROR, STAGE, START, TRIAL


@inlined
def combine(x, weights, count, factor, base, target):
    """target = base + factor sum_j weights_j STAGE_j, over the first `count` stages; base < 0 is zero."""
    for i in range(x.shape[1]):
        x[target, i] = x[base, i] if base >= 0 else 0.0
    for j in range(count):
        weight = factor * weights[j]
        if weight != 0.0:
            for i in range(x.shape[1]):
                x[target, i] += weight * x[STAGE + j, i]


@compiled
def step_explicit(problem, method, work, run, h):
    """Runge-Kutta: k_i = f(t + c_i h, x0 + h sum_j a_ij k_j), x1 = x0 + h sum_i b_i k_i."""
    x = work.x
    need_slope(problem, work, run)
    for i in range(1, method.stages):
        last = method.reuses_last == 1 and i == method.stages - 1
        target = END if last else TRIAL
        combine(x, method.a[i], i, h, START, target)
        evaluate_rate(problem, work, run, run.t + method.c[i] * h, target, STAGE + i)
    if method.reuses_last == 0:
        combine(x, method.b, method.stages, h, START, END)
    if method.adaptive == 1:
        combine(x, method.e, method.stages, h, -1, ERROR)
    return True


@compiled
def step_symplectic(problem, method, work, run, h):
    """Symplectic Euler: v1 = v0 + h v_dot, z1 = z0 + h z_dot, then q1 = q0 + h q_dot(q0, v1)."""
    x = work.x
    need_slope(problem, work, run)
    for i in range(problem.n_x):
        x[TRIAL, i] = x[START, i] if i < problem.n_q else x[START, i] + h * x[STAGE, i]
    s = min(run.t + h, run.t_left)
    change = row(x, STAGE + 1)
    call(problem.position_rate, s, row(x, TRIAL), first(work.d), first(work.m), first(work.p), change)
    for i in range(problem.n_x):
        if i >= problem.n_q:
            x[STAGE + 1, i] = x[STAGE, i]
        x[END, i] = x[START, i] + h * x[STAGE + 1, i]
    return True
