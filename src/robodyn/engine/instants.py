"""What happens at an instant: events and their actions, ticks and their tasks?"""

import numpy as np

from robodyn.engine.caching import compiled, inlined
from robodyn.engine.calls import ask, floats, integers, state
from robodyn.engine.evaluation import clip_row
from robodyn.engine.eventlog import log_event
from robodyn.engine.guards import find_jumps, marks_of, note_guards, settle_signs
from robodyn.engine.history import next_jump, pass_jumps, push_jumps, read_right
from robodyn.engine.record import unit
from robodyn.engine.recording import record_instant
from robodyn.engine.workspace import (
    EVENTS,
    FIRED,
    FIRED_BEFORE,
    JUMPED,
    LOCATED,
    REASON_ACTION,
    REASON_DONE,
    REASON_TASK,
    SETTLE,
    SMOOTH,
    START,
    STEPS,
    TICKS,
)


@unit
def begin_instant(run):
    """Arrive at an instant: note which tick, break and delayed jumps it is, and read the delayed signals from
    the right."""
    reached = run.t >= run.t_stop
    run.t_left = np.inf
    run.tick_due = reached and run.stop_is_tick == 1
    run.jump_level = SMOOTH
    run.x_changed = 0
    run.m_changed = 0
    run.guard = 0
    run.task = 0
    if reached and run.stop_is_break == 1:
        run.jump_level = 0
        while run.next_break < run.n_breaks and floats(run.breaks)[run.next_break] <= run.t:
            run.next_break += 1
    if run.n_d > 0:
        run.jump_level = pass_jumps(run, run.jump_level)
        read_right(run)
    if run.jump_level < SMOOTH:
        forget_slope(run)
    if run.n_all_guards > 0:
        note_guards(run)
    run.phase = EVENTS
    return 0


@compiled
def forget_slope(run):
    """The derivatives at the present state have to be computed anew."""
    run.slope_known = 0
    run.jacobian_known = 0


@unit
def run_events(run):
    """Actions of the guards that fired, in declared order, each on the x and m the one before it left.

    Guards that an action makes jump across zero fire at the same instant, after those.
    """
    while True:
        while run.guard < run.n_guards:
            j = run.guard
            run.guard += 1
            fired = marks_of(run, FIRED)[j]
            if fired in (LOCATED, JUMPED):
                log_event(run, j, run.t)
                if fired == JUMPED:
                    marks_of(run, FIRED)[j] = FIRED_BEFORE
                if integers(run.guard_action)[j] < 0:
                    run.x_changed = 1
                    return REASON_ACTION
                if integers(run.guard_action)[j] > 0:
                    act(run, integers(run.guard_action)[j])
        run.guard = 0
        run.phase = TICKS
        if not run_again(run):
            return REASON_DONE


@compiled
def run_again(run):
    """Mark what fired as done and look for guards that jumped; True when there are any."""
    for j in range(run.n_all_guards):
        if marks_of(run, FIRED)[j] == LOCATED:
            marks_of(run, FIRED)[j] = -LOCATED
    something_jumped = run.x_changed == 1 or run.m_changed == 1 or run.jump_level < SMOOTH
    if run.armed == 0 or run.n_guards == 0 or not something_jumped:
        return False
    return find_jumps(run) == 1


@compiled
def act(run, address):
    """A compiled action: new x and m."""
    x, m, changed = state(run, START), floats(run.m), floats(run.changed)
    ask(run, address, run.t, x, changed)
    for i in range(run.n_x):
        x[i] = changed[i]
    for i in range(run.n_m):
        m[i] = changed[run.n_x + i]
    run.x_changed = 1


