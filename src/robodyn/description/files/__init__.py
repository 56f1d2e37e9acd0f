"""Descriptions in files: TOML read and written, its JSON Schema, and Denavit-Hartenberg tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.base import load_when_used

if TYPE_CHECKING:
    from .laws_of_files import read_reference
    from .mechanism_tables import DHRow, mechanism_from_dh
    from .network_files import read_network
    from .reading import read_numbers
    from .scenario_file import is_sequence, read_scenario, read_sequence, write_sequence
    from .schema import make_schema
    from .table import TomlTable, load_toml
    from .writing import scenario_text, write_scenario

__getattr__, __dir__, __all__ = load_when_used(__name__)
