"""Tool orientation along a path: as at its start, or evenly from one orientation to another."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from robodyn.base.errors import Flaw, FlawList
from robodyn.base.records import dataclass
from robodyn.base.spatial import about_axis, clean_rotation, from_matrix
from robodyn.description.model.numbers import as_floats, check_rotation

HALF_TURN = np.pi - 1e-3
"""From here on the sense of the shortest rotation is a matter of rounding [rad]."""

Rotation = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Orientation:
    """R_world_tool along a path: constant, or turned from `start` to `end` about one axis, in proportion to the way.

    R(s) = R_start exp(skew(turn) s / length),   omega = R_start turn / length,   alpha = 0
    """

    start: Rotation
    end: Rotation | None = None

    def __post_init__(self) -> None:
        flaws = FlawList()
        for key in ("start", "end"):
            value = getattr(self, key)
            if value is not None:
                found = FlawList()
                check_rotation(found, value)
                flaws.extend(Flaw(key, flaw.what, flaw.remedy) for flaw in found.found)
        if not flaws.found and np.linalg.norm(self.turn) > HALF_TURN:
            flaws.add("end", "is half a turn from start: both ways round are as short", "give less than 180 deg")
        flaws.raise_if_any("orientation")
        for key in ("start", "end"):
            value = getattr(self, key)
            object.__setattr__(self, key, None if value is None else as_floats(from_matrix(value)))

    @cached_property
    def turn(self) -> np.ndarray:
        """Rotation vector from start to end [rad], in axes of the start."""
        if self.end is None:
            return np.zeros(3)
        return rotation_vector(np.transpose(self.start) @ np.asarray(self.end))

    def at(self, fraction: Any) -> tuple[np.ndarray, np.ndarray]:
        """R at fractions of the way, (n, 3, 3), and the whole rotation vector in world axes [rad], (3,)."""
        angle = float(np.linalg.norm(self.turn))
        start = np.asarray(self.start)
        if angle == 0.0:
            return np.broadcast_to(start, (len(fraction), 3, 3)), np.zeros(3)
        rotations = np.array([start @ about_axis(self.turn / angle, angle * part) for part in fraction])
        return rotations, start @ self.turn


def point_tool(direction: Any, spin: float = 0.0, axis: Any = (0.0, 0.0, 1.0)) -> np.ndarray:
    """Orientation R_world_tool whose tool axis points along a world direction, 3 x 3.

    The tool's x axis is as near to the world's as it can be, then rotated by `spin` [rad] about the direction:
    `point_tool((0, 0, -1))` is the tool pointing down with its x axis along the world's. (For a direction along x
    itself, the tool's x axis points down, or up for -x.)

    Args:
        axis: of the tool, in axes of its body: z unless given.
    """
    goal, own = _frame_along(direction), _frame_along(axis)
    return clean_rotation(about_axis(goal[:, 2], spin) @ goal @ own.T)


def _frame_along(direction: Any) -> np.ndarray:
    """Right-handed axes as columns: the third along a direction, the first as near to x as it can be."""
    third = np.asarray(direction, float) / np.linalg.norm(direction)
    first = np.array([1.0, 0.0, 0.0]) - third[0] * third
    if np.linalg.norm(first) < 1e-6:
        first = np.array([0.0, 0.0, -third[0]])
    first = first / np.linalg.norm(first)
    return np.stack([first, np.cross(third, first), third], axis=1)


def rotation_vector(R: Any) -> np.ndarray:
    """Axis times angle [rad] of rotations (..., 3, 3), angle in [0, pi]; at pi either sense of the axis.

        v = (R32 - R23, R13 - R31, R21 - R12) / 2 = k sin(angle),   cos(angle) = (trace R - 1) / 2

    Near half a turn v vanishes; the axis k is then the longest column of (R + R^T) / 2 - cos(angle) 1, which is
    (1 - cos(angle)) k k^T.
    """
    pairs = ((2, 1), (0, 2), (1, 0))
    v = 0.5 * np.stack([R[..., i, j] - R[..., j, i] for i, j in pairs], axis=-1)
    sine = np.linalg.norm(v, axis=-1, keepdims=True)
    cosine = 0.5 * (np.trace(R, axis1=-2, axis2=-1)[..., None] - 1.0)
    angle = np.arctan2(sine, cosine)
    direct = v * np.where(sine > 1e-12, angle / np.where(sine > 1e-12, sine, 1.0), 1.0)
    half_turn = (cosine < 0) & (sine < 1e-3)
    return np.where(half_turn, angle * _axis_of(R, cosine, v), direct) if np.any(half_turn) else direct


def _axis_of(R: np.ndarray, cosine: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Unit axis from the symmetric part of a rotation, in the sense of v."""
    outer = 0.5 * (R + np.swapaxes(R, -1, -2)) - cosine[..., None] * np.eye(3)
    lengths = np.linalg.norm(outer, axis=-2)
    column = np.argmax(lengths, axis=-1)[..., None, None]
    axis = np.take_along_axis(outer, np.broadcast_to(column, (*column.shape[:-2], 3, 1)), axis=-1)[..., 0]
    axis = axis / np.maximum(np.linalg.norm(axis, axis=-1, keepdims=True), 1e-300)
    return axis * np.where(np.sum(axis * v, axis=-1, keepdims=True) < 0, -1.0, 1.0)
