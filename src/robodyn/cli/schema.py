"""robodyn schema: the JSON Schema of scenario files."""

from __future__ import annotations

from robodyn.cli.application import app, print_json


@app.command("schema")
def schema() -> None:
    """Print the JSON Schema of scenario files, by which editors complete and check TOML."""
    from robodyn.files.schema import make_schema

    print_json(make_schema())
