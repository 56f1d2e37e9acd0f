"""Mechanics of trees of rigid links, as functions on numbers or symbols."""

from robodyn.dynamics.articulated import solve_articulated
from robodyn.dynamics.composite import mass_matrix
from robodyn.dynamics.energy import kinetic_energy, potential_energy, total_energy
from robodyn.dynamics.forward import forward_dynamics
from robodyn.dynamics.kinematics import (
    geometric_jacobian,
    link_poses,
    link_velocities,
    point_position,
    point_velocity,
    position_rates,
)
from robodyn.dynamics.newton_euler import bias, inverse_dynamics
from robodyn.dynamics.solve import ldl, solve_ldl, solve_symmetric
from robodyn.dynamics.tree import GROUND, Link, Tree

__all__ = [
    "GROUND",
    "Link",
    "Tree",
    "bias",
    "forward_dynamics",
    "geometric_jacobian",
    "inverse_dynamics",
    "kinetic_energy",
    "ldl",
    "link_poses",
    "link_velocities",
    "mass_matrix",
    "point_position",
    "point_velocity",
    "position_rates",
    "potential_energy",
    "solve_articulated",
    "solve_ldl",
    "solve_symmetric",
    "total_energy",
]
