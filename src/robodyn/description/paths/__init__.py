"""Cartesian paths of a tool in space, and the joints' motion along them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.base.lazy import load_when_used

if TYPE_CHECKING:
    from robodyn.description.paths.arm import SerialArm, build_arm, jacobian, jacobian_rate
    from robodyn.description.paths.cartesian import (
        Arc,
        Blend,
        CartesianPath,
        Line,
        Orientation,
        PathMotion,
        arc_about,
        arc_through,
        join_pieces,
        point_tool,
        straight_line,
        waypoints,
    )
    from robodyn.description.paths.deviation import deviation_blocks
    from robodyn.description.paths.inverse import Branches, find_branches
    from robodyn.description.paths.planning import plan_path
    from robodyn.description.paths.reference import JointPath, PathReference, path_block, path_law, timed_block

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
    "waypoints",
]

__getattr__, __dir__ = load_when_used(
    __name__,
    {
        "robodyn.description.paths.arm": "SerialArm build_arm jacobian jacobian_rate",
        "robodyn.description.paths.cartesian": "Arc Blend CartesianPath Line Orientation PathMotion arc_about "
        "arc_through join_pieces point_tool straight_line waypoints",
        "robodyn.description.paths.deviation": "deviation_blocks",
        "robodyn.description.paths.inverse": "Branches find_branches",
        "robodyn.description.paths.reference": "JointPath PathReference path_block path_law timed_block",
        "robodyn.description.paths.planning": "plan_path",
    },
)
