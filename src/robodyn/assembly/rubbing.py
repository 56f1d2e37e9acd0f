"""Which impulses does friction add where bodies hit each other?

Symbols: lam, beta impulses along the normals and against the slips; r speeds along the normals above those of the
rebound, s slips:

    r = b + N lam - C beta,    s = s0 + C^T lam - T beta,    |beta_i| <= mu_i lam_i

In the direction of the slip that there would be without friction, a touch slides, beta_i = mu_i lam_i or the opposite
against a slip backwards, or it sticks, s_i = 0. Modes are found by passes that mend all contradictions at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from robodyn.assembly.complementarity import BLOCK_PIVOTS, find_wrong, slack_of
from robodyn.symbolic import clip, logical_not, maximum, solve_linear, where


@dataclass(frozen=True)
class Rubbing:
    """An impact with friction.

    Attributes:
        N, C, T: mobilities (k, k): normal, of normals by slips, of slips.
        b, s0: motions before (k,); coefficients: mu.
    """

    N: ca.SX
    C: ca.SX
    T: ca.SX
    b: Sequence[ca.SX]
    s0: Sequence[ca.SX]
    coefficients: Sequence[ca.SX]

    def solve(self, allowed: Sequence[ca.SX]) -> tuple[ca.SX, ca.SX]:
        """Impulses lam and beta."""
        k, slack = len(self.b), slack_of(self.b, allowed)
        pushing = [where(may, b < -slack, 0.0) for may, b in zip(allowed, self.b, strict=True)]
        slides: list[ca.SX] = [ca.SX(1)] * k
        for step in range(BLOCK_PIVOTS + k + 1):
            lam, beta = self._impulses(pushing, slides)
            if step == BLOCK_PIVOTS + k:
                break
            r = ca.vertcat(*self.b) + self.N @ lam - self.C @ beta
            s = ca.vertcat(*self.s0) + self.C.T @ lam - self.T @ beta
            wrong = find_wrong(ca.vertsplit(lam), r, ca.vertsplit(ca.diag(self.N)), pushing, allowed, slack)
            slides = [self._mend(i, slides[i], lam, beta, s, slack) for i in range(k)]
            pushing = [where(w, logical_not(p), p) for w, p in zip(wrong, pushing, strict=True)]
        lam = ca.vertcat(*(maximum(lam[i], 0.0) for i in range(k)))
        limit = [self.coefficients[i] * lam[i] for i in range(k)]
        return lam, ca.vertcat(*(clip(beta[i], -limit[i], limit[i]) for i in range(k)))

    def _mend(self, i: int, slides: ca.SX, lam: ca.SX, beta: ca.SX, s: ca.SX, slack: ca.SX) -> ca.SX:
        """-1 and 1 slide, 0 sticks: what slides against its direction sticks, what sticks beyond its limit slides."""
        limit = self.coefficients[i] * lam[i]
        slips = where(beta[i] > limit, 1.0, where(beta[i] < -limit, -1.0, 0.0))
        return where(slides == 0, slips, where(slides * s[i] < -slack, 0.0, slides))

    def _impulses(self, pushing: Sequence[ca.SX], slides: Sequence[ca.SX]) -> tuple[ca.SX, ca.SX]:
        """lam and beta of given modes: 2 k linear equations."""
        k = len(self.b)
        rows, right = [], []
        for i in range(k):
            unit = [float(i == j) for j in range(2 * k)]
            entries = [*ca.horzsplit(self.N[i, :]), *ca.horzsplit(-self.C[i, :])]
            rows.append([where(pushing[i], entry, other) for entry, other in zip(entries, unit, strict=True)])
            right.append(where(pushing[i], -self.b[i], 0.0))
        for i in range(k):
            sticks = where(slides[i] == 0, pushing[i], 0.0)
            entries = [*ca.horzsplit(self.C[:, i].T), *ca.horzsplit(-self.T[i, :])]
            other = [-slides[i] * self.coefficients[i] * float(i == j) for j in range(k)] + [
                float(i == j) for j in range(k)
            ]
            rows.append([where(sticks, entry, own) for entry, own in zip(entries, other, strict=True)])
            right.append(where(sticks, -self.s0[i], 0.0))
        found = ca.vertcat(*solve_linear(rows, right))
        return found[:k], found[k:]
