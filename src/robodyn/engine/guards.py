"""When does a guard cross zero?

Symbols: g the guards' values, the user's first, then x_i - upper_i and x_i - lower_i of the limited states; theta = 0..1
the place in the step. A guard fires in a step when its sign at the start and its value at the end say so:

    rising:  sign < 0 and g >= 0        falling:  sign > 0 and g <= 0

Its sign at the start is that of its value; when the value is exactly 0, or the guard has just fired and no action has
moved it from its root, it is the sign of its rate dg/dt; when that is 0 too the guard cannot fire in this step.
"""

import numpy as np

from robodyn.engine.caching import compiled, inlined
from robodyn.engine.calls import ask, floats, integers, row, state
from robodyn.engine.dense import copy_row, evaluate_dense
from robodyn.engine.evaluation import need_dense, need_slope
from robodyn.engine.history import read_inside
from robodyn.engine.record import unit
from robodyn.engine.workspace import (
    END,
    FIRED,
    FROM_RATE,
    G_END,
    G_MIDDLE,
    G_POINT,
    G_ROOT,
    G_START,
    JUMPED,
    LEAVING,
    LOCATED,
    NOT_FIRED,
    POINT,
    SIGN,
    STAGE,
    START,
)

COINCIDENCE = 1e-12
"""Roots nearer than this part of a step are one instant."""
MAX_HALVINGS = 60
MAX_ITERATIONS = 120
ROOT_ULPS = 4.0


@inlined
def values_of(run, index):
    """A row of guard values."""
    return row(run.guard_values, run.n_guards + 2 * run.n_limited, index)


@inlined
def marks_of(run, index):
    """A row of guard marks."""
    return integers(run.marks + 8 * (run.n_guards + 2 * run.n_limited) * index)


@compiled
def evaluate_guards(run, t, source, target):
    """All guards at a time and a row of states; delayed signals as last read."""
    x, values, bounds = state(run, source), values_of(run, target), floats(run.bounds)
    if run.n_guards > 0:
        ask(run, run.guards, t, x, values)
    if run.n_all_guards > run.n_guards:
        ask(run, run.limits, t, x, bounds)
        for k in range(run.n_limited):
            value = x[integers(run.limited)[k]]
            values[run.n_guards + k] = value - bounds[run.n_limited + k]
            values[run.n_guards + run.n_limited + k] = value - bounds[k]


@compiled
def guards_at(run, theta, target):
    """All guards at a place of the step."""
    t = min(run.t_new if theta >= 1.0 else run.t + theta * run.h_tried, run.t_left)
    if theta >= 1.0:
        copy_row(run, END, POINT)
    else:
        evaluate_dense(run, theta, POINT)
    if run.n_d > 0:
        run.t_read = t
        read_inside(run)
    evaluate_guards(run, t, POINT, target)


@inlined
def direction_of(run, j):
    """Wanted direction of a guard; limits are met upwards at the upper one, downwards at the lower one."""
    if j < run.n_guards:
        return integers(run.guard_direction)[j]
    return 1 if j < run.n_guards + run.n_limited else -1


@inlined
def crosses(direction, sign, value):
    """Whether a guard that began with a sign has crossed zero in the wanted direction."""
    return (sign < 0 and value >= 0.0 and direction >= 0) or (sign > 0 and value <= 0.0 and direction <= 0)


@inlined
def sign_of(value):
    """-1, 0 or 1; 0 also for no number."""
    return 1 if value > 0.0 else (-1 if value < 0.0 else 0)


