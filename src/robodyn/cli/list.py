"""robodyn list: what can be run?"""

from __future__ import annotations

import warnings
from typing import Annotated

import typer

from robodyn.cli.application import app, output, print_json


@app.command("list")
def list_scenarios(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the scenarios of the catalogue, each with the package that brings it."""
    from robodyn import catalog

    rows = []
    for name, found in catalog.list_scenarios().items():
        try:
            made = catalog.make_scenario(name, found)
        except Exception as error:  # noqa: BLE001 - one that cannot be made must not hide the others
            warnings.warn(f"{found.package}: scenario '{name}' cannot be made: {error}", stacklevel=1)
            continue
        rows.append({"name": name, "title": made.title, "duration": made.duration, "package": found.package})
    if as_json:
        print_json(rows)
        return
    names, packages = (max(len(str(row[key])) for row in rows) for key in ("name", "package"))
    for row in rows:
        output.print(f"{row['name']:<{names}} {row['package']:<{packages}} {row['title']}", markup=False)
