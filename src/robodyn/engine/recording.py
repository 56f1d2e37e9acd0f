"""Which rows [t, y] are kept?"""

from robodyn.engine.caching import compiled
from robodyn.engine.calls import call, first, row
from robodyn.engine.dense import set_point
from robodyn.engine.evaluation import need_dense
from robodyn.engine.history import read_inside
from robodyn.engine.workspace import POINT, RECORD_NONE, RECORD_STEPS, RECORD_TIMES, START


@compiled
def add_row(problem, work, run, label, t, source):
    """Append the outputs at a time and a row of x, under the time `label`; delayed signals as last read."""
    work.rows[run.n_rows, 0] = label
    if problem.n_y > 0:
        call(problem.outputs, t, row(work.x, source), first(work.d), first(work.m), first(work.p), first(work.y))
        for i in range(problem.n_y):
            work.rows[run.n_rows, 1 + i] = work.y[i]
    run.n_rows += 1


@compiled
def add_point(problem, work, run, label, fraction):
    """Append the outputs at a fraction of the step."""
    t = set_point(work, run, fraction)
    if problem.n_d > 0:
        read_inside(problem, work, run, t)
    add_row(problem, work, run, label, t, POINT)


@compiled
def record_step(problem, method, work, run):
    """Rows of the step just made: equally spaced points and its end, or the instants asked for before its end."""
    if run.kind == RECORD_STEPS:
        if run.refine > 1:
            need_dense(problem, method, work, run)
        for k in range(1, run.refine):
            fraction = k / run.refine
            add_point(problem, work, run, run.t + fraction * (run.t_new - run.t), fraction)
        add_point(problem, work, run, run.t_new, 1.0)
    elif run.kind == RECORD_TIMES:
        record_times(problem, method, work, run)


@compiled
def record_times(problem, method, work, run):
    """The instants asked for from the start of the step to before its end, which the next step has by its right limit."""
    before = run.t_new - run.resolution
    while run.next_time < work.times.shape[0] and work.times[run.next_time] < before:
        t = work.times[run.next_time]
        fraction = (t - run.t) / (run.t_new - run.t)
        if fraction * (run.t_new - run.t) <= run.resolution:
            fraction = 0.0
        need_dense(problem, method, work, run)
        add_point(problem, work, run, t, fraction)
        run.next_time += 1


@compiled
def record_instant(problem, work, run):
    """The first row; then, when steps are kept, the right side of an instant where it differs from the left."""
    if run.n_rows == 0:
        if run.kind != RECORD_TIMES:
            add_row(problem, work, run, run.t, run.t, START)
        return
    if run.kind != RECORD_STEPS:
        return
    add_row(problem, work, run, run.t, run.t, START)
    last = run.n_rows - 1
    for i in range(1 + problem.n_y):
        if work.rows[last, i] != work.rows[last - 1, i]:
            return
    run.n_rows -= 1


@compiled
def record_end(problem, work, run):
    """The last row: the instants asked for at the end of the run, or the end itself where it is not yet kept."""
    if run.kind == RECORD_TIMES:
        while run.next_time < work.times.shape[0] and work.times[run.next_time] <= run.t + run.resolution:
            add_row(problem, work, run, work.times[run.next_time], run.t, START)
            run.next_time += 1
    elif run.kind == RECORD_NONE and (run.n_rows == 1 and run.t > run.t0):
        add_row(problem, work, run, run.t, run.t, START)
