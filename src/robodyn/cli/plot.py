"""robodyn plot: pictures of one or more runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from robodyn.base.errors import nearest
from robodyn.cli.answers import drawing
from robodyn.cli.application import app, fail, report_files
from robodyn.cli.targets import read_data

Picture = tuple[str, Callable[[Path], None]]


@app.command("plot")
def plot_runs(
    runs: Annotated[list[str], typer.Argument(help="Run files or measured data, drawn over each other.")],
    signal: Annotated[list[str] | None, typer.Option(help="Signals to draw (patterns); default: the main.")] = None,
    against: Annotated[str | None, typer.Option(help="Draw the signals over this one instead of time.")] = None,
    path: Annotated[str | None, typer.Option(help="Draw the path of this point through space.")] = None,
    out: Annotated[Path | None, typer.Option(help="File (.png, .svg, .pdf) or folder; default: the run's.")] = None,
    start: Annotated[float | None, typer.Option("--from", help="Draw from this time on [s].")] = None,
    end: Annotated[float | None, typer.Option("--to", help="Draw up to this time [s].")] = None,
    label: Annotated[list[str] | None, typer.Option(help="Name of each run in the picture, in their order.")] = None,
    unit: Annotated[list[str] | None, typer.Option(help="Unit of the axes over time: um, mm, deg ...")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Draw signals over time or against each other, and the path of a point through space."""
    if against is not None and not signal:
        raise fail(f"--against {against}: give what to draw over it with --signal")
    if unit and (against is not None or path is not None):
        raise fail(f"--unit {unit[0]}: is for signals over time; --against and --path are drawn in SI")
    if len(runs) == 1 and not Path(runs[0]).exists():
        _plot_study(runs[0], out, as_json)
        return
    found = [read_data(Path(run)) for run in runs]
    window = None if start is None and end is None else (start, end)
    options = {"labels": label or None, "window": window}
    with drawing():
        pictures = _pictures(found, signal, against, path, options, unit or [])
        files = _files(pictures, Path(runs[0]), out)
        for file, (_, write) in zip(files, pictures, strict=True):
            write(file)
    report_files(files, as_json)


def _plot_study(name: str, out: Path | None, as_json: bool) -> None:
    """Draw the pictures and pages of a study into a folder."""
    from robodyn.presentation.studies import INSTALL, list_studies

    known = list_studies()
    if name not in known:
        remedy = nearest(name, known) if known else f"no studies are installed: {INSTALL}"
        raise fail(f"there is neither a run file nor a study '{name}' ({remedy})")
    folder = out or Path("out") / name
    with drawing():
        folder.mkdir(parents=True, exist_ok=True)
        study = known[name].thing
        files = [(folder / f"{picture.name}.png", picture.draw) for picture in study.pictures()]
        pages = [(folder / f"{page.name}.html", page.draw) for page in study.pages()]
        for file, draw in [*files, *pages]:
            draw(file)
    report_files([file for file, _ in [*files, *pages]], as_json)


def _pictures(
    runs: list[Any],
    signals: list[str] | None,
    against: str | None,
    point: str | None,
    options: dict[str, Any],
    units: list[str],
) -> list[Picture]:
    """What the options ask for: a word for the file name, and the call that writes the picture."""
    from robodyn.presentation.reporting import plot_path, plot_phase, plot_signals

    pictures: list[Picture] = []
    if against is not None:
        pictures.append(("against", lambda file: plot_phase(runs, against, signals or [], file, **options)))
    elif signals or point is None:
        pictures.append(("", lambda file: plot_signals(runs, signals or None, file, units=units, **options)))
    if point is not None:
        pictures.append(("path", lambda file: plot_path(runs, point, file, **options)))
    return pictures


def _files(pictures: list[Picture], run: Path, out: Path | None) -> list[Path]:
    """A file for each picture: the one that was named, or one named after the first run in the folder."""
    if out is not None and out.suffix and not out.is_dir():
        if len(pictures) > 1:
            raise fail(f"--out {out}: {len(pictures)} pictures do not fit one file, give a folder")
        return [out]
    folder = run.parent if out is None else out
    return [folder / f"{'-'.join(part for part in (run.stem, word) if part)}.png" for word, _ in pictures]
