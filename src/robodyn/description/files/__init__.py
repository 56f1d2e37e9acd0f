"""Descriptions in files: TOML read and written, its JSON Schema, and Denavit-Hartenberg tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.base.lazy import load_when_used

if TYPE_CHECKING:
    from robodyn.description.files.laws_of_files import read_reference
    from robodyn.description.files.mechanism_tables import DHRow, mechanism_from_dh
    from robodyn.description.files.network_files import read_network
    from robodyn.description.files.reading import read_numbers
    from robodyn.description.files.scenario_file import is_sequence, read_scenario, read_sequence, write_sequence
    from robodyn.description.files.schema import make_schema
    from robodyn.description.files.table import TomlTable, load_toml
    from robodyn.description.files.writing import scenario_text, write_scenario

__all__ = [
    "DHRow", "TomlTable", "is_sequence", "load_toml", "make_schema", "mechanism_from_dh", "read_network",
    "read_numbers", "read_reference", "read_scenario", "read_sequence", "scenario_text", "write_scenario",
    "write_sequence",
]  # fmt: skip

__getattr__, __dir__ = load_when_used(
    __name__,
    {
        "robodyn.description.files.laws_of_files": "read_reference",
        "robodyn.description.files.mechanism_tables": "DHRow mechanism_from_dh",
        "robodyn.description.files.network_files": "read_network",
        "robodyn.description.files.reading": "read_numbers",
        "robodyn.description.files.scenario_file": "is_sequence read_scenario read_sequence write_sequence",
        "robodyn.description.files.schema": "make_schema",
        "robodyn.description.files.table": "TomlTable load_toml",
        "robodyn.description.files.writing": "scenario_text write_scenario",
    },
)
