"""robodyn view: look at runs in the browser."""

from __future__ import annotations

import webbrowser
from typing import Annotated

import typer

from robodyn.cli.application import app, fail, output
from robodyn.cli.report import EXAGGERATE, name_runs
from robodyn.cli.targets import load_run


@app.command("view")
def view_runs(
    runs: Annotated[list[str], typer.Argument(help="Run files; several are compared.")],
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    exaggerate: Annotated[float, typer.Option(help=EXAGGERATE)] = 1.0,
) -> None:
    """Serve the report page on this computer only, and open it; Ctrl-C ends."""
    from robodyn.studio import PageServer, make_page

    found = [load_run(run) for run in runs]
    try:
        page = make_page(found, labels=name_runs(runs), exaggerate=exaggerate)
    except ValueError as error:
        raise fail(error) from error
    with PageServer(page) as server:
        output.print(f"{server.address} (Ctrl-C ends)", markup=False)
        if browser and not webbrowser.open(server.address):
            output.print("no browser could be opened: open the address yourself", markup=False)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            output.print("ended", markup=False)
