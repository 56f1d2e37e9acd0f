"""Forward dynamics: how do the joints accelerate under given torques?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from robodyn.base.spatial import Scalar, Vector
from robodyn.computation.dynamics.articulated import articulate
from robodyn.computation.dynamics.composite import mass_matrix
from robodyn.computation.dynamics.newton_euler import Wrenches, bias
from robodyn.computation.dynamics.solve import Factors, ldl, solve_ldl
from robodyn.computation.dynamics.tree import GROUND, Tree

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


def mass_factors(tree: Tree, q: Sequence[Scalar], method: str = "auto") -> Factors | None:
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
