"""robodyn list: what can be run?"""

from __future__ import annotations

from typing import Annotated

import typer

from robodyn.cli.application import app, output, print_json


@app.command("list")
def list_scenarios(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the scenarios of the catalogue, each with the package that brings it."""
    from robodyn import catalog

    known = catalog.list_scenarios().items()
    rows = [{"name": name, "title": catalog.title_of(found.thing), "package": found.package} for name, found in known]
    if as_json:
        print_json(rows)
        return
    names, packages = (max(len(str(row[key])) for row in rows) for key in ("name", "package"))
    for row in rows:
        output.print(f"{row['name']:<{names}} {row['package']:<{packages}} {row['title']}", markup=False)
