"""How is a coordinate written in a TOML file? By what it is of, between or at; a triangle has sides as well."""

from __future__ import annotations

from typing import Any

from robodyn.files.block_tables import read_numbers
from robodyn.files.table import Table, attempt
from robodyn.model import Along, Combination, Distance, Triangle

KINDS = ("of", "between", "point")
OTHERS = {"inertia", "direction", "range", "sides", "offset", "at", "arm", "axis"}


def read_coordinate(name: str, table: Table) -> Any:
    """A coordinate, or None where it cannot be made; its flaws are noted in the table."""
    kinds = [key for key in KINDS if key in table]
    if len(kinds) != 1:
        table.flaws.add(table.path, "must have exactly one of 'of', 'between', 'point'")
        table.asked |= {*kinds, *OTHERS}
        table.finish()
        return None
    if kinds[0] == "of":
        return _read_triangle(name, table) if "sides" in table else _read_combination(name, table)
    return _read_distance(name, table) if kinds[0] == "between" else _read_along(name, table)


def _range(table: Table, unit: str) -> dict[str, Any]:
    return {"range": table.vector("range", unit, 2)} if "range" in table else {}


def _read_combination(name: str, table: Table) -> Any:
    weights, inertia = read_numbers(table.table("of")), table.number("inertia", "{I}", 0.0)
    stroke = _range(table, "{x}")
    table.finish()
    return None if None in weights.values() else attempt(table, Combination, name, weights, inertia, **stroke)


def _read_triangle(name: str, table: Table) -> Any:
    weights, sides = read_numbers(table.table("of")), table.vector("sides", "m", 2)
    offset = table.number("offset", "rad", 0.0)
    place: dict[str, Any] = {"at": table.text("at")} if "at" in table else {}
    place |= {key: table.vector(key, "", 3) for key in ("arm", "axis") if key in table}
    stroke = _range(table, "m")
    table.finish()
    return (
        None if None in weights.values() else attempt(table, Triangle, name, weights, sides, offset, **stroke, **place)
    )


def _read_distance(name: str, table: Table) -> Any:
    points, stroke = table.texts("between"), _range(table, "m")
    table.finish()
    if len(points) != 2:
        table.flaws.add(table.at("between"), f"must name two points, names {len(points)}")
        return None
    return attempt(table, Distance, name, *points, **stroke)


def _read_along(name: str, table: Table) -> Any:
    point, direction, stroke = table.text("point"), table.vector("direction", "", 3), _range(table, "m")
    table.finish()
    return attempt(table, Along, name, point, direction, **stroke)