@unit
def locate_events(run):
    """Find the first crossing of the step just made and truncate the step there; True when any guard fired.

    An adaptive step is also looked at in its middle. The instant is the right end of the last root's bracket among those that
    coincide with the first; later roots are dropped, the next step finds them again.
    """
    adaptive = run.adaptive == 1
    guards_at(run, 1.0, G_END)
    if adaptive:
        need_dense(run)
        guards_at(run, 0.5, G_MIDDLE)
    earliest = np.inf
    for j in range(run.n_all_guards):
        values_of(run, G_ROOT)[j] = find_crossing(run, j, adaptive)
        earliest = min(earliest, values_of(run, G_ROOT)[j])
    if earliest == np.inf:
        return False
    width = max(COINCIDENCE, ROOT_ULPS * np.spacing(abs(run.t_new)) / run.h_tried)
    last = earliest
    for j in range(run.n_all_guards):
        if values_of(run, G_ROOT)[j] <= earliest + width:
            marks_of(run, FIRED)[j] = LOCATED
            last = max(last, values_of(run, G_ROOT)[j])
    truncate(run, last)
    return True


@compiled
def find_crossing(run, j, adaptive):
    """Place of the first crossing of guard j in the step, or infinity."""
    direction, sign, left = direction_of(run, j), marks_of(run, SIGN)[j], 0.0
    if sign == 0:
        return np.inf
    if adaptive:
        middle = values_of(run, G_MIDDLE)[j]
        if crosses(direction, sign, middle):
            place = locate(run, j, sign, 0.0, 0.5, middle)
            if place < np.inf:
                return place
        else:
            sign, left = sign_of(middle), 0.5
    if crosses(direction, sign, values_of(run, G_END)[j]):
        return locate(run, j, sign, left, 1.0, values_of(run, G_END)[j])
    return np.inf


@compiled
def locate(run, j, sign, left, right, value_right):
    """Right end of a bracket of the root of guard j, a few units in the last place of t wide.

    The Illinois rule, with a bisection when two tries have not halved the bracket.
    """
    need_dense(run)
    start, end = left, right
    left, right, value_left, value_right = enter_bracket(run, j, sign, left, right, value_right)
    if left == right:
        return find_return(run, j, sign, start, end)
    width = ROOT_ULPS * np.spacing(max(abs(run.t), abs(run.t_new))) / run.h_tried
    checked = right - left
    weight_left, weight_right, side = value_left, value_right, 0
    for iteration in range(MAX_ITERATIONS):
        if right - left <= width or value_right == 0.0:
            break
        middle = right - weight_right * (right - left) / (weight_right - weight_left)
        if iteration % 3 == 2:
            if right - left > 0.5 * checked:
                middle = 0.5 * (left + right)
            checked = right - left
        if not (left < middle and middle < right):
            middle = 0.5 * (left + right)
        if middle == left or middle == right:
            break
        guards_at(run, middle, G_POINT)
        value = values_of(run, G_POINT)[j]
        if sign_of(value) == sign:
            left, weight_left = middle, value
            weight_right *= 0.5 if side < 0 else 1.0
            side = -1
        else:
            right, value_right, weight_right = middle, value, value
            weight_left *= 0.5 if side > 0 else 1.0
            side = 1
    return right


@compiled
def enter_bracket(run, j, sign, left, right, value_right):
    """A bracket whose left end has the starting sign, found by halving towards the start when the start itself has not.

    A guard that has just left its root may still show rounding of the other sign there. A bracket of no width says that the
    starting sign was not seen at all.
    """
    guards_at(run, left, G_POINT)
    value_left = values_of(run, G_POINT)[j]
    start = left
    shortest = np.spacing(abs(run.t)) / run.h_tried
    for _ in range(MAX_HALVINGS):
        if sign_of(value_left) == sign:
            return left, right, value_left, value_right
        left = start + 0.5 * (right - start)
        if left - start < shortest:
            break
        guards_at(run, left, G_POINT)
        value_left = values_of(run, G_POINT)[j]
        if sign_of(value_left) != sign:
            right, value_right = left, value_left
    return right, right, value_left, value_right


@compiled
def find_return(run, j, sign, left, right):
    """Place where a guard turns back that left its root by less than its rounding: there its rate changes sign.

    While it has not turned back it has not crossed: infinity, and its sign is kept for the next step.
    """
    if j >= run.n_guards:
        return right
    if sign_of(rate_at(run, right, j)) != -sign:
        marks_of(run, FROM_RATE)[j] = LEAVING
        return np.inf
    for _ in range(MAX_HALVINGS):
        middle = 0.5 * (left + right)
        if (right - left) * run.h_tried <= np.spacing(abs(run.t)):
            break
        if sign_of(rate_at(run, middle, j)) == -sign:
            right = middle
        else:
            left = middle
    return right


