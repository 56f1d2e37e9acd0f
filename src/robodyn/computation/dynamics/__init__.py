"""Mechanics of trees of rigid and flexible links, as functions on numbers or symbols."""

from robodyn.base import imported_names

from .articulated import articulate
from .flexible import Elasticity, Node
from .forward import forward_dynamics, mass_factors, mass_matrix, mass_solver, mean_depth
from .kinematics import (
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
from .newton_euler import bias, inverse_dynamics, joint_wrenches, link_motions, point_drift
from .solve import LdlFactors, halve_ldl, ldl, solve_ldl, solve_symmetric
from .tree import GROUND, Link, Tree

__all__ = imported_names(__name__)
