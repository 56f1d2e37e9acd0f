"""Rotations, poses and inertias as values, of numbers or of symbols.

A vector is a numpy array (3,) or a CasADi SX column (3, 1); a matrix is (3, 3) of either. Sums and
`matrix @ vector` already work on both and on mixtures; here is the rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.base import Array
from robodyn.base import symbolic as sym
from robodyn.base.lazy import ca
from robodyn.base.symbolic import is_expression

from ..records import frozen

__all__ = [
    "Inertia", "Moments", "Pose", "Quaternion", "about_axis", "as_vector", "build_matrix", "build_symmetric",
    "clean_rotation", "conjugate", "cross", "dot", "from_matrix", "from_quaternion", "from_rpy", "multiply",
    "perpendicular_to", "quaternion_about", "quaternion_from_matrix", "quaternion_from_rpy", "rotate_symmetric",
    "rotation_vector", "skew", "to_rpy",
]  # fmt: skip

Scalar = Any
Vector = Any
Matrix = Any


def dot(x: Vector, y: Vector) -> Scalar:
    """Scalar product x . y."""
    if is_expression(x) or is_expression(y):
        return ca.dot(x, y)
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


def cross(x: Vector, y: Vector) -> Vector:
    """Vector product x cross y."""
    if is_expression(x) or is_expression(y):
        return ca.densify(ca.cross(x, y))
    return sym.stack(
        [
            x[1] * y[2] - x[2] * y[1],
            x[2] * y[0] - x[0] * y[2],
            x[0] * y[1] - x[1] * y[0],
        ]
    )


def skew(x: Vector) -> Matrix:
    """Matrix of the vector product: skew(x) @ y = x cross y."""
    return build_matrix([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def build_matrix(rows: Sequence[Sequence[Scalar]]) -> Matrix:
    """Matrix with the given entries: SX as soon as one entry is a symbol, else numpy."""
    entries = [entry for row in rows for entry in row]

    if not any(sym.is_symbolic(entry) for entry in entries):
        return np.array([[float(entry) for entry in row] for row in rows])

    return sym.stack(entries).reshape((len(rows[0]), len(rows))).T


def build_symmetric(entry: Any) -> Matrix:
    """Symmetric 3 x 3 matrix of which only entry(i, j) with i <= j is computed."""
    upper = {(i, j): entry(i, j) for i in range(3) for j in range(i, 3)}

    return build_matrix([[upper[min(i, j), max(i, j)] for j in range(3)] for i in range(3)])


def rotate_symmetric(R: Matrix, S: Matrix) -> Matrix:
    """Symmetric matrix S expressed in other axes, R S R^T; only its upper triangle is computed."""
    RS = R @ S
    if is_expression(RS):
        return ca.densify(ca.triu2symm(ca.triu(RS @ R.T)))

    return build_symmetric(lambda i, j: RS[i, 0] * R[j, 0] + RS[i, 1] * R[j, 1] + RS[i, 2] * R[j, 2])


def as_vector(values: Any) -> Vector:
    """Three numbers or symbols as a vector.

    Raises:
        ValueError: when there are not just three of them, in one column.
    """
    vector = sym.stack(values) if isinstance(values, list | tuple | np.ndarray) else values
    if vector.shape not in ((3,), (3, 1)):
        raise ValueError(f"a vector has 3 entries, got shape {vector.shape}")

    return vector


def perpendicular_to(axis: Vector) -> tuple[Vector, Vector]:
    """Two directions perpendicular to an axis and to each other."""
    first = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    first /= np.linalg.norm(first)
    return first, np.cross(axis, first)


# --------------------------------------------------------------------------------------------------
# Rotation matrices: which R_AB belongs to an axis and angle, to roll-pitch-yaw angles, to a quaternion?
#
# R_AB takes components in B to components in A: x_A = R_AB x_B. Angles in rad, right-handed.


ROUNDING = 1e-15
"""Entries this near to 0, 1 or -1 are rounding errors of a right angle, e.g. cos(pi/2) = 6e-17."""

Quaternion = tuple[Scalar, Scalar, Scalar, Scalar]
"""w, x, y, z of a rotation, of length 1."""

SMALL_TANGENT = 1e-3
"""Square of the tangent of half an angle below which a series of five terms is exact to rounding."""

ORTHOGONAL = 1e-6
"""Largest error of R R^T = 1 forgiven in a given matrix: files often print six digits."""


def about_axis(axis: Vector, angle: Scalar) -> Matrix:
    """Rotation about a unit axis k by an angle.

        R = k k^T + cos(angle) (1 - k k^T) + sin(angle) skew(k)

    This order of Rodrigues' formula leaves exact zeros and ones where k lies along x, y or z.
    """
    projector = np.outer(axis, axis)
    R = projector + sym.cos(angle) * (np.eye(3) - projector) + sym.sin(angle) * skew(axis)

    return clean_rotation(R)


def from_rpy(roll: Scalar, pitch: Scalar, yaw: Scalar) -> Matrix:
    """Rotation by roll, pitch, yaw about fixed x, y, z axes, in this order, as in URDF.

    R = Rz(yaw) Ry(pitch) Rx(roll)
    """
    x, y, z = np.eye(3)

    return clean_rotation(about_axis(z, yaw) @ about_axis(y, pitch) @ about_axis(x, roll))


def to_rpy(R: Array) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a rotation of numbers, so that `from_rpy` gives it back at any pitch.

    At a pitch of 90 degrees roll and yaw are one angle: whatever yaw rounding leaves there, the roll fits it.
    """
    yaw = math.atan2(R[1, 0], R[0, 0])
    c, s = math.cos(yaw), math.sin(yaw)
    pitch = math.atan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    roll = math.atan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])

    return roll, pitch, yaw


