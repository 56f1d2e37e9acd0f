"""How much inertia do the joints feel? The mass matrix M(q)."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.dynamics.tree import GROUND, Tree
from robodyn.spatial import Moments, Pose, build_matrix, cross, dot
from robodyn.spatial.vectors import Matrix, Scalar, Vector

Load = tuple[Vector, Vector]
"""Force, and torque about the link's origin, in link axes."""


def mass_matrix(tree: Tree, q: Sequence[Scalar]) -> Matrix:
    """Joint-space mass matrix, (n_v, n_v), armature included; [kg m^2], [kg m] or [kg] by kind of joint.

        M[j, k] = S_j^T (force that a unit acceleration of joint k asks of the composite body beyond it)

    Composite-rigid-body method (Walker and Orin 1982, method 3). Joints on different branches have zeros.
    """
    poses = tree.joint_poses(q)
    bodies = _join_bodies(tree, poses)
    M: list[list[Scalar]] = [[0.0] * tree.n_v for _ in range(tree.n_v)]
    for index, link in enumerate(tree.links):
        for k, (angular, linear) in tree.columns(index):
            _fill_row(M, tree, poses, index, k, _unit_load(bodies[index], angular, linear))
            M[k][k] = M[k][k] + link.armature

    return build_matrix(M)


def _join_bodies(tree: Tree, poses: Sequence[Pose]) -> list[Moments]:
    """Each link together with all links it carries, as one rigid body in the link's frame."""
    bodies = [link.inertia.about_origin() for link in tree.links]
    for index in reversed(range(len(bodies))):
        parent = tree.links[index].parent
        if parent != GROUND:
            bodies[parent] = bodies[parent] + bodies[index].moved(poses[index])

    return bodies


def _unit_load(body: Moments, angular: Vector, linear: Vector) -> Load:
    """Force and torque about the origin for an acceleration (angular, linear) from rest.

    f = m linear + angular x h,  n = J angular + h x linear
    """
    f = body.mass * linear + cross(angular, body.first)
    n = body.tensor @ angular + cross(body.first, linear)

    return f, n


def _fill_row(M: list[list[Scalar]], tree: Tree, poses: Sequence[Pose], index: int, k: int, load: Load) -> None:
    """Row and column k of M: the load projected on the joint of link `index` and on every joint below it."""
    f, n = load
    for below in tree.path(index):
        for j, (angular, linear) in tree.columns(below):
            M[j][k] = M[k][j] = dot(angular, n) + dot(linear, f)
        f = poses[below].R @ f
        n = poses[below].R @ n + cross(poses[below].p, f)
