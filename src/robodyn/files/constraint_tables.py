"""How is a constraint written in a TOML file? By what it closes, spans, couples or prescribes; and how it is kept."""

from __future__ import annotations

from typing import Any

from robodyn.files.block_tables import read_numbers
from robodyn.files.table import FAILED, Table, attempt
from robodyn.files.units import is_quantity
from robodyn.model import Closure, Coupling, Prescribed, Rod, Treatment

KINDS = ("closure", "rod", "of", "prescribed")
OTHERS = {"kind", "axis", "second_axis", "rotation", "length", "offset", "position", "velocity", "acceleration"}


def read_constraint(name: str, table: Table) -> Any:
    """A constraint, or None where it cannot be made; its flaws are noted in the table."""
    kinds = [key for key in KINDS if key in table]
    active = table.flag("active", True)
    if len(kinds) != 1:
        table.flaws.add(table.path, "must have exactly one of 'closure', 'rod', 'of', 'prescribed'")
        table.asked |= {*kinds, *OTHERS}
        table.finish()
        return FAILED
    make = {"closure": _read_closure, "rod": _read_rod, "of": _read_coupling, "prescribed": _read_prescribed}
    return make[kinds[0]](name, table, active)


def _read_pair(table: Table, key: str) -> Any:
    """Two names of points, (None, None) where they are not two."""
    points = table.texts(key)
    if len(points) != 2:
        table.flaws.add(table.at(key), f"must name two points, names {len(points)}")
        return FAILED, FAILED
    return points


def _read_closure(name: str, table: Table, active: Any) -> Any:
    first, second = _read_pair(table, "closure")
    fields: dict[str, Any] = {"kind": table.text("kind", "spherical")}
    for key in ("axis", "second_axis"):
        if key in table:
            fields[key] = table.vector(key, "", 3)
    if "rotation" in table:
        fields["rotation"] = table.matrix("rotation", "")
    table.finish()
    return attempt(table, Closure, name, first, second, active=active, **fields)


def _read_rod(name: str, table: Table, active: Any) -> Any:
    start, end = _read_pair(table, "rod")
    length = table.number("length", "m")
    table.finish()
    return attempt(table, Rod, name, start, end, length, active=active)


def _read_coupling(name: str, table: Table, active: Any) -> Any:
    weights, offset = read_numbers(table.table("of")), table.number("offset", "{x}", 0.0)
    table.finish()
    return FAILED if None in weights.values() else attempt(table, Coupling, name, weights, offset, active=active)


def _read_prescribed(name: str, table: Table, active: Any) -> Any:
    of, position = table.text("prescribed"), _read_target(table, "position", "{x}")
    rates = {"velocity": "{x}/s", "acceleration": "{x}/s^2"}
    fields = {key: _read_target(table, key, unit) for key, unit in rates.items() if key in table}
    table.finish()
    return attempt(table, Prescribed, name, of, position, active=active, **fields)


def _read_target(table: Table, key: str, unit: str) -> Any:
    """A signal's name, or a number: text that begins like a number with a unit is one."""
    value = table.raw(key)
    if isinstance(value, str) and not is_quantity(value):
        return value
    return table.number(key, unit) if key in table else value


def read_treatment(table: Table) -> Any:
    """How constraints are kept; the default where nothing is said."""
    method, pole = table.text("method", "baumgarte"), table.number("pole", "1/s", None)
    independent = table.texts("independent", ())
    table.finish()
    fields = {"pole": pole} if "pole" in table else {}
    fields |= {"independent": independent} if "independent" in table else {}
    return attempt(table, Treatment, method, **fields)
