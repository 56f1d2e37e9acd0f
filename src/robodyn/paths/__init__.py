"""Cartesian paths of a tool in space, and the joints' motion along them."""

from robodyn.paths.arm import SerialArm, build_arm, jacobian, jacobian_rate
from robodyn.paths.cartesian import CartesianPath, PathMotion, join_pieces
from robodyn.paths.inverse import Branches, find_branches
from robodyn.paths.joint_path import JointPath
from robodyn.paths.orientation import Orientation, point_tool
from robodyn.paths.pieces import Arc, Blend, Line
from robodyn.paths.planning import plan_path
from robodyn.paths.reference import PathReference, path_block, path_law
from robodyn.paths.shapes import arc_about, arc_through, straight_line, way_points

__all__ = [
    "Arc",
    "Blend",
    "Branches",
    "CartesianPath",
    "JointPath",
    "Line",
    "Orientation",
    "PathMotion",
    "PathReference",
    "SerialArm",
    "arc_about",
    "arc_through",
    "build_arm",
    "find_branches",
    "jacobian",
    "jacobian_rate",
    "join_pieces",
    "path_block",
    "path_law",
    "plan_path",
    "point_tool",
    "straight_line",
    "way_points",
]
