"""Settings of a run in a TOML file: the solver, and what is recorded."""

from __future__ import annotations

from typing import Any

from robodyn.files.table import Table, attempt
from robodyn.model import Recording

# Settings of a solver by what they are in a file: a text, a whole number, or a number with its unit.
SOLVER_KEYS = {
    "method": str,
    "step": "s",
    "rtol": "1",
    "atol": "1",
    "max_step": "s",
    "min_step": "s",
    "max_steps": int,
    "max_wall_time": "s",
    "spectral_radius": "1",
}


def read_recording(table: Table) -> Recording | None:
    fields: dict[str, Any] = {}
    if "rate" in table:
        fields["rate"] = table.number("rate", "Hz")
    if "times" in table:
        fields["times"] = table.vector("times", "s")
    if "refine" in table:
        fields["refine"] = table.integer("refine")
    if "signals" in table:
        fields["signals"] = table.texts("signals")
    table.finish()
    return attempt(table, Recording, **fields)


def read_solver(table: Table) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for key, kind in SOLVER_KEYS.items():
        table.asked.add(key)
        if key not in table:
            continue
        if kind is str:
            settings[key] = table.text(key)
        elif kind is int:
            settings[key] = table.integer(key)
        else:
            settings[key] = table.number(key, str(kind))
    table.finish()
    return settings
