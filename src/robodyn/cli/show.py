"""robodyn show: what is in a run?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from robodyn.cli.application import app, fail, output
from robodyn.cli.targets import load_run


@app.command("show")
def show_run(
    run: Annotated[str, typer.Argument(help="A run file.")],
    signal: Annotated[list[str] | None, typer.Option(help="Signals to plot (patterns); default: the main ones.")] = None,
    png: Annotated[Path | None, typer.Option(help="Write a picture of the signals here.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the summary of a run, and plot its signals to a PNG file."""
    found = load_run(run)
    if signal and png is None:
        raise fail("--signal chooses what is plotted: give --png FILE too")
    if as_json:
        from robodyn.results.record import to_record

        print(json.dumps(to_record(found), indent=2))
    else:
        output.print(found.summary(), markup=False)
    if png is not None:
        from robodyn.reporting import plot_signals

        try:
            plot_signals(found, signal, png)
        except (KeyError, ValueError, OSError) as error:
            raise fail(error.args[0] if isinstance(error, KeyError) else error) from error
        if not as_json:
            output.print(f"picture: {png}", markup=False)
