"""Stability limit by bisection: up to which macro step does something hold?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Limit:
    """Where something ceases to hold.

    Attributes:
        holds: longest macro step known to hold [s], 0 where none did; fails: shortest known to fail [s], infinite where
            none did.
    """

    holds: float
    fails: float


def find_limit(
    check: Callable[[float], bool],
    start: float,
    *,
    shortest: float,
    longest: float,
    stride: float = 2.0,
    within: float = 1.05,
) -> Limit:
    """The macro step at which a check begins to fail.

    What fails only between two strides, and holds again, is not seen.

    Args:
        check: whether it holds at a macro step [s].
        start: where to begin [s]; shortest, longest: where to give up [s].
        stride: ratio of steps until it fails or holds; within: of the two steps between which the limit lies.
    """
    holds, fails, step = 0.0, math.inf, start
    while not holds or fails > within * holds:
        if check(step):
            holds = step
        else:
            fails = step
        if holds and math.isfinite(fails):
            step = math.sqrt(holds * fails)
        elif step in (shortest, longest):
            break
        else:
            step = min(stride * step, longest) if holds else max(step / stride, shortest)
    return Limit(holds, fails)
