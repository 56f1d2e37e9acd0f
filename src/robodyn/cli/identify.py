"""robodyn identify: which masses, inertias and frictions do measured motions and efforts tell?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from robodyn.cli.application import app, fail, messages, output, print_json
from robodyn.cli.drawing import drawing
from robodyn.cli.targets import load_single, read_data, read_settings, seen_from

if TYPE_CHECKING:
    from robodyn.analysis.identification.result import Identification
    from robodyn.model import Scenario
    from robodyn.results import Run


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

    if out is not None and out.suffix != ".toml":
        raise fail(f"--out {out}: must end in .toml")
    if report is not None and report.suffix != ".html":
        raise fail(f"--report {report}: must end in .html")
    what = load_single(scenario)
    what = what.with_numbers(read_settings(setting or [], what, scenario))
    runs = [read_data(path, mapping) for path in data]
    if contest:
        if out or plot or report:
            raise fail("--contest: has no effect on --out, --plot and --report; identify with the law that won")
        _compare(what, runs, cutoff, as_json)
        return
    found = identify(what, runs, cutoff=cutoff, held_out=held_out, robust=robust, offsets=offsets)
    if as_json:
        print_json(found.as_plain())
    else:
        output.print(describe_identification(found), markup=False)
    if out is not None:
        _write(what, scenario, found, out)
    if report is not None:
        from robodyn.reporting import write_identification

        with drawing(f"--report {report}"):
            write_identification(found, report)
    if plot is not None:
        from robodyn.reporting import plot_identification

        with drawing(f"--plot {plot}"):
            plot_identification(found, plot)


def _compare(what: Scenario, runs: list[Run], cutoff: float | None, as_json: bool) -> None:
    from robodyn.analysis.identification.contest import compare_friction_laws, contest_as_plain, describe_contest

    found = compare_friction_laws(what, runs, cutoff=cutoff)
    if as_json:
        print_json(contest_as_plain(found))
    else:
        output.print(describe_contest(found), markup=False)


def _write(what: Scenario, source: str, found: Identification, out: Path) -> None:
    from robodyn.files.patching import patch_text

    file = Path(source) if Path(source).suffix == ".toml" else None
    try:
        out.write_text(patch_text(what, found.numbers, None if file is None else seen_from(file, out.parent)), "utf-8")
    except OSError as error:
        raise fail(f"--out {out}: cannot write: {error.strerror}") from error
    messages.print(f"new numbers: {out}", markup=False)
