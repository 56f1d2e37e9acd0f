"""robodyn budget: of what does the deviation from the wanted motion consist? Its error budget."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.cli.answers import draw
from robodyn.cli.application import app, fail, messages, output, print_json
from robodyn.cli.progress import Bar
from robodyn.cli.run import announce, prepare_folder
from robodyn.cli.targets import load_single, name_results, read_settings, split_names

if TYPE_CHECKING:
    from rich.table import Table

    from robodyn.analysis.budget.result import Budget, Row


NOTHING = 1e-9
"""Part of the total that is rounding."""


@app.command("budget")
def budget(
    scenario: Annotated[str, typer.Argument(help="Name in the catalogue, or a TOML file, with a nominal motion.")],
    signal: Annotated[
        list[str] | None, typer.Option(help="Split these signals (patterns); deviation.* if none.")
    ] = None,
    along: Annotated[str, typer.Option(help="Signal to draw against, such as path.s.")] = "time",
    group: Annotated[list[str] | None, typer.Option(help="Add parts up: name=pattern,pattern.")] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="A part of its own: name=value without an effect; payload.mass=0 if none.")
    ] = None,
    points: Annotated[int, typer.Option(help="Pieces of the nominal motion.")] = 400,
    setting: Annotated[list[str] | None, typer.Option("--set", help="Change a number: name=value.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the picture and the tables.")] = Path("out"),
    plot: Annotated[bool, typer.Option("--plot/--no-plot", help="Draw the parts along the motion.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Split the deviation from the wanted motion into parts that add up: friction, sampling, limits, elasticity."""
    what = load_single(scenario, setting)
    asked = {"along": along, "points": points, "without": read_settings(without, what, scenario) if without else None}
    groups = _read_groups(group or [])
    folder = prepare_folder(out)
    found = _split(what, signal or [], asked)
    found = found.grouped(groups) if groups else found
    files = _write_tables(found, folder, name_results(scenario, what))
    if not as_json:
        _report(found)
    if plot:
        files.append(folder / f"{name_results(scenario, what)}-budget.png")
        draw("", files[-1], lambda reporting, path: reporting.plot_budget(found, path))
    if as_json:
        print_json(_as_plain(found, files))
    else:
        output.print(f"written: {', '.join(map(str, files))}")


def _read_groups(texts: list[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for text in texts:
        name, equals, patterns = (part.strip() for part in text.partition("="))
        if not name or not equals or not split_names(patterns):
            raise fail(f"--group {text}: must be written as name=pattern,pattern")
        if name in groups:
            raise fail(f"--group {text}: '{name}' is given twice; name all its patterns at once")
        groups[name] = split_names(patterns)
    return groups


def _split(what: Any, signals: list[str], asked: dict[str, Any]) -> Budget:
    from robodyn.analysis.budget.split import split_deviation

    given: dict[str, Any] = {"signals": signals} if signals else {}
    with Bar() as bar:
        bar.show("linearising")
        return split_deviation(what, **given, **asked, progress=bar.show, on_compile=announce)


def _write_tables(found: Budget, folder: Path, name: str) -> list[Path]:
    """All parts over time: a CSV file, and a Parquet file where its package is installed."""
    from robodyn.analysis.budget.result import as_run
    from robodyn.computation.results import to_csv, to_parquet

    kept = as_run(found)
    files = [to_csv(kept, folder / f"{name}-budget.csv")]
    try:
        files.append(to_parquet(kept, folder / f"{name}-budget.parquet"))
    except ImportError as error:
        messages.print(f"robodyn: {name}-budget.parquet needs {error.name}: pip install 'robodyn[export]'")
    return files


def _report(found: Budget) -> None:
    idle = _idle(found)
    for name in found.signals:
        output.print(_table(found, name, idle), markup=True)
    if idle:
        output.print(f"without effect: {', '.join(sorted(idle))}")
    message = f"remainder: {100 * found.remainder_share:.2g} % of the largest total"
    if found.by_differences:
        reason = f"parts are differences of non-linear motions, since {found.by_differences}"
        output.print(f"{message}, which only three or more causes together do; {reason}", markup=False)
        return
    output.print(
        f"{message}; against the motion near the nominal one {100 * found.interaction_share:.2g} %", markup=False
    )


def _idle(found: Budget) -> set[str]:
    """Parts that change nothing, such as limits that are never reached."""
    tables = [found.table(name) for name in found.signals]
    shown = {row.name for rows in tables for row in rows if row.largest > NOTHING * rows[-1].largest}
    return {part.name for part in found.parts} - shown


def _table(found: Budget, signal: str, idle: set[str]) -> Table:
    """Parts with an effect, their sum, the remainder and the total."""
    from rich.table import Table

    from robodyn.presentation.reporting.budget import small_unit

    unit, factor = small_unit(found.run[signal].unit)
    rows = found.table(signal)
    place = found.places[int(abs(found.total[found.signals.index(signal)]).argmax())]
    table = Table(title=f"{signal} [{unit}], largest where {found.along} = {place:.6g}", title_justify="left")
    for heading in ("part", "of"):
        table.add_column(heading, overflow="fold")
    for heading in ("largest", "rms", "where total is largest", "share"):
        table.add_column(heading, justify="right")
    for row in rows:
        if row.name not in idle:
            table.add_row(*_cells(row, factor), end_section=row is rows[-4])
    return table


def _cells(row: Row, factor: float) -> tuple[str, ...]:
    numbers = [f"{factor * value:.3f}" for value in (row.largest, row.rms, row.at_worst)]
    return (row.name, row.what, *numbers, f"{100 * row.share:.1f} %")


def _as_plain(found: Budget, files: list[Path]) -> dict[str, Any]:
    return {
        "scenario": found.run.provenance.scenario,
        "signals": {
            name: {"unit": found.run[name].unit, "rows": [asdict(row) for row in found.table(name)]}
            for name in found.signals
        },
        "remainder_share": found.remainder_share,
        "interaction_share": found.interaction_share,
        "by_differences": found.by_differences,
        "files": [str(path) for path in files],
    }
