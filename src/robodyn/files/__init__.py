"""Reading descriptions: TOML files and Denavit-Hartenberg tables."""

from robodyn.files.denavit_hartenberg import DHRow, mechanism_from_dh
from robodyn.files.reference_files import read_reference
from robodyn.files.scenario_file import read_scenario

__all__ = ["DHRow", "mechanism_from_dh", "read_reference", "read_scenario"]
