"""Rotation matrices: which R_AB belongs to an axis and angle, to roll-pitch-yaw angles, to a quaternion?

R_AB takes components in B to components in A: x_A = R_AB x_B. Angles in rad, right-handed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.base import symbolic as sym
from robodyn.base.spatial.vectors import Matrix, Scalar, Vector, build_matrix, skew

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


def quaternion_about(axis: Vector, angle: Scalar) -> Quaternion:
    """The quaternion w, x, y, z of the same rotation as `about_axis`; continuous in the angle, of period 4 pi."""
    s = sym.sin(0.5 * angle)

    return sym.cos(0.5 * angle), axis[0] * s, axis[1] * s, axis[2] * s


def quaternion_from_rpy(roll: Scalar, pitch: Scalar, yaw: Scalar) -> Quaternion:
    """The quaternion of the same rotation as `from_rpy`."""
    x, y, z = np.eye(3)

    return multiply(quaternion_about(z, yaw), multiply(quaternion_about(y, pitch), quaternion_about(x, roll)))


def quaternion_from_matrix(R: np.ndarray) -> Quaternion:
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
