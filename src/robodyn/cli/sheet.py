"""robodyn sheet: how accurate and repeatable is a robot on its path, by a standard, and because of what?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from robodyn.base.errors import FlawList
from robodyn.cli.answers import drawing
from robodyn.cli.application import app, messages, output, print_json
from robodyn.cli.sweep import read_varied, trace_varied
from robodyn.cli.targets import load_single, refuse_ending, refuse_other

if TYPE_CHECKING:
    from robodyn.analysis.accuracy.sheet import Sheet

STANDARDS = ("iso9283",)
ENDINGS = (".html", ".pdf")


@app.command("sheet")
def sheet(
    scenario: Annotated[str, typer.Argument(help="Name in the catalogue, or a TOML file, whose tool follows a path.")],
    random: Annotated[
        list[str] | None, typer.Option(help="What differs from cycle to cycle: name=scale:0.9:1.1, as in sweep.")
    ] = None,
    standard: Annotated[str, typer.Option(help="iso9283.")] = "iso9283",
    deviation: Annotated[str, typer.Option(help="Block that says how far the tool is from its path.")] = "deviation",
    band: Annotated[str | None, typer.Option(help="Limit band of the stabilisation time; default: RP.")] = None,
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 1,
    budget: Annotated[bool, typer.Option("--budget/--no-budget", help="Split accuracy by cause.")] = True,
    workers: Annotated[int | None, typer.Option(help="Threads; one a core by default.")] = None,
    setting: Annotated[list[str] | None, typer.Option("--set", help="Change a number: name=value.")] = None,
    out: Annotated[list[Path] | None, typer.Option(help="Page to write, .html or .pdf; may be given twice.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Simulate 30 cycles with stated uncertainties and print the figures of ISO 9283, each with its causes."""
    refuse_other("--standard", standard, STANDARDS)
    for path in out or []:
        refuse_ending("--out", path, *ENDINGS)
    found = _make(scenario, random or [], setting, deviation, band, seed, budget, workers)
    for path in out or []:
        from robodyn.presentation.reporting.accuracy_sheet import write_sheet

        with drawing(f"--out {path}"):
            write_sheet(found, path)
        messages.print(f"sheet: {path}")
    if as_json:
        print_json(found.as_plain())
        return
    _print(found)


def _make(
    source: str,
    random: list[str],
    changes: list[str] | None,
    deviation: str,
    band: str | None,
    seed: int,
    budget: bool,
    workers: int | None,
) -> Sheet:
    from robodyn.analysis.accuracy.sheet import make_sheet
    from robodyn.base.units import UnitError
    from robodyn.description.files.units import read_quantity

    what = load_single(source, changes)
    flaws = FlawList()
    system = trace_varied(what, random)
    _, drawn = read_varied(flaws, system, source, [], [], random)
    width = None
    try:
        width = None if band is None else read_quantity(band, "m", bare=True)
    except UnitError as error:
        flaws.add(f"--band {band}", str(error))
    flaws.raise_if_any(f"sheet of '{what.name}'")
    return make_sheet(system, drawn, deviation=deviation, band=width, seed=seed, budget=budget, workers=workers)


def _print(found: Sheet) -> None:
    from robodyn.presentation.reporting.accuracy_sheet import sheet_lines

    for line in sheet_lines(found, causes=3):
        output.print(line)
    for note in found.notes:
        messages.print(f"robodyn: note: {note}")
