"""robodyn show: what is in a run?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from robodyn.cli.application import app, fail, output, print_json
from robodyn.cli.targets import load_run

if TYPE_CHECKING:
    from robodyn.results import Run


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
    if png is not None:
        _plot(found, signal, png)
    if as_json:
        from robodyn.results.record import to_record

        print_json(to_record(found))
        return
    output.print(found.summary(signals), markup=False)
    if png is not None:
        output.print(f"picture: {png}", markup=False)


def _plot(run: Run, signals: list[str] | None, png: Path) -> None:
    try:
        from robodyn.reporting import plot_signals

        plot_signals(run, signals, png)
    except ImportError as error:
        raise fail(f"--png needs {error.name}: pip install 'robodyn[plot]'") from error
    except OSError as error:
        raise fail(f"--png {png}: cannot write: {error.strerror}") from error
    except (KeyError, ValueError) as error:
        raise fail(error.args[0]) from error
