"""How far are two rotations apart, and what does a turn make of one?"""

from __future__ import annotations

import numpy as np

SMALL = 1e-9


def turn_between(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Rotation vector in world axes that takes the first rotation to the second [rad], (3,); less than half a turn."""
    Q = second @ first.T
    sine = np.array([Q[2, 1] - Q[1, 2], Q[0, 2] - Q[2, 0], Q[1, 0] - Q[0, 1]]) / 2
    size = float(np.linalg.norm(sine))
    angle = np.arctan2(size, (np.trace(Q) - 1) / 2)
    return sine if size < SMALL else sine * (angle / size)


def turn_by(rotation: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """A rotation after a turn by a rotation vector in world axes, (3, 3), by Rodrigues' formula."""
    angle = float(np.linalg.norm(turn))
    if angle == 0.0:
        return rotation
    x, y, z = turn / angle
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return (np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K) @ rotation
