"""How does a hybrid system go from one instant to the next?"""

from robodyn.engine.caching import compiled, inlined
from robodyn.engine.calls import ask, floats, state
from robodyn.engine.control import choose_first, take_step
from robodyn.engine.crossings import locate_events
from robodyn.engine.dense import copy_row
from robodyn.engine.evaluation import clip_row, need_dense
from robodyn.engine.guards import carry_signs, guards_at
from robodyn.engine.history import keep_step, make_room, read_right
from robodyn.engine.instants import (
    begin_instant,
    forget_slope,
    next_tick,
    pass_tick,
    plan_segment,
    run_events,
    run_ticks,
    settle_instant,
)
from robodyn.engine.record import unit
from robodyn.engine.recording import record_end, record_step
from robodyn.engine.trajectory import FINISHED, STEP_LIMIT, TERMINAL
from robodyn.engine.workspace import (
    CONCLUDE,
    END,
    EVENTS,
    FIRST_PHASE,
    G_END,
    REASON_BUDGET,
    REASON_DONE,
    REASON_HISTORY,
    REASON_LOG,
    REASON_ROWS,
    RECORD_NONE,
    RECORD_STEPS,
    SETTLE,
    STAGE,
    START,
    STEPS,
    TICKS,
)


@compiled
def start_run(run):
    """The first instant: tasks due at tick 0, no events."""
    run.t_stop = run.t
    run.stop_is_tick = run.last_tick >= 0 and next_tick(run) == 0
    begin_instant(run)


@unit
def leave_instant(run):
    """After an instant comes the next segment or the end."""
    if run.status != 0:
        run.phase = CONCLUDE
    elif run.terminal >= 0:
        run.status, run.culprit, run.phase = TERMINAL, run.terminal, CONCLUDE
    elif run.t >= run.t_end:
        run.status, run.phase = FINISHED, CONCLUDE
    else:
        plan_segment(run)
    return 0


@compiled
def run_segment(run):
    """Steps to the end of the segment or the first event; stops before a step that would not fit the
    buffers.

    Where nothing can happen at a tick but its tasks, it is passed on the way.
    """
    if run.adaptive == 1 and run.h == 0.0:
        choose_first(run)
    while True:
        while run.t < run.t_stop:
            reason = check_room(run)
            if reason != REASON_DONE:
                return reason
            if run.t_stop - run.t <= run.resolution:
                run.t = run.t_stop
                run.last_length = 0.0
                break
            if run.steps + run.rejected >= run.max_steps:
                run.status = STEP_LIMIT
            if run.status != 0 or take_step(run) == 0:
                run.phase = CONCLUDE
                return REASON_DONE
            if finish_step(run):
                break
        if run.plain == 0 or run.stop_is_tick == 0 or run.stop_is_break == 1 or run.t >= run.t_end:
            begin_instant(run)
            return REASON_DONE
        pass_tick(run)


@inlined
def check_room(run):
    """Whether the budget and the buffers allow one more step and the instant after it."""
    if run.budget <= 0:
        return REASON_BUDGET
    run.budget -= 1
    if run.kind == RECORD_STEPS and run.n_rows + run.refine + 3 > run.row_capacity:
        return REASON_ROWS
    if run.n_log + 3 * run.n_guards > run.log_capacity:
        return REASON_LOG
    if run.n_d > 0 and make_room(run) == 0:
        return REASON_HISTORY
    return REASON_DONE


@inlined
def finish_step(run):
    """After an accepted step: events, limits, history, record; then its end is the next start. True when a
    guard fired."""
    fired = False
    if run.n_all_guards > 0:
        fired = locate_events(run) == 1
    if run.n_limited > 0:
        limit_end(run)
    if run.projection > 0:
        project_end(run)
    if run.n_d > 0:
        need_dense(run)
        keep_step(run)
    if run.kind != RECORD_NONE:
        record_step(run)
    move_on(run)
    if run.n_all_guards > 0:
        carry_signs(run)
    if run.n_d > 0:
        read_right(run)
    return fired


@unit
def limit_end(run):
    """Keep limited states within their limits at the end of the step."""
    if run.n_all_guards > 0:
        need_dense(run)
    if clip_row(run, run.t_new, END):
        run.end_known = -1
        if run.n_all_guards > 0:
            guards_at(run, 1.0, G_END)
    return 0


@unit
def project_end(run):
    """Put the end of the step back on the constraints; dense output keeps to the step's own polynomial."""
    if run.n_all_guards > 0:
        need_dense(run)
    x, changed = state(run, END), floats(run.changed)
    ask(run, run.projection, run.t_new, x, changed)
    for i in range(run.n_x):
        x[i] = changed[i]
    run.end_known = -1
    if run.n_all_guards > 0:
        guards_at(run, 1.0, G_END)
    return 0


@inlined
def move_on(run):
    """The end of the step becomes the start of the next; its slope is kept where the method has it."""
    length = run.t_new - run.t
    run.last_length = length
    run.smallest_step = min(run.smallest_step, length)
    run.largest_step = max(run.largest_step, length)
    run.steps += 1
    run.k += 1
    run.t = run.t_new
    copy_row(run, END, START)
    forget_slope(run)
    if run.reuses_last == 1 and run.end_known >= 0:
        copy_row(run, STAGE + run.stages - 1, STAGE)
        run.slope_known = 1
    elif run.needs_end == 1 and run.end_known == 1:
        copy_row(run, STAGE + run.stages, STAGE)
        run.slope_known = 1


@unit
def advance(run):
    """Go on with a run until it ends or Python is needed; the reason is returned and the run can be resumed exactly.

    One hybrid step, from a time t with x and m as they arrive there:

    1. Events. The actions of the guards found to cross zero at t run in declared order and may change x and m. A guard
       that an action, a task or a break makes jump across zero fires at the same instant; none fires twice at one
       instant. A terminal guard ends the run once these actions are done. Guards that only watch cut no steps: their
       crossings have been noted on the way.
    2. Ticks. The sampled tasks due at t run in declared order; each reads t, x, d, m and writes m. Tick k is at
       t0 + k base period: due tasks are found by whole numbers, never by comparing times.
    3. Segment. x is integrated, with m held, to the next tick, break, delayed jump or the end of the run, or to the
       first crossing of a guard with consequences, if that is earlier.
    4. Record. Every step leaves its rows: left limits at its end; the right limits follow once the instant is settled.

    Events and ticks at the end of the run still happen: what a run leaves are right limits.
    """
    while True:
        if run.phase == FIRST_PHASE:
            start_run(run)
        if run.phase == EVENTS:
            reason = run_events(run)
            if reason != REASON_DONE:
                return reason
            if run.terminal >= 0 or run.status != 0:
                run.phase = SETTLE
        if run.phase == TICKS:
            reason = run_ticks(run)
            if reason != REASON_DONE:
                return reason
        if run.phase == SETTLE:
            settle_instant(run)
            leave_instant(run)
        if run.phase == STEPS:
            reason = run_segment(run)
            if reason != REASON_DONE:
                return reason
        if run.phase == CONCLUDE:
            record_end(run)
            return REASON_DONE
