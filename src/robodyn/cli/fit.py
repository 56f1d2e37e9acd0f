"""robodyn fit: which parameters make a scenario agree with measured data?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.cli.answers import answer, draw, writing
from robodyn.cli.application import INTERRUPTED, app, fail, messages
from robodyn.cli.identify import write_numbers
from robodyn.cli.progress import Bar
from robodyn.cli.targets import load_single, read_data, read_pairs, read_settings, refuse_ending, split_names

if TYPE_CHECKING:
    from robodyn.analysis.fitting.experiments import Experiment
    from robodyn.analysis.fitting.fit import FitProgress
    from robodyn.analysis.fitting.result import Fit
    from robodyn.description.model import Scenario


@app.command("fit")
def fit_scenario(
    scenario: Annotated[str, typer.Argument(help="Name in the catalogue, or a TOML file.")],
    data: Annotated[list[Path], typer.Argument(help="Recordings: CSV, Parquet, MCAP, ROS bag, .npz or .mat.")],
    free: Annotated[str, typer.Option(help="Numbers to fit, with commas between them.")] = "",
    each: Annotated[str, typer.Option(help="Numbers to fit that every recording has its own value of.")] = "",
    mapping: Annotated[Path | None, typer.Option("--map", help="TOML: which column is which signal.")] = None,
    entry: Annotated[
        list[str] | None, typer.Option("--input", help="Measured signal that takes the place of the computed one.")
    ] = None,
    held_out: Annotated[float, typer.Option(help="Share of the data, at its end, for the proof.")] = 0.25,
    bounds: Annotated[list[str] | None, typer.Option(help="Where to look for one: name=lower:upper.")] = None,
    starts: Annotated[int, typer.Option(help="How many searches, from different places.")] = 1,
    noise: Annotated[list[str] | None, typer.Option(help="Known noise: signal=deviation; default: estimated.")] = None,
    seed: Annotated[int, typer.Option(help="Of the places searches begin at.")] = 0,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change a number: name=value; of one recording: FILE:name=value."),
    ] = None,
    workers: Annotated[int, typer.Option(help="Threads; default: all processors.")] = 0,
    contest: Annotated[
        str | None, typer.Option(help="Compare laws of friction and gears instead: names with commas, or all.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write a scenario with the fitted numbers (.toml), or all results (.json).")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw measured and simulated signals into this file.")] = None,
    state: Annotated[Path | None, typer.Option(help="Keep finished searches here, to go on after a break.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Fit numbers of a scenario to measured signals, with intervals and correlations."""
    from robodyn.analysis.fitting.result import ENDINGS, describe_fit, describe_numbers, write_fit

    refuse_ending("--out", out, *ENDINGS)
    levels = read_pairs("noise", noise or [], lambda _, text: float(text), "signal=deviation, in SI units")
    settings: dict[str, Any] = {"bounds": read_bounds(bounds or []), "noise": levels or None}
    settings |= {"inputs": entry or [], "held_out": held_out, "each": split_names(each), "starts": starts, "seed": seed}
    settings |= {"state": state, "workers": workers or os.cpu_count() or 1}
    what, experiments = _experiments(scenario, data, mapping, setting or [])
    if contest is not None:
        if out or plot or state or each:
            raise fail("--contest: has no effect on --out, --plot, --state and --each; fit the law that won")
        _compare(what, experiments, contest, split_names(free), settings, as_json)
        return
    found = _fit(what, experiments, split_names(free), settings)
    answer(as_json, found.as_plain, lambda: describe_fit(found))
    if out is not None and out.suffix == ".json":
        with writing(f"--out {out}"):
            messages.print(f"fitted numbers: {write_fit(found, out)}")
    else:
        of_one = [change for change in setting or [] if change.partition(":")[0] in {path.name for path in data}]
        common = [change for change in setting or [] if change not in of_one]
        write_numbers(scenario, common, found.common_values, out, describe_numbers(found))
    draw("--plot", plot, lambda reporting, path: reporting.plot_fit(found, path))


def _experiments(
    scenario: str, files: list[Path], mapping: Path | None, changes: list[str]
) -> tuple[Scenario, list[Experiment]]:
    """The scenario with what is changed for all, and recordings with what is changed for one."""
    from robodyn.analysis.fitting.experiments import Experiment

    what = load_single(scenario)
    own: dict[str, list[str]] = {path.name: [] for path in files}
    common: list[str] = []
    for change in changes:
        label, colon, pair = change.partition(":")
        one_of = colon and label in own
        (own[label] if one_of else common).append(pair if one_of else change)
    what = what.with_numbers(read_settings(common, what, scenario))
    return what, [
        Experiment(read_data(path, mapping), read_settings(own[path.name], what, scenario), path.name) for path in files
    ]


def _fit(what: Scenario, experiments: list[Experiment], names: list[str], settings: dict[str, Any]) -> Fit:
    from robodyn.analysis.fitting.fit import fit_parameters

    with Bar() as bar:

        def show(at: FitProgress) -> None:
            said = f"start {at.start} of {at.starts}, simulation {at.evaluations}, cost {at.cost:.4g}"
            bar.show(said, at.start - 1, at.starts)

        try:
            return fit_parameters(what, experiments, names, progress=show, **settings)
        except KeyboardInterrupt as error:
            messages.print(f"robodyn: interrupted; {_how_to_go_on(settings['state'])}")
            raise typer.Exit(INTERRUPTED) from error


def _compare(
    what: Scenario, experiments: list[Experiment], laws: str, free: list[str], settings: dict[str, Any], as_json: bool
) -> None:
    from robodyn.analysis.fitting.contest import compare_laws
    from robodyn.analysis.fitting.law_candidates import LAWS
    from robodyn.analysis.identification.contest import contest_as_plain, describe_contest

    chosen = LAWS if laws == "all" else split_names(laws)
    found = compare_laws(what, experiments, chosen, free=free, **settings)
    answer(as_json, lambda: contest_as_plain(found), lambda: describe_contest(found))


def _how_to_go_on(state: Path | None) -> str:
    if state is None:
        return "with --state FILE the same command would go on where it stopped"
    return f"finished searches are in {state}: the same command goes on from there"


def read_bounds(pairs: list[str]) -> dict[str, tuple[float, float]]:
    """name=lower:upper"""

    def read(_: str, span: str) -> tuple[float, float]:
        lower, upper = span.split(":")
        return float(lower), float(upper)

    return read_pairs("bounds", pairs, read, "name=lower:upper, in SI units")
