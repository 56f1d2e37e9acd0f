"""robodyn sensitivity: which parameters does a signal depend on most?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.cli.answers import draw
from robodyn.cli.application import app, fail, messages, output, print_json
from robodyn.cli.targets import load_single, refuse_other, split_names

if TYPE_CHECKING:
    from robodyn.analysis.sensitivity.ranking import Sensitivity, SensitivityTable

MEASURES = ("final", "largest", "smallest", "peak_time", "oscillation_time", "overshoot")


@app.command("sensitivity")
def rank(
    scenario: Annotated[str, typer.Argument(help="Name in the catalogue, or a TOML file.")],
    of: Annotated[str, typer.Option(help="Signal to look at.")],
    parameters: Annotated[str, typer.Option(help="Numbers to change, with commas between them.")],
    measure: Annotated[str, typer.Option(help=f"What of the signal: {', '.join(MEASURES)}.")] = "final",
    at: Annotated[float, typer.Option(help="Time of the step, for the last three measures [s].")] = 0.0,
    change: Annotated[float, typer.Option(help="Finite change to both sides [%], 0 for none.")] = 10.0,
    setting: Annotated[list[str] | None, typer.Option("--set", help="Change a number: name=value.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the ranking into this file (.png, .svg, .pdf).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Rank parameters by their effect on a signal, by exact derivatives and by finite changes."""
    refuse_other("--measure", measure, MEASURES)
    if not 0 <= change < 100:
        raise fail(f"--change {change:g}: must be from 0 to below 100 %")
    found, unit = _rank(scenario, of, split_names(parameters), measure, at, change / 100, setting)
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


def _rank(
    scenario: str, of: str, names: list[str], measure: str, at: float, change: float, settings: list[str] | None
) -> tuple[SensitivityTable, str]:
    from robodyn.analysis.sensitivity.measures import measure_signal, unit_of_measure
    from robodyn.analysis.sensitivity.ranking import rank_parameters

    if not names:
        raise fail("--parameters: names no number")
    try:
        found = rank_parameters(
            load_single(scenario, settings), {measure: measure_signal(of, measure, at)}, names, change=change
        )
    except KeyError as error:
        raise fail(f"--of {of}: {error.args[0]}") from error
    return found, unit_of_measure(found.run[of].unit, measure)


def _line(row: Sensitivity) -> str:
    found = [f"{v:>+13.5g}" if v is not None else f"{'-':>13}" for v in (row.per_percent, row.finite_per_percent)]
    return f"{row.parameter:<36} {row.parameter_value:>12.6g} {' '.join(found)}  {row.unit}".rstrip()


def _plain(row: Sensitivity) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(row) | {"per_percent": row.per_percent, "finite_per_percent": row.finite_per_percent}
