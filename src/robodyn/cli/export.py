"""robodyn export: a run as a table, or a scenario as a spreadsheet of live formulas, an FMU, C or WebAssembly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.base.errors import nearest
from robodyn.cli.answers import writing
from robodyn.cli.application import app, fail, report_files
from robodyn.cli.export_code import export_code
from robodyn.cli.export_unit import export_unit
from robodyn.cli.targets import load_run, load_scenario, name_results, read_settings

if TYPE_CHECKING:
    from robodyn.description.model import Scenario

SUFFIXES = {"csv": ".csv", "parquet": ".parquet", "nc": ".nc", "mcap": ".mcap", "xlsx": ".xlsx", "fmu": ".fmu"}
SUFFIXES |= {"c": "-c", "wasm": "-wasm", "toml": ".toml"}
# Options that have an effect on workbooks, on FMUs and on code.
OPTIONS = {
    "xlsx": ("solver", "step", "rows", "duration", "set", "tunable"),
    "fmu": ("solver", "step", "duration", "set", "tunable", "fmi", "kind", "platform", "input"),
    "toml": ("duration", "set", "tunable"),
    **dict.fromkeys(("c", "wasm"), ("solver", "step", "duration", "set", "tunable", "input")),
}


@app.command("export")
def export(
    what: Annotated[str, typer.Argument(metavar="RUN|SCENARIO", help="A run file; else a scenario or TOML file.")],
    to: Annotated[str, typer.Option(help="csv, parquet, nc or mcap of a run; toml, xlsx, fmu, c, wasm of a scenario.")],
    out: Annotated[Path | None, typer.Option(help="File or folder; default: beside the run, or NAME.xlsx.")] = None,
    solver: Annotated[str | None, typer.Option(help="xlsx: euler or heun; else any. Default: the scenario's.")] = None,
    step: Annotated[float | None, typer.Option(help="xlsx: time between rows; others: step of the method [s].")] = None,
    rows: Annotated[int | None, typer.Option(help="xlsx: number of rows; default: to the end.")] = None,
    duration: Annotated[float | None, typer.Option(help="Simulated time of a scenario [s].")] = None,
    setting: Annotated[list[str] | None, typer.Option("--set", help="Change a scenario's number: name=value.")] = None,
    tunable: Annotated[
        list[str] | None,
        typer.Option(help="Mechanism numbers to keep changeable (patterns such as '*.mass')."),
    ] = None,
    fmi: Annotated[int | None, typer.Option(help="fmu: version of the interface, 2 or 3; default: 2.")] = None,
    kind: Annotated[
        str | None, typer.Option(help="fmu: cs (co-simulation), me (model exchange) or both; default: cs.")
    ] = None,
    platform: Annotated[
        list[str] | None, typer.Option(help="fmu: linux64, win64, darwin64, ... or all; default: this one.")
    ] = None,
    entry: Annotated[
        list[str] | None,
        typer.Option(
            "--input", help="fmu, c, wasm: a block's output (fmu: or a tunable number) from outside: name[=start]."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a run as CSV, Parquet, netCDF or MCAP, or a scenario as TOML, a workbook of formulas, an FMU, or code."""
    if to not in SUFFIXES:
        raise fail(f"--to {to}: unknown format ({nearest(to, SUFFIXES)})")
    given = {"solver": solver, "step": step, "rows": rows, "duration": duration, "set": setting, "tunable": tunable}
    _refuse_options(to, given | {"fmi": fmi, "kind": kind, "platform": platform, "input": entry})
    if to not in OPTIONS:
        report_files([_export_run(what, to, out)], as_json)
        return
    if rows is not None and duration is not None:
        raise fail("--rows and --duration both say where the rows end: give one of them")
    found = _load(what, to)
    scenario = _change(found, read_settings(setting or [], found, what), duration, tunable)
    chosen = _choose_solver(scenario, solver, step)
    path = out or Path(f"{name_results(what, scenario)}{SUFFIXES[to]}")
    if to == "toml":
        if path.exists() and Path(what).exists() and path.samefile(what):
            raise fail(f"{path}: is the file that is read; give another --out")
        lines = _export_file(scenario, path)
    elif to == "xlsx":
        lines = _export_workbook(scenario, chosen, rows, path)
    elif to in ("c", "wasm"):
        lines = export_code(scenario, chosen, path, to, entry or [])
    else:
        version = 2 if fmi is None else fmi
        lines = export_unit(scenario, chosen, path, version, kind or "cs", entry or [], platform or [])
    report_files([path], as_json, lines)


def _refuse_options(to: str, given: dict[str, Any]) -> None:
    used = [name for name, value in given.items() if value not in (None, []) and name not in OPTIONS.get(to, ())]
    if used:
        fitting = " or ".join(key for key, names in OPTIONS.items() if set(used) <= set(names)) or "another format"
        raise fail(f"{', '.join(f'--{name}' for name in used)}: no effect on --to {to}; only for --to {fitting}")


def _export_run(run: str, to: str, out: Path | None) -> Path:
    from robodyn.computation.results import to_csv, to_mcap, to_netcdf, to_parquet

    found = load_run(run)
    path = out or Path(run).with_suffix(SUFFIXES[to])
    write = {"csv": to_csv, "parquet": to_parquet, "nc": to_netcdf, "mcap": to_mcap}[to]
    with writing(f"--to {to}: {path}", "logs" if to == "mcap" else "export"):
        write(found, path)
    return path


def _load(what: str, to: str) -> Scenario:
    from robodyn.description.model import Scenario

    if what.endswith(".run"):
        raise fail(f"{what}: --to {to} computes a run and takes its scenario, not a run")
    found = load_scenario(what)
    if not isinstance(found, Scenario):
        raise fail(f"{what}: is a sequence of scenarios, whose phases end at events; --to {to} takes one scenario")
    return found


def _change(
    scenario: Scenario, numbers: dict[str, float], duration: float | None, tunable: list[str] | None
) -> Scenario:
    if duration is not None:
        numbers["duration"] = duration
    if tunable:
        machine = scenario.machine
        scenario = replace(scenario, machine=replace(machine, tunable=(*machine.tunable, *tunable)))
    return scenario.with_numbers(numbers)


def _choose_solver(scenario: Scenario, method: str | None, step: float | None) -> Any:
    """The method and step asked for, else the scenario's own."""
    from robodyn.description.model import Solver

    own = method in (None, scenario.solver.method)
    settings: dict[str, Any] = scenario.solver.stated() if own else {"method": method}
    return Solver(**(settings | ({} if step is None else {"step": step})))


def _export_file(scenario: Scenario, path: Path) -> list[str]:
    from robodyn.description.files import write_scenario

    with writing(str(path)):
        write_scenario(scenario, path)
    return [str(path)]


def _export_workbook(scenario: Scenario, solver: Any, rows: int | None, path: Path) -> list[str]:
    with writing(f"--to xlsx: {path}", "spreadsheet"):
        from robodyn.exchange.workbook import write_workbook

        plan = write_workbook(scenario, path, solver, rows=rows)
    n_columns = len(plan.columns.columns)
    return [f"{path}: {plan.n_rows} rows of {n_columns} columns, step {plan.step:g} s"]