@compiled
def rate_at(run, theta, j):
    """Rate of one of the user's guards at a place of the step."""
    guards_at(run, theta, G_POINT)
    rates = values_of(run, G_POINT)
    ask(run, run.guard_rates, min(run.t + theta * run.h_tried, run.t_left), state(run, POINT), rates)
    return rates[j]


@compiled
def truncate(run, theta):
    """End the step at a place within it, but later than its start by at least a unit in the last place of time."""
    shortest = (np.nextafter(run.t, np.inf) - run.t) / run.h_tried
    theta = max(theta, shortest)
    if theta < 1.0:
        evaluate_dense(run, theta, END)
        run.t_new = min(run.t + theta * run.h_tried, run.t_new)
        run.theta_end = theta
        run.end_known = -1
        guards_at(run, 1.0, G_END)


@unit
def find_jumps(run):
    """Fire the guards that a task, an action or a break made to jump across zero; True when there is any.

    Each guard fires at most once at an instant.
    """
    evaluate_guards(run, run.t, START, G_POINT)
    found = False
    for j in range(run.n_guards):
        value = values_of(run, G_POINT)[j]
        moved = marks_of(run, FIRED)[j] == NOT_FIRED and value != values_of(run, G_END)[j]
        if moved and crosses(integers(run.guard_direction)[j], marks_of(run, SIGN)[j], value):
            marks_of(run, FIRED)[j] = JUMPED
            found = True
    return found


@compiled
def set_signs(run, source, settled):
    """Signs of the guards at the start of the next step, from their values in a row of g.

    Before the instant is settled, the signs of guards that have fired wait. A step too short to move a guard from its root
    leaves the matter to the rate again.
    """
    rates_known = False
    too_short = run.last_length <= run.resolution
    for j in range(run.n_all_guards):
        value = values_of(run, source)[j]
        fired = marks_of(run, FIRED)[j]
        if fired != NOT_FIRED and not settled:
            continue
        if marks_of(run, FROM_RATE)[j] == LEAVING and fired == NOT_FIRED:
            marks_of(run, FROM_RATE)[j] = 1
            continue
        sign = sign_of(value)
        at_root = settled and fired == LOCATED and value == values_of(run, G_END)[j]
        not_left_root = marks_of(run, FROM_RATE)[j] == 1 and too_short and fired == NOT_FIRED
        by_rate = value == 0.0 or at_root or not_left_root
        if by_rate:
            if not rates_known:
                evaluate_rates(run)
                rates_known = True
            sign = sign_of(values_of(run, G_POINT)[j])
        marks_of(run, SIGN)[j] = sign
        marks_of(run, FROM_RATE)[j] = by_rate


@unit
def carry_signs(run):
    """Signs at the end of a step become those at the start of the next."""
    set_signs(run, G_END, False)
    return 0


@unit
def settle_signs(run):
    """Signs after all actions and tasks of an instant; what fired there is forgotten."""
    fired = marks_of(run, FIRED)
    for j in range(run.n_all_guards):
        fired[j] = abs(fired[j])
    evaluate_guards(run, run.t, START, G_START)
    set_signs(run, G_START, True)
    for j in range(run.n_all_guards):
        fired[j] = NOT_FIRED
    run.armed = 1
    return 0


@compiled
def evaluate_rates(run):
    """Rates of all guards at the present state, into G_POINT; the limits themselves count as constant."""
    rates = values_of(run, G_POINT)
    if run.n_guards > 0:
        ask(run, run.guard_rates, run.t, state(run, START), rates)
    if run.n_all_guards > run.n_guards:
        need_slope(run)
        for k in range(run.n_limited):
            rate = state(run, STAGE)[integers(run.limited)[k]]
            rates[run.n_guards + k] = rate
            rates[run.n_guards + run.n_limited + k] = rate
