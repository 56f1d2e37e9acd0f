"""Descriptions in files: TOML read and written, its JSON Schema, and Denavit-Hartenberg tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.lazy import load_when_used

if TYPE_CHECKING:
    from robodyn.files.denavit_hartenberg import DHRow, mechanism_from_dh
    from robodyn.files.reference_files import read_reference
    from robodyn.files.scenario_file import read_scenario
    from robodyn.files.schema import make_schema
    from robodyn.files.writing import scenario_text, write_scenario

__all__ = [
    "DHRow", "make_schema", "mechanism_from_dh", "read_reference", "read_scenario", "scenario_text", "write_scenario",
]  # fmt: skip

__getattr__, __dir__ = load_when_used(
    __name__,
    {
        "robodyn.files.denavit_hartenberg": "DHRow mechanism_from_dh",
        "robodyn.files.reference_files": "read_reference",
        "robodyn.files.scenario_file": "read_scenario",
        "robodyn.files.schema": "make_schema",
        "robodyn.files.writing": "scenario_text write_scenario",
    },
)
