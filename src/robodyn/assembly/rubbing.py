"""Which impulses does friction add where bodies hit each other?

Symbols: lam, beta impulses along the normals and along the slips; y change of the joints' velocities; r speeds along
the normals above those of the rebound, s slips:

    y = Rn lam + Rs beta,    r = b + H y,    s = s0 + G y,    |beta_i| <= mu_i lam_i

In the direction of the slip that there would be without friction, a touch slides, beta_i = -mu_i lam_i or the opposite
against a slip backwards, or it sticks, s_i = 0. Modes are found by passes that mend all contradictions at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from robodyn.assembly.complementarity import BLOCK_PIVOTS, Mobility, find_wrong, slack_of
from robodyn.symbolic import clip, logical_and, logical_not, maximum, where

Modes = tuple[list[ca.SX], list[ca.SX]]
"""Which touches push, and which way each slides: -1 or 1, 0 sticks."""


@dataclass(frozen=True)
class Rubbing:
    """An impact with friction.

    Attributes:
        normal, slip: mobilities of the k normals and of the k slips.
        s0: slips before (k,); coefficients: mu.
    """

    normal: Mobility
    slip: Mobility
    s0: ca.SX
    coefficients: Sequence[ca.SX]

    def find_modes(self, b: ca.SX, allowed: Sequence[ca.SX], before: Modes | None = None) -> Modes:
        """What each touch does.

        Args:
            b: speeds along the normals before, above those of the rebound with its sign, (k,).
            before: modes to begin with, of a problem like this one.
        """
        k, slack = len(self.coefficients), slack_of(b, allowed)
        modes: Modes = [where(may, b[i] < -slack, 0.0) for i, may in enumerate(allowed)], [ca.SX(1)] * k
        modes = before or modes
        for _ in range(BLOCK_PIVOTS if before else BLOCK_PIVOTS + min(k, BLOCK_PIVOTS)):
            lam, beta = self._impulses(b, modes, corrected=False)
            modes = self._mend(b, lam, beta, modes, allowed, slack)
        return modes

    def solve(self, b: ca.SX, modes: Modes) -> tuple[ca.SX, ca.SX]:
        """Impulses lam and beta, none of which pulls or is beyond its limit."""
        lam, beta = self._impulses(b, modes, corrected=True)
        lam = ca.vertcat(*(maximum(lam[i], 0.0) for i in range(lam.numel())))
        limit = [self.coefficients[i] * lam[i] for i in range(lam.numel())]
        return lam, ca.vertcat(*(clip(beta[i], -limit[i], limit[i]) for i in range(lam.numel())))

    def change(self, lam: ca.SX, beta: ca.SX) -> ca.SX:
        """y of given impulses."""
        return self.normal.columns @ lam + self.slip.columns @ beta

    def _mend(self, b: ca.SX, lam: ca.SX, beta: ca.SX, modes: Modes, allowed: Sequence[ca.SX], slack: ca.SX) -> Modes:
        """What slides against its direction sticks, what sticks beyond its limit slides."""
        pushing, slides = modes
        y = self.change(lam, beta)
        r = b + self.normal.rows @ y + self.normal.give * lam
        s = self.s0 + self.slip.rows @ y
        wrong = find_wrong(lam, r, self.normal.own, pushing, allowed, slack)
        mended = []
        for i, way in enumerate(slides):
            limit = self.coefficients[i] * lam[i]
            slips = where(beta[i] < -limit, 1.0, where(beta[i] > limit, -1.0, 0.0))
            mended.append(where(way == 0, slips, where(way * s[i] < -slack, 0.0, way)))
        return [where(w, logical_not(p), p) for w, p in zip(wrong, pushing, strict=True)], mended

    def _impulses(self, b: ca.SX, modes: Modes, corrected: bool) -> tuple[ca.SX, ca.SX]:
        """lam and beta of given modes: 2 k linear equations, in which what slides is part of its normal."""
        pushing, slides = modes
        k = len(pushing)
        ratio = ca.vertcat(*(-way * mu for way, mu in zip(slides, self.coefficients, strict=True)))
        columns = ca.horzcat(self.normal.columns + self.slip.columns @ ca.diag(ratio), self.slip.columns)
        rows, give = ca.vertcat(self.normal.rows, self.slip.rows), ca.vertcat(self.normal.give, self.slip.give)
        mobility = Mobility(rows, columns, give, symmetric=False)
        held = [*pushing, *(logical_and(p, way == 0) for p, way in zip(pushing, slides, strict=True))]
        motions = ca.vertcat(b, self.s0)
        found = mobility.hold(motions, held) if corrected else mobility.solver(held)(motions)
        return found[:k], found[k:] + ratio * found[:k]
