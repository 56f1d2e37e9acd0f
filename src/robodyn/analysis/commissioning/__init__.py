"""Commissioning: a robot gets drives, friction, encoders and tuned loops, and moves that it can do."""

from robodyn.analysis.commissioning.cube import cube_path
from robodyn.analysis.commissioning.dressing import Dressed, DressedAxis, dress
from robodyn.analysis.commissioning.fast_path import FastMove, move_fast
from robodyn.analysis.commissioning.moving import Move, line_from, move
from robodyn.analysis.commissioning.options import Control, Drive

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
