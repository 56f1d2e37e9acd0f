"""Cartesian paths of a tool in space, and the joints' motion along them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.lazy import load_when_used

if TYPE_CHECKING:
    from robodyn.paths.arm import SerialArm, build_arm, jacobian, jacobian_rate
    from robodyn.paths.cartesian import CartesianPath, PathMotion, join_pieces
    from robodyn.paths.deviation import deviation_blocks
    from robodyn.paths.inverse import Branches, find_branches
    from robodyn.paths.joint_path import JointPath
    from robodyn.paths.orientation import Orientation, point_tool
    from robodyn.paths.pieces import Arc, Blend, Line
    from robodyn.paths.planning import plan_path
    from robodyn.paths.reference import PathReference, path_block, path_law
    from robodyn.paths.shapes import arc_about, arc_through, straight_line, way_points
    from robodyn.paths.timed_reference import timed_block

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
    "deviation_blocks",
    "find_branches",
    "jacobian",
    "jacobian_rate",
    "join_pieces",
    "path_block",
    "path_law",
    "plan_path",
    "point_tool",
    "straight_line",
    "timed_block",
    "way_points",
]

__getattr__, __dir__ = load_when_used(
    __name__,
    {
        "robodyn.paths.arm": "SerialArm build_arm jacobian jacobian_rate",
        "robodyn.paths.cartesian": "CartesianPath PathMotion join_pieces",
        "robodyn.paths.deviation": "deviation_blocks",
        "robodyn.paths.inverse": "Branches find_branches",
        "robodyn.paths.joint_path": "JointPath",
        "robodyn.paths.orientation": "Orientation point_tool",
        "robodyn.paths.pieces": "Arc Blend Line",
        "robodyn.paths.planning": "plan_path",
        "robodyn.paths.reference": "PathReference path_block path_law",
        "robodyn.paths.shapes": "arc_about arc_through straight_line way_points",
        "robodyn.paths.timed_reference": "timed_block",
    },
)
