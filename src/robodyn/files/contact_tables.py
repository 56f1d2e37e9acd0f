"""How is a contact written in a TOML file? What touches, what it touches, and a law or a restitution."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robodyn.files.block_tables import load_law, read_numbers
from robodyn.files.table import FAILED, Table, attempt
from robodyn.laws import info_of
from robodyn.model import Ball, Box, Contact, Plane, RigidContact
from robodyn.model.block import find_law


def read_contact(name: str, table: Table, folder: Path) -> Any:
    """A contact, or None where it cannot be made; its flaws are noted in the table."""
    shapes = [_read_shape(table, "touching", "ball"), _read_shape(table, "against", "plane")]
    if ("law" in table) == ("restitution" in table):
        table.flaws.add(table.path, "must have exactly one of 'law', 'restitution'")
        table.asked |= {"law", "restitution", "rest_speed", "parameters", "friction", "friction_parameters"}
        table.finish()
        return FAILED
    friction, rubbing = _read_law(table, "friction", "friction_parameters", folder)
    fields: dict[str, Any] = {"friction": friction} if "friction" in table else {}
    fields |= {"friction_parameters": rubbing} if "friction_parameters" in table else {}
    if "restitution" in table:
        fields["restitution"] = table.number("restitution")
        fields |= {"rest_speed": table.number("rest_speed", "m/s")} if "rest_speed" in table else {}
        table.finish()
        return FAILED if None in rubbing.values() else attempt(table, RigidContact, name, *shapes, **fields)
    law, parameters = _read_law(table, "law", "parameters", folder)
    table.finish()
    if None in (*parameters.values(), *rubbing.values()):
        return FAILED
    return attempt(table, Contact, name, *shapes, law, parameters, **fields)


def _read_law(table: Table, key: str, group: str, folder: Path) -> tuple[Any, dict[str, Any]]:
    """A law by its name or from a Python file, and its numbers."""
    if key not in table and group not in table:
        return None, {}
    law = load_law(table.text(key, None), table, folder)
    function = find_law(law) if law is not None else None
    return law, read_numbers(table.table(group), info_of(function).units if function else {})


def _read_shape(table: Table, role: str, other: str) -> Any:
    """A box, or the other shape this role can have; which of them, its own key says."""
    if role not in table:
        table.flaws.add(table.at(role), "is missing")
        return FAILED
    shape = table.table(role)
    kinds = [key for key in ("ball", "box", "plane") if key in shape]
    if len(kinds) != 1 or kinds[0] not in ("box", other):
        shape.flaws.add(shape.path, f"must have exactly one of '{other}', 'box'")
        shape.asked |= {*kinds, "radius", "size", "rotation", "normal"}
        shape.finish()
        return FAILED
    return {"ball": _read_ball, "box": _read_box, "plane": _read_plane}[kinds[0]](shape)


def _read_ball(table: Table) -> Any:
    point, radius = table.text("ball"), table.number("radius", "m", 0.0)
    table.finish()
    return attempt(table, Ball, point, radius)


def _read_box(table: Table) -> Any:
    point, size = table.text("box"), table.vector("size", "m", 3)
    turned = {"rotation": table.matrix("rotation", "")} if "rotation" in table else {}
    table.finish()
    return attempt(table, Box, point, size, **turned)


def _read_plane(table: Table) -> Any:
    point, normal = table.text("plane"), table.vector("normal", "", 3, (0.0, 0.0, 1.0))
    table.finish()
    return attempt(table, Plane, point, normal)
