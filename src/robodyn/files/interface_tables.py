"""How is an interface written in a TOML file? By its place, what it takes, and the give of its coupling."""

from __future__ import annotations

from typing import Any

from robodyn.files.block_tables import read_numbers
from robodyn.files.table import Table, attempt
from robodyn.model import Interface


def read_interface(name: str, table: Table) -> Any:
    """An interface; its flaws are noted in the table."""
    fields: dict[str, Any] = {}
    for key in ("on", "point"):
        if key in table:
            fields[key] = table.text(key)
    if "rotates" in table:
        fields["rotates"] = table.flag("rotates")
    for key, unit in (("stiffness", "{F}/{x}"), ("damping", "{F} s/{x}")):
        if key in table:
            many = isinstance(table.data[key], list)
            fields[key] = table.vector(key, unit) if many else table.number(key, unit)
    if "given" in table:
        fields["given"] = read_numbers(table.table("given").flattened(), {})
    takes = table.text("takes")
    table.finish()
    return attempt(table, Interface, name, takes, **fields)
