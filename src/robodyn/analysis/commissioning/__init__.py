"""Commissioning: a robot gets drives, friction, encoders and tuned loops, and moves that it can do."""

from robodyn.base import imported_names

from .dressing import Dressed, DressedAxis, dress
from .drive_sizes import Control, Drive, drive_tables
from .endurance import Endurance, endurance_of, robot_endurance
from .fast_path import FastMove, move_fast
from .library import compare_drives, find_drive, read_library
from .moving import Move, cube_path, line_from, move

__all__ = imported_names(__name__)
