"""How is a step taken that the model takes itself?

The model's kernel (`Problem.step_whole`) goes from x0 to x1 in one call, stages and linear equations included, so that
everything a step needs twice is computed once.
"""

from robodyn.engine.caching import compiled
from robodyn.engine.calls import ask, floats, state
from robodyn.engine.history import read_inside
from robodyn.engine.record import unit
from robodyn.engine.workspace import END, ERROR, STAGE, START


@unit
def step_whole(run):
    """x1 and its error by one call."""
    n, values = run.n_x, floats(run.inputs)
    start, end_time = state(run, START), min(run.t + run.h_tried, run.t_left)
    for i in range(n):
        values[i] = start[i]
    values[n], values[n + 1] = run.h_tried, end_time
    if run.n_d > 0:
        read_both_ends(run, end_time)
    ask(run, run.step_whole, run.t, values, floats(run.finish))
    run.evaluations += run.stages
    take_results(run)
    return True


@compiled
def read_both_ends(run, end_time):
    """Delayed signals at the start of the step go to the inputs, those at its end are read as usual."""
    kept, d = floats(run.inputs + 8 * (run.n_x + 2)), floats(run.d)
    run.t_read = run.t
    read_inside(run)
    for i in range(run.n_d):
        kept[i] = d[i]
    run.t_read = end_time
    read_inside(run)


@compiled
def take_results(run):
    """x1 into END, the error into ERROR, (x1 - x0) / h into the second stage; the first waits for x_dot0."""
    n, values, inverse = run.n_x, floats(run.finish), 1.0 / run.h_tried
    start, end, errors = state(run, START), state(run, END), state(run, ERROR)
    change = state(run, STAGE + 1)
    for i in range(n):
        end[i] = values[i]
        errors[i] = values[n + i]
        change[i] = (values[i] - start[i]) * inverse
