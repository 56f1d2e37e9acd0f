"""Frictional impact: which impulses does friction add where bodies hit each other?

Symbols: lam, beta impulses along the normals and along the slips; y change of the joints' velocities; r speeds along
the normals above those of the rebound, s slips:

    y = Rn lam + Rs beta,    r = b + H y,    s = s0 + G y,    |beta_i| <= mu_i lam_i

In the direction of the slip that there would be without friction, a contact point slides, beta_i = -mu_i lam_i or the
opposite against a slip backwards, or it sticks, s_i = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from robodyn.assembly.complementarity import BLOCK_PIVOTS, MARGIN, Mobility, find_wrong, slack_of
from robodyn.symbolic import absolute, clip, logical_and, logical_not, logical_or, maximum, where

Modes = tuple[list[ca.SX], list[ca.SX]]
"""Which contact points push, and which way each slides: -1 or 1, 0 sticks."""


Impulses = tuple[ca.SX, ca.SX]
SWEEPS = 12
"""Rounds over all contact points for a guess."""


@dataclass(frozen=True)
class FrictionalImpact:
    """An impact with friction.

    Attributes:
        normal, slip: mobilities of the k normals and of the k slips.
        s0: slips before (k,); coefficients: mu.
    """

    normal: Mobility
    slip: Mobility
    s0: ca.SX
    coefficients: Sequence[ca.SX]

    def solve(self, b: ca.SX, allowed: Sequence[ca.SX], before: Impulses | None = None) -> Impulses:
        """Impulses lam and beta: a guess by sweeps of what each contact point does, corrected by passes that change all
        contradictions at once. Where some are left, the guess is the answer.

        Args:
            b: speeds along the normals before, above those of the rebound with its sign, (k,).
            before: impulses to begin with, of a problem like this one.
        """
        k, slack = len(self.coefficients), slack_of(b, allowed)
        # The guess only chooses the modes; these are solved for exactly, and changed where they contradict themselves.
        guess = self._sweep(b, allowed, before or (ca.SX.zeros(k), ca.SX.zeros(k)))
        modes: Modes = [guess[0][i] > 0 for i in range(k)], [self._slip_direction(i, *guess) for i in range(k)]
        for _ in range(BLOCK_PIVOTS):
            modes = self._switch_modes(b, self._impulses(b, modes, corrections=1), modes, allowed, slack)
        found = self._impulses(b, modes)
        # Exact where that is consistent, the guess otherwise; within the friction cone in any case.
        wrong = self._is_wrong(b, found, allowed, MARGIN * slack)
        lam = ca.vertcat(*(where(wrong, guess[0][i], maximum(found[0][i], 0.0)) for i in range(k)))
        limit = [self.coefficients[i] * lam[i] for i in range(k)]
        beta = [where(wrong, guess[1][i], clip(found[1][i], -limit[i], limit[i])) for i in range(k)]
        return lam, ca.vertcat(*beta)

    def _is_wrong(self, b: ca.SX, impulses: Impulses, allowed: Sequence[ca.SX], slack: ca.SX) -> ca.SX:
        """Whether any touch pulls, sinks in or is beyond its limit."""
        lam, beta = impulses
        r, wrong = b + self.normal.rows @ self.change(lam, beta), ca.SX(0)
        for i, own in enumerate(self.normal.own):
            excess = absolute(beta[i]) - self.coefficients[i] * lam[i]
            beyond = maximum(-lam[i] * own, excess * self.slip.own[i]) > slack
            wrong = logical_or(wrong, logical_or(beyond, logical_and(allowed[i], r[i] < -slack)))
        return wrong

    def _sweep(self, b: ca.SX, allowed: Sequence[ca.SX], impulses: Impulses) -> Impulses:
        """Impulses near the solution: one contact point after the other is brought to rest as far as its limits allow
        (projected Gauss-Seidel), which does not go round in circles where friction is strong."""
        lam, beta = (ca.vertsplit(part) for part in impulses)
        y = self.change(*impulses)
        for _ in range(SWEEPS):
            for i, may in enumerate(allowed):
                # lam_i := max(0, lam_i - r_i / A_ii), then |beta_i| <= mu_i lam_i likewise.
                r = b[i] + ca.dot(self.normal.rows[i, :].T, y)
                new = where(may, maximum(lam[i] - r / self.normal.own[i], 0.0), 0.0)
                y, lam[i] = y + self.normal.columns[:, i] * (new - lam[i]), new
                s = self.s0[i] + ca.dot(self.slip.rows[i, :].T, y)
                limit = self.coefficients[i] * new
                new = clip(beta[i] - s / self.slip.own[i], -limit, limit)
                y, beta[i] = y + self.slip.columns[:, i] * (new - beta[i]), new
        return ca.vertcat(*lam), ca.vertcat(*beta)

    def _slip_direction(self, i: int, lam: ca.SX, beta: ca.SX) -> ca.SX:
        limit = self.coefficients[i] * lam[i]
        return where(beta[i] <= -limit, 1.0, where(beta[i] >= limit, -1.0, 0.0))

    def change(self, lam: ca.SX, beta: ca.SX) -> ca.SX:
        """y of given impulses."""
        return self.normal.columns @ lam + self.slip.columns @ beta

    def _switch_modes(
        self, b: ca.SX, impulses: Impulses, modes: Modes, allowed: Sequence[ca.SX], slack: ca.SX
    ) -> Modes:
        """What slides against its direction sticks, what sticks beyond its limit slides."""
        (lam, beta), (pushing, slides) = impulses, modes
        y = self.change(lam, beta)
        r = b + self.normal.rows @ y
        s = self.s0 + self.slip.rows @ y
        wrong = find_wrong(lam, r, self.normal.own, pushing, allowed, slack)
        pushes, ways = [], []
        for i, way in enumerate(slides):
            slips = self._slip_direction(i, lam, beta)
            # Friction may lift what slides so that no push is left: it sticks before it is let go.
            caught = logical_and(logical_and(wrong[i], pushing[i]), way != 0)
            stops = logical_or(caught, way * s[i] < -slack)
            ways.append(where(way == 0, where(wrong[i], 0.0, slips), where(stops, 0.0, way)))
            pushes.append(where(logical_and(wrong[i], logical_not(caught)), logical_not(pushing[i]), pushing[i]))
        return pushes, ways

    def _impulses(self, b: ca.SX, modes: Modes, corrections: int = 2) -> Impulses:
        """lam and beta of given modes: 2 k linear equations, in which what slides is part of its normal."""
        pushing, slides = modes
        k = len(pushing)
        # A touch that slides has beta = -+mu lam: its friction is a part of its normal column.
        ratio = ca.vertcat(*(-way * mu for way, mu in zip(slides, self.coefficients, strict=True)))
        columns = ca.horzcat(self.normal.columns + self.slip.columns @ ca.diag(ratio), self.slip.columns)
        rows, compliance = (
            ca.vertcat(self.normal.rows, self.slip.rows),
            ca.vertcat(self.normal.compliance, self.slip.compliance),
        )
        mobility = Mobility(rows, columns, compliance, symmetric=False)
        held = [*pushing, *(logical_and(p, way == 0) for p, way in zip(pushing, slides, strict=True))]
        motions = ca.vertcat(b, self.s0)
        found = mobility.hold(motions, held, corrections)
        return found[:k], found[k:] + ratio * found[:k]
