"""What were the delayed signals some time ago?

The signals w of every step are kept as polynomials of degree 4 through five points of the step. At a time
where w
jumped, the side counts: a step reads the right limit at its start and the left limit at its end.
"""

import numpy as np

from robodyn.engine.caching import compiled, inlined
from robodyn.engine.calls import ask, floats, integers, row, state
from robodyn.engine.dense import set_point
from robodyn.engine.record import unit
from robodyn.engine.workspace import POINT

NODES = np.arange(5) / 4
TO_COEFFICIENTS = np.linalg.inv(np.vander(NODES, increasing=True))
"""Monomial coefficients in theta from the values at the five nodes, (5, 5)."""


@inlined
def kept_step(run, index):
    """A step of the history: [start, end, polynomial of each delayed signal (5)]."""
    return row(run.history, 2 + 5 * run.n_d, index)


@inlined
def end_of(run, index):
    """End of a step of the history [s]; the time before the start, step -1, ends at t0."""
    return run.t0 if index < 0 else kept_step(run, index)[1]


@compiled
def read_signal(run, j, index, t):
    """Delayed signal j at time t by a step of the history."""
    if index < 0:
        return floats(run.history_start)[j]
    step = kept_step(run, index)
    theta = (t - step[0]) / (step[1] - step[0])
    k = 2 + 5 * j
    value = step[k + 4]
    for power in range(3, -1, -1):
        value = value * theta + step[k + power]
    return value


@unit
def read_right(run):
    """Right limits d(t+) at the present time; moves the cursors there."""
    cursor = integers(run.cursor)
    for j in range(run.n_d):
        t = run.t - floats(run.delay_times)[j]
        while cursor[j] + 1 < run.n_history and end_of(run, cursor[j]) <= t + run.resolution:
            cursor[j] += 1
        floats(run.d)[j] = read_signal(run, j, cursor[j], t)
    return 0


@unit
def read_inside(run):
    """Delayed signals at the time t_read within the present step, its end seen from the left."""
    for j in range(run.n_d):
        t = run.t_read - floats(run.delay_times)[j]
        index = integers(run.cursor)[j]
        while index + 1 < run.n_history and end_of(run, index) < t - run.resolution:
            index += 1
        floats(run.d)[j] = read_signal(run, j, index, t)
    return 0


@unit
def keep_step(run):
    """Append the present step's delayed signals to the history; a step too short to matter is left out."""
    if run.t_new - run.t <= run.resolution:
        return 0
    for k in range(5):
        run.t_read = set_point(run, NODES[k])
        read_inside(run)
        ask(run, run.delayed, run.t_read, state(run, POINT), row(run.nodes, run.n_d, k))
    step = kept_step(run, run.n_history)
    step[0], step[1] = run.t, run.t_new
    for j in range(run.n_d):
        for power in range(5):
            value = 0.0
            for k in range(5):
                value += TO_COEFFICIENTS[power, k] * row(run.nodes, run.n_d, k)[j]
            step[2 + 5 * j + power] = value
    run.n_history += 1
    return 1


@unit
def make_room(run):
    """Drop what no delay reads any more; False when the history or a queue must be grown."""
    cursor = integers(run.cursor)
    unused = run.n_history
    for j in range(run.n_d):
        unused = min(unused, cursor[j])
        if integers(run.queue_ends)[2 * j + 1] + 1 >= run.queue_capacity:
            return False
    if run.n_history < run.history_capacity:
        return True
    if 2 * unused < run.n_history:
        return False
    width = 2 + 5 * run.n_d
    history = floats(run.history)
    for i in range((run.n_history - unused) * width):
        history[i] = history[i + unused * width]
    for j in range(run.n_d):
        cursor[j] -= unused
    run.n_history -= unused
    return True


@inlined
def queue_of(run, j):
    """Times of the coming jumps of delayed signal j, their levels, and [first, count] of this ring."""
    place = 8 * run.queue_capacity * j
    return floats(run.queue + place), integers(run.queue_level + place), integers(run.queue_ends + 16 * j)


@compiled
def next_jump(run):
    """Earliest time at which a delayed signal jumps or has a kink [s]."""
    t = np.inf
    for j in range(run.n_d):
        times, _, ends = queue_of(run, j)
        if ends[1] > 0:
            t = min(t, times[ends[0]])
    return t


@compiled
def pass_jumps(run, level):
    """Take the jumps reached by now from the queues; the lowest level of these and the one given."""
    for j in range(run.n_d):
        times, levels, ends = queue_of(run, j)
        while ends[1] > 0 and times[ends[0]] <= run.t:
            level = min(level, levels[ends[0]])
            ends[0] = (ends[0] + 1) % run.queue_capacity
            ends[1] -= 1
    return level


@compiled
def push_jumps(run, level):
    """What happened now arrives after each delay; level counts how often it has been integrated."""
    for j in range(run.n_d):
        t = run.t + floats(run.delay_times)[j]
        if t < run.t_last:
            times, levels, ends = queue_of(run, j)
            place = (ends[0] + ends[1]) % run.queue_capacity
            times[place], levels[place] = t, level
            ends[1] += 1
