"""Descriptions in files: TOML read and written, its JSON Schema, and Denavit-Hartenberg tables."""

from robodyn.files.denavit_hartenberg import DHRow, mechanism_from_dh
from robodyn.files.scenario_file import read_scenario
from robodyn.files.writing import scenario_text, write_scenario

__all__ = ["DHRow", "mechanism_from_dh", "read_scenario", "scenario_text", "write_scenario"]
