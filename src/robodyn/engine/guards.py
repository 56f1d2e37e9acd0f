"""What sign has a guard, and does a jump make it fire?

Symbols: g the guards' values, the user's first, then x_i - upper_i and x_i - lower_i of the limited states. A
guard fires when its sign at the start of a step and its value at the end say so:

    rising:  sign < 0 and g >= 0        falling:  sign > 0 and g <= 0

Its sign at the start is that of its value; when the value is exactly 0, or the guard has just fired and no
action has moved it from its root, it is the sign of its rate dg/dt; when that is 0 too the guard cannot fire
in this step.
"""

from robodyn.engine.caching import compiled, inlined
from robodyn.engine.calls import ask, floats, integers, row, state
from robodyn.engine.dense import copy_row, evaluate_dense
from robodyn.engine.evaluation import need_slope
from robodyn.engine.history import read_inside
from robodyn.engine.record import unit
from robodyn.engine.workspace import (
    END,
    FIRED,
    FROM_RATE,
    G_END,
    G_NOTED,
    G_POINT,
    G_START,
    JUMPED,
    LEAVING,
    LOCATED,
    NOT_FIRED,
    POINT,
    SIGN,
    SMOOTH,
    STAGE,
    START,
)


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
def note_guards(run):
    """Values of the guards before any action or task, from the right of the instant."""
    evaluate_guards(run, run.t, START, G_NOTED)
    return 0


@unit
def find_jumps(run):
    """Fire the guards that a task, an action or a break made to jump across zero; True when there is any.

    Each guard fires at most once at an instant. Where nothing but an action or a task can have moved a guard, it is
    compared with its value just before; the left side of the instant may differ from that by rounding.
    """
    before = values_of(run, G_END if run.jump_level < SMOOTH else G_NOTED)
    evaluate_guards(run, run.t, START, G_POINT)
    found = False
    for j in range(run.n_guards):
        value = values_of(run, G_POINT)[j]
        moved = marks_of(run, FIRED)[j] == NOT_FIRED and value != before[j]
        if moved and crosses(integers(run.guard_direction)[j], marks_of(run, SIGN)[j], value):
            marks_of(run, FIRED)[j] = JUMPED
            found = True
    return found


@compiled
def set_signs(run, source, settled):
    """Signs of the guards at the start of the next step, from their values in a row of g.

    Before the instant is settled, the signs of guards that have fired wait; after it, a guard that nothing
    moved keeps its sign. A step too short to move a guard from its root leaves the matter to the rate again.
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
        unmoved = value == values_of(run, G_END)[j] and value != 0.0
        if settled and run.armed == 1 and fired == NOT_FIRED and unmoved:
            continue
        sign = sign_of(value)
        at_root = settled and fired == LOCATED and value == values_of(run, G_NOTED)[j]
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
