"""What does the model say at a time and a state: derivatives, Jacobian, polynomial, limits?"""

from robodyn.engine.caching import compiled, inlined
from robodyn.engine.calls import ask, floats, integers, state
from robodyn.engine.dense import make_dense
from robodyn.engine.history import read_inside
from robodyn.engine.record import unit
from robodyn.engine.tableaus import WHOLE
from robodyn.engine.workspace import END, SLOPE, STAGE, START, TRIAL


@inlined
def evaluate_rate(run, t, source, target):
    """x_dot at a time within the step, from one row of states into another."""
    s = min(t, run.t_left)
    if run.n_d > 0:
        run.t_read = s
        read_inside(run)
    ask(run, run.rhs, s, state(run, source), state(run, target))
    run.evaluations += 1


@inlined
def need_slope(run):
    """x_dot at the start of the step, into the first stage, unless it is known."""
    if run.slope_known == 0:
        evaluate_rate(run, run.t, START, STAGE)
        run.slope_known = 1


@unit
def need_dense(run):
    """The polynomial of the step just made, unless it is known."""
    if run.dense_known == 1:
        return 0
    if run.family == WHOLE:
        need_slope(run)
    if run.needs_end == 1:
        evaluate_rate(run, run.t + run.h_tried, END, STAGE + run.stages)
        run.end_known = 1
    make_dense(run)
    run.dense_known = 1
    return 1


@compiled
def need_jacobian(run):
    """df/dx at the start of the step, unless it is known."""
    if run.jacobian_known == 1:
        return
    if run.n_d > 0:
        run.t_read = run.t
        read_inside(run)
    ask(run, run.jacobian, run.t, state(run, START), floats(run.columns))
    run.jacobians += 1
    run.jacobian_known = 1


@compiled
def evaluate_time_slope(run, h):
    """df/dt at the start of the step with x held, into SLOPE.

    With delayed signals, which also change with time, or without a kernel: by three points a thousandth of a
    step apart, f_t = (-3 f(t) + 4 f(t + s) - f(t + 2 s)) / (2 s), whose error is far below the method's.
    """
    slope = state(run, SLOPE)
    if run.time_derivative != 0 and run.n_d == 0:
        ask(run, run.time_derivative, run.t, state(run, START), slope)
        return
    s = 1e-3 * h
    evaluate_rate(run, run.t + s, START, TRIAL)
    evaluate_rate(run, run.t + 2 * s, START, SLOPE)
    now, soon = state(run, STAGE), state(run, TRIAL)
    for i in range(run.n_x):
        slope[i] = (-3 * now[i] + 4 * soon[i] - slope[i]) / (2 * s)


@compiled
def clip_row(run, t, target):
    """Put the limited states of a row between their limits at a time; True when that changed any."""
    x, bounds = state(run, target), floats(run.bounds)
    ask(run, run.limits, min(t, run.t_left), x, bounds)
    changed = False
    for k in range(run.n_limited):
        i = integers(run.limited)[k]
        value = min(max(x[i], bounds[k]), bounds[run.n_limited + k])
        changed = changed or value != x[i]
        x[i] = value
    return changed
