"""robodyn report: runs as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.base.errors import Flaw, ModelError
from robodyn.cli.answers import writing
from robodyn.cli.application import app, fail, report_files
from robodyn.cli.report_parts import analyse, read_note_file, read_parts, refuse_idle
from robodyn.cli.sweep import trace_varied
from robodyn.cli.targets import load_run, load_scenario, load_single, read_settings

if TYPE_CHECKING:
    from robodyn.computation.assembly import System
    from robodyn.computation.results import Run
    from robodyn.description.model import Scenario

EXAGGERATE = "How many times too large deformations are drawn at first."
MESH_BUDGET = "Megabytes that meshes may take in the page; they are made coarser until they fit."
WITH = "Analyses to put into the page, with commas: loops, modes, sweep, budget, sheet."
RANDOM = "What is drawn for --with sweep and sheet: name=scale:0.9:1.1, as in sweep."
LIVE = "Let the page simulate by itself, with sliders for numbers: one scenario, not a run."
SLIDER = "Numbers that get sliders (patterns); by default all tunable ones."


@app.command("report")
def report_runs(
    runs: Annotated[list[str], typer.Argument(help="Run files, or scenarios to be simulated; several are compared.")],
    out: Annotated[Path, typer.Option(help="Page to write.")] = Path("report.html"),
    parts: Annotated[str, typer.Option("--with", help=WITH)] = "",
    vary: Annotated[list[str] | None, typer.Option(help="What --with sweep varies: name=first:last:count.")] = None,
    random: Annotated[list[str] | None, typer.Option(help=RANDOM)] = None,
    note: Annotated[list[Path] | None, typer.Option(help="Text to put into the page; a little Markdown.")] = None,
    signal: Annotated[list[str] | None, typer.Option(help="Signals plotted at first (patterns).")] = None,
    live: Annotated[bool, typer.Option("--live", help=LIVE)] = False,
    slider: Annotated[list[str] | None, typer.Option(help=SLIDER)] = None,
    setting: Annotated[list[str] | None, typer.Option("--set", help="Change a scenario's number: name=value.")] = None,
    exaggerate: Annotated[float, typer.Option(help=EXAGGERATE)] = 1.0,
    mesh_budget: Annotated[float, typer.Option(help=MESH_BUDGET)] = 2.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write one self-contained HTML page: summary, plots, 3-D replay, events, parameters, provenance."""
    from robodyn.presentation.pages import write_report

    _check_out(out, runs)
    asked = read_parts(parts)
    options: dict[str, Any] = {"exaggerate": exaggerate, "mesh_budget": mesh_budget, "signals": signal or []}
    options["sections"] = [read_note_file(path) for path in note or []]
    system = None
    if asked or vary or random:
        refuse_idle(asked, vary or [], random or [])
        system = trace_varied(_find_scenario(runs, setting or []), [*(vary or []), *(random or [])])
    if live:
        options["live"] = _make_live(runs, slider or [], setting or [])
        found = [options["live"].run]
    elif slider:
        raise fail("--slider: only a page that simulates by itself has sliders; add --live")
    else:
        # What is analysed is what is simulated: the first scenario, traced once.
        analysed = next((run for run in runs if not run.endswith(".run")), None) if system else None
        found = [_find_run(run, setting or [], system if run == analysed else None) for run in runs]
    if system:
        options["sections"] += analyse(system, asked, vary or [], random or [])
    try:
        with writing(f"--out {out}"):
            write_report(found, out, labels=name_runs(runs), **options)
    except ValueError as error:
        raise fail(error) from error
    report_files([out], as_json)


def _check_out(out: Path, runs: list[str]) -> None:
    if out.is_dir():
        raise fail(f"--out {out}: is a folder, name a file in it")
    if out.resolve() in [Path(run).resolve() for run in runs]:
        raise fail(f"--out {out}: this is one of the runs, it would be overwritten")


def _make_live(runs: list[str], sliders: list[str], setting: list[str]) -> Any:
    """The only scenario as a model that the page simulates."""
    from robodyn.exchange.codegen import make_live

    if len(runs) > 1:
        raise fail(f"--live: a page simulates one scenario, not {len(runs)}")
    if runs[0].endswith(".run"):
        raise fail(f"--live: {runs[0]} is a run, which holds no equations to compile; name its scenario")
    return make_live(_find_scenario(runs, setting), sliders=sliders)


def _find_scenario(runs: list[str], setting: list[str]) -> Scenario:
    """The first scenario among what is reported."""
    named = [run for run in runs if not run.endswith(".run")]
    if not named:
        raise fail("--with: runs hold no equations to analyse; name a scenario")
    return load_single(named[0], setting)


def _find_run(what: str, setting: list[str], system: System | None) -> Run:
    """A run from its file, or of a scenario, or of its system where it has been traced."""
    if what.endswith(".run"):
        if setting:
            flaws = [Flaw(f"--set {pair}", f"{what} is a run, not a scenario", "name its scenario") for pair in setting]
            raise ModelError(flaws)
        return load_run(what)
    from robodyn.computation.simulation import simulate

    if system is not None:
        return simulate(system)
    scenario = load_scenario(what)
    return simulate(scenario.with_numbers(read_settings(setting, scenario, what)))


def name_runs(paths: list[str]) -> list[str]:
    """What to call each run: its file's name, its whole path where two files have the same, numbered if need be."""
    stems = [Path(path).stem for path in paths]
    names = [path if stems.count(stem) > 1 else stem for path, stem in zip(paths, stems, strict=True)]
    return [f"{name} ({k + 1})" if names.count(name) > 1 else name for k, name in enumerate(names)]
