"""Trajectory: how did a run end, and what did it leave?"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from robodyn.base import Array

EXTREMES = 6
"""Numbers kept of what is watched, as in engine.h."""


class Status(IntEnum):
    """Why a run ended, as in engine.h."""

    FINISHED = 1
    TERMINAL = 2
    INTERRUPTED = 3
    STEP_LIMIT = 4
    WALL_TIME = 5
    NOT_A_NUMBER = 6
    STEP_TOO_SMALL = 7
    OVERFLOWN = 8
    CHATTERING = 9
    FAILED = 10
    NOT_SOLVED = 11
    RECORD_FULL = 12
    NO_MEMORY = 13


class Counters(NamedTuple):
    """How much work a run was; steps in seconds. marched: steps that were taken by propagators."""

    steps: int
    marched: int
    rejected: int
    steps_too_long: int
    evaluations: int
    jacobians: int
    factorisations: int
    newton_iterations: int
    events: int
    ticks: int
    wall_time: float
    smallest_step: float
    largest_step: float


class ProbeRows(NamedTuple):
    """Outputs at a few instants between the rows, (k,) and (k, n_y), and what the error of the step makes of them."""

    time: Array
    y: Array
    errors: Array


NO_PROBES = ProbeRows(np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0)))


class Stiffness(NamedTuple):
    """Where stability, not accuracy, limited explicit steps, and what a method with a stiff partner did about it.

    Args:
        since: when that was first seen [s], infinite where never; step: how long explicit steps were then [s].
        limited_steps: explicit steps that were so limited.
        replaced_at: when the stiff method first took over [s]; replaced_step: how long explicit steps were then [s], 0
            where they had become too small.
        stiff_phases: how often the stiff method took over; stiff_steps, stiff_time: its steps and the time they cover
            [s].
        trials: steps of the other method that were tried and not worth it.
    """

    since: float
    step: float
    limited_steps: int
    replaced_at: float
    replaced_step: float
    stiff_phases: int
    stiff_steps: int
    stiff_time: float
    trials: int


class Proof(NamedTuple):
    """In how many steps no guard, limit or condition changed unseen: see `engine/proof.c`.

    Args:
        proven: steps of which that is proven; undecided: of which it is not; passed_over: in which one did.
        first_undecided, first_passed: number of the guard, limit or condition; undecided_at, passed_at: when [s].
    """

    proven: int
    undecided: int
    first_undecided: int
    undecided_at: float
    passed_over: int
    first_passed: int
    passed_at: float


class Trajectory(NamedTuple):
    """What a run recorded and where it ended.

    Args:
        time: recorded instants (n,); two equal ones are the two sides of a jump. y: outputs there (n, n_y).
        knots: rows across which outputs are not smooth, or may not be, (n,).
        events: (time, guard) in order of their happening.
        at_time, x, m: where the run ended.
        offender: index of the state (numerical failures) or of the guard (TERMINAL, CHATTERING) responsible, or -1.
        extremes: first value, smallest, its time, largest, its time, when first positive (nan: never) of what was
            watched, (n_watched, 6).
        unknowns: what the equations of the last step were solved for, where the model gives them.
        n_rows: how many rows there were, where these are an excerpt of them; else 0.
        no_march: why propagators took none of the steps, where that was known before the run.
    """

    time: Array
    y: Array
    knots: Array
    probes: ProbeRows
    events: list[tuple[float, int]]
    status: Status
    at_time: float
    x: Array
    m: Array
    offender: int
    counters: Counters
    stiffness: Stiffness
    extremes: Array
    proof: Proof
    unknowns: Array
    no_march: str = ""
    n_rows: int = 0


class BrokenRun(RuntimeError):
    """A task or an action written in Python raised an error: the run so far, and the error as its cause."""

    def __init__(self, cause: Exception, trajectory: Trajectory) -> None:
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.cause = cause
        self.trajectory = trajectory
