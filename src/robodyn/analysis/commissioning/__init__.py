"""Commissioning: a robot gets drives, friction, encoders and tuned loops, and moves that it can do."""

from robodyn.analysis.commissioning.dressing import Dressed, DressedAxis, dress
from robodyn.analysis.commissioning.drive_sizes import Control, Drive
from robodyn.analysis.commissioning.fast_path import FastMove, move_fast
from robodyn.analysis.commissioning.moving import Move, cube_path, line_from, move

__all__ = [
    "Control",
    "Dressed",
    "DressedAxis",
    "Drive",
    "FastMove",
    "Move",
    "cube_path",
    "dress",
    "line_from",
    "move",
    "move_fast",
]
