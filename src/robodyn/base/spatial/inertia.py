"""Inertia of a rigid body: how is its mass distributed, and how do two bodies add up?

`Inertia` is what people state: mass, centre of mass, tensor about it. `Moments` is what algorithms add and
move without ever dividing by a mass: the moments of order zero, one and two about a frame's origin.

    mass = sum m_k        first = sum m_k r_k        second = sum m_k r_k r_k^T
    tensor about the origin = trace(second) 1 - second
"""

from __future__ import annotations

import numpy as np

from robodyn.base import symbolic as sym
from robodyn.base.records import dataclass
from robodyn.base.spatial.pose import Pose
from robodyn.base.spatial.vectors import (
    Matrix,
    Scalar,
    Vector,
    as_vector,
    build_matrix,
    build_symmetric,
    dot,
    rotate_symmetric,
)


@dataclass(frozen=True, eq=False)
class Moments:
    """Mass [kg], first moment [kg m], second moment matrix [kg m^2] about a frame's origin, in its axes."""

    mass: Scalar
    first: Vector
    second: Matrix

    @property
    def tensor(self) -> Matrix:
        """Inertia tensor about the frame's origin [kg m^2], J = trace(second) 1 - second."""
        S = self.second
        return build_matrix(
            [
                [S[1, 1] + S[2, 2], -S[0, 1], -S[0, 2]],
                [-S[1, 0], S[2, 2] + S[0, 0], -S[1, 2]],
                [-S[2, 0], -S[2, 1], S[0, 0] + S[1, 1]],
            ]
        )

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.mass + other.mass, self.first + other.first, self.second + other.second)

    def moved(self, pose: Pose) -> Moments:
        """The same mass seen from frame A, given the pose X_AB of the present frame B.

        first_A = h + m p,  second_A = R second R^T + h p^T + p first_A^T,  with h = R first
        """
        p = pose.p
        h = pose.R @ self.first
        first = h + self.mass * p
        turned = rotate_symmetric(pose.R, self.second)
        second = build_symmetric(lambda i, j: turned[i, j] + (h[i] * p[j] + p[i] * first[j]))

        return Moments(self.mass, first, second)


@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass [kg], centre of mass [m] and inertia tensor about it [kg m^2] of a body, in the body's axes."""

    mass: Scalar
    com: Vector
    tensor: Matrix

    def __post_init__(self) -> None:
        tensor = self.tensor if sym.is_symbolic(self.tensor) else np.asarray(self.tensor, dtype=float)
        if tensor.shape != (3, 3):
            raise ValueError(f"an inertia tensor is 3 x 3, got shape {tensor.shape}")
        if not sym.is_symbolic(tensor) and np.abs(tensor - tensor.T).max() > 1e-9 * np.abs(tensor).max():
            raise ValueError(f"an inertia tensor is symmetric, got {tensor.tolist()}")
        object.__setattr__(self, "tensor", tensor)
        object.__setattr__(self, "com", as_vector(self.com))

    @staticmethod
    def massless() -> Inertia:
        """No mass at all, for frames that only connect."""
        return Inertia(0.0, np.zeros(3), np.zeros((3, 3)))

    @staticmethod
    def point(mass: Scalar, com: Vector) -> Inertia:
        """All mass [kg] in one point [m]."""
        return Inertia(mass, com, np.zeros((3, 3)))

    @property
    def first_moment(self) -> Vector:
        """Mass times centre of mass [kg m]."""
        return self.mass * self.com

    def about_origin(self) -> Moments:
        """Moments of the mass about the body frame's origin; second = (trace(I) / 2) 1 - I + m c c^T."""
        T, c, h = self.tensor, self.com, self.first_moment
        central = [
            0.5 * (T[1, 1] + T[2, 2] - T[0, 0]),
            0.5 * (T[2, 2] + T[0, 0] - T[1, 1]),
            0.5 * (T[0, 0] + T[1, 1] - T[2, 2]),
        ]
        second = build_symmetric(lambda i, j: (central[i] if i == j else -T[i, j]) + h[i] * c[j])

        return Moments(self.mass, h, second)

    def moved(self, pose: Pose) -> Inertia:
        """The same body seen from frame A, given the pose X_AB of its frame B."""
        return Inertia(self.mass, pose.apply(self.com), rotate_symmetric(pose.R, self.tensor))

    def __add__(self, other: Inertia) -> Inertia:
        """Two bodies in one frame joined rigidly: Steiner's theorem with the mass m1 m2 / (m1 + m2).

        Symbols that stand for the masses must not both be zero.
        """
        mass = self.mass + other.mass
        if not sym.is_symbolic(mass) and mass == 0.0:
            return Inertia(mass, self.com, self.tensor + other.tensor)

        apart = other.com - self.com
        share = other.mass / mass
        reduced = self.mass * share
        steiner = build_symmetric(lambda i, j: reduced * (dot(apart, apart) * (i == j) - apart[i] * apart[j]))

        return Inertia(mass, self.com + share * apart, self.tensor + other.tensor + steiner)
