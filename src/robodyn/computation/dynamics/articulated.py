"""Articulated-body algorithm: how is M(q) a = b solved with work that grows linearly in the number of links?

Articulated-body inertias (Featherstone 1983; 2008, chapter 7). In forward dynamics b = tau - bias already
holds velocities, gravity and outer wrenches, so the sweeps here are linear: they apply the inverse of the
mass matrix without forming it, to as many columns b as there are. Everything in link axes. Symbols, for a link with
all it carries free to move:

    n = A alpha + B accel + torque        A, C symmetric
    f = B^T alpha + C accel + force
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.base import frozen
from robodyn.base import symbolic as sym
from robodyn.base.spatial import (
    Matrix,
    Pose,
    Scalar,
    Vector,
    build_matrix,
    build_symmetric,
    cross,
    dot,
    rotate_symmetric,
    skew,
)

from .joints import Column
from .solve import LdlFactors, ldl, solve_ldl
from .tree import GROUND, Tree


@frozen(eq=False)
class ArticulatedBody:
    """An articulated body's inertia blocks A, B, C."""

    A: Matrix
    B: Matrix
    C: Matrix

    def __add__(self, other: ArticulatedBody) -> ArticulatedBody:
        return ArticulatedBody(self.A + other.A, self.B + other.B, self.C + other.C)


@frozen(eq=False)
class ArticulatedJoint:
    """What a joint knows of the body it carries.

    Args:
        loads: column k is the load (n, f) that a unit acceleration of rate k asks for, I S_k.
        factors: of the joint's own inertia D = S^T I S + armature.
        gains: column k of I S D^-1, as (n, f).
    """

    loads: tuple[tuple[Vector, Vector], ...]
    factors: LdlFactors
    gains: tuple[tuple[Vector, Vector], ...]


@frozen(eq=False)
class Articulation:
    """The articulated inertias of a tree at a position: what is needed to solve M(q) a = b for any b."""

    tree: Tree
    poses: Sequence[Pose]
    joints: Sequence[ArticulatedJoint]

    def solve(self, b: Sequence[Scalar]) -> Vector:
        """Joint accelerations a that solve M(q) a = b, (n_v,)."""
        return self._accelerate(self._gather(b))

    def _gather(self, b: Sequence[Scalar]) -> list[list[Scalar]]:
        """Sweep from the tips to the ground: what is left for each joint of its torque, `tau - S^T load`."""
        links = self.tree.links
        loads: list[tuple[Vector, Vector]] = [(np.zeros(3), np.zeros(3)) for _ in links]
        drives = [list(_entries(part)) for part in self.tree.split_rates(b, "b")]
        for index in reversed(range(len(links))):
            link, joint = links[index], self.joints[index]
            torque, force = loads[index]
            for k, (angular, linear) in enumerate(link.subspace):
                # u = tau - S^T p, what the bias load p of the body beyond leaves of the torque.
                drives[index][k] = drives[index][k] - dot(angular, torque) - dot(linear, force)
            if link.parent != GROUND:
                # p_parent += X^T (p + I S D^-1 u): the joint gives way, and passes on the rest.
                for (gain_n, gain_f), drive in zip(joint.gains, drives[index], strict=True):
                    torque, force = torque + gain_n * drive, force + gain_f * drive
                # Into the parent's axes, the torque about the parent's origin.
                pose = self.poses[index]
                force = pose.R @ force
                torque = pose.R @ torque + cross(pose.p, force)
                below = loads[link.parent]
                loads[link.parent] = below[0] + torque, below[1] + force

        return drives

    def _accelerate(self, drives: Sequence[Sequence[Scalar]]) -> Vector:
        """Sweep from the ground to the tips: D a = drive - (I S)^T (acceleration carried by the parent)."""
        accelerations: list[tuple[Vector, Vector]] = []
        rates: list[Scalar] = []
        for link, pose, joint, drive in zip(self.tree.links, self.poses, self.joints, drives, strict=True):
            # a_carried = X a_parent, in the axes of the link; velocities are in b already.
            alpha, accel = (np.zeros(3), np.zeros(3)) if link.parent == GROUND else accelerations[link.parent]
            alpha, accel = pose.R.T @ alpha, pose.R.T @ (accel + cross(alpha, pose.p))
            # D a_joint = u - (I S)^T a_carried.
            due = [u - dot(n, alpha) - dot(f, accel) for u, (n, f) in zip(drive, joint.loads, strict=True)]
            a = solve_ldl(joint.factors, due)
            for k, (angular, linear) in enumerate(link.subspace):
                alpha, accel = alpha + angular * a[k], accel + linear * a[k]
                rates.append(a[k])
            accelerations.append((alpha, accel))

        return sym.stack(rates)


