"""Forward dynamics: how do the joints accelerate under given torques?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from robodyn.base import symbolic as sym
from robodyn.base.spatial import Matrix, Moments, Pose, Scalar, Vector, build_matrix, cross, dot

from .articulated import articulate
from .flexible import Elasticity, Load
from .joints import Column
from .newton_euler import Wrenches, bias
from .solve import LdlFactors, ldl, solve_ldl
from .tree import GROUND, Tree, deformed_moments

# --------------------------------------------------------------------------------------------------
# Composite-rigid-body algorithm: how much inertia do the joints feel? The mass matrix M(q).


Columns = Sequence[Sequence[tuple[int, Column]]]
"""For each link the rates that move it, as `Tree.all_columns` gives them."""


def mass_matrix(tree: Tree, q: Sequence[Scalar]) -> Matrix:
    """Joint-space mass matrix, (n_v, n_v), armature included; [kg m^2], [kg m] or [kg] by kind of joint.

        M[j, k] = S_j^T (force that a unit acceleration of joint k asks of the composite body beyond it)

    Composite-rigid-body method (Walker and Orin 1982, method 3). Joints on different branches have zeros.
    """
    # Composite bodies first: each link and all that it carries, frozen.
    poses = tree.joint_poses(q)
    bodies = _join_bodies(tree, q, poses)
    columns = tree.all_columns(q)
    M: list[list[Scalar]] = [[0.0] * tree.n_v for _ in range(tree.n_v)]
    for index, link in enumerate(tree.links):
        if link.node and _is_massless(bodies[index]):
            continue
        # F = I_c S_k is what a unit acceleration asks for; M_jk = S_j^T F for all joints j below.
        for k, (angular, linear) in columns[index]:
            _fill_row(M, tree, poses, columns, index, k, _unit_load(bodies[index], angular, linear))
            M[k][k] = M[k][k] + link.armature
    # Modes of a deforming link are degrees of freedom of their own, with a mass matrix of theirs.
    for index, (link, eta) in enumerate(zip(tree.links, tree.deformations(q), strict=True)):
        if link.elasticity:
            _fill_modes(M, tree, poses, columns, index, link.elasticity, eta)

    return build_matrix(M)


def _fill_modes(
    M: list[list[Scalar]],
    tree: Tree,
    poses: Sequence[Pose],
    columns: Columns,
    index: int,
    elasticity: Elasticity,
    eta: Sequence[Scalar],
) -> None:
    """Rows and columns of a link's own modes, without what its nodes carry."""
    modes = tree.modes[index]
    for i, load in enumerate(elasticity.columns(eta)):
        _fill_row(M, tree, poses, columns, index, modes[i], load)
        for j, k in enumerate(modes):
            M[k][modes[i]] = M[k][modes[i]] + elasticity.mass[i, j]


def _is_massless(body: Moments) -> bool:
    return not sym.is_symbolic([body.mass, body.second]) and body.mass == 0.0 and not np.any(body.second)


def _join_bodies(tree: Tree, q: Sequence[Scalar], poses: Sequence[Pose]) -> list[Moments]:
    """Each link together with all links it carries, as one rigid body in the link's frame."""
    bodies = deformed_moments(tree, q)
    for index in reversed(range(len(bodies))):
        parent = tree.links[index].parent
        if parent != GROUND and not _is_massless(bodies[index]):
            bodies[parent] = bodies[parent] + bodies[index].moved(poses[index])

    return bodies


def _unit_load(body: Moments, angular: Vector, linear: Vector) -> Load:
    """Force and torque about the origin for an acceleration (angular, linear) from rest.

    f = m linear + angular x h,  n = J angular + h x linear
    """
    f = body.mass * linear + cross(angular, body.first)
    n = body.tensor @ angular + cross(body.first, linear)

    return f, n


def _fill_row(
    M: list[list[Scalar]], tree: Tree, poses: Sequence[Pose], columns: Columns, index: int, k: int, load: Load
) -> None:
    """Row and column k of M: the load projected on the joint of link `index` and on every joint below it.

    Several nodes may move with the same modes, so that entries add up.
    """
    f, n = load
    # The rates of one link meet each other twice, once from each side.
    twice = any(j == k for j, _ in columns[index])
    for below in tree.path(index):
        for j, (angular, linear) in columns[below]:
            M[j][k] = M[j][k] + (dot(angular, n) + dot(linear, f))
            if below != index or not twice:
                M[k][j] = M[j][k]
        # One link nearer to the ground: the load in the parent's axes, about its origin.
        f = poses[below].R @ f
        n = poses[below].R @ n + cross(poses[below].p, f)


COMPOSITE_DEPTH = 6.5
"""Mean number of links from the ground up to which "auto" takes composite inertias (a chain of 12): the mass matrix of
many short branches is sparse, that of one long chain is full, and its cubic growth costs more."""

METHODS = ("auto", "composite", "articulated")


def forward_dynamics(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    wrenches: Wrenches | None = None,
    method: str = "auto",
) -> Vector:
    """Joint accelerations under joint torques and outer wrenches.

        M(q) a = tau - c(q, v) + sum J^T wrench

    Args:
        tau: torque or force on each joint [N m or N], (n_v,).
        method: "composite" (mass matrix and L^T D L), "articulated" (articulated bodies), or "auto", by size.

    Returns:
        Accelerations [rad/s^2 or m/s^2], (n_v,).
    """
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}, known are {', '.join(METHODS)}")

    tree.check_rates("tau", tau)
    # All but the accelerations: c(q, v) - sum J^T wrench.
    c = bias(tree, q, v, wrenches)

    return mass_solver(tree, q, method)([tau[k] - c[k] for k in range(tree.n_v)])


def mass_solver(tree: Tree, q: Sequence[Scalar], method: str = "auto") -> Callable[[Sequence[Scalar]], Vector]:
    """M(q)^-1 as a function, for as many columns as there are; M is factorised once."""
    factors = mass_factors(tree, q, method)

    return articulate(tree, q).solve if factors is None else partial(solve_ldl, factors)


def mass_factors(tree: Tree, q: Sequence[Scalar], method: str = "auto") -> LdlFactors | None:
    """Factors of M(q), or None where articulated bodies solve in less work."""
    # Short branches by the sparse mass matrix, O(n d^2); long chains by articulated bodies, O(n).
    composite = method == "composite" or (tree.is_flexible or mean_depth(tree) <= COMPOSITE_DEPTH)

    return ldl(mass_matrix(tree, q)) if composite and method != "articulated" else None


def mean_depth(tree: Tree) -> float:
    """Mean number of links from the ground to a link, itself included."""
    depths: list[int] = []
    for link in tree.links:
        depths.append(1 if link.parent == GROUND else depths[link.parent] + 1)

    return sum(depths) / max(len(depths), 1)
