"""Linear complementarity problem (LCP): which of several contacts push, and how much? Pivoting on symbols.

    r = A lam + b,    r >= 0,  lam >= 0,  r_i lam_i = 0,    A = rows columns + compliance

The number of passes is fixed, so that the solution is one expression; it is evaluated at impacts, not in every step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from robodyn.dynamics import ldl, solve_ldl
from robodyn.symbolic import absolute, logical_and, logical_not, logical_or, maximum, where
from robodyn.symbolic.linear import factor_linear

Masks = Sequence[ca.SX]
Solve = Callable[[ca.SX], ca.SX]
BLOCK_PIVOTS = 4
"""Passes in which all contradictions are changed at once."""
NO_FORCE = 1e-9
"""Acceleration [m/s^2] or speed [m/s], or part of the largest one, that a force must make to count."""
MARGIN = 10.0
"""How many times more than that a contradiction must be to count."""


@dataclass(frozen=True)
class Mobility:
    """What forces do where they act.

    Attributes:
        rows: motions of the places by the joints' (k, n); columns: motions of the joints by the forces (n, k).
        compliance: how much each place gives way under its own force (k,), so that several share a load; corrected for
            afterwards.
        symmetric: whether A is; friction makes it otherwise.
    """

    rows: ca.SX
    columns: ca.SX
    compliance: ca.SX
    symmetric: bool = True

    @cached_property
    def A(self) -> ca.SX:
        return self.rows @ self.columns + ca.diag(self.compliance)

    @cached_property
    def own(self) -> list[ca.SX]:
        """What each force does where it acts itself, negative where friction pulls more than the force pushes."""
        return [ca.dot(self.rows[i, :].T, self.columns[:, i]) + self.compliance[i] for i in range(self.rows.shape[0])]

    def motions(self, b: ca.SX, lam: ca.SX) -> ca.SX:
        """r of given forces."""
        return b + self.rows @ (self.columns @ lam)

    def hold(self, b: ca.SX, held: Masks, corrections: int = 2) -> ca.SX:
        """lam with `rows columns lam + b = 0` where held and 0 elsewhere, corrected for the compliance."""
        # (A + give) lam = -b, then the same for what the compliance has left: iterative refinement.
        solve = self.solver(held)
        lam = solve(b)
        for _ in range(corrections):
            # What is left of the motion, not all of it again: rounding then shrinks with it.
            lam = lam + solve(self.motions(b, lam))
        return lam

    def solver(self, held: Masks) -> Solve:
        """lam as a function of b, with `A lam + b = 0` where held and 0 elsewhere; by the smaller set of equations."""
        k, n = self.rows.shape
        return self._by_joints(held) if n < k else self._by_places(held)

    def _by_places(self, held: Masks) -> Solve:
        """k equations: A, with rows and columns of what is not held taken out."""
        k, A = len(held), self.A
        # One matrix for every set that may be held: rows of what is not are rows of the identity.
        both = [[logical_and(held[i], held[j]) for j in range(k)] for i in range(k)]
        rows = [[where(both[i][j], A[i, j], float(i == j)) for j in range(k)] for i in range(k)]
        if self.symmetric:
            factors = ldl(ca.blockcat(rows))
            return lambda b: ca.SX(solve_ldl(factors, [where(held[i], -b[i], 0.0) for i in range(k)]))
        solve = factor_linear(rows)
        return lambda b: ca.vertcat(*solve([where(held[i], -b[i], 0.0) for i in range(k)]))

    def _by_joints(self, held: Masks) -> Solve:
        """n equations for what the joints do, y = columns lam with lam_i = -(b_i + rows_i y) / compliance_i.

        (g + sum c_i rows_i g / compliance_i) y = -sum c_i b_i g / compliance_i over what is held, c_i = columns_i
        """
        k, n = self.rows.shape
        weights = ca.vertcat(*(where(held[i], self.compliance[0] / self.compliance[i], 0.0) for i in range(k)))
        weighted = self.columns @ ca.diag(weights)
        # Woodbury: with fewer joints than touches the matrix of the joints is the smaller one.
        K = self.compliance[0] * ca.SX.eye(n) + weighted @ self.rows
        solve = factor_linear([[K[i, j] for j in range(n)] for i in range(n)])

        def find(b: ca.SX) -> ca.SX:
            y = ca.vertcat(*solve(ca.vertsplit(-(weighted @ b))))
            return -weights * (b + self.rows @ y) / self.compliance[0]

        return find

    def complement(self, b: ca.SX, allowed: Masks) -> tuple[ca.SX, list[ca.SX], list[ca.SX]]:
        """Solution lam among those allowed, which of them push, and where it contradicts itself: there is none then.

        Block pivots, all contradictions at once; then the first alone, which cannot go round in circles (Murty, 1974).
        """
        k = len(allowed)
        slack = slack_of(b, allowed)
        # First guess: whatever would move into its surface by itself pushes.
        pushing = [logical_and(allowed[i], b[i] < -slack) for i in range(k)]
        blocks = min(k, BLOCK_PIVOTS)
        for step in range(blocks + k + 1):
            # With these pushing, which pull (lam < 0), and which others sink in (r < 0)? They change sides.
            lam = self.hold(b, pushing, corrections=1)
            wrong = find_wrong(lam, self.motions(b, lam), self.own, pushing, allowed, slack)
            chosen = wrong if step < blocks else _first(wrong)
            pushing = [where(c, logical_not(p), p) for c, p in zip(chosen, pushing, strict=True)]
        lam = self.hold(b, pushing)
        r = self.motions(b, lam)
        # What still contradicts itself after all passes has no solution, as in Painleve's paradox.
        unsolved = [
            where(
                pushing[i],
                lam[i] * absolute(self.own[i]) < -MARGIN * slack,
                logical_and(allowed[i], r[i] < -MARGIN * slack),
            )
            for i in range(k)
        ]
        return lam, pushing, unsolved


def slack_of(b: ca.SX, allowed: Masks) -> ca.SX:
    """What counts as zero beside the motions b."""
    scale = ca.SX(1)
    for entry, may in zip(ca.vertsplit(b), allowed, strict=True):
        scale = maximum(scale, where(may, absolute(entry), 0.0))
    return NO_FORCE * scale


def find_wrong(lam: ca.SX, r: ca.SX, own: Sequence[ca.SX], pushing: Masks, allowed: Masks, slack: ca.SX) -> list[ca.SX]:
    """Those that would pull, and those that would move into what they touch.

    Args:
        own: mobility of each.
    """
    return [
        where(pushing[i], lam[i] * absolute(own[i]) <= slack, logical_and(allowed[i], r[i] < -slack))
        for i in range(len(own))
    ]


def _first(conditions: Masks) -> list[ca.SX]:
    """The first that is true, alone."""
    found: list[ca.SX] = []
    earlier = ca.SX(0)
    for condition in conditions:
        found.append(logical_and(condition, logical_not(earlier)))
        earlier = logical_or(earlier, condition)
    return found
