"""robodyn show: what is in a run?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from robodyn.cli.answers import draw
from robodyn.cli.application import app, fail, output, print_json
from robodyn.cli.targets import load_run


@app.command("show")
def show_run(
    run: Annotated[str, typer.Argument(help="A run file.")],
    signal: Annotated[list[str] | None, typer.Option(help="Signals to plot; default: the main ones.")] = None,
    png: Annotated[Path | None, typer.Option(help="Write a picture of the signals here.")] = None,
    signals: Annotated[bool, typer.Option("--signals", help="List the ranges of all signals, too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the summary of a run, and plot its signals to a PNG file."""
    found = load_run(run)
    if signal and png is None:
        raise fail("--signal chooses what is plotted: give --png FILE too")
    draw("--png", png, lambda reporting, path: reporting.plot_signals(found, signal, path))
    if as_json:
        from robodyn.computation.results.record import to_record

        print_json(to_record(found))
        return
    output.print(found.summary(signals))
    if png is not None:
        output.print(f"picture: {png}")
