"""robodyn tune: which gains make a motion best, within limits on margins and on the motion?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.base.errors import FlawList
from robodyn.cli.answers import answer, draw
from robodyn.cli.application import INTERRUPTED, app, messages
from robodyn.cli.fit import read_bounds
from robodyn.cli.identify import write_numbers
from robodyn.cli.sweep import read_varied, trace_varied
from robodyn.cli.targets import load_single, refuse_ending, split_names

if TYPE_CHECKING:
    from robodyn.analysis.tuning.result import Tuning
    from robodyn.analysis.tuning.tune import TuneProgress
    from robodyn.computation.assembly import System


@app.command("tune")
def tune(
    scenario: Annotated[str, typer.Argument(help="Name in the catalogue, or a TOML file.")],
    minimise: Annotated[str, typer.Option(help="kind:signal to make small, such as rms:deviation.vertical.")],
    free: Annotated[str, typer.Option(help="Numbers to choose, also patterns, with commas; gains: all.")] = "gains",
    subject_to: Annotated[
        list[str] | None,
        typer.Option(help='Limit: "margin>=6 dB", "phase:x.*>=45 deg", "delay>=1 ms", "peak:SIGNAL<=VALUE"; or >=now.'),
    ] = None,
    bounds: Annotated[list[str] | None, typer.Option(help="Where to look: name=lower:upper; else a decade.")] = None,
    vary: Annotated[list[str] | None, typer.Option(help="Cases: name=first:last:count, as in sweep.")] = None,
    values: Annotated[list[str] | None, typer.Option(help="Cases: name=1,2,5.")] = None,
    random: Annotated[list[str] | None, typer.Option(help="Cases drawn: name=scale:0.8:1.2, as in sweep.")] = None,
    runs: Annotated[int | None, typer.Option(help="Draws, 8 by default.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of draws and starts.")] = None,
    over: Annotated[str, typer.Option(help="worst or mean of the cases.")] = "worst",
    starts: Annotated[int, typer.Option(help="How many searches, from different places.")] = 1,
    at: Annotated[list[str] | None, typer.Option(help="Where loops are cut: start, equilibrium, or a time.")] = None,
    friction: Annotated[str, typer.Option(help="In the loops: none, stuck or sliding.")] = "none",
    points: Annotated[int, typer.Option(help="Times at which signals are read.")] = 2001,
    setting: Annotated[list[str] | None, typer.Option("--set", help="Change a number: name=value.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write a TOML file with the new numbers.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the signal before and after into this file.")] = None,
    state: Annotated[Path | None, typer.Option(help="Keep what was computed here, to go on after a break.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Choose gains so that a measure of the motion is smallest, within limits; exact slopes, all cases at once."""
    refuse_ending("--out", out, ".toml")
    what = load_single(scenario, setting)
    flaws = FlawList()
    system = trace_varied(what, [*(vary or []), *(values or []), *(random or [])])
    grid, drawn = read_varied(flaws, system, scenario, vary or [], values or [], random or [])
    flaws.raise_if_any(f"tuning of '{what.name}'")
    settings: dict[str, Any] = {
        "limits": subject_to or [], "bounds": read_bounds(bounds or []), "vary": grid, "random": drawn, "runs": runs,
        "seed": seed, "over": over, "starts": starts, "at": [_read_place(text) for text in at or ["start"]],
        "friction": friction, "points": points, "state": state,
    }  # fmt: skip
    from robodyn.analysis.tuning.result import describe_tuning

    found = _tune(system, split_names(free), minimise, settings)
    answer(as_json, found.as_plain, lambda: describe_tuning(found))
    head = f"# {found.objective}: {found.before:.5g} -> {found.after:.5g} {found.unit}\n"
    write_numbers(scenario, setting, found.values, out, head)
    signal, labels = found.objective.partition(":")[2], ["before", "after"]
    draw("--plot", plot, lambda reporting, path: reporting.plot_signals(found.runs, [signal], path, labels=labels))


def _read_place(text: str) -> str | float:
    from robodyn.description.files.units import is_quantity, read_quantity

    return read_quantity(text, "s", bare=True) if is_quantity(text) else text


def _tune(what: System, free: list[str], minimise: str, settings: dict[str, Any]) -> Tuning:
    from robodyn.analysis.tuning.tune import tune_gains

    try:
        return tune_gains(what, free, minimise, progress=_print_progress, **settings)
    except KeyboardInterrupt as error:
        kept = settings["state"]
        how = f"{kept} has what was computed" if kept else "with --state FILE"
        messages.print(f"robodyn: interrupted; {how}: the same command goes on from there")
        raise typer.Exit(INTERRUPTED) from error


def _print_progress(at: TuneProgress) -> None:
    best = f"{at.first:.4g} -> {at.best:.4g} {at.unit}" if at.best == at.best else "no allowed gains yet"
    messages.print(f"robodyn: {at.evaluations} evaluations, {best}")
