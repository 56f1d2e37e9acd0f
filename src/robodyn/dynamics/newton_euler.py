"""Which joint torques make the tree move as given?

Recursive Newton-Euler (Luh, Walker and Paul 1980), every vector in the axes of its own link. Gravity enters
as an acceleration -g of the ground. Symbols, for one link:

    omega, alpha   angular velocity and acceleration
    accel          acceleration of the link's origin, less gravity
    U              skew(alpha) + skew(omega)^2: a point at r has the acceleration accel + U r
    f, n           force on the link, and its torque about the link's origin
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn import symbolic as sym
from robodyn.dynamics.joints import combine
from robodyn.dynamics.kinematics import link_poses
from robodyn.dynamics.tree import GROUND, Link, Tree
from robodyn.spatial import Moments, Pose, build_matrix, cross, dot
from robodyn.spatial.vectors import Matrix, Scalar, Vector

Wrenches = Mapping[int, tuple[Vector, Vector]]
"""Link index: (force [N], torque about the link's origin [N m]) acting on the link, in world axes.

Those on the ground (-1) load no joint.
"""


@dataclass(frozen=True, eq=False)
class Motion:
    """Rates and accelerations of one link, in its own axes."""

    omega: Vector
    alpha: Vector
    accel: Vector
    U: Matrix


def inverse_dynamics(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    wrenches: Wrenches | None = None,
) -> Vector:
    """Joint torques that give the accelerations a under the outer wrenches.

        tau = M(q) a + c(q, v) - sum J^T wrench

    Returns:
        Torque or force on each joint [N m or N], (n_v,).
    """
    poses = tree.joint_poses(q)
    motions = _find_motions(tree, poses, v, a)
    loads = [_find_load(link.inertia.about_origin(), motion) for link, motion in zip(tree.links, motions, strict=True)]
    loads = _subtract_wrenches(tree, q, loads, wrenches or {})

    return _project_loads(tree, poses, loads, a)


def bias(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], wrenches: Wrenches | None = None) -> Vector:
    """Joint torques at zero acceleration: gravity, Coriolis and centrifugal, c(q, v) - sum J^T wrench."""
    return inverse_dynamics(tree, q, v, [0.0] * tree.n_v, wrenches)


def _find_motions(tree: Tree, poses: Sequence[Pose], v: Sequence[Scalar], a: Sequence[Scalar]) -> list[Motion]:
    """Sweep from the ground to the tips."""
    ground = Motion(np.zeros(3), np.zeros(3), -tree.gravity, np.zeros((3, 3)))
    motions: list[Motion] = []
    for link, pose, v_i, a_i in zip(tree.links, poses, tree.split_rates(v), tree.split_rates(a, "a"), strict=True):
        parent = ground if link.parent == GROUND else motions[link.parent]
        motions.append(_carry_motion(link, pose, parent, v_i, a_i))

    return motions


def _carry_motion(link: Link, pose: Pose, parent: Motion, v: Sequence[Scalar], a: Sequence[Scalar]) -> Motion:
    """Motion of a link from its parent's and from its joint's rates.

    alpha = R^T alpha_parent + S_angular a + omega x S_angular v
    accel = R^T (accel_parent + U_parent p) + S_linear a + (omega + R^T omega_parent) x S_linear v
    """
    turn = pose.R.T
    spin, slide = combine(link.subspace, v)
    spin_dot, slide_dot = combine(link.subspace, a)

    carried = turn @ parent.omega
    omega = carried + spin
    alpha = turn @ parent.alpha + spin_dot + cross(carried, spin)
    accel = turn @ (parent.accel + parent.U @ pose.p) + slide_dot + cross(omega + carried, slide)

    return Motion(omega, alpha, accel, _spread(omega, alpha))


def _spread(omega: Vector, alpha: Vector) -> Matrix:
    """U = skew(alpha) + skew(omega)^2."""
    x, y, z = omega[0], omega[1], omega[2]
    xx, yy, zz, xy, yz, zx = x * x, y * y, z * z, x * y, y * z, z * x
    return build_matrix(
        [
            [-(yy + zz), xy - alpha[2], zx + alpha[1]],
            [xy + alpha[2], -(zz + xx), yz - alpha[0]],
            [zx - alpha[1], yz + alpha[0], -(xx + yy)],
        ]
    )


def _find_load(body: Moments, motion: Motion) -> tuple[Vector, Vector]:
    """Force and torque about the link's origin that the link's own inertia asks for.

        f = m accel + U h,  n = h x accel + sum m_k r_k x (U r_k)

    The last sum holds alpha and omega together: its x is the z, y less the y, z entry of U second
    (Balafoutis and Patel 1991), which needs a quarter fewer operations than J alpha + omega x J omega.
    """
    U, S, h = motion.U, body.second, body.first
    f = body.mass * motion.accel + U @ h
    swing = sym.stack([_difference(U, S, 1, 2), _difference(U, S, 2, 0), _difference(U, S, 0, 1)])

    return f, cross(h, motion.accel) + swing


def _difference(U: Matrix, S: Matrix, j: int, k: int) -> Scalar:
    """Entry (k, j) less entry (j, k) of U S, for symmetric S."""
    i = 3 - j - k

    return (
        U[k, i] * S[i, j] - U[j, i] * S[i, k] + (U[k, j] * S[j, j] - U[j, k] * S[k, k]) + (U[k, k] - U[j, j]) * S[j, k]
    )


def _subtract_wrenches(
    tree: Tree, q: Sequence[Scalar], loads: list[tuple[Vector, Vector]], wrenches: Wrenches
) -> list[tuple[Vector, Vector]]:
    """Loads left for the joints where outer wrenches, turned from world into link axes, carry a part."""
    if not wrenches:
        return loads

    left = list(loads)
    poses = link_poses(tree, q)
    for link, (force, torque) in wrenches.items():
        tree.check_link(link)
        if link == GROUND:
            continue
        f, n = left[link]
        turn = poses[link].R.T
        left[link] = (f - turn @ force, n - turn @ torque)

    return left


def _project_loads(
    tree: Tree, poses: Sequence[Pose], loads: Sequence[tuple[Vector, Vector]], a: Sequence[Scalar]
) -> Vector:
    """Sweep from the tips to the ground: each joint bears S^T (n, f), the rest goes on to the parent."""
    carried = list(loads)
    tau: list[Scalar] = [0.0] * tree.n_v
    for index in reversed(range(len(tree.links))):
        link, pose = tree.links[index], poses[index]
        f, n = carried[index]
        for k, (angular, linear) in tree.columns(index):
            tau[k] = dot(angular, n) + dot(linear, f) + link.armature * a[k]
        if link.parent != GROUND:
            f_parent, n_parent = carried[link.parent]
            f = pose.R @ f
            carried[link.parent] = (f_parent + f, n_parent + pose.R @ n + cross(pose.p, f))

    return sym.stack(tau)
