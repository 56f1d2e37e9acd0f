"""How is a Denavit-Hartenberg table written in a TOML file? A list of rows, each naming its joint and body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from robodyn.errors import nearest
from robodyn.files.denavit_hartenberg import CONVENTIONS, DHRow
from robodyn.files.table import Table, attempt
from robodyn.model import Body

# Unit of a rotor's inertia as its joint sees it.
ARMATURE = {"revolute": "kg m^2", "prismatic": "kg"}


@dataclass(frozen=True)
class Rows:
    """A Denavit-Hartenberg table as read: its good rows and the bodies they carry."""

    found: list[DHRow]
    bodies: list[Any]
    convention: str


def read_rows(table: Table, bodies: Mapping[str, Body | None]) -> Rows:
    """The table `dh`; each body of the file must be carried by one of its rows."""
    convention = table.text("convention", "standard")
    entries = table.raw("rows")
    table.finish()
    if convention not in (None, *CONVENTIONS):
        remedy = nearest(convention, CONVENTIONS)
        table.flaws.add(table.at("convention"), f"'{convention}' is unknown", remedy)
    if not isinstance(entries, list) or not entries:
        if "rows" in table:
            table.flaws.add(table.at("rows"), f"must be a list of tables, is {entries!r}")
        return Rows([], [], convention)
    rows = [Table(entry, f"{table.at('rows')}[{k}]", table.flaws) for k, entry in enumerate(entries)]
    found = [_read_row(row) for row in rows]
    carried = [_carried_body(row, bodies) for row in rows]
    for row in rows:
        row.finish()
    if all(body in bodies for body in carried):
        for name in bodies.keys() - set(carried):
            table.flaws.add(f"bodies.{name}", "is not connected to the ground", "no row of the table carries it")
    good = [row for row in found if row is not None]
    return Rows(good, [bodies.get(body) for body in carried], convention)


def _carried_body(row: Table, bodies: Mapping[str, Any]) -> Any:
    body = row.text("body")
    if body is not None and body not in bodies:
        row.flaws.add(row.at("body"), f"there is no body '{body}'", nearest(body, bodies))
    return body


def _read_row(row: Table) -> DHRow | None:
    joint, kind = row.text("joint"), row.text("kind", "revolute")
    a, d = (row.number(key, "m", 0.0) for key in ("a", "d"))
    alpha, theta = (row.number(key, "rad", 0.0) for key in ("alpha", "theta"))
    armature = row.number("armature", ARMATURE.get(kind, "{I}"), 0.0)
    return attempt(row, DHRow, joint, a, alpha, d, theta, kind, armature)
