"""Where in a step does a guard cross zero?

Symbols: theta = 0..1 the place in the step; left, right the ends of a bracket of the root.
"""

import numpy as np

from robodyn.engine.caching import compiled, inlined
from robodyn.engine.calls import ask, integers, state
from robodyn.engine.dense import evaluate_dense
from robodyn.engine.evaluation import need_dense
from robodyn.engine.eventlog import log_observers
from robodyn.engine.guards import crosses, direction_of, guards_at, marks_of, sign_of, values_of
from robodyn.engine.record import unit
from robodyn.engine.workspace import (
    END,
    FIRED,
    FROM_RATE,
    G_END,
    G_MIDDLE,
    G_POINT,
    G_ROOT,
    LEAVING,
    LOCATED,
    POINT,
    SIGN,
)

COINCIDENCE = 1e-12
"""Roots nearer than this part of a step are one instant."""
MAX_HALVINGS = 60
MAX_ITERATIONS = 120
ROOT_ULPS = 4.0


@unit
def locate_events(run):
    """Find the crossings of the step just made; True when the step was truncated at the first that has consequences.

    An adaptive step is also looked at in its middle, and again at the first root and halfway to it. The instant is the
    right end of the last root's bracket among those that coincide with the first; later roots are dropped, the next
    step finds them again. Guards without action that end nothing only watch: their crossings are noted and the step
    stays whole.
    """
    adaptive = run.adaptive == 1
    roots = values_of(run, G_ROOT)
    guards_at(run, 1.0, G_END)
    if adaptive:
        need_dense(run)
        guards_at(run, 0.5, G_MIDDLE)
    earliest, any_root = np.inf, False
    for j in range(run.n_all_guards):
        roots[j] = find_crossing(run, j, adaptive)
        any_root |= roots[j] < np.inf
        if not only_watches(run, j):
            earliest = min(earliest, roots[j])
    if not any_root:
        return False
    if earliest == np.inf:
        note_crossings(run, adaptive, np.inf)
        return False
    width = max(COINCIDENCE, ROOT_ULPS * np.spacing(abs(run.t_new)) / run.h_tried)
    last = earliest = look_before(run, earliest, width)
    for j in range(run.n_all_guards):
        if abs(roots[j] - earliest) <= width:
            marks_of(run, FIRED)[j] = LOCATED
            last = max(last, roots[j])
            roots[j] = np.inf
    note_crossings(run, adaptive, last)
    truncate(run, last)
    return True


@compiled
def look_before(run, earliest, width):
    """Place of the first crossing: guards seen apart in the middle and at the end may have crossed before the first
    root found, and returned after it. They are looked for there and halfway to it."""
    for _ in range(2 * run.n_all_guards):
        found = cross_before(run, 0.5 * earliest, earliest + width)
        if found == np.inf:
            found = cross_before(run, earliest, earliest + width)
        if not found < earliest:
            break
        earliest = found
    return earliest


@compiled
def cross_before(run, place, known):
    """First guard's crossing before a place of the step, among those of which none is known until then; or infinity."""
    roots = values_of(run, G_ROOT)
    guards_at(run, place, G_POINT)
    for j in range(run.n_all_guards):
        sign, value = marks_of(run, SIGN)[j], values_of(run, G_POINT)[j]
        unknown = roots[j] > known and not only_watches(run, j)
        if unknown and sign != 0 and crosses(direction_of(run, j), sign, value):
            found = locate(run, j, sign, 0.0, place, value)
            if found < np.inf:
                roots[j] = found
                return found
            guards_at(run, place, G_POINT)
    return np.inf


@inlined
def only_watches(run, j):
    """Whether a guard's crossing has no consequence but to be noted."""
    return j < run.n_guards and integers(run.guard_action)[j] == 0 and integers(run.guard_terminal)[j] == 0


@compiled
def note_crossings(run, adaptive, end):
    """Note the crossings of watching guards before a place of the step; there may be one in each half of an adaptive
    step."""
    roots = values_of(run, G_ROOT)
    if not adaptive:
        log_observers(run, roots, end)
        return
    log_observers(run, roots, min(0.5, end))
    if end <= 0.5:
        return
    for j in range(run.n_guards):
        if roots[j] == np.inf and only_watches(run, j) and marks_of(run, FIRED)[j] != LOCATED:
            sign, value = sign_of(values_of(run, G_MIDDLE)[j]), values_of(run, G_END)[j]
            if crosses(direction_of(run, j), sign, value):
                roots[j] = locate(run, j, sign, 0.5, 1.0, value)
    log_observers(run, roots, end)


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
        if middle in (left, right):
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
    """A bracket whose left end has the starting sign, found by halving towards the start when the start
    itself has not.

    A guard that has just left its root may still show rounding of the other sign there. A bracket of no width
    says that the starting sign was not seen at all.
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
    """Place where a guard turns back that left its root by less than its rounding: there its rate changes
    sign.

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
    """End the step at a place within it, but later than its start by at least a unit in the last place of
    time."""
    shortest = (np.nextafter(run.t, np.inf) - run.t) / run.h_tried
    theta = max(theta, shortest)
    if theta < 1.0:
        evaluate_dense(run, theta, END)
        run.t_new = min(run.t + theta * run.h_tried, run.t_new)
        run.theta_end = theta
        run.end_known = -1
        guards_at(run, 1.0, G_END)
