"""Cartesian paths of a tool in space, and the joints' motion along them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.base import load_when_used

if TYPE_CHECKING:
    from .arm import SerialArm, build_arm, jacobian, jacobian_rate
    from .cartesian import (
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
    from .deviation import deviation_blocks
    from .inverse import Branches, find_branches
    from .planning import plan_path
    from .reference import JointPath, PathReference, path_block, path_law, timed_block

__getattr__, __dir__, __all__ = load_when_used(__name__)
