"""Which events have happened, and do they follow each other without time passing?"""

import numpy as np

from robodyn.engine.caching import compiled
from robodyn.engine.calls import floats, integers
from robodyn.engine.trajectory import CHATTERING

CHATTER_EVENTS = 100
CHATTER_SPAN = 1e-9
CHATTER_TIME = 1e-12
"""This many events within this part of the run, and no less than this time, are chattering [s]."""


@compiled
def log_event(run, j, t):
    """Note an event of guard j; too many in too short a time end the run."""
    log = floats(run.log)
    log[2 * run.n_log] = t
    log[2 * run.n_log + 1] = j
    run.n_log += 1
    if integers(run.guard_terminal)[j] != 0 and run.terminal < 0:
        run.terminal = j
    oldest = run.n_log - CHATTER_EVENTS
    shortest = max(CHATTER_SPAN * (run.t_end - run.t0), CHATTER_TIME)
    if oldest >= 0 and t - log[2 * oldest] < shortest:
        run.status = CHATTERING
        run.culprit = j


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
