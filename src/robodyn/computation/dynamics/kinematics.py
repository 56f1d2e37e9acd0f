"""Forward kinematics and Jacobians: where are the links and their points, and how fast do they move?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.base import symbolic as sym
from robodyn.base.spatial import (
    Matrix,
    Pose,
    Quaternion,
    Scalar,
    Vector,
    build_matrix,
    cross,
    dot,
    multiply,
    quaternion_from_matrix,
)

from .flexible import Elasticity
from .joints import combine, orientation, position_rate
from .tree import GROUND, Tree, deformed_moments


def link_poses(tree: Tree, q: Sequence[Scalar]) -> list[Pose]:
    """Pose of each link's frame in the world."""
    poses: list[Pose] = []
    for link, joint_pose in zip(tree.links, tree.joint_poses(q), strict=True):
        # T_link = T_parent T_joint, parents first.
        poses.append(joint_pose if link.parent == GROUND else poses[link.parent] @ joint_pose)

    return poses


def link_quaternions(tree: Tree, q: Sequence[Scalar]) -> list[Quaternion]:
    """Orientation of each link, world from link, as unit quaternions that are continuous in q."""
    orientations: list[Quaternion] = []
    eta = tree.deformations(q)
    for link, part in zip(tree.links, tree.split_coordinates(q), strict=True):
        moved = link.node.quaternion(eta[link.parent]) if link.node else orientation(link.kind, link.axis, part)
        relative = multiply(quaternion_from_matrix(link.frame.R), moved)
        orientations.append(relative if link.parent == GROUND else multiply(orientations[link.parent], relative))

    return orientations


def link_velocities(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[tuple[Vector, Vector]]:
    """Angular velocity [rad/s] and velocity of the origin [m/s] of each link, in the link's own axes.

    omega = R^T omega_parent + S_angular v,  u = R^T (u_parent + omega_parent x p) + S_linear v
    """
    velocities: list[tuple[Vector, Vector]] = []
    tree.check_rates("v", v)
    for link, pose, columns in zip(tree.links, tree.joint_poses(q), tree.all_columns(q), strict=True):
        angular, linear = combine([column for _, column in columns], [v[k] for k, _ in columns])
        omega, u = (np.zeros(3), np.zeros(3)) if link.parent == GROUND else velocities[link.parent]
        # The parent's motion at this link's origin, in link axes, and the joint's own.
        turn = pose.R.T
        velocities.append((turn @ omega + angular, turn @ (u + cross(omega, pose.p)) + linear))

    return velocities


def point_position(tree: Tree, q: Sequence[Scalar], link: int, point: Vector) -> Vector:
    """World position [m] of a point given in a link's frame, or in the world's for the ground (-1)."""
    joint_poses = tree.joint_poses(q)
    # From the link outwards to the ground, one frame after the other.
    for index in tree.path(link):
        point = joint_poses[index].apply(point)

    return point


def point_velocity(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], link: int, point: Vector) -> Vector:
    """World velocity [m/s, world axes] of a point given in a link's frame."""
    tree.check_link(link)
    if link == GROUND:
        return np.zeros(3)
    omega, u = link_velocities(tree, q, v)[link]

    return link_poses(tree, q)[link].R @ (u + cross(omega, point))


def geometric_jacobian(tree: Tree, q: Sequence[Scalar], link: int, point: Vector) -> Matrix:
    """Matrix J (6, n_v) from joint rates to a link's motion, its angular rows first.

        (omega, u_point) = J v,  all in world axes

    A force F in the point and a torque T on the link, in world axes, load the joints with J^T (T, F).
    """
    path = tree.path(link)
    poses = link_poses(tree, q)
    reached = point if link == GROUND else poses[link].apply(point)
    columns: list[list[Scalar]] = [[0.0] * 6 for _ in range(tree.n_v)]
    own = tree.all_columns(q)
    for index in path:
        pose = poses[index]
        for k, (angular, linear) in own[index]:
            # A unit rate of the joint rotates and shifts all that lies beyond it.
            omega = pose.R @ angular
            u = pose.R @ linear + cross(omega, reached - pose.p)
            columns[k] = [omega[0], omega[1], omega[2], u[0], u[1], u[2]]

    return build_matrix(columns).T


