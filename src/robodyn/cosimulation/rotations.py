"""How far are two rotations apart, and what lies between them?"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation


def turn_between(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Rotation vector in world axes that takes the first rotation to the second [rad], (3,)."""
    return Rotation.from_matrix(second @ first.T).as_rotvec()


def mean_rotation(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The rotation halfway between two, (3, 3)."""
    return Rotation.from_rotvec(turn_between(first, second) / 2).as_matrix() @ first
