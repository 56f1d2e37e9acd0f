"""robodyn list: what can be run?"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from robodyn.cli.application import app, output


@app.command("list")
def list_scenarios(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the scenarios of the catalogue."""
    from robodyn.catalog import SCENARIOS

    rows = [{"name": name, "title": make().title, "duration": make().duration} for name, make in SCENARIOS.items()]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        output.print(f"{row['name']:<18} {row['title']}", markup=False)
