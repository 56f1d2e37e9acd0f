"""robodyn new: a small commented scenario to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from robodyn.cli.application import app, fail, output, print_json, report_files


@app.command("new")
def write_new(
    name: Annotated[str | None, typer.Argument(help="Name of the scenario, and of its file NAME.toml.")] = None,
    kind: Annotated[str, typer.Option(help="What it begins as: arm, cart or drive.")] = "cart",
    list_kinds: Annotated[bool, typer.Option("--list", help="List the kinds.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a small commented scenario that runs as it is; no file is overwritten."""
    from robodyn.description.files.starters import starter_titles, write_starter

    if list_kinds:
        titles = starter_titles()
        if as_json:
            print_json(titles)
        else:
            output.print("\n".join(f"{known:<8} {title}" for known, title in titles.items()))
        return
    if name is None:
        raise fail("new: name the scenario, robodyn new NAME; --list shows the kinds")
    path = write_starter(Path(name), kind)
    report_files([path], as_json, [f"wrote {path}; run it with: robodyn run {path}"])
