"""Which rows [t, y] are kept?"""

from robodyn.engine.caching import compiled
from robodyn.engine.calls import ask, floats, row, state
from robodyn.engine.dense import set_point
from robodyn.engine.evaluation import clip_row, need_dense
from robodyn.engine.history import read_inside
from robodyn.engine.record import unit
from robodyn.engine.workspace import POINT, RECORD_NONE, RECORD_STEPS, RECORD_TIMES, START


@compiled
def add_row(run, label, t, source):
    """Append the outputs at a time and a row of states, under the time `label`; delayed signals as last
    read."""
    entry = row(run.rows, 1 + run.n_y, run.n_rows)
    entry[0] = label
    if run.n_y > 0:
        ask(run, run.outputs, t, state(run, source), floats(run.rows + 8 * ((1 + run.n_y) * run.n_rows + 1)))
    run.n_rows += 1


@compiled
def add_point(run, label, fraction):
    """Append the outputs at a fraction of the step."""
    t = set_point(run, fraction)
    if run.n_d > 0:
        run.t_read = t
        read_inside(run)
    if run.n_limited > 0:
        clip_row(run, t, POINT)
    add_row(run, label, t, POINT)


@unit
def record_step(run):
    """Rows of the step just made: equally spaced points and its end, or the instants asked for before its
    end."""
    if run.kind == RECORD_STEPS:
        if run.refine > 1:
            need_dense(run)
        for k in range(1, run.refine):
            fraction = k / run.refine
            add_point(run, run.t + fraction * (run.t_new - run.t), fraction)
        add_point(run, run.t_new, 1.0)
    elif run.kind == RECORD_TIMES:
        record_times(run)
    return 0


@compiled
def record_times(run):
    """The instants asked for from the start of the step to before its end, which the next step has by its
    right limit."""
    before = run.t_new - run.resolution
    while run.next_time < run.n_times and floats(run.times)[run.next_time] < before:
        t = floats(run.times)[run.next_time]
        fraction = (t - run.t) / (run.t_new - run.t)
        if fraction * (run.t_new - run.t) <= run.resolution:
            fraction = 0.0
        else:
            need_dense(run)
        add_point(run, t, fraction)
        run.next_time += 1


@unit
def record_instant(run):
    """The first row; then, when steps are kept, the right side of an instant where it differs from the
    left."""
    if run.n_rows == 0:
        if run.kind != RECORD_TIMES:
            add_row(run, run.t, run.t, START)
        return 0
    if run.kind != RECORD_STEPS:
        return 0
    add_row(run, run.t, run.t, START)
    right, left = row(run.rows, 1 + run.n_y, run.n_rows - 1), row(run.rows, 1 + run.n_y, run.n_rows - 2)
    for i in range(1 + run.n_y):
        if right[i] != left[i]:
            return 0
    run.n_rows -= 1
    return 0


@unit
def record_end(run):
    """The last row: the instants asked for at the end of the run, or the end itself where it is not yet
    kept."""
    if run.kind == RECORD_TIMES:
        while run.next_time < run.n_times and floats(run.times)[run.next_time] <= run.t + run.resolution:
            add_row(run, floats(run.times)[run.next_time], run.t, START)
            run.next_time += 1
        if run.keep_end == 1 and (run.n_rows == 0 or row(run.rows, 1 + run.n_y, run.n_rows - 1)[0] < run.t):
            add_row(run, run.t, run.t, START)
    elif run.kind == RECORD_NONE and (run.n_rows == 1 and run.t > run.t0):
        add_row(run, run.t, run.t, START)
    return 0
