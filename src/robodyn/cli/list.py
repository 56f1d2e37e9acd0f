"""robodyn list: what can be run?"""

from __future__ import annotations

from typing import Annotated

import typer

from robodyn.cli.application import app, output, print_json


@app.command("list")
def list_scenarios(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the scenarios of the catalogue."""
    from robodyn.catalog import SCENARIOS

    made = {name: make() for name, make in SCENARIOS.items()}
    rows = [{"name": name, "title": what.title, "duration": what.duration} for name, what in made.items()]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        output.print(f"{row['name']:<18} {row['title']}", markup=False)
