"""Redundancy resolution: which of the joint positions that meet a pose does an arm with joints to spare take?

Along a path that starts at y0, at the fraction f of the way, the positions that meet the pose minimise

    g = sum w_i (y_i - y0_i - h (p_i - y0_i))^2 / 2 + h (sum x_i^8 / 8 - kappa log m)

y: joint positions over their scale, p: preferred ones, w: weights, x: positions over half their range from its middle,
m: the manipulability (product of the Jacobian's singular values), h = f^3 (10 - 15 f + 6 f^2). They are a function of
the path alone, smooth where the minimum is one: stationary on the null space, N^T grad g = 0, found by Newton's method.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.base.records import dataclass
from robodyn.description.paths.arm import SerialArm, jacobian, jacobian_rate
from robodyn.description.paths.inverse import SINGULAR_SHARE, limit_step, pose_error

MANIPULABILITY = "manipulability"
FAINT, WEAK = 1e-6, 1e-2
"""Weight of joints that are not preferred, beside preferred ones and beside the manipulability."""
SHARE = 0.1
"""Of the manipulability where nothing is preferred."""
POWER = 8
ROUNDS, DIFFERENCE, STATIONARY, LEAST = 60, 1e-5, 1e-11, 1e-3
"""Newton steps; step of differences; gradient at the minimum; least curvature that is believed, of the largest."""


@dataclass(frozen=True, eq=False)
class Posture:
    """What an arm's spare joints do.

    Attributes:
        start: y0, (n,); preferred: p, (n,); weights: w, (n,); share: kappa.
    """

    arm: SerialArm
    start: np.ndarray
    preferred: np.ndarray
    weights: np.ndarray
    share: float

    def settle(self, q: np.ndarray, R: np.ndarray, p: np.ndarray, fraction: Any) -> np.ndarray:
        """Joint positions (..., n) that meet poses and minimise g, from near ones; nan where they are not found."""
        arm, y = self.arm, q / self.arm.scale
        for _ in range(ROUNDS):
            # Towards the pose by the shortest step, and along the null space towards the minimum of g.
            error, J = pose_error(arm, arm.scale * y, R, p)
            inverse = np.linalg.pinv(J, rcond=SINGULAR_SHARE)
            step = (inverse @ error[..., None])[..., 0]
            slide = self._slide(y, R, fraction, J, inverse, step)
            y = y + limit_step(step + slide, 0.3)
            if np.max(np.abs(step), initial=0.0) < 1e-14 and np.max(np.abs(slide), initial=0.0) < STATIONARY:
                break
        positions: np.ndarray = arm.scale * y
        return positions

    def _slide(
        self, y: np.ndarray, R: np.ndarray, fraction: Any, J: np.ndarray, inverse: np.ndarray, step: np.ndarray
    ) -> np.ndarray:
        """Newton's step in the null space of J: N^T (H - K) (step + N alpha) = -N^T grad g, K = d(J^T lam)."""
        gradient = self._gradient(y, R, fraction)
        # Multipliers of the pose, J^T lam = grad g at a minimum: its constraint is curved too.
        lam = (np.swapaxes(inverse, -1, -2) @ gradient[..., None])[..., 0]
        curvature = self._curvature(y, R, fraction) - self._turning(y, R, lam)
        # Columns of N span the null space: the right singular vectors that have no singular value.
        N = np.swapaxes(np.linalg.svd(J)[2], -1, -2)[..., self.arm.rank :]
        N_T = np.swapaxes(N, -1, -2)
        right = -(N_T @ (gradient + (curvature @ step[..., None])[..., 0])[..., None])
        reduced = N_T @ curvature @ N
        values, vectors = np.linalg.eigh(0.5 * (reduced + np.swapaxes(reduced, -1, -2)))
        # Downhill also where it is no minimum yet.
        floor = LEAST * np.maximum(np.max(np.abs(values), axis=-1, keepdims=True), 1e-300)
        sizes = np.maximum(np.abs(values), floor)
        alpha = vectors @ ((np.swapaxes(vectors, -1, -2) @ right) / sizes[..., None])
        return np.asarray((N @ alpha)[..., 0])

    def _gradient(self, y: np.ndarray, R: np.ndarray, fraction: Any) -> np.ndarray:
        arm, f = self.arm, np.asarray(fraction, float)[..., None]
        h = f**3 * (10 - 15 * f + 6 * f**2)
        wanted = self.start + h * (self.preferred - self.start)
        repelled = self._limits(y)
        if self.share:
            repelled = repelled - self.share * self._dexterity(y, R)
        return np.asarray(self.weights * (y - wanted / arm.scale) + h * repelled)

    def _limits(self, y: np.ndarray) -> np.ndarray:
        """Gradient of sum x^8 / 8; joints without both limits have none."""
        arm = self.arm
        bound = np.isfinite(arm.upper) & np.isfinite(arm.lower)
        lower, upper = (np.where(bound, limit, side) / arm.scale for limit, side in ((arm.lower, -1), (arm.upper, 1)))
        half = 0.5 * (upper - lower)
        return np.where(bound, ((y - 0.5 * (lower + upper)) / half) ** (POWER - 1) / half, 0.0)

    def _dexterity(self, y: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Gradient of log m: d log m / dy_i = trace(J^+ dJ/dy_i)."""
        placed = self.arm.place(self.arm.scale * y)
        J = self.arm.select(R, self.arm.scaled(jacobian(placed)))
        inverse = np.linalg.pinv(J, rcond=SINGULAR_SHARE)
        return np.asarray(np.einsum("...ij,k...ji->...k", inverse, self._slopes(y, R)))

    def _slopes(self, y: np.ndarray, R: np.ndarray) -> np.ndarray:
        """dJ / dy_k, selected and scaled, (n, ..., 6, n)."""
        arm = self.arm
        units = np.diag(arm.scale).reshape(arm.n, *(1,) * (y.ndim - 1), arm.n)
        slopes = jacobian_rate(arm.place(arm.scale * y), np.broadcast_to(units, (arm.n, *y.shape)))
        return arm.select(R, arm.scaled(slopes))

    def _turning(self, y: np.ndarray, R: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """Columns (dJ / dy_k)^T lam, (..., n, n)."""
        return np.asarray(np.einsum("k...ji,...j->...ik", self._slopes(y, R), lam))

    def _curvature(self, y: np.ndarray, R: np.ndarray, fraction: Any) -> np.ndarray:
        """Second derivatives of g, by differences of its gradient: they guide the steps, not the result."""
        n = self.arm.n
        units = (DIFFERENCE * np.eye(n)).reshape(n, *(1,) * (y.ndim - 1), n)
        ahead, behind = (self._gradient(y + side * units, R, fraction) for side in (1, -1))
        return np.moveaxis((ahead - behind) / (2 * DIFFERENCE), 0, -1)


def choose_posture(arm: SerialArm, start: np.ndarray, prefer: Any) -> Posture | None:
    """What the spare joints do, None for an arm without.

    Args:
        prefer: positions by joint that are to be kept or reached, "manipulability", or None to stay near the start.
    """
    if not arm.redundant:
        return None
    if prefer is None:
        return Posture(arm, start, start, np.ones(arm.n), SHARE)
    if prefer == MANIPULABILITY:
        return Posture(arm, start, start, np.full(arm.n, WEAK), 1.0)
    named = np.array([name in prefer for name in arm.joints])
    preferred = np.array([prefer.get(name, q) for name, q in zip(arm.joints, start, strict=True)], float)
    return Posture(arm, start, preferred, np.where(named, 1.0, FAINT), 0.0)
