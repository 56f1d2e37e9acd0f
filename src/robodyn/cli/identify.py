"""robodyn identify: which masses, inertias and frictions do measured motions and efforts tell?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from robodyn.base.atomic import write_file
from robodyn.base.errors import ModelError
from robodyn.cli.answers import answer, draw, writing
from robodyn.cli.application import app, fail, messages
from robodyn.cli.targets import load_single, read_data, read_settings, refuse_ending, seen_from

if TYPE_CHECKING:
    from robodyn.computation.results import Run
    from robodyn.description.model import Scenario


@app.command("identify")
def identify_machine(
    scenario: Annotated[str, typer.Argument(help="Name in the catalogue, or a TOML file: a first guess.")],
    data: Annotated[list[Path], typer.Argument(help="Recordings: positions of all joints, forces or currents.")],
    mapping: Annotated[Path | None, typer.Option("--map", help="TOML: which column is which signal.")] = None,
    cutoff: Annotated[float | None, typer.Option(help="Of the low-pass [Hz]; default: by the noise.")] = None,
    held_out: Annotated[float, typer.Option(help="Share of the rows for the proof, 0 to 1.")] = 0.25,
    robust: Annotated[bool, typer.Option(help="Rows far off count less.")] = False,
    offsets: Annotated[bool, typer.Option(help="Whether efforts may have unknown constants.")] = True,
    setting: Annotated[list[str] | None, typer.Option("--set", help="Change a number: name=value.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the new numbers here (.toml), over the scenario's.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw measured and predicted forces into this file.")] = None,
    contest: Annotated[bool, typer.Option(help="Compare laws of friction on the same rows instead.")] = False,
    report: Annotated[Path | None, typer.Option(help="Write a page with all of it here (.html).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Identify base parameters with intervals, and bodies that could exist, by inverse dynamics."""
    from robodyn.analysis.identification.identify import identify
    from robodyn.analysis.identification.result import describe_identification

    refuse_ending("--out", out, ".toml")
    refuse_ending("--report", report, ".html")
    what = load_single(scenario, setting)
    runs = [read_data(path, mapping) for path in data]
    if contest:
        if out or plot or report:
            raise fail("--contest: has no effect on --out, --plot and --report; identify with the law that won")
        _compare(what, runs, cutoff, as_json)
        return
    found = identify(what, runs, cutoff=cutoff, held_out=held_out, robust=robust, offsets=offsets)
    answer(as_json, found.as_plain, lambda: describe_identification(found))
    write_numbers(scenario, setting, found.numbers, out)
    draw("--report", report, lambda reporting, path: reporting.write_identification(found, path))
    draw("--plot", plot, lambda reporting, path: reporting.plot_identification(found, path))


def _compare(what: Scenario, runs: list[Run], cutoff: float | None, as_json: bool) -> None:
    from robodyn.analysis.identification.contest import compare_friction_laws, contest_as_plain, describe_contest

    found = compare_friction_laws(what, runs, cutoff=cutoff)
    answer(as_json, lambda: contest_as_plain(found), lambda: describe_contest(found))


def write_numbers(
    source: str, settings: list[str] | None, numbers: dict[str, float], out: Path | None, head: str = ""
) -> None:
    """A scenario's file with new numbers over those of another, where one is asked for; those that were set for the
    computation are among them. One of the catalogue is written as a whole, or where it cannot be, its numbers alone."""
    from robodyn.description.files.patching import patch_text
    from robodyn.description.files.writing import scenario_text

    if out is None:
        return
    what = load_single(source)
    values = read_settings(settings or [], what, source) | numbers
    if Path(source).suffix == ".toml":
        text = patch_text(what, values, seen_from(Path(source), out.parent))
    else:
        try:
            text = scenario_text(what.with_numbers(values), out.parent)
        except ModelError as error:
            messages.print(f"robodyn: {error}; its new numbers are written alone")
            text = patch_text(what, values)
    with writing(f"--out {out}"):
        write_file(out, head + text)
    messages.print(f"new numbers: {out}")
