"""Rotation difference: how far are two rotations apart, and what does a rotation vector make of one?"""

from __future__ import annotations

import math

import numpy as np

SMALL = 1e-9


def turn_between(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Rotation vector in world axes that takes the first rotation to the second [rad], (3,); less than 180 deg."""
    # Plain numbers: arrays of three cost more than what is computed with them.
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = (second @ first.T).tolist()
    sine = (zy - yz) / 2, (xz - zx) / 2, (yx - xy) / 2
    size = math.hypot(*sine)
    factor = 1.0 if size < SMALL else math.atan2(size, (xx + yy + zz - 1) / 2) / size
    return np.array([factor * entry for entry in sine])


def turn_by(rotation: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """A rotation followed by another, given as a rotation vector in world axes, (3, 3), by Rodrigues' formula."""
    angle = math.hypot(*turn.tolist())
    if angle == 0.0:
        return rotation
    x, y, z = turn / angle
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return (np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K) @ rotation
