"""How long is the next step, and is it good enough?"""

import numpy as np

from robodyn.engine.caching import compiled, inlined
from robodyn.engine.calls import floats, state
from robodyn.engine.esdirk import step_esdirk
from robodyn.engine.evaluation import evaluate_rate, need_slope
from robodyn.engine.explicit import step_explicit, step_symplectic
from robodyn.engine.record import unit
from robodyn.engine.rosenbrock import step_rosenbrock
from robodyn.engine.tableaus import ESDIRK, EXPLICIT, ROSENBROCK, SYMPLECTIC, TRACED, WHOLE
from robodyn.engine.traced import step_traced
from robodyn.engine.trajectory import NOT_A_NUMBER, NOT_SOLVED, OVERFLOW, STEP_LIMIT, STEP_TOO_SMALL
from robodyn.engine.whole import step_whole
from robodyn.engine.workspace import END, ERROR, STAGE, START, TRIAL

LARGEST_STATE = 1e150
SAFETY, LEAST_FACTOR, LARGEST_FACTOR = 0.9, 0.2, 5.0
LEAST_ERROR, NEGLIGIBLE = 1e-4, 1e-3
"""Least error remembered for the next proposal; an error that makes any proposal longer."""
SLIVER = 1e-9
"""A fixed step's rest shorter than this part of a step belongs to the step before it."""


@inlined
def attempt(run):
    """Try one step of length h_tried from START to END; False when its equations could not be solved."""
    if run.family == EXPLICIT:
        return step_explicit(run)
    if run.family == ROSENBROCK:
        return step_rosenbrock(run)
    if run.family == ESDIRK:
        return step_esdirk(run)
    if run.family == SYMPLECTIC:
        return step_symplectic(run)
    if run.family == TRACED:
        return step_traced(run)
    if run.family == WHOLE:
        return step_whole(run)
    return 0


@inlined
def choose_fixed(run):
    """The k-th step of a segment ends at t_segment + k h; the last one at the end of the segment exactly.

    Steps given by the model are all of one length, the longest that divides the segment: some carry over what belongs
    to a length.
    """
    h = run.fixed_step
    if run.family >= TRACED:
        segment = run.t_stop - run.t_segment
        h = segment / max(np.ceil(segment / h - SLIVER), 1.0)
    run.t_new = run.t_segment + (run.k + 1) * h
    if run.t_stop - run.t_new < SLIVER * h:
        run.t_new = run.t_stop
        h = run.t_stop - run.t
    return h


@compiled
def choose_adaptive(run):
    """The proposed step, made to end with the segment exactly and to leave no sliver before that."""
    rest = run.t_stop - run.t
    longest = min(run.max_step, run.shortest_delay)
    h = min(run.h, longest)
    run.was_cut = 0
    if rest <= 1.05 * h and rest <= longest + run.resolution:
        run.was_cut = 1 if rest < run.h else 0
        run.t_new = run.t_stop
        return rest
    if rest < 2.0 * h:
        h = 0.5 * rest
        run.was_cut = 1
    run.t_new = run.t + h
    return h


@compiled
def measure_error(run):
    """Root mean square of error_i / (atol scale_i + rtol max(|x0_i|, |x1_i|))."""
    start, end, errors, scale = state(run, START), state(run, END), state(run, ERROR), floats(run.scale)
    total = 0.0
    for i in range(run.n_x):
        allowed = run.atol * scale[i] + run.rtol * max(abs(start[i]), abs(end[i]))
        total += (errors[i] / allowed) ** 2
    return np.sqrt(total / max(run.n_x, 1))


@compiled
def accept(run, error, h):
    """Propose the next step by a proportional-integral rule: Hairer, Norsett, Wanner (1993), II.4 and (1996),
    IV.2.

        h_next = 0.9 h error^(-0.7/k) error_before^(0.4/k)

    A step cut short by the end of its segment does not make the proposal shorter.
    """
    if run.was_cut == 1 and error < NEGLIGIBLE and run.h >= LARGEST_FACTOR * h:
        # The rule would leave the proposal as it is: the factor is above 1 and the proposal longer than it allows.
        run.error_before, run.was_rejected = max(error, LEAST_ERROR), 0
        return
    k = run.error_order
    error = max(error, 1e-10)
    factor = SAFETY * error ** (-0.7 / k) * run.error_before ** (0.4 / k)
    factor = min(max(factor, LEAST_FACTOR), 1.0 if run.was_rejected == 1 else LARGEST_FACTOR)
    proposal = h * factor
    if run.was_cut == 1 and factor >= 1.0:
        proposal = max(proposal, run.h)
    run.h = proposal
    run.error_before = max(error, LEAST_ERROR)
    run.was_rejected = 0


