"""How do the joints accelerate under given torques?"""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.dynamics.articulated import solve_articulated
from robodyn.dynamics.composite import mass_matrix
from robodyn.dynamics.newton_euler import Wrenches, bias
from robodyn.dynamics.solve import solve_symmetric
from robodyn.dynamics.tree import Tree
from robodyn.spatial.vectors import Scalar, Vector

COMPOSITE_LIMIT = 12
"""Degrees of freedom up to which "auto" takes composite inertias: beyond, their cubic growth costs more."""

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
    c = bias(tree, q, v, wrenches)
    due = [tau[k] - c[k] for k in range(tree.n_v)]
    if method == "composite" or (method == "auto" and tree.n_v <= COMPOSITE_LIMIT):
        return solve_symmetric(mass_matrix(tree, q), due)

    return solve_articulated(tree, q, due)