def _entries(part: Sequence[Scalar]) -> list[Scalar]:
    return [part[k] for k in range(sym.length(part))]


def articulate(tree: Tree, q: Sequence[Scalar]) -> Articulation:
    """Sweep from the tips to the ground, gathering articulated inertias.

    Raises:
        ValueError: where a link deforms.
    """
    if tree.is_flexible:
        raise ValueError("articulated bodies are rigid: use composite inertias where a link deforms")
    poses = tree.joint_poses(q)
    # Each link alone, then from the tips inwards with all it carries, seen through joints that are free to move.
    rigid = [link.inertia.about_origin() for link in tree.links]
    bodies = [ArticulatedBody(body.tensor, skew(body.first), body.mass * np.eye(3)) for body in rigid]
    joints = []
    for index in reversed(range(len(bodies))):
        link = tree.links[index]
        joint = _grip(bodies[index], link.subspace, link.armature)
        joints.append(joint)
        if link.parent != GROUND:
            # I_parent += X^T (I - I S D^-1 S^T I) X.
            released = _release(bodies[index], joint)
            bodies[link.parent] = bodies[link.parent] + _move(released, poses[index])

    return Articulation(tree, poses, joints[::-1])


def _grip(body: ArticulatedBody, columns: Sequence[Column], armature: Scalar) -> ArticulatedJoint:
    """Inertia of one joint, seen from its own rates."""
    loads = tuple((body.A @ ang + body.B @ lin, body.B.T @ ang + body.C @ lin) for ang, lin in columns)
    # Inertia felt by the joint's own rates, D = S^T I S, and its rotor's.
    D = build_matrix(
        [
            [dot(ang, n) + dot(lin, f) + (armature if j == k else 0.0) for k, (n, f) in enumerate(loads)]
            for j, (ang, lin) in enumerate(columns)
        ]
    )
    factors = ldl(D)

    return ArticulatedJoint(loads, factors, _divide_loads(loads, factors))


def _divide_loads(loads: Sequence[tuple[Vector, Vector]], factors: LdlFactors) -> tuple[tuple[Vector, Vector], ...]:
    """Columns of I S D^-1; D is symmetric, so each row of I S is solved for on its own."""
    rows_n = [solve_ldl(factors, [n[i] for n, _ in loads]) for i in range(3)]
    rows_f = [solve_ldl(factors, [f[i] for _, f in loads]) for i in range(3)]

    return tuple(
        (sym.stack([row[k] for row in rows_n]), sym.stack([row[k] for row in rows_f])) for k in range(len(loads))
    )


def _release(body: ArticulatedBody, joint: ArticulatedJoint) -> ArticulatedBody:
    """The body as felt from below its joint, which is free to move: I - I S D^-1 S^T I."""
    A, B, C = body.A, body.B, body.C
    for (n, f), (gain_n, gain_f) in zip(joint.loads, joint.gains, strict=True):
        A = A - _outer_symmetric(gain_n, n)
        B = B - build_matrix([[gain_n[i] * f[j] for j in range(3)] for i in range(3)])
        C = C - _outer_symmetric(gain_f, f)

    return ArticulatedBody(A, B, C)


def _outer_symmetric(x: Vector, y: Vector) -> Matrix:
    """x y^T, of which the sum over a joint's columns is symmetric."""
    return build_symmetric(lambda i, j: x[i] * y[j])


def _move(body: ArticulatedBody, pose: Pose) -> ArticulatedBody:
    """The body in its parent's frame, with P = skew(p) after rotating every block by R.

    C' = C,  B' = B + P C,  A' = A + P B^T - B' P
    """
    R, p = pose.R, pose.p
    P = skew(p)
    C = rotate_symmetric(R, body.C)
    turned = R @ body.B @ R.T
    B = turned + P @ C
    shift = P @ turned.T - B @ P
    A = rotate_symmetric(R, body.A) + build_symmetric(lambda i, j: shift[i, j])

    return ArticulatedBody(A, B, C)