@compiled
def reject(run, error, h):
    """Shorten the proposal: by the error, or to a quarter when there is none."""
    factor = 0.25
    if error < np.inf:
        factor = max(LEAST_FACTOR, SAFETY * error ** (-1.0 / run.error_order))
    run.h = h * min(factor, 0.9)
    run.was_rejected = 1
    run.rejected += 1


@unit
def take_step(run):
    """Make one accepted step from START to END, t to t_new; False when the run cannot go on (status,
    culprit)."""
    run.dense_known = 0
    run.end_known = 0
    run.theta_end = 1.0
    if run.adaptive == 0:
        run.h_tried = choose_fixed(run)
        if not attempt(run):
            run.status = NOT_SOLVED
            return False
        return check_end(run)
    while run.steps + run.rejected < run.max_steps:
        h = choose_adaptive(run)
        run.h_tried = h
        solved = attempt(run)
        error = measure_error(run) if solved else np.inf
        if error <= 1.0:
            accept(run, error, h)
            return check_end(run)
        reject(run, error, h)
        if run.h < run.min_step and h <= run.min_step + run.resolution or run.h < run.resolution:
            return blame_step(run)
        run.h = max(run.h, run.min_step)
    run.status = STEP_LIMIT
    return False


@inlined
def check_end(run):
    """Whether all states at the end of the step are numbers of a sane size."""
    bad, end = False, state(run, END)
    for i in range(run.n_x):
        bad |= not abs(end[i]) <= LARGEST_STATE
    if bad:
        blame_end(run)
    return not bad


@unit
def blame_end(run):
    """Name the state behind an end that is no number or too large."""
    run.culprit = find_infinite(run)
    run.status = NOT_A_NUMBER
    if run.culprit < 0:
        run.status = OVERFLOW
        for i in range(run.n_x):
            if abs(state(run, END)[i]) > LARGEST_STATE:
                run.culprit = i
                break
    return 0


@unit
def blame_step(run):
    """Name the state behind a step that became too short: the first that is no number, else the one of
    largest error."""
    run.culprit = find_infinite(run)
    run.status = NOT_A_NUMBER
    if run.culprit >= 0:
        return False
    run.status = STEP_TOO_SMALL
    largest = -1.0
    for i in range(run.n_x):
        size = abs(state(run, ERROR)[i]) / allowed_error(run, i)
        if size > largest:
            largest = size
            run.culprit = i
    return False


@compiled
def find_infinite(run):
    """Index of the first state whose derivative, in the order of the stages, or value is no finite number; -1
    if none."""
    for j in range(run.stages):
        for i in range(run.n_x):
            if not np.isfinite(state(run, STAGE + j)[i]):
                return i
    for i in range(run.n_x):
        if not np.isfinite(state(run, END)[i]):
            return i
    return -1


@unit
def choose_first(run):
    """First step of an adaptive method by the sizes of x, x_dot and their change: Hairer, Norsett, Wanner
    (1993), II.4."""
    need_slope(run)
    start, slope, trial, end = state(run, START), state(run, STAGE), state(run, TRIAL), state(run, END)
    size, speed = scaled_size(run, START), scaled_size(run, STAGE)
    span = run.t_end - run.t
    h = 0.01 * size / speed if size > 1e-5 and speed > 1e-5 else 1e-6
    h = min(h, span, run.max_step, run.shortest_delay)
    for i in range(run.n_x):
        trial[i] = start[i] + h * slope[i]
    evaluate_rate(run, run.t + h, TRIAL, END)
    for i in range(run.n_x):
        end[i] -= slope[i]
    largest = max(speed, scaled_size(run, END) / h)
    longer = (0.01 / largest) ** (1.0 / run.error_order) if largest > 1e-15 else max(1e-6, 1e-3 * h)
    run.h = max(min(100.0 * h, longer, span), run.min_step) if longer > 0.0 else h
    return 1


@inlined
def allowed_error(run, i):
    """Tolerance of state i at the start of the step."""
    return run.atol * floats(run.scale)[i] + run.rtol * abs(state(run, START)[i])


@compiled
def scaled_size(run, source):
    """Root mean square of a row in units of the tolerance of each state."""
    total = 0.0
    for i in range(run.n_x):
        total += (state(run, source)[i] / allowed_error(run, i)) ** 2
    return np.sqrt(total / max(run.n_x, 1))
