"""Signals by formula in a TOML file: the formula, its unit and its numbers."""

from __future__ import annotations

from typing import Any

from robodyn.files.block_tables import read_numbers
from robodyn.files.table import FAILED, Table, attempt
from robodyn.files.units import is_quantity, split_quantity
from robodyn.model import FormulaSignal
from robodyn.units import known_unit


def read_signal(name: str, table: Table) -> FormulaSignal | None:
    formula = table.text("formula")
    fields: dict[str, Any] = {"unit": table.text("unit")} if "unit" in table else {}
    given = table.table("parameters")
    parameters = read_numbers(given)
    table.finish()
    if FAILED in (*parameters.values(), *fields.values()):
        return FAILED
    units = {key: _unit_of(value) for key, value in given.data.items()}
    units = {key: unit for key, unit in units.items() if unit}
    made: FormulaSignal | None = attempt(
        table, FormulaSignal, name, formula, parameters=parameters, parameter_units=units, **fields
    )
    return made


def _unit_of(value: Any) -> str:
    """The SI unit of a quantity with a unit, empty where none is said."""
    text = split_quantity(value)[1] if isinstance(value, str) and is_quantity(value) else ""
    unit = known_unit(text) if text else None
    return (unit.name or "1") if unit else ""
