"""Mechanics of trees of rigid and flexible links, as functions on numbers or symbols."""

from robodyn.computation.dynamics.articulated import articulate
from robodyn.computation.dynamics.flexible import Elasticity, Node
from robodyn.computation.dynamics.forward import forward_dynamics, mass_factors, mass_matrix, mass_solver, mean_depth
from robodyn.computation.dynamics.kinematics import (
    geometric_jacobian,
    kinetic_energy,
    link_poses,
    link_quaternions,
    link_velocities,
    point_position,
    point_velocity,
    position_rates,
    potential_energy,
    relative_jacobian,
)
from robodyn.computation.dynamics.newton_euler import bias, inverse_dynamics, joint_wrenches, link_motions, point_drift
from robodyn.computation.dynamics.solve import LdlFactors, halve_ldl, ldl, solve_ldl, solve_symmetric
from robodyn.computation.dynamics.tree import GROUND, Link, Tree

__all__ = [
    "GROUND",
    "Elasticity",
    "LdlFactors",
    "Link",
    "Node",
    "Tree",
    "articulate",
    "bias",
    "forward_dynamics",
    "geometric_jacobian",
    "halve_ldl",
    "inverse_dynamics",
    "joint_wrenches",
    "kinetic_energy",
    "ldl",
    "link_motions",
    "link_poses",
    "link_quaternions",
    "link_velocities",
    "mass_factors",
    "mass_matrix",
    "mass_solver",
    "mean_depth",
    "point_drift",
    "point_position",
    "point_velocity",
    "position_rates",
    "potential_energy",
    "relative_jacobian",
    "solve_ldl",
    "solve_symmetric",
]