def quaternion_about(axis: Vector, angle: Scalar) -> Quaternion:
    """The quaternion w, x, y, z of the same rotation as `about_axis`; continuous in the angle, of period 4 pi."""
    s = sym.sin(0.5 * angle)

    return sym.cos(0.5 * angle), axis[0] * s, axis[1] * s, axis[2] * s


def quaternion_from_rpy(roll: Scalar, pitch: Scalar, yaw: Scalar) -> Quaternion:
    """The quaternion of the same rotation as `from_rpy`."""
    x, y, z = np.eye(3)

    return multiply(quaternion_about(z, yaw), multiply(quaternion_about(y, pitch), quaternion_about(x, roll)))


def quaternion_from_matrix(R: Array) -> Quaternion:
    """The quaternion of a rotation of numbers, its largest part positive (Shepperd 1978)."""
    # 4 q q^T, of which the column with the largest diagonal is the best known.
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = np.asarray(R, float).tolist()
    outer = np.array(
        [
            [1 + xx + yy + zz, zy - yz, xz - zx, yx - xy],
            [zy - yz, 1 + xx - yy - zz, xy + yx, xz + zx],
            [xz - zx, xy + yx, 1 - xx + yy - zz, yz + zy],
            [yx - xy, xz + zx, yz + zy, 1 - xx - yy + zz],
        ]
    )
    column = outer[:, np.argmax(np.diag(outer))]
    w, x, y, z = (column / np.linalg.norm(column)).tolist()

    return w, x, y, z


def multiply(p: Quaternion, q: Quaternion) -> Quaternion:
    """Quaternion of the rotation q, then p: R(p q) = R(p) R(q)."""
    (a, b, c, d), (w, x, y, z) = p, q

    return (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y + c * w + d * x - b * z,
        a * z + d * w + b * y - c * x,
    )


def conjugate(q: Quaternion) -> Quaternion:
    """Quaternion of the inverse rotation."""
    w, x, y, z = q

    return w, -x, -y, -z


def rotation_vector(w: Scalar, x: Scalar, y: Scalar, z: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """Axis times angle of the quaternion w + x i + y j + z k, of any length but zero; at most half a turn.

    2 atan2(|v|, |w|) v / |v|,  v = sign(w) (x, y, z);  at small angles its series in s = |v|^2 / w^2, smooth at 0
    """
    square, side = x * x + y * y + z * z, sym.where(w < 0, -2.0, 2.0)
    small = square < SMALL_TANGENT * w * w
    # Neither branch may divide by zero where the other is taken: derivatives would.
    length = sym.sqrt(sym.where(small, 1.0, square))
    size = sym.absolute(w)
    near = sym.where(small, size, 1.0)
    s = sym.where(small, square, 0.0) / (near * near)
    series = (1 + s * (-1 / 3 + s * (1 / 5 + s * (-1 / 7 + s / 9)))) / near
    factor = side * sym.where(small, series, sym.atan2(length, size) / length)

    return factor * x, factor * y, factor * z


def from_quaternion(w: Scalar, x: Scalar, y: Scalar, z: Scalar) -> Matrix:
    """Rotation of the quaternion w + x i + y j + z k, of any length but zero: only its direction counts."""
    s = 2.0 / (w * w + x * x + y * y + z * z)
    R = build_matrix(
        [
            [1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
            [s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)],
            [s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)],
        ]
    )
    return clean_rotation(R)


def from_matrix(R: Any) -> Matrix:
    """Given matrix, checked to be a rotation; symbols are taken as they are.

    Raises:
        ValueError: when R is not 3 x 3, R R^T is not 1, or R mirrors (det R < 0).
    """
    if sym.is_symbolic(R):
        return R

    R = np.asarray(R, dtype=float)
    if R.shape != (3, 3):
        raise ValueError(f"a rotation matrix is 3 x 3, got shape {R.shape}")
    error = np.abs(R @ R.T - np.eye(3)).max()
    if not error < ORTHOGONAL:
        raise ValueError(f"not a rotation matrix: R R^T differs from the unit matrix by {error:.3g}")
    if np.linalg.det(R) < 0:
        raise ValueError("not a rotation matrix: it mirrors (determinant -1)")

    return clean_rotation(R)


def clean_rotation(R: Matrix) -> Matrix:
    """Rotation without the rounding errors of right angles, so that graphs fold its zeros and ones."""
    if sym.is_symbolic(R):
        return R

    nearest = np.round(R)

    return np.where(np.abs(R - nearest) <= ROUNDING, nearest + 0.0, R)


# --------------------------------------------------------------------------------------------------
# Pose: where is frame B, seen from frame A?


@frozen(eq=False)
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


# --------------------------------------------------------------------------------------------------
# Inertia of a rigid body: how is its mass distributed, and how do two bodies add up?
#
# `Inertia` is what people state: mass, centre of mass, tensor about it. `Moments` is what algorithms add and
# move without ever dividing by a mass: the moments of order zero, one and two about a frame's origin.
#
#     mass = sum m_k        first = sum m_k r_k        second = sum m_k r_k r_k^T
#     tensor about the origin = trace(second) 1 - second


@frozen(eq=False)
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
        """This mass seen from frame A, given the pose X_AB of the present frame B.

        first_A = h + m p,  second_A = R second R^T + h p^T + p first_A^T,  with h = R first
        """
        p = pose.p
        h = pose.R @ self.first
        first = h + self.mass * p
        turned = rotate_symmetric(pose.R, self.second)
        second = build_symmetric(lambda i, j: turned[i, j] + (h[i] * p[j] + p[i] * first[j]))

        return Moments(self.mass, first, second)


@frozen(eq=False)
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
        """This body seen from frame A, given the pose X_AB of its frame B."""
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
