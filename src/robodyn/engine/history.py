"""What were the delayed signals some time ago?

The signals w of every step are kept as polynomials of degree 4 through five points of the step. At a time where w
jumped, the side counts: a step reads the right limit at its start and the left limit at its end.
"""

import numpy as np

from robodyn.engine.caching import compiled, inlined
from robodyn.engine.calls import call, first, row
from robodyn.engine.dense import set_point
from robodyn.engine.workspace import POINT

NODES = np.arange(5) / 4
TO_COEFFICIENTS = np.linalg.inv(np.vander(NODES, increasing=True))
"""Monomial coefficients in theta from the values at the five nodes, (5, 5)."""


@inlined
def read_signal(problem, work, j, index, t):
    """Delayed signal j at time t by the step `index` of the history; -1 is the time before the start."""
    if index < 0:
        return problem.history_start[j]
    begin, end = work.history[index, 0], work.history[index, 1]
    theta = (t - begin) / (end - begin)
    k = 2 + 5 * j
    value = work.history[index, k + 4]
    for power in range(3, -1, -1):
        value = value * theta + work.history[index, k + power]
    return value


@inlined
def end_of(work, run, index):
    """End of a step of the history [s]; the time before the start ends at t0."""
    return run.t0 if index < 0 else work.history[index, 1]


@compiled
def read_right(problem, work, run):
    """Right limits d(t+) at the present time; moves the cursors there."""
    for j in range(problem.n_d):
        t = run.t - problem.delay_times[j]
        index = work.cursor[j]
        while index + 1 < run.n_history and end_of(work, run, index) <= t + run.resolution:
            index += 1
        work.cursor[j] = index
        work.d[j] = read_signal(problem, work, j, index, t)


@compiled
def read_inside(problem, work, run, s):
    """Delayed signals at a time s within the present step, its end seen from the left."""
    for j in range(problem.n_d):
        t = s - problem.delay_times[j]
        index = work.cursor[j]
        while index + 1 < run.n_history and end_of(work, run, index) < t - run.resolution:
            index += 1
        work.d[j] = read_signal(problem, work, j, index, t)


@compiled
def keep_step(problem, work, run):
    """Append the present step's delayed signals to the history; a step too short to matter is left out."""
    if run.t_new - run.t <= run.resolution:
        return
    for k in range(5):
        s = set_point(work, run, NODES[k])
        read_inside(problem, work, run, s)
        call(problem.delayed, s, row(work.x, POINT), first(work.d), first(work.m), first(work.p), row(work.nodes, k))
    entry = run.n_history
    work.history[entry, 0], work.history[entry, 1] = run.t, run.t_new
    for j in range(problem.n_d):
        for power in range(5):
            value = 0.0
            for k in range(5):
                value += TO_COEFFICIENTS[power, k] * work.nodes[k, j]
            work.history[entry, 2 + 5 * j + power] = value
    run.n_history += 1


@compiled
def make_room(problem, work, run):
    """Drop what no delay reads any more; False when the history or a queue must be grown."""
    for j in range(problem.n_d):
        if work.queue_ends[j, 1] + 1 >= work.queue.shape[1]:
            return False
    if run.n_history < work.history.shape[0]:
        return True
    unused = work.cursor.min()
    if 2 * unused < run.n_history:
        return False
    for i in range(unused, run.n_history):
        work.history[i - unused] = work.history[i]
    for j in range(problem.n_d):
        work.cursor[j] -= unused
    run.n_history -= unused
    return True


@compiled
def next_jump(problem, work):
    """Earliest time at which a delayed signal jumps or has a kink [s]."""
    t = np.inf
    for j in range(problem.n_d):
        if work.queue_ends[j, 1] > 0:
            t = min(t, work.queue[j, work.queue_ends[j, 0]])
    return t


@compiled
def pass_jumps(problem, work, run):
    """Take the jumps reached by now from the queues; the lowest level passed, or a large number."""
    level = 1_000_000
    capacity = work.queue.shape[1]
    for j in range(problem.n_d):
        while work.queue_ends[j, 1] > 0 and work.queue[j, work.queue_ends[j, 0]] <= run.t:
            level = min(level, work.queue_level[j, work.queue_ends[j, 0]])
            work.queue_ends[j, 0] = (work.queue_ends[j, 0] + 1) % capacity
            work.queue_ends[j, 1] -= 1
    return level


@compiled
def push_jumps(problem, work, run, level):
    """A jump of derivative `level - 1` now arrives at T + delay with one more continuous derivative."""
    capacity = work.queue.shape[1]
    for j in range(problem.n_d):
        t = run.t + problem.delay_times[j]
        if t < run.t_end:
            place = (work.queue_ends[j, 0] + work.queue_ends[j, 1]) % capacity
            work.queue[j, place] = t
            work.queue_level[j, place] = level
            work.queue_ends[j, 1] += 1
