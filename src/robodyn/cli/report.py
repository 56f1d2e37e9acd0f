"""robodyn report: runs as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from robodyn.cli.application import app, fail, report_files
from robodyn.cli.targets import load_run

EXAGGERATE = "How many times too large deformations are drawn at first."
MESH_BUDGET = "Megabytes that meshes may take in the page; they are made coarser until they fit."


@app.command("report")
def report_runs(
    runs: Annotated[list[str], typer.Argument(help="Run files; several are compared.")],
    out: Annotated[Path, typer.Option(help="Page to write.")] = Path("report.html"),
    exaggerate: Annotated[float, typer.Option(help=EXAGGERATE)] = 1.0,
    mesh_budget: Annotated[float, typer.Option(help=MESH_BUDGET)] = 2.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write one self-contained HTML page: summary, plots, 3-D replay, events, parameters, provenance."""
    from robodyn.studio import write_report

    if out.is_dir():
        raise fail(f"--out {out}: is a folder, name a file in it")
    if out.resolve() in [Path(run).resolve() for run in runs]:
        raise fail(f"--out {out}: this is one of the runs, it would be overwritten")
    found = [load_run(run) for run in runs]
    try:
        write_report(found, out, labels=name_runs(runs), exaggerate=exaggerate, mesh_budget=mesh_budget)
    except ValueError as error:
        raise fail(error) from error
    except OSError as error:
        raise fail(f"--out {out}: cannot write: {error.strerror}") from error
    report_files([out], as_json)


def name_runs(paths: list[str]) -> list[str]:
    """What to call each run: its file's name, its whole path where two files have the same, numbered if need be."""
    stems = [Path(path).stem for path in paths]
    names = [path if stems.count(stem) > 1 else stem for path, stem in zip(paths, stems, strict=True)]
    return [f"{name} ({k + 1})" if names.count(name) > 1 else name for k, name in enumerate(names)]
