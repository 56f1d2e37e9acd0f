"""robodyn validate: how well does a scenario predict measured data?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from robodyn.cli.answers import answer
from robodyn.cli.application import app
from robodyn.cli.targets import load_single, read_data


@app.command("validate")
def validate_scenario(
    scenario: Annotated[str, typer.Argument(help="Name in the catalogue, or a TOML file.")],
    data: Annotated[Path, typer.Argument(help="Measured signals: CSV, Parquet, MCAP, ROS bag, .npz or .mat.")],
    mapping: Annotated[Path | None, typer.Option("--map", help="TOML: which column is which signal.")] = None,
    entry: Annotated[
        list[str] | None, typer.Option("--input", help="Measured signal that takes the place of the computed one.")
    ] = None,
    method: Annotated[str, typer.Option(help="simulation, inverse (dynamics) or both.")] = "both",
    cutoff: Annotated[float | None, typer.Option(help="Low-pass of inverse dynamics [Hz].")] = None,
    setting: Annotated[list[str] | None, typer.Option("--set", help="Change a number: name=value.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print prediction errors of a scenario by signal, in units and per cent."""
    from robodyn.analysis.validation import describe_validation, validate

    found = validate(
        load_single(scenario, setting), read_data(data, mapping), entry or [], method=method, cutoff=cutoff
    )
    answer(as_json, found.as_plain, lambda: describe_validation(found))
