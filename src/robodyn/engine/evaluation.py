"""What does the model say at a time and a state: derivatives, Jacobian, polynomial, limits?"""

from robodyn.engine.caching import compiled, inlined
from robodyn.engine.calls import call, first, row
from robodyn.engine.dense import make_dense
from robodyn.engine.history import read_inside
from robodyn.engine.workspace import END, SLOPE, STAGE, START, TRIAL


@inlined
def evaluate_rate(problem, work, run, t, source, target):
    """x_dot at a time within the step, from one row of x into another."""
    s = min(t, run.t_left)
    if problem.n_d > 0:
        read_inside(problem, work, run, s)
    call(problem.rhs, s, row(work.x, source), first(work.d), first(work.m), first(work.p), row(work.x, target))
    run.evaluations += 1


@inlined
def need_slope(problem, work, run):
    """x_dot at the start of the step, into the first stage, unless it is known."""
    if run.slope_known == 0:
        evaluate_rate(problem, work, run, run.t, START, STAGE)
        run.slope_known = 1


@compiled
def need_dense(problem, method, work, run):
    """The polynomial of the step just made, unless it is known."""
    if run.dense_known == 1:
        return
    if method.needs_end == 1:
        evaluate_rate(problem, work, run, run.t + run.h_tried, END, STAGE + method.stages)
        run.end_known = 1
    make_dense(method, work.x, run.h_tried)
    run.dense_known = 1


@compiled
def need_jacobian(problem, work, run):
    """df/dx at the start of the step, unless it is known."""
    if run.jacobian_known == 1:
        return
    if problem.n_d > 0:
        read_inside(problem, work, run, run.t)
    call(problem.jacobian, run.t, row(work.x, START), first(work.d), first(work.m), first(work.p), first(work.jacobian))
    run.jacobians += 1
    run.jacobian_known = 1


@compiled
def evaluate_time_slope(problem, work, run, h):
    """df/dt at the start of the step with x held, into SLOPE.

    With delayed signals, which also change with time, or without a kernel: by three points a thousandth of a step apart,
    f_t = (-3 f(t) + 4 f(t + s) - f(t + 2 s)) / (2 s), whose error is far below the method's.
    """
    x = work.x
    if problem.time_derivative != 0 and problem.n_d == 0:
        call(problem.time_derivative, run.t, row(x, START), first(work.d), first(work.m), first(work.p), row(x, SLOPE))
        return
    s = 1e-3 * h
    evaluate_rate(problem, work, run, run.t + s, START, TRIAL)
    evaluate_rate(problem, work, run, run.t + 2 * s, START, SLOPE)
    for i in range(problem.n_x):
        x[SLOPE, i] = (-3 * x[STAGE, i] + 4 * x[TRIAL, i] - x[SLOPE, i]) / (2 * s)


@compiled
def evaluate_bounds(problem, work, t, source):
    """Limits of the limited states at a time and a row of x; delayed signals as last read."""
    call(problem.limits, t, row(work.x, source), first(work.d), first(work.m), first(work.p), first(work.bounds))


@compiled
def clip_end(problem, work, run):
    """Put the limited states at the end of the step between their limits; True when that changed any."""
    evaluate_bounds(problem, work, min(run.t_new, run.t_left), END)
    changed = False
    for k in range(problem.n_limited):
        i = problem.limited[k]
        value = min(max(work.x[END, i], work.bounds[k]), work.bounds[problem.n_limited + k])
        changed = changed or value != work.x[END, i]
        work.x[END, i] = value
    return changed
