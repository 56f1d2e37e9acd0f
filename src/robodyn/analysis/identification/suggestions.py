"""Suggestions: which numbers does an experiment hardly tell, and the motion of which joints would tell them?

Symbols: F information of the experiment, F_S that of one period in which only the joints S move, as fast and as far as
limits allow; s_k deviation of the k-th number.

    s_k^2 = [(F + F_S)^-1]_kk,   S of one joint if that is enough, or else of two
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from robodyn.computation.results.signal import Floats

HARDLY = 1.0
"""Predicted deviation, by the value, beyond which an experiment hardly tells a number."""
NOTHING = 1e3
"""Deviation of a number that is 0, by that which its own column alone would leave: beyond, others hide it."""


@dataclass(frozen=True, eq=False)
class Suggestion:
    """A number that is hardly told, and what would tell it.

    Attributes:
        deviation: by its value, None where that is 0; joints: whose motion would tell it, none if no one or two
            joints' would.
        then: the deviation together with one period of that motion; motion: its coefficients.
    """

    JSON = """
    number
    deviation: by its value
    joints
    then: after these joints have moved
    """
    number: str
    deviation: float | None
    joints: tuple[str, ...]
    then: float | None
    motion: Floats | None = None


@dataclass(frozen=True, eq=False)
class Told:
    """What numbers are, by which deviations are judged; sizes: deviations that their own columns alone would leave."""

    names: tuple[str, ...]
    values: Floats
    sizes: Floats

    @property
    def zero(self) -> np.ndarray:
        """Which numbers are 0, or as good as."""
        return np.abs(self.values) <= 1e-12

    def told(self, k: int, deviation: float) -> float | None:
        """A deviation by the value, if there is one."""
        return None if self.zero[k] else float(deviation)

    def deviations(self, F: Floats) -> Floats:
        """By the values, or by sizes where these are 0, from the information on numbers over their sizes."""
        relative = np.where(self.zero, NOTHING * self.sizes, self.values)
        return np.sqrt(np.maximum(np.diag(invert(F)), 0)) * self.sizes / np.abs(relative)


def invert(F: Floats) -> Floats:
    """F^-1, very large where there is no information."""
    values, vectors = np.linalg.eigh(F)
    return np.asarray((vectors / np.maximum(values, 1e-14 * max(float(values[-1]), 1e-12))) @ vectors.T)


def suggest_motions(
    told: Told, F: Floats, joints: tuple[str, ...], move: Callable[[tuple[int, ...]], tuple[Floats, Floats]]
) -> tuple[Suggestion, ...]:
    """What tells the numbers that F hardly tells.

    Args:
        move: coefficients and information of a motion of some joints alone.
    """
    before = told.deviations(F)
    open_ = np.flatnonzero(before > HARDLY).tolist()
    found: dict[int, tuple[float, Suggestion]] = {}
    for count in (1, 2):
        if len(found) < len(open_):
            left = [k for k in open_ if k not in found]
            found |= _best(told, F, before, left, joints, move, combinations(range(len(joints)), count))
    return tuple(found.get(k, (0.0, _none(told, k, before)))[1] for k in open_)


def _none(told: Told, k: int, before: Floats) -> Suggestion:
    as_it_is = told.told(k, before[k])
    return Suggestion(told.names[k], as_it_is, (), as_it_is)


def _best(
    told: Told,
    F: Floats,
    before: Floats,
    left: list[int],
    joints: tuple[str, ...],
    move: Callable[[tuple[int, ...]], tuple[Floats, Floats]],
    sets: Iterable[tuple[int, ...]],
) -> dict[int, tuple[float, Suggestion]]:
    """Of each number, the motion that leaves the least deviation, if that is little enough."""
    found: dict[int, tuple[float, Suggestion]] = {}
    for moved in sets:
        motion, information = move(moved)
        after = told.deviations(F + information)
        names = tuple(joints[j] for j in moved)
        for k in left:
            if after[k] <= HARDLY and (k not in found or after[k] < found[k][0]):
                told_then = told.told(k, after[k])
                found[k] = after[k], Suggestion(told.names[k], told.told(k, before[k]), names, told_then, motion)
    return found
