"""Inverse dynamics (recursive Newton-Euler): which joint torques make the tree move as given?

Recursive Newton-Euler (Luh, Walker and Paul 1980), every vector in the axes of its own link. Gravity enters
as an acceleration -g of the ground. Symbols, for one link:

    omega, alpha   angular velocity and acceleration
    accel          acceleration of the link's origin, less gravity
    U              skew(alpha) + skew(omega)^2: a point at r has the acceleration accel + U r
    f, n           force on the link, and its torque about the link's origin
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robodyn.base import frozen
from robodyn.base import symbolic as sym
from robodyn.base.spatial import Matrix, Moments, Pose, Scalar, Vector, build_matrix, cross, dot

from .joints import Column, combine
from .kinematics import link_poses
from .tree import GROUND, Tree, deformed_moments

Wrenches = Mapping[int, tuple[Vector, Vector]]
"""Link index: (force [N], torque about the link's origin [N m]) acting on the link, in world axes.

Those on the ground (-1) load no joint.
"""

Load = tuple[Vector, Vector]
"""Force, and torque about the link's origin, in link axes."""

Columns = Sequence[Sequence[tuple[int, Column]]]
Frames = tuple[Sequence[Pose], Columns]
"""Pose of each link in its parent, and the rates that move it there."""


@frozen(eq=False)
class LinkMotion:
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
    carried, columns, on_modes = _find_carried(tree, q, v, a, wrenches)

    return _project_loads(tree, columns, carried, on_modes, a)


def joint_wrenches(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    wrenches: Wrenches | None = None,
) -> list[Load]:
    """Force and torque with which each link is held and driven at its joint, given its motion and the outer wrenches.

    Bearing, drive and friction together, as they act on the link: in its axes, the torque about its origin. What an
    armature asks for is not in it, a rotor is accelerated before its torque reaches the link.
    """
    return _find_carried(tree, q, v, a, wrenches)[0]


def _find_carried(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    wrenches: Wrenches | None,
) -> tuple[list[Load], Columns, list[Scalar]]:
    """What each joint carries, the rates that move it, and the forces on modes."""
    # Outwards: how each link moves. Then what its inertia asks for, less what acts on it from outside.
    poses, columns = tree.joint_poses(q), tree.all_columns(q)
    motions = _find_motions(tree, q, (poses, columns), v, a)
    bodies = deformed_moments(tree, q)
    loads = [_find_load(body, motion) for body, motion in zip(bodies, motions, strict=True)]
    loads, on_modes = _add_deformation(tree, q, motions, loads, v, a)
    loads = _subtract_wrenches(tree, q, loads, wrenches or {})

    # Inwards: what each joint carries of all that.
    return _carry_loads(tree, poses, loads), columns, on_modes


def bias(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], wrenches: Wrenches | None = None) -> Vector:
    """Joint torques at zero acceleration: gravity, Coriolis and centrifugal, c(q, v) - sum J^T wrench."""
    return inverse_dynamics(tree, q, v, [0.0] * tree.n_v, wrenches)


def link_motions(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]) -> list[LinkMotion]:
    """How each link moves, in its own axes, its acceleration less gravity."""
    return _find_motions(tree, q, (tree.joint_poses(q), tree.all_columns(q)), v, a)


def point_drift(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], link: int, point: Vector
) -> tuple[Vector, Vector]:
    """Acceleration of a point of a link and angular acceleration of the link while the joints do not accelerate.

    J' v of `geometric_jacobian`, in world axes; what the inverse dynamics compute anyway.
    """
    tree.check_link(link)
    if link == GROUND:
        return np.zeros(3), np.zeros(3)
    motion = link_motions(tree, q, v, [0.0] * tree.n_v)[link]
    R = link_poses(tree, q)[link].R

    return R @ (motion.accel + motion.U @ point) + tree.gravity, R @ motion.alpha


def _find_motions(
    tree: Tree, q: Sequence[Scalar], frames: Frames, v: Sequence[Scalar], a: Sequence[Scalar]
) -> list[LinkMotion]:
    """Sweep from the ground to the tips."""
    tree.check_rates("v", v)
    tree.check_rates("a", a)
    ground = LinkMotion(np.zeros(3), np.zeros(3), -tree.gravity, np.zeros((3, 3)))
    eta, rates = tree.deformations(q), tree.mode_rates(v)
    motions: list[LinkMotion] = []
    for link, pose, columns in zip(tree.links, *frames, strict=True):
        parent = ground if link.parent == GROUND else motions[link.parent]
        linear = [column for _, column in columns]
        # Motion relative to the parent: S v and S a, for a node of a deforming link with its drift.
        rel_velocity = combine(linear, [v[k] for k, _ in columns])
        rel_acceleration = combine(linear, [a[k] for k, _ in columns])
        if link.node:
            drift = link.node.drift(eta[link.parent], rates[link.parent], *rel_velocity)
            rel_acceleration = rel_acceleration[0] + drift[0], rel_acceleration[1] + drift[1]
        motions.append(_carry_motion(pose, parent, rel_velocity, rel_acceleration))

    return motions


