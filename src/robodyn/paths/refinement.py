"""Newton's method on the pose error: which joint positions near given ones bring the tool exactly to a pose?"""

from __future__ import annotations

import numpy as np

from robodyn.paths.arm import SixAxisArm, jacobian
from robodyn.paths.orientation import rotation_vector

EXACT = 1e-12
"""Largest pose error of a solution: angle [rad] and distance over the arm's reach."""
INITIALISATIONS, SEED = 240, 6
"""Starts of the search for all branches, spread at random but always alike."""


def pose_error(arm: SixAxisArm, q: np.ndarray, R: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Motion still missing to a pose (rotation [rad], shift / reach), (..., 6), and J in the same scaling."""
    placed = arm.place(q)
    turn = rotation_vector(R @ np.swapaxes(placed.R, -1, -2))
    error = np.concatenate([turn, (p - placed.p) / arm.reach], axis=-1)
    scale = np.repeat([1.0, 1.0 / arm.reach], 3)[:, None]
    return error, scale * jacobian(placed)


def refine(arm: SixAxisArm, q: np.ndarray, R: np.ndarray, p: np.ndarray, iterations: int = 8) -> np.ndarray:
    """Joint positions after Newton steps from q, (..., 6); nan where these do not meet the pose.

    J dq = error; a step turns no joint by more than 0.5 rad, and it stops where the error stays at rounding.
    """
    for _ in range(iterations):
        error, J = pose_error(arm, q, R, p)
        if np.all(np.abs(error) < 1e-15):
            break
        q = q + _limited(solve_rates(J, error), 0.5)
    error, _ = pose_error(arm, q, R, p)
    met = np.max(np.abs(error), axis=-1, keepdims=True) < EXACT
    return np.where(met, q, np.nan)


def search(arm: SixAxisArm, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Joint positions that meet one pose, found from many starts, (n, 6), in no order and repeated.

    Damped steps dq = J^T (J J^T + mu 1)^-1 error with mu falling with the error, then Newton's. Nothing says that
    all branches are found; those of the arms tested are.
    """
    q = np.random.default_rng(SEED).uniform(-np.pi, np.pi, (INITIALISATIONS, 6))
    for _ in range(60):
        error, J = pose_error(arm, q, R, p)
        damping = 0.05 * np.sum(error**2, axis=-1)[:, None, None] * np.eye(6) + 1e-14 * np.eye(6)
        J_T = np.swapaxes(J, -1, -2)
        q = q + _limited((J_T @ np.linalg.solve(J @ J_T + damping, error[..., None]))[..., 0], 0.6)
    found = refine(arm, q, R, p)
    return found[np.isfinite(found[:, 0])]


def solve_rates(J: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """Joint rates J^-1 motion, (..., 6); by least squares where a J is exactly singular."""
    try:
        return np.linalg.solve(J, motion[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return (np.linalg.pinv(J) @ motion[..., None])[..., 0]


def _limited(step: np.ndarray, largest: float) -> np.ndarray:
    size = np.max(np.abs(step), axis=-1, keepdims=True)
    return step * np.minimum(1.0, largest / np.maximum(size, 1e-300))
