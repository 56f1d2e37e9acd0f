"""Lagrange's equations (Uicker-Kahn): which part of a torque comes from which acceleration, speeds, or gravity?

Lagrange's equations in homogeneous 4 x 4 matrices (Uicker 1965, Kahn 1969), for trees of revolute and prismatic joints:

    tau_i = sum_j D_ij a_j + sum_jk D_ijk v_j v_k + D_i

Far slower than Newton-Euler, but every coefficient is there by itself. Symbols:

    T_p            pose of link p in the world
    Q_j            joint matrix: dA_j/dq_j = A_j Q_j for the pose A_j of link j in its parent
    U_pj, U_pjk    first and second partial derivatives of T_p by q_j, and by q_j and q_k
    J_p            pseudo-inertia of link p
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.base import symbolic as sym
from robodyn.base.spatial import Inertia, Pose, build_matrix, skew
from robodyn.computation.dynamics import GROUND, Link, Tree

KINDS = ("revolute", "prismatic")

Scalar = Any
Vector = Any
Matrix = Any
"""Numbers or symbols, alone or in arrays."""

Pair = tuple[int, int]
"""Two joints, the one nearer to the ground first."""


@dataclass(frozen=True, eq=False)
class LagrangeCoefficients:
    """Coefficients of tau_i = sum_j D_ij a_j + sum_jk D_ijk v_j v_k + D_i at one position.

    Attributes:
        inertial: D_ij, the mass matrix, (n, n).
        velocity: for each joint i the symmetric matrix of D_ijk, (n, n); centripetal on its diagonal.
        gravity: D_i, the torque that holds the tree against gravity, (n,).
    """

    inertial: Matrix
    velocity: tuple[Matrix, ...]
    gravity: Vector

    def torques(self, v: Sequence[Scalar], a: Sequence[Scalar]) -> Vector:
        """Torque or force on each joint at speeds v and accelerations a, (n,) [N m or N]."""
        joints = range(len(self.velocity))
        rows = [
            sum((self.inertial[i, j] * a[j] for j in joints), 0.0)
            + sum((_quadratic(self.velocity[i], v, j) for j in joints), 0.0)
            + self.gravity[i]
            for i in joints
        ]

        return sym.stack(rows)


def lagrange_coefficients(tree: Tree, q: Sequence[Scalar]) -> LagrangeCoefficients:
    """Coefficients of the equations of motion at the position q.

        D_ij  = sum_p trace(U_pj J_p U_pi^T), plus the armature where i = j
        D_ijk = sum_p trace(U_pjk J_p U_pi^T)
        D_i   = -sum_p (g, 0)^T U_pi (first moment, mass)

    Raises:
        ValueError: where a joint is neither revolute nor prismatic.
    """
    _check_kinds(tree)
    n = tree.n_v
    D: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    velocity: list[list[list[Scalar]]] = [[[0.0] * n for _ in range(n)] for _ in range(n)]
    gravity: list[Scalar] = [0.0] * n
    for p, (link, poses) in enumerate(zip(tree.links, _relative_poses(tree, q), strict=True)):
        D[p][p] = D[p][p] + link.armature
        _add_link(D, velocity, gravity, tree, sorted(tree.path(p)), poses, pseudo_inertia(link.inertia))

    return LagrangeCoefficients(build_matrix(D), tuple(map(build_matrix, velocity)), sym.stack(gravity))


def lagrange_inverse_dynamics(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]) -> Vector:
    """Joint torques that give the accelerations a, from the coefficients; (n,) [N m or N].

    tau_i = sum_j D_ij a_j + sum_jk D_ijk v_j v_k + D_i
    """
    tree.check_rates("v", v)
    tree.check_rates("a", a)

    return lagrange_coefficients(tree, q).torques(v, a)


def pseudo_inertia(inertia: Inertia) -> Matrix:
    """Moments of a link's mass about its frame's origin in one symmetric matrix, (4, 4).

    J = sum m (r, 1) (r, 1)^T = [[second, first], [first^T, mass]];  off the diagonal second_xy = -I_xy
    """
    body = inertia.about_origin()
    h, S = body.first, body.second
    rows = [[S[i, 0], S[i, 1], S[i, 2], h[i]] for i in range(3)]

    return build_matrix([*rows, [h[0], h[1], h[2], body.mass]])


def _check_kinds(tree: Tree) -> None:
    for link in tree.links:
        if link.elasticity:
            raise ValueError(f"link {link.name!r} deforms: Uicker-Kahn takes rigid links, inverse_dynamics takes all")
        if link.kind not in KINDS:
            raise ValueError(
                f"joint {link.joint!r} is of kind {link.kind!r}: Uicker-Kahn takes revolute and prismatic joints, "
                "inverse_dynamics takes all"
            )


def _quadratic(D: Matrix, v: Sequence[Scalar], j: int) -> Scalar:
    """Row j of v^T D v, the pairs j < k taken twice."""
    twice = sum((2.0 * D[j, k] * v[k] for k in range(j + 1, D.shape[0])), 0.0)

    return v[j] * (D[j, j] * v[j] + twice)


def _relative_poses(tree: Tree, q: Sequence[Scalar]) -> list[dict[Pair, Matrix]]:
    """For each link: as (j, k) the poses of each link k of its path in each link j below it and in the ground."""
    found: list[dict[Pair, Matrix]] = []
    for p, (link, pose) in enumerate(zip(tree.links, tree.joint_poses(q), strict=True)):
        parent, step = link.parent, _homogeneous(pose)
        # Every link of the path seen from every link below it: the factors of all derivatives.
        poses = dict(found[parent]) if parent != GROUND else {}
        for j in (*tree.path(parent), GROUND):
            poses[j, p] = poses[j, parent] @ step if j != parent else step
        found.append(poses)

    return found


def _homogeneous(pose: Pose) -> Matrix:
    R, p = pose.R, pose.p

    return build_matrix([*([R[i, 0], R[i, 1], R[i, 2], p[i]] for i in range(3)), [0.0, 0.0, 0.0, 1.0]])


def _joint_matrix(link: Link) -> np.ndarray:
    """Q of a joint, in link axes: [[skew(axis), 0], [0, 0]] turns, [[0, axis], [0, 0]] slides."""
    # The generator of the motion: exp(Q q) is the joint's pose.
    Q = np.zeros((4, 4))
    if link.kind == "revolute":
        Q[:3, :3] = skew(link.axis)
    else:
        Q[:3, 3] = link.axis

    return Q


def _add_link(
    D: list[list[Scalar]],
    velocity: list[list[list[Scalar]]],
    gravity: list[Scalar],
    tree: Tree,
    path: Sequence[int],
    poses: dict[Pair, Matrix],
    J: Matrix,
) -> None:
    """What one link, with pseudo-inertia J, adds to the coefficients of the joints on its path."""
    # trace(U_pj J U_pi^T), with U_pi J made once for each joint.
    first, second = _derivatives(tree, path, poses)
    weighted = {i: first[i] @ J for i in path}
    for n_before, i in enumerate(path):
        gravity[i] = gravity[i] - sum(tree.gravity[row] * weighted[i][row, 3] for row in range(3))
        for j in path[n_before:]:
            D[i][j] = D[j][i] = D[i][j] + _product_trace(first[j], weighted[i])
        for (j, k), U in second.items():
            velocity[i][j][k] = velocity[i][k][j] = velocity[i][j][k] + _product_trace(U, weighted[i])


def _derivatives(
    tree: Tree, path: Sequence[int], poses: dict[Pair, Matrix]
) -> tuple[dict[int, Matrix], dict[Pair, Matrix]]:
    """Partial derivatives of the pose of the last link of a path.

    U_pj = T_j Q_j (pose of p in j),  U_pjk = T_j Q_j (pose of k in j) Q_k (pose of p in k),  j at or before k
    """
    p = path[-1]
    Q = {j: _joint_matrix(tree.links[j]) for j in path}
    tails = {k: Q[k] @ poses[k, p] if k != p else Q[k] for k in path}
    heads = {j: poses[GROUND, j] @ Q[j] for j in path}
    first = {j: poses[GROUND, j] @ tails[j] for j in path}
    second = {
        (j, k): heads[j] @ (tails[k] if j == k else poses[j, k] @ tails[k])
        for n_before, j in enumerate(path)
        for k in path[n_before:]
    }

    return first, second


def _product_trace(X: Matrix, Y: Matrix) -> Scalar:
    """trace(X Y^T); the last row of every derivative is zero."""
    return sum(X[row, column] * Y[row, column] for row in range(3) for column in range(4))
