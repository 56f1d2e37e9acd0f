"""Joint kinds and their degrees of freedom: what motion does each allow?

A kind is one row of `KINDS`. Its motion subspace S is constant in the link's own axes: relative to its
parent, the link rotates with `angular_k v_k` and its origin moves with `linear_k v_k`, summed over k.

    kind        q                                    v
    revolute    angle                                its rate
    prismatic   displacement                         its rate
    screw       angle; it advances by pitch * angle  its rate
    ball        quaternion w, x, y, z                angular velocity, link axes
    free        position, joint axes; quaternion     velocity of the origin, angular velocity, link axes (floating base)
    fixed       none                                 none; also the nodes of links that deform, see `flexible`

The rotation of a ball depends on the direction of its quaternion alone, so that its length means nothing: what an
integrator makes of it changes no result. The rate returns it to 1 all the same, at `RETURN_RATE`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from robodyn.base import Array, frozen
from robodyn.base.spatial import Pose, Quaternion, Scalar, Vector, about_axis, from_quaternion, quaternion_about
from robodyn.base.symbolic import sqrt

Column = tuple[Array, Array]
"""One column of S: (angular (3,), linear (3,)) in link axes, for a unit rate."""
RETURN_RATE = 10.0
"""Rate [1/s] at which the length of a quaternion returns to 1."""


@frozen
class JointKind:
    """Sizes of a joint's q and v, and the functions of axis, pitch, q and v that define its motion."""

    n_q: int
    n_v: int
    has_axis: bool
    motion: Callable[[Vector, Scalar, Sequence[Scalar]], Pose]
    subspace: Callable[[Vector, Scalar], tuple[Column, ...]]
    position_rate: Callable[[Sequence[Scalar], Sequence[Scalar]], list[Scalar]]


def motion(kind: str, axis: Vector, pitch: Scalar, q: Sequence[Scalar]) -> Pose:
    """Pose of the link frame in the joint frame at the joint's coordinates q [rad or m]; pitch [m/rad] of a screw."""
    return KINDS[kind].motion(axis, pitch, q)


def orientation(kind: str, axis: Vector, q: Sequence[Scalar]) -> Quaternion:
    """Unit quaternion of the link frame in the joint frame, continuous in q."""
    if kind in ("revolute", "screw"):
        return quaternion_about(axis, q[0])
    if kind not in ("ball", "free"):
        return 1.0, 0.0, 0.0, 0.0
    w, x, y, z = (q[k] for k in range(KINDS[kind].n_q)[-4:])
    length = sqrt(w * w + x * x + y * y + z * z)

    return w / length, x / length, y / length, z / length


def subspace(kind: str, axis: Vector, pitch: Scalar) -> tuple[Column, ...]:
    """Columns (angular, linear) of the motion subspace S, in link axes, one for each rate."""
    return KINDS[kind].subspace(axis, pitch)


def position_rate(kind: str, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """Rates of the coordinates, q_dot = N(q) v."""
    return KINDS[kind].position_rate(q, v)


def combine(columns: Sequence[Column], rates: Sequence[Scalar]) -> tuple[Vector, Vector]:
    """Angular and linear part of S times the joint's rates, in link axes."""
    pairs = [(column, rates[k]) for k, column in enumerate(columns)]
    # S v: the motion subspace times the rates of its degrees of freedom.
    angular = sum((ang * rate for (ang, _), rate in pairs), np.zeros(3))
    linear = sum((lin * rate for (_, lin), rate in pairs), np.zeros(3))

    return angular, linear


def _quaternion_rate(q: Sequence[Scalar], omega: Sequence[Scalar]) -> list[Scalar]:
    """Half the product of the quaternion q and the angular velocity omega in link axes, and its return to length 1."""
    # q_dot = q * (0, omega) / 2 + r (1 - q.q) q / 2: the first is a rotation, the second changes the length alone.
    w, x, y, z = (q[i] for i in range(4))
    grow = 0.5 * RETURN_RATE * (1.0 - (w * w + x * x + y * y + z * z))
    return [
        grow * w - 0.5 * (x * omega[0] + y * omega[1] + z * omega[2]),
        grow * x + 0.5 * (w * omega[0] + y * omega[2] - z * omega[1]),
        grow * y + 0.5 * (w * omega[1] + z * omega[0] - x * omega[2]),
        grow * z + 0.5 * (w * omega[2] + x * omega[1] - y * omega[0]),
    ]


def _free_pose(q: Sequence[Scalar]) -> Pose:
    return Pose(from_quaternion(q[3], q[4], q[5], q[6]), [q[0], q[1], q[2]])


def _free_rate(q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """Velocity of the origin turned into joint axes, then the quaternion's rate."""
    # A floating base has its velocity in its own axes: q_dot is not v.
    p_dot = _free_pose(q).R @ v[0:3]

    return [p_dot[0], p_dot[1], p_dot[2], *_quaternion_rate(q[3:7], v[3:6])]


_ANGULAR = tuple((unit, np.zeros(3)) for unit in np.eye(3))
_LINEAR = tuple((np.zeros(3), unit) for unit in np.eye(3))

KINDS: dict[str, JointKind] = {
    "revolute": JointKind(
        n_q=1,
        n_v=1,
        has_axis=True,
        motion=lambda axis, pitch, q: Pose.rotation(about_axis(axis, q[0])),
        subspace=lambda axis, pitch: ((axis, np.zeros(3)),),
        position_rate=lambda q, v: [v[0]],
    ),
    "prismatic": JointKind(
        n_q=1,
        n_v=1,
        has_axis=True,
        motion=lambda axis, pitch, q: Pose.translation(axis * q[0]),
        subspace=lambda axis, pitch: ((np.zeros(3), axis),),
        position_rate=lambda q, v: [v[0]],
    ),
    "screw": JointKind(
        n_q=1,
        n_v=1,
        has_axis=True,
        motion=lambda axis, pitch, q: Pose(about_axis(axis, q[0]), axis * (pitch * q[0])),
        subspace=lambda axis, pitch: ((axis, axis * pitch),),
        position_rate=lambda q, v: [v[0]],
    ),
    "ball": JointKind(
        n_q=4,
        n_v=3,
        has_axis=False,
        motion=lambda axis, pitch, q: Pose.rotation(from_quaternion(q[0], q[1], q[2], q[3])),
        subspace=lambda axis, pitch: _ANGULAR,
        position_rate=_quaternion_rate,
    ),
    "free": JointKind(
        n_q=7,
        n_v=6,
        has_axis=False,
        motion=lambda axis, pitch, q: _free_pose(q),
        subspace=lambda axis, pitch: _LINEAR + _ANGULAR,
        position_rate=_free_rate,
    ),
    "fixed": JointKind(
        n_q=0,
        n_v=0,
        has_axis=False,
        motion=lambda axis, pitch, q: Pose.identity(),
        subspace=lambda axis, pitch: (),
        position_rate=lambda q, v: [],
    ),
}
