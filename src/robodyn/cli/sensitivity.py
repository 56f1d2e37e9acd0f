"""robodyn sensitivity: which parameters does a signal depend on most?"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.cli.answers import draw
from robodyn.cli.application import app, fail, messages, output, print_json
from robodyn.cli.targets import load_single, refuse_other, split_names

if TYPE_CHECKING:
    from robodyn.analysis.sensitivity.ranking import Sensitivity

MEASURES = ("final", "max", "min", "rms", "peak_time", "oscillation_time", "overshoot")


@app.command("sensitivity")
def rank(
    scenario: Annotated[str, typer.Argument(help="Name in the catalogue, or a TOML file.")],
    of: Annotated[str | None, typer.Option(help="Signal to look at; else the largest deviation, or a joint.")] = None,
    parameters: Annotated[
        str | None, typer.Option(help="Numbers to change, with commas between them; else the ten strongest of all.")
    ] = None,
    measure: Annotated[
        str | None, typer.Option(help=f"What of the signal: {', '.join(MEASURES)}; else final, of a deviation rms.")
    ] = None,
    at: Annotated[float, typer.Option(help="Time of the step, for the last three measures [s].")] = 0.0,
    change: Annotated[
        float | None, typer.Option(help="Finite change to both sides [%], 0 for none; else 10, of the strongest 1.")
    ] = None,
    setting: Annotated[list[str] | None, typer.Option("--set", help="Change a number: name=value.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the ranking into this file (.png, .svg, .pdf).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Rank parameters by their effect on a signal, by exact derivatives and by finite changes."""
    if measure is not None:
        refuse_other("--measure", measure, MEASURES)
    if change is None:
        change = 1.0 if parameters is None else 10.0
    if not 0 <= change < 100:
        raise fail(f"--change {change:g}: must be from 0 to below 100 %")
    if parameters is not None and not split_names(parameters):
        raise fail("--parameters: names no number")
    from robodyn.analysis.sensitivity.measures import measure_signal, unit_of_measure
    from robodyn.analysis.sensitivity.ranking import choose_measure, find_strongest, rank_parameters

    what = load_single(scenario, setting)
    if of is None:
        measure, of = choose_measure(what, measure)
    measure = measure or "final"
    wanted = measure_signal(of, measure, at)
    try:
        names, note = (split_names(parameters), "") if parameters else find_strongest(what, wanted)
        if not names:
            raise fail(f"{measure} of {of}: {note}; none of them changes it")
        found = rank_parameters(what, {measure: wanted}, names, change=change / 100)
    except KeyError as error:
        raise fail(f"--of {of}: {error.args[0]}") from error
    found = replace(found, notes=(*([note] if note else []), *found.notes))
    unit = unit_of_measure(found.run[of].unit, measure)
    draw("--plot", plot, lambda reporting, path: reporting.plot_tornado(found.of(measure), path, unit=unit))
    if as_json:
        rows = [_plain(row) for row in found.rows]
        print_json({"measure": measure, "of": of, "reason": found.reason, "notes": found.notes, "rows": rows})
        return
    if found.reason:
        messages.print(f"robodyn: no exact derivatives: {found.reason}")
    for note in found.notes:
        messages.print(f"robodyn: {note}")
    output.print(f"{measure} of {of}: {found.rows[0].value:.6g} {unit}".rstrip())
    output.print(f"{'parameter':<36} {'value':>12} {'exact per %':>13} {'finite per %':>13}  unit")
    for row in found.rows:
        output.print(_line(row))


def _line(row: Sensitivity) -> str:
    found = [f"{v:>+13.5g}" if v is not None else f"{'-':>13}" for v in (row.per_percent, row.finite_per_percent)]
    return f"{row.parameter:<36} {row.parameter_value:>12.6g} {' '.join(found)}  {row.unit}".rstrip()


def _plain(row: Sensitivity) -> dict[str, Any]:
    return asdict(row) | {"per_percent": row.per_percent, "finite_per_percent": row.finite_per_percent}
