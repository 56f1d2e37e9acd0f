"""Which of several contacts push, and how much? Linear complementarity problems, solved by pivoting on symbols.

    r = A lam + b,    r >= 0,  lam >= 0,  r_i lam_i = 0

The number of passes is fixed, so that the solution is one expression; it is evaluated at impacts, not in every step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from robodyn.assembly.sticking import solve_holding
from robodyn.symbolic import absolute, logical_and, logical_not, logical_or, maximum, solve_linear, where

BLOCK_PIVOTS = 4
"""Passes in which all contradictions are changed at once."""
NO_FORCE = 1e-9
"""Acceleration [m/s^2] or speed [m/s], or part of the largest one, that a force must make to count."""


@dataclass(frozen=True)
class Mobility:
    """What forces do where they act.

    Attributes:
        A: (k, k), motion i that force j makes; with `give` on its diagonal.
        give: how much each place gives way under its own force, so that several share a load; corrected for afterwards.
        symmetric: whether A is; friction makes it otherwise.
    """

    A: ca.SX
    give: ca.SX
    symmetric: bool = True

    def hold(self, b: Sequence[ca.SX], held: Sequence[ca.SX]) -> list[ca.SX]:
        """lam with `A lam + b = 0` where held and 0 elsewhere, corrected twice for the compliance."""
        first = lam = self._solve(b, held)
        for _ in range(2):
            more = self._solve([-self.give * entry for entry in lam], held)
            lam = [one + other for one, other in zip(first, more, strict=True)]
        return lam

    def _solve(self, b: Sequence[ca.SX], held: Sequence[ca.SX]) -> list[ca.SX]:
        k = len(b)
        if self.symmetric:
            return solve_holding(self.A, list(b), [ca.SX(0)] * k, list(held))
        rows = [[where(held[i], where(held[j], self.A[i, j], 0.0), float(i == j)) for j in range(k)] for i in range(k)]
        return list(solve_linear(rows, [where(held[i], -b[i], 0.0) for i in range(k)]))

    def complement(self, b: Sequence[ca.SX], allowed: Sequence[ca.SX]) -> tuple[list[ca.SX], list[ca.SX]]:
        """Solution lam among those allowed, and which of them push.

        Block pivots, all contradictions at once; then the first alone, which cannot go round in circles (Murty, 1974).
        """
        k = len(b)
        slack = slack_of(b, allowed)
        pushing = [logical_and(allowed[i], b[i] < -slack) for i in range(k)]
        blocks = min(k, BLOCK_PIVOTS)
        for step in range(blocks + k + 1):
            lam = self._solve(b, pushing)
            r = ca.vertcat(*b) + self.A @ ca.vertcat(*lam)
            wrong = find_wrong(lam, r, [self.A[i, i] for i in range(k)], pushing, allowed, slack)
            chosen = wrong if step < blocks else _first(wrong)
            pushing = [where(c, logical_not(p), p) for c, p in zip(chosen, pushing, strict=True)]
        return self.hold(b, pushing), pushing


def slack_of(b: Sequence[ca.SX], allowed: Sequence[ca.SX]) -> ca.SX:
    """What counts as zero beside the motions b."""
    scale = ca.SX(1)
    for entry, may in zip(b, allowed, strict=True):
        scale = maximum(scale, where(may, absolute(entry), 0.0))
    return NO_FORCE * scale


def find_wrong(
    lam: Sequence[ca.SX],
    r: ca.SX,
    own: Sequence[ca.SX],
    pushing: Sequence[ca.SX],
    allowed: Sequence[ca.SX],
    slack: ca.SX,
) -> list[ca.SX]:
    """Those that would pull, and those that would move into what they touch.

    Args:
        own: mobility of each.
    """
    return [
        where(pushing[i], lam[i] * own[i] <= slack, logical_and(allowed[i], r[i] < -slack)) for i in range(len(own))
    ]


def _first(conditions: Sequence[ca.SX]) -> list[ca.SX]:
    """The first that is true, alone."""
    found: list[ca.SX] = []
    earlier = ca.SX(0)
    for condition in conditions:
        found.append(logical_and(condition, logical_not(earlier)))
        earlier = logical_or(earlier, condition)
    return found
