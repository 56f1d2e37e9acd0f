"""How is a body written in a TOML file? By its mass and inertia, or as something that deforms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robodyn.files.flexible_tables import KINDS, read_flexible
from robodyn.files.section_tables import Sections
from robodyn.files.table import FAILED, Table, attempt
from robodyn.model import Body
from robodyn.model.body import TENSOR

ORIGIN = (0.0, 0.0, 0.0)


def is_flexible(table: Table) -> bool:
    """Whether a table describes a body that deforms."""
    return any(key in table for key in KINDS)


def read_body(name: str, table: Table, sections: Sections, folder: Path) -> Body | None:
    """A body, rigid or flexible; its flaws are noted in the table."""
    return read_flexible(name, table, sections, folder) if is_flexible(table) else _read_rigid(name, table)


def _read_rigid(name: str, table: Table) -> Body | None:
    mass = table.number("mass", "kg", 0.0)
    com = table.vector("com", "m", 3, ORIGIN)
    inertia = _read_inertia(table)
    about = table.text("about", "com")
    physical = table.flag("physical", True)
    table.finish()
    if about not in (None, "com", "origin"):
        table.flaws.add(table.at("about"), f"must be 'com' or 'origin', is {about!r}")
        return FAILED
    make = Body if about == "com" else Body.about_origin
    return attempt(table, make, name, mass, com, inertia, physical)


def _read_inertia(table: Table) -> Any:
    value = table.raw("inertia", (0.0,) * 6)
    if isinstance(value, dict):
        entries = table.table("inertia")
        found = tuple(entries.number(key, "kg m^2", 0.0) for key in TENSOR)
        entries.finish()
        return FAILED if None in found else found
    if isinstance(value, list) and any(isinstance(row, list) for row in value):
        return table.matrix("inertia", "kg m^2")
    return table.vector("inertia", "kg m^2", None, (0.0,) * 6)
