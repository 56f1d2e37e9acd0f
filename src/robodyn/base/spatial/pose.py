"""Pose: where is frame B, seen from frame A?"""

from __future__ import annotations

import numpy as np

from robodyn.base import symbolic as sym
from robodyn.base.records import dataclass
from robodyn.base.spatial.rotations import clean_rotation
from robodyn.base.spatial.vectors import Matrix, Vector, as_vector


@dataclass(frozen=True, eq=False)
class Pose:
    """Rotation R_AB and position p_AB [m, axes of A] of a frame B in a frame A."""

    R: Matrix
    p: Vector

    def __post_init__(self) -> None:
        R = self.R if sym.is_symbolic(self.R) else np.asarray(self.R, dtype=float)
        if R.shape != (3, 3):
            raise ValueError(f"a pose's rotation is 3 x 3, got shape {R.shape}")
        object.__setattr__(self, "R", R)
        object.__setattr__(self, "p", as_vector(self.p))

    @staticmethod
    def identity() -> Pose:
        """Frame B in frame A's own place."""
        return Pose(np.eye(3), np.zeros(3))

    @staticmethod
    def translation(p: Vector) -> Pose:
        """Frame B parallel to frame A, at p [m]."""
        return Pose(np.eye(3), p)

    @staticmethod
    def rotation(R: Matrix) -> Pose:
        """Frame B rotated by R, with the origin of frame A."""
        return Pose(R, np.zeros(3))

    def compose(self, other: Pose) -> Pose:
        """Pose of C in A, from this pose of B in A and the other of C in B; also written `X_AB @ X_BC`."""
        return Pose(clean_rotation(self.R @ other.R), self.apply(other.p))

    __matmul__ = compose

    def inverse(self) -> Pose:
        """Pose of A in B."""
        return Pose(self.R.T, -(self.R.T @ self.p))

    def apply(self, point: Vector) -> Vector:
        """Point given in B, as seen from A: p_AB + R_AB x_B [m]."""
        return self.p + self.R @ as_vector(point)
