"""Commissioning: a robot gets drives, friction, encoders and tuned loops, and moves that it can do."""

from robodyn.analysis.commissioning.dressing import Dressed, DressedAxis, dress
from robodyn.analysis.commissioning.drive_sizes import Control, Drive, drive_tables
from robodyn.analysis.commissioning.endurance import Endurance, endurance_of, robot_endurance
from robodyn.analysis.commissioning.fast_path import FastMove, move_fast
from robodyn.analysis.commissioning.library import compare_drives, find_drive, read_library
from robodyn.analysis.commissioning.moving import Move, cube_path, line_from, move

__all__ = [
    "Control",
    "Dressed",
    "DressedAxis",
    "Drive",
    "Endurance",
    "FastMove",
    "Move",
    "compare_drives",
    "cube_path",
    "dress",
    "drive_tables",
    "endurance_of",
    "find_drive",
    "line_from",
    "move",
    "move_fast",
    "read_library",
    "robot_endurance",
]
