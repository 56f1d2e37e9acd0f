"""robodyn schema: JSON Schemas of scenario files and of what commands print."""

from __future__ import annotations

from typing import Annotated

import typer

from robodyn.base.errors import nearest
from robodyn.cli.application import app, fail, print_json


@app.command("schema")
def schema(
    command: Annotated[str | None, typer.Argument(help="Of what this command prints with --json.")] = None,
) -> None:
    """Print the JSON Schema of scenario files, by which editors complete and check TOML, or of a command's output."""
    if command is None:
        from robodyn.description.files.schema import make_schema

        print_json(make_schema())
        return
    from robodyn.cli.outputs import OUTPUTS, output_schema

    if command not in OUTPUTS:
        raise fail(f"schema: '{command}' prints no JSON ({nearest(command, OUTPUTS)})")
    print_json(output_schema(command))
