"""Rotation difference: how far are two rotations apart, and what does a rotation vector make of one?"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

SMALL = 1e-9


class Placed(Protocol):
    """What has a position (..., 1 or 3) and, where it is coupled, a rotation (..., 3, 3)."""

    @property
    def position(self) -> np.ndarray: ...

    @property
    def rotation(self) -> np.ndarray | None: ...


def reach(first: Placed, second: Placed) -> np.ndarray:
    """From the first place to the second, along and about the axes, (..., k) [m or rad]."""
    along = second.position - first.position
    if first.rotation is None or second.rotation is None:
        return along
    return np.concatenate([along, turn_between(first.rotation, second.rotation)], axis=-1)


def turn_between(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Rotation vector in world axes that takes the first rotation to the second [rad]; less than 180 deg.

    Args:
        first, second: (..., 3, 3).
    """
    R = second @ np.swapaxes(first, -1, -2)
    sine = (R[..., [2, 0, 1], [1, 2, 0]] - R[..., [1, 2, 0], [2, 0, 1]]) / 2
    size = np.linalg.norm(sine, axis=-1, keepdims=True)
    angle = np.arctan2(size, (np.trace(R, axis1=-2, axis2=-1)[..., None] - 1) / 2)
    return sine * np.where(size < SMALL, 1.0, angle / np.where(size < SMALL, 1.0, size))


def turn_by(rotation: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """A rotation followed by another, given as a rotation vector in world axes, (3, 3), by Rodrigues' formula."""
    angle = math.hypot(*turn.tolist())
    if angle == 0.0:
        return rotation
    x, y, z = turn / angle
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return (np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K) @ rotation
