"""How did a run end, and what did it leave?"""

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

FINISHED, TERMINAL, INTERRUPTED, STEP_LIMIT, WALL_TIME = range(1, 6)
NOT_A_NUMBER, STEP_TOO_SMALL, OVERFLOW, CHATTERING, FAILED, NOT_SOLVED, RECORD_FULL = range(6, 13)


class Status(IntEnum):
    """Why a run ended."""

    FINISHED = FINISHED
    TERMINAL = TERMINAL
    INTERRUPTED = INTERRUPTED
    STEP_LIMIT = STEP_LIMIT
    WALL_TIME = WALL_TIME
    NOT_A_NUMBER = NOT_A_NUMBER
    STEP_TOO_SMALL = STEP_TOO_SMALL
    OVERFLOW = OVERFLOW
    CHATTERING = CHATTERING
    FAILED = FAILED
    NOT_SOLVED = NOT_SOLVED
    RECORD_FULL = RECORD_FULL


@dataclass(frozen=True)
class Counters:
    """How much work a run was; steps in seconds."""

    steps: int
    rejected: int
    evaluations: int
    jacobians: int
    factorisations: int
    newton_iterations: int
    events: int
    ticks: int
    wall_time: float
    smallest_step: float
    largest_step: float


@dataclass(frozen=True)
class Trajectory:
    """What a run recorded and where it ended.

    Args:
        time: recorded instants (n,); two equal ones are the two sides of a jump. y: outputs there (n, n_y).
        events: (time, guard) in order of their happening.
        at_time, x, m: where the run ended.
        culprit: index of the state (numerical failures) or of the guard (TERMINAL, CHATTERING) responsible,
            or -1.
        unknowns: what the equations of the last step were solved for, where the model gives them.
    """

    time: np.ndarray
    y: np.ndarray
    events: list[tuple[float, int]] = field(repr=False)
    status: Status
    at_time: float
    x: np.ndarray
    m: np.ndarray
    culprit: int
    counters: Counters
    unknowns: np.ndarray = field(repr=False, default_factory=lambda: np.zeros(0))