def relative_jacobian(
    tree: Tree, q: Sequence[Scalar], poses: Sequence[Pose], links: tuple[int, int], place: Vector
) -> Matrix:
    """Matrix (3, n_v) from joint rates to the velocity of one link against another at a place, both in world axes.

    Joints that carry both links move nothing. Poses are those of all links.
    """
    paths, own = [tree.path(link) for link in links], tree.all_columns(q)
    columns: list[Vector] = [np.zeros(3)] * tree.n_v
    for sign, path, other in ((1.0, paths[0], paths[1]), (-1.0, paths[1], paths[0])):
        for index in path:
            for k, (angular, linear) in own[index] if index not in other else ():
                arm = place - poses[index].p
                columns[k] = columns[k] + sign * (poses[index].R @ linear + cross(poses[index].R @ angular, arm))

    return build_matrix([[column[i] for column in columns] for i in range(3)])


def position_rates(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> Vector:
    """Rates of the joint coordinates, q_dot = N(q) v, (n_q,)."""
    parts = zip(tree.links, tree.split_coordinates(q), tree.split_rates(v), strict=True)

    joints = [rate for link, q_i, v_i in parts for rate in position_rate(link.kind, q_i, v_i)]

    return sym.stack([*joints, *(rate for rates in tree.mode_rates(v) for rate in rates)])


# --------------------------------------------------------------------------------------------------
# Kinetic and potential energy: how much do the links hold?


def kinetic_energy(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> Scalar:
    """Kinetic energy of all links and rotors [J], v^T M v / 2.

    sum (m u.u + 2 h.(u x omega) + omega.J omega) / 2 over links, plus armature v^2 / 2 over joints
    """
    total = 0.0
    bodies, eta, rates = deformed_moments(tree, q), tree.deformations(q), tree.mode_rates(v)
    for index, (link, (omega, u)) in enumerate(zip(tree.links, link_velocities(tree, q, v), strict=True)):
        body = bodies[index]
        # About the link's origin, not its centre of mass: hence the mixed term with the first moment h.
        total = total + 0.5 * (body.mass * dot(u, u) + dot(omega, body.tensor @ omega))
        total = total + dot(body.first, cross(u, omega))
        for k, _ in tree.columns(index):
            total = total + 0.5 * link.armature * v[k] * v[k]
        if link.elasticity:
            total = total + _modal_energy(link.elasticity, (omega, u), eta[index], rates[index])

    return total


def _modal_energy(
    elasticity: Elasticity, motion: tuple[Vector, Vector], eta: Sequence[Scalar], rates: Sequence[Scalar]
) -> Scalar:
    """What moving modes add: sum (u.f_i + omega.n_i) eta_i' + eta'^T M eta' / 2."""
    omega, u = motion
    total = 0.0
    for i, (f, n) in enumerate(elasticity.columns(eta)):
        row = sum((elasticity.mass[i, j] * rates[j] for j in range(elasticity.n)), 0.0)
        total = total + (dot(u, f) + dot(omega, n) + 0.5 * row) * rates[i]

    return total


def potential_energy(tree: Tree, q: Sequence[Scalar]) -> Scalar:
    """Energy of all links in the gravity field [J], zero at the world's origin: -sum m g.p_com."""
    total = 0.0
    for body, pose in zip(deformed_moments(tree, q), link_poses(tree, q), strict=True):
        # m p_com = m p + R h.
        moment = body.mass * pose.p + pose.R @ body.first
        total = total - dot(tree.gravity, moment)

    return total