@unit
def run_ticks(run):
    """Tasks due at this tick, in declared order, each on the m the one before it left."""
    if run.tick_due == 1:
        while run.task < run.n_tasks:
            k = run.task
            run.task += 1
            if integers(run.task_due)[k] != run.tick:
                continue
            integers(run.task_due)[k] += integers(run.task_period)[k]
            if integers(run.task_address)[k] == 0:
                return REASON_TASK
            ask(run, integers(run.task_address)[k], run.t, state(run, START), floats(run.changed))
            take_memory(run)
        run.tick_due = 0
        run.ticks += 1
    run.phase = EVENTS if run.m_changed == 1 and run_again(run) else SETTLE
    return REASON_DONE


@inlined
def pass_tick(run):
    """An instant without events, delays or right limits to record: its tasks, then the next segment."""
    run.m_changed = 0
    for k in range(run.n_tasks):
        if integers(run.task_due)[k] == run.tick:
            integers(run.task_due)[k] += integers(run.task_period)[k]
            ask(run, integers(run.task_address)[k], run.t, state(run, START), floats(run.changed))
            take_memory(run)
    run.ticks += 1
    if run.m_changed == 1:
        if run.n_limited > 0:
            clip_row(run, run.t, START)
        forget_slope(run)
    plan_segment(run)


@compiled
def take_memory(run):
    """Take over the memory a task has written; note whether it differs."""
    m, changed = floats(run.m), floats(run.changed)
    for i in range(run.n_m):
        if m[i] != changed[i]:
            run.m_changed = 1
        m[i] = changed[i]


@unit
def settle_instant(run):
    """Leave an instant: signs of the guards, right side of the record, coming delayed jumps.

    At the start, before any guard is armed, an action may make the state consistent.
    """
    if run.armed == 0 and run.start_action > 0 and run.t <= run.t0:
        act(run, run.start_action)
    if run.n_limited > 0 and (run.x_changed == 1 or run.m_changed == 1 or run.t <= run.t0):
        clip_row(run, run.t, START)
    if run.x_changed == 1 or run.m_changed == 1:
        forget_slope(run)
    if run.n_all_guards > 0:
        settle_signs(run)
    record_instant(run)
    if run.n_d > 0:
        level = note_level(run) + 1
        if level <= max(run.order, run.delay_depth):
            push_jumps(run, level)
    return 0


@compiled
def note_level(run):
    """How smooth the delayed signals are here: 0 after a jump; a tick's jump is followed only through delays that feed
    one another directly."""
    level = run.jump_level
    if run.m_changed == 1:
        level = min(level, max(run.order, run.delay_depth) - run.delay_depth)
    if run.x_changed == 1 or run.t <= run.t0:
        level = 0
    return level


@compiled
def next_tick(run):
    """Number of the next tick at which any task is due."""
    number = np.iinfo(np.int64).max
    for k in range(run.n_tasks):
        number = min(number, integers(run.task_due)[k])
    return number


@inlined
def tick_time(run):
    """When the present tick is: the nearest number to t0 + tick base, from whole numbers where they are known."""
    if run.base_numerator > 0:
        return run.t0 + (run.tick * run.base_numerator) / run.base_denominator
    return run.t0 + run.tick * run.base_period


@compiled
def plan_segment(run):
    """The segment ends at the next tick, break, delayed jump or the end of the run, whichever is first."""
    run.t_stop = run.t_end
    run.stop_is_tick = 0
    if run.last_tick >= 0:
        run.tick = next_tick(run)
        if run.tick <= run.last_tick:
            run.t_stop = min(tick_time(run), run.t_end)
            run.stop_is_tick = 1
    if run.n_d > 0:
        stop_at(run, next_jump(run))
    run.stop_is_break = 0
    if run.next_break < run.n_breaks and floats(run.breaks)[run.next_break] <= run.t_stop:
        stop_at(run, floats(run.breaks)[run.next_break])
        run.stop_is_break = 1
    run.t_left = np.nextafter(run.t_stop, -np.inf) if run.stop_is_break == 1 else run.t_stop
    run.t_segment = run.t
    run.k = 0
    run.phase = STEPS


@compiled
def stop_at(run, t):
    """Shorten the segment to end at t, if that is earlier."""
    if t < run.t_stop:
        run.t_stop = t
        run.stop_is_tick = 0
