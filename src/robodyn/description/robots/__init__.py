"""Robot files (URDF, SDF, MJCF, xacro) as machines, with a balance sheet of every element and attribute."""

from robodyn.description.robots.balance_sheet import BalanceSheet
from robodyn.description.robots.building import Robot
from robodyn.description.robots.importing import import_robot, read_robot

__all__ = ["BalanceSheet", "Robot", "import_robot", "read_robot"]