def _carry_motion(pose: Pose, parent: LinkMotion, rel_velocity: Column, rel_acceleration: Column) -> LinkMotion:
    """Motion of a link from its parent's and from its own relative to that.

        alpha = R^T alpha_parent + spin' + omega x spin
        accel = R^T (accel_parent + U_parent p) + slide' + (omega + R^T omega_parent) x slide

    Args:
        moving: spin and slide, S v; faster: their rates in link axes, S a for a joint.
    """
    turn = pose.R.T
    spin, slide = rel_velocity
    spin_dot, slide_dot = rel_acceleration

    # The parent's rates in link axes, then the joint's own on top of them.
    carried = turn @ parent.omega
    omega = carried + spin
    alpha = turn @ parent.alpha + spin_dot + cross(carried, spin)
    accel = turn @ (parent.accel + parent.U @ pose.p) + slide_dot + cross(omega + carried, slide)

    return LinkMotion(omega, alpha, accel, acceleration_matrix(omega, alpha))


def acceleration_matrix(omega: Vector, alpha: Vector) -> Matrix:
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


def _find_load(body: Moments, motion: LinkMotion) -> Load:
    """Force and torque about the link's origin that the link's own inertia asks for.

        f = m accel + U h,  n = h x accel + sum m_k r_k x (U r_k)

    The last sum holds alpha and omega together: its x is the z, y less the y, z entry of U second
    (Balafoutis and Patel 1991), which needs a quarter fewer operations than J alpha + omega x J omega.
    """
    # h = sum m_k r_k the first moment, S = sum m_k r_k r_k^T the second.
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


def _subtract_wrenches(tree: Tree, q: Sequence[Scalar], loads: list[Load], wrenches: Wrenches) -> list[Load]:
    """Loads left for the joints where outer wrenches, rotated from world into link axes, carry a part."""
    if not wrenches:
        return loads

    net_loads = list(loads)
    poses = link_poses(tree, q)
    for link, (force, torque) in wrenches.items():
        tree.check_link(link)
        if link == GROUND:
            continue
        f, n = net_loads[link]
        turn = poses[link].R.T
        net_loads[link] = (f - turn @ force, n - turn @ torque)

    return net_loads


def _add_deformation(
    tree: Tree,
    q: Sequence[Scalar],
    motions: Sequence[LinkMotion],
    loads: list[Load],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
) -> tuple[list[Load], list[Scalar]]:
    """Loads with what moving modes ask for, and the forces on modes, (n_v,), zero for the joints."""
    on_modes: list[Scalar] = [0.0] * tree.n_v
    if not tree.is_flexible:
        return loads, on_modes

    parts = zip(tree.links, motions, tree.deformations(q), tree.mode_rates(v), tree.mode_rates(a, "a"), strict=True)
    for index, (link, motion, eta, rates, rel_acceleration) in enumerate(parts):
        if link.elasticity:
            # The deformed link as a rigid one is in the loads already: this is what its deforming adds.
            kinetic = (motion.omega, motion.alpha, motion.accel)
            (f, n), forces = link.elasticity.load(kinetic, eta, rates, rel_acceleration)
            loads[index] = loads[index][0] + f, loads[index][1] + n
            for k, force in zip(tree.modes[index], forces, strict=True):
                on_modes[k] = force

    return loads, on_modes


def _carry_loads(tree: Tree, poses: Sequence[Pose], loads: Sequence[Load]) -> list[Load]:
    """Sweep from the tips to the ground: each link carries its own load and those of the links on it."""
    carried = list(loads)
    for index in reversed(range(len(tree.links))):
        link, pose = tree.links[index], poses[index]
        f, n = carried[index]
        # The load goes on into the parent, in its axes and about its origin.
        if link.parent != GROUND:
            f_parent, n_parent = carried[link.parent]
            f = pose.R @ f
            carried[link.parent] = (f_parent + f, n_parent + pose.R @ n + cross(pose.p, f))

    return carried


def _project_loads(
    tree: Tree, columns: Columns, carried: Sequence[Load], on_modes: Sequence[Scalar], a: Sequence[Scalar]
) -> Vector:
    """The torque of a joint by what it carries, S^T (n, f); the rest is borne."""
    # S^T of what is carried drives the joint; an armature is accelerated besides.
    tau = list(on_modes)
    for index in reversed(range(len(tree.links))):
        f, n = carried[index]
        for k, (angular, linear) in columns[index]:
            tau[k] = tau[k] + dot(angular, n) + dot(linear, f) + tree.links[index].armature * a[k]

    return sym.stack(tau)
