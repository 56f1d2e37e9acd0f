"""robodyn cosim: co-simulate subsystems that are coupled at communication points."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.cli.answers import needing, writing
from robodyn.cli.application import app, output, print_json
from robodyn.cli.progress import SimulationProgress
from robodyn.cli.run import announce, end_unless_ok, errors_as_json, outcome_as_json, prepare_folder

if TYPE_CHECKING:
    from robodyn.computation.cosimulation import CosimulationFile, CosimulationRun

TOLD = (".energy_error", ".gap", ".condition")
"""Signals that connections give about themselves."""


@app.command("cosim")
def cosimulate_file(
    file: Annotated[Path, typer.Argument(help="TOML file of a co-simulation.")],
    step: Annotated[float | None, typer.Option(help="Macro step [s], instead of the file's.")] = None,
    scheme: Annotated[str | None, typer.Option(help="parallel or sequential.")] = None,
    order: Annotated[int | None, typer.Option(help="Order of extrapolation of all connections that have one.")] = None,
    tolerance: Annotated[float | None, typer.Option(help="Adapt the macro step to this coupling error.")] = None,
    certify: Annotated[
        bool, typer.Option("--certify", help="Simulate it again with half the macro step: errors of all signals.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for the runs' files.")] = Path("out"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Simulate subsystems together; exit code 3 where it failed or is suspect (what there is, is kept)."""
    from robodyn.computation.cosimulation import read_cosimulation, save_cosimulation
    from robodyn.exchange.fmi import read_fmu

    what = _change(read_cosimulation(file, {"fmu": read_fmu}), step, scheme, order, tolerance)
    folder = prepare_folder(out)
    with needing(f"{file}: a subsystem that is an FMU", "fmi"), SimulationProgress(what.duration) as progress:
        done = what.simulate(certify=certify, progress=progress, on_compile=announce)
    with writing(f"--out {folder}"):
        paths = save_cosimulation(done, folder)
    if as_json:
        print_json(_as_json(done, paths))
    else:
        output.print(done.summary())
        for path in paths.values():
            output.print(f"saved as {path}")
    end_unless_ok(done.outcome)


def _change(
    what: CosimulationFile, step: float | None, scheme: str | None, order: int | None, tolerance: float | None
) -> CosimulationFile:
    """The file's co-simulation with what the options say."""
    given: dict[str, Any] = {"step": step, "scheme": scheme, "tolerance": tolerance}
    what = replace(what, settings=replace(what.settings, **{k: v for k, v in given.items() if v is not None}))
    if order is None:
        return what
    return replace(
        what,
        connections=tuple(replace(connection, order=order) for connection in what.connections),
        signal_connections=tuple(
            replace(signal_connection, order=order) for signal_connection in what.signal_connections
        ),
    )


def _as_json(done: CosimulationRun, paths: dict[str, Path]) -> dict[str, Any]:
    outcome = done.outcome
    certified = any(run.errors for run in done.runs.values())
    return {
        "name": done.name,
        "outcome": outcome_as_json(outcome),
        "end_time": outcome.time,
        "statistics": asdict(done.statistics),
        "coupling": {name: value for name, value in done.coupling.final.items() if name.endswith(TOLD)},
        "final": {name: run.final for name, run in done.runs.items()},
        "certificates": {
            name: run.certificate.to_plain() for name, run in (*done.runs.items(), ("coupling", done.coupling))
        },
        **({"errors": {name: errors_as_json(run) for name, run in done.runs.items()}} if certified else {}),
        "warnings": list(done.warnings),
        "files": {name: str(path) for name, path in paths.items()},
    }
