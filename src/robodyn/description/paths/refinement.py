"""Newton's method on the pose error: which joint positions near given ones bring the tool exactly to a pose?"""

from __future__ import annotations

import numpy as np

from robodyn.description.paths.arm import SerialArm, jacobian
from robodyn.description.paths.orientation import rotation_vector

EXACT = 1e-12
"""Largest pose error of a solution: angle [rad] and distance over the arm's reach."""
INITIALISATIONS, SEED = 240, 6
"""Starts of the search for all branches, spread at random but always alike."""
ROUNDS, SINGULAR_SHARE = 60, 1e-10
"""Damped steps of a search; singular values below this share of the largest count as zero."""


def pose_error(arm: SerialArm, q: np.ndarray, R: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Motion still missing to a pose (rotation [rad], shift / reach) as far as it counts, and J in the same scaling."""
    placed = arm.place(q)
    turn = rotation_vector(R @ np.swapaxes(placed.R, -1, -2))
    error = np.concatenate([turn, (p - placed.p) / arm.reach], axis=-1)
    return arm.select(R, error[..., None])[..., 0], arm.select(R, arm.scaled(jacobian(placed)))


def refine(arm: SerialArm, q: np.ndarray, R: np.ndarray, p: np.ndarray, iterations: int = 8) -> np.ndarray:
    """Joint positions after Newton steps from q, (..., n); nan where these do not meet the pose.

    J dq = error; a step turns no joint by more than 0.5 rad, and it stops where the error stays at rounding. Of a
    redundant arm the shortest steps are taken.
    """
    for _ in range(iterations):
        error, J = pose_error(arm, q, R, p)
        if np.all(np.abs(error) < 1e-15):
            return q
        q = q + arm.scale * limit_step(solve_rates(J, error), 0.5)
    return _met(arm, q, R, p)


def _met(arm: SerialArm, q: np.ndarray, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    error, _ = pose_error(arm, q, R, p)
    met = np.max(np.abs(error), axis=-1, keepdims=True) < EXACT
    return np.where(met, q, np.nan)


def search(arm: SerialArm, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Joint positions that meet one pose, found from many starts, (k, n), in no order and repeated.

    Nothing says that all branches are found; those of the arms tested are.
    """
    half = np.where(arm.periodic, np.pi, arm.scale)
    lower = np.where(np.isfinite(arm.lower) & ~arm.periodic, arm.lower, -half)
    upper = np.where(np.isfinite(arm.upper) & ~arm.periodic, arm.upper, half)
    q = np.random.default_rng(SEED).uniform(lower, upper, (INITIALISATIONS, arm.n))
    found = approach(arm, q, R, p)
    return found[np.isfinite(found[:, 0])]


def approach(arm: SerialArm, q: np.ndarray, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Joint positions that meet a pose, from far away, (..., n); nan where they are not found.

    Damped steps dq = J^T (J J^T + mu 1)^-1 error with mu falling with the error, then Newton's: near singularities the
    joints stay slow, and nothing of the damping is left at the end.
    """
    for _ in range(ROUNDS):
        error, J = pose_error(arm, q, R, p)
        mu = 0.05 * np.sum(error**2, axis=-1)[..., None, None] + 1e-14
        q = q + arm.scale * limit_step(_damped(J, error, mu), 0.6)
    return refine(arm, q, R, p)


def _damped(J: np.ndarray, error: np.ndarray, mu: np.ndarray) -> np.ndarray:
    J_T = np.swapaxes(J, -1, -2)
    rows, columns = J.shape[-2:]
    if rows <= columns:
        return (J_T @ np.linalg.solve(J @ J_T + mu * np.eye(rows), error[..., None]))[..., 0]
    return np.linalg.solve(J_T @ J + mu * np.eye(columns), J_T @ error[..., None])[..., 0]


def solve_rates(J: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """Joint rates J^-1 motion, (..., n); the shortest by least squares where J is not square, or exactly singular."""
    if J.shape[-1] == J.shape[-2]:
        try:
            return np.linalg.solve(J, motion[..., None])[..., 0]
        except np.linalg.LinAlgError:
            pass
    return (np.linalg.pinv(J, rcond=SINGULAR_SHARE) @ motion[..., None])[..., 0]


def limit_step(step: np.ndarray, largest: float) -> np.ndarray:
    """Steps none of whose entries is larger than allowed, shortened as a whole."""
    size = np.max(np.abs(step), axis=-1, keepdims=True)
    return step * np.minimum(1.0, largest / np.maximum(size, 1e-300))
