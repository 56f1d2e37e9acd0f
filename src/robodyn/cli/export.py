"""robodyn export: a run as a table for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from robodyn.cli.application import app, fail, output
from robodyn.cli.targets import load_run
from robodyn.errors import nearest

SUFFIXES = {"csv": ".csv", "parquet": ".parquet", "nc": ".nc"}


@app.command("export")
def export_run(
    run: Annotated[str, typer.Argument(help="A run file.")],
    to: Annotated[str, typer.Option(help="csv, parquet or nc.")],
    out: Annotated[Path | None, typer.Option(help="File to write; default: beside the run.")] = None,
) -> None:
    """Write a run as CSV, Parquet or netCDF."""
    from robodyn.results import to_csv, to_netcdf, to_parquet

    if to not in SUFFIXES:
        raise fail(f"--to {to}: unknown format ({nearest(to, SUFFIXES)})")
    found = load_run(run)
    path = out or Path(run).with_suffix(SUFFIXES[to])
    write = {"csv": to_csv, "parquet": to_parquet, "nc": to_netcdf}[to]
    try:
        write(found, path)
    except ImportError as error:
        raise fail(f"--to {to} needs {error.name}: pip install 'robodyn[export]'") from error
    except OSError as error:
        raise fail(f"{path}: cannot write: {error.strerror}") from error
    output.print(f"{path}", markup=False)
