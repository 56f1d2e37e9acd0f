"""Which events have happened, and do they follow each other without time passing?"""

import numpy as np

from robodyn.engine.caching import compiled
from robodyn.engine.calls import floats, integers
from robodyn.engine.trajectory import CHATTERING

CHATTER_EVENTS = 50
CHATTER_SPAN = 1e-9
CHATTER_TIME = 1e-12
"""This many actions of one guard within this part of the run, and no less than this time [s], are chattering."""
STORM_EVENTS = 1000
STORM_SPAN = 1e-5
"""So are this many within this part of the run: it would take a hundred million events to its end."""


@compiled
def log_event(run, j, t):
    """Note an event of guard j; actions that follow each other without time passing end the run."""
    log = floats(run.log)
    log[2 * run.n_log] = t
    log[2 * run.n_log + 1] = j
    run.n_log += 1
    if integers(run.guard_terminal)[j] != 0 and run.terminal < 0:
        run.terminal = j
    if integers(run.guard_action)[j] != 0 and is_chattering(run, j, t):
        run.status = CHATTERING
        run.culprit = j


@compiled
def is_chattering(run, j, t):
    """Whether guard j has fired very often in a very short time."""
    log, span = floats(run.log), run.t_last - run.t0
    shortest = max(CHATTER_SPAN * span, CHATTER_TIME)
    count, k = 0, run.n_log - 1
    while k >= 0 and t - log[2 * k] < max(STORM_SPAN * span, shortest):
        count += log[2 * k + 1] == j
        if count >= (CHATTER_EVENTS if t - log[2 * k] < shortest else STORM_EVENTS):
            return True
        k -= 1
    return False


@compiled
def log_observers(run, roots, end):
    """Note the crossings of guards that only watch, in order of time, before a place of the step.

    Args:
        roots: place of each guard's crossing in the step, infinity for none or once noted.
    """
    while True:
        first, place = -1, end
        for j in range(run.n_guards):
            if roots[j] < place:
                first, place = j, roots[j]
        if first < 0:
            return
        log_event(run, first, min(run.t + place * run.h_tried, run.t_new))
        roots[first] = np.inf
