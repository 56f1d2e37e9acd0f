"""Up to which macro step does something hold? Doubling and halving until it is known well enough."""

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
    check: Callable[[float], bool], start: float, *, shortest: float, longest: float, within: float = 1.05
) -> Limit:
    """The macro step at which a check begins to fail, if it holds for all shorter ones.

    Args:
        check: whether it holds at a macro step [s].
        start: where to begin [s]; shortest, longest: where to give up [s].
        within: ratio of the two steps between which the limit lies.
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
            step = min(2 * step, longest) if holds else max(step / 2, shortest)
    return Limit(holds, fails)
