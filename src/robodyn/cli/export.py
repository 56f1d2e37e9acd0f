"""Exports and the rest: a run as a table, a scenario as a spreadsheet, an FMU or code; published studies; versions."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robodyn.base import frozen, nearest, to_plain
from robodyn.presentation.reporting.displays import Display, shows

from .application import fail, messages, output, read_guide
from .command import Texts, Written, command, refuse_ending, refuse_unwritable, tell, writing
from .targets import load_run, load_scenario, name_results, read_pairs, read_settings

if TYPE_CHECKING:
    from robodyn.description.model import Scenario, Solver
    from robodyn.description.robots import BalanceSheet as BalanceSheet
    from robodyn.exchange.codegen import WrittenCode as WrittenCode
    from robodyn.exchange.codegen.model import Exported
    from robodyn.presentation.studies import PublishedValue, Study

SUFFIXES = {"csv": ".csv", "parquet": ".parquet", "nc": ".nc", "mcap": ".mcap", "xlsx": ".xlsx", "fmu": ".fmu"}
SUFFIXES |= {"c": "-c", "wasm": "-wasm", "toml": ".toml", "ltv": ".mat"}
ROBOTS = {"urdf": ".urdf", "sdf": ".sdf", "mjcf": ".xml"}
SUFFIXES |= ROBOTS | {"actuator-table": "-actuators.json"}
METHODS = ("nonlinear", "perturbation")
SAME = 1e-9
"""Difference of mass matrix and bias that is rounding, over their largest entry."""
# Options that have an effect on workbooks, on FMUs and on code.
SOLVER = ("solver", "step", "rtol", "atol")
OPTIONS = {
    "xlsx": (*SOLVER, "rows", "duration", "set", "tunable"),
    "fmu": (*SOLVER, "duration", "set", "tunable", "fmi", "kind", "platform", "input", "method"),
    "toml": ("duration", "set", "tunable"),
    "ltv": ("duration", "set"),
    **dict.fromkeys(ROBOTS, ("set", "without", "report", "embed")),
    "actuator-table": ("set",),
    **dict.fromkeys(("c", "wasm"), (*SOLVER, "duration", "set", "tunable", "input", "method")),
}


@command("export")
def export(
    what: str,
    to: str,
    out: Path | None = None,
    solver: str | None = None,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    rows: int | None = None,
    duration: float | None = None,
    setting: Texts = (),
    tunable: Texts = (),
    fmi: int | None = None,
    kind: str | None = None,
    platform: Texts = (),
    entry: Texts = (),
    method: str | None = None,
    without: Texts = (),
    report: bool = False,
    embed: bool = False,
) -> Written | ExportedRobot:
    """Write a run as CSV, Parquet, netCDF or MCAP, or a scenario as TOML, a workbook, an FMU, code or a robot file.

    what (RUN|SCENARIO): A run file; else a scenario, TOML or robot file.
    to (--to): csv, parquet, nc or mcap of a run; toml, xlsx, fmu, c, wasm of a scenario; urdf, sdf, mjcf: its robot
        for other programs; actuator-table: torque over speed, friction and delay of its drives, JSON and CSV;
        ltv: the linear time-varying model along its nominal motion, a MATLAB file.
    out: File or folder; default: beside the run, or NAME.xlsx.
    solver: xlsx: euler, heun or heun_euler; else any. Default: the scenario's.
    step: xlsx: time between rows, heun_euler: the first; others: step of the method [s].
    rtol: Relative tolerance of an adaptive method.
    atol: Absolute tolerance, relative to each state's scale.
    rows: xlsx: number of rows; default: to the end.
    duration: Simulated time of a scenario [s].
    setting (--set): Change a scenario's number: name=value.
    tunable: Mechanism numbers to keep changeable (patterns such as '*.mass').
    fmi: fmu: version of the interface, 2 or 3; default: 2.
    kind: fmu: cs (co-simulation), me (model exchange) or both; default: cs.
    platform: fmu: linux64, win64, darwin64, ... or all; default: this one.
    entry (--input): fmu, c, wasm: a block's output (fmu: or a tunable number) from outside: name[=start].
    method: fmu, c, wasm: nonlinear, or perturbation: near the nominal motion.
    without: urdf, sdf, mjcf: leave out these constraints, coordinates and followers (patterns).
    report: urdf, sdf, mjcf: print the whole balance sheet.
    embed: urdf, sdf, mjcf: copy the meshes beside the file.
    """
    from robodyn.description.model import Solver

    if to not in SUFFIXES:
        raise fail(f"--to {to}: unknown format ({nearest(to, SUFFIXES)})")
    settings = {"step": step, "rtol": rtol, "atol": atol}
    stated = settings | {"solver": solver, "rows": rows, "duration": duration, "set": setting, "tunable": tunable}
    stated |= {"without": without, "report": report or None, "embed": embed or None}
    _refuse_options(to, stated | {"fmi": fmi, "kind": kind, "platform": platform, "input": entry, "method": method})
    if out is not None:
        _refuse_place(out, what, folder=to in ("c", "wasm"))
    if method not in (None, *METHODS):
        raise fail(f"--method {method}: must be {' or '.join(METHODS)}")
    if to not in OPTIONS:
        return Written([_export_run(what, to, out)])
    if rows is not None and duration is not None:
        raise fail("--rows and --duration both set where the rows end: give only one")
    if to == "toml" and not what.endswith(".run"):
        from robodyn.description.files import write_sequence
        from robodyn.description.model import ScenarioSequence

        sequence = load_scenario(what)
        if isinstance(sequence, ScenarioSequence):
            if duration is not None or tunable:
                raise fail("--duration, --tunable: no effect on a sequence; edit the files of its phases")
            changed = sequence.with_numbers(read_settings(setting, sequence, what))
            path = out or Path(f"{name_results(what, sequence)}.toml")
            with writing(str(path)):
                return Written(write_sequence(changed, path))
    loaded = _load(what, to)
    scenario = _change(loaded, read_settings(setting, loaded, what), duration, tunable)
    path = out or Path(f"{name_results(what, scenario)}{SUFFIXES[to]}")
    _refuse_place(path, what, folder=to in ("c", "wasm"))
    if to == "actuator-table":
        return _export_actuators(scenario, path)
    if to in ROBOTS:
        return _export_robot(scenario, path, to, without, report, embed)
    # The method and its settings asked for, else the scenario's own.
    own = solver in (None, scenario.solver.method)
    base: dict[str, Any] = scenario.solver.stated() if own else {"method": solver}
    chosen = Solver(**(base | {key: value for key, value in settings.items() if value is not None}))
    if to == "toml":
        from robodyn.description.files import write_scenario

        with writing(str(path)):
            write_scenario(scenario, path)
        lines = [str(path)]
    elif to == "xlsx":
        lines = _export_workbook(scenario, chosen, rows, path)
    elif to == "ltv":
        lines = _export_linear_model(scenario, path)
    elif to in ("c", "wasm"):
        lines = export_code(_near(scenario, chosen, method), chosen, path, to, entry)
    else:
        near = _near(scenario, chosen, method)
        lines = export_unit(near, chosen, path, 2 if fmi is None else fmi, kind or "cs", entry, platform)
    return Written([path], lines)


def _refuse_place(path: Path, what: str, folder: bool) -> None:
    """Before any work: a place that cannot be written to, or that is the file that is read."""
    if path.exists() and Path(what).exists() and path.samefile(what):
        raise fail(f"{path}: is the input file; choose another --out")
    if not folder:
        refuse_unwritable("--out", path)


# Robot files.


@frozen
class ExportedRobot:
    """A robot file that was written, what it cannot hold, and by how much it differs when it is read back.

    Attributes:
        difference: largest difference of mass matrix and bias over the largest entry; None where it was not compared,
            for the reason in `checked`.
        whole: whether the balance sheet is printed, or what it amounts to.
    """

    JSON = """
    *sheet
    file
    difference
    """
    sheet: BalanceSheet
    file: Path
    difference: float | None
    checked: str
    whole: bool


def _export_robot(
    scenario: Scenario, path: Path, to: str, without: Sequence[str], whole: bool, embed: bool
) -> ExportedRobot:
    from robodyn.analysis.mechanics.machine_dynamics import compare_mechanics
    from robodyn.base import ModelError, write_file
    from robodyn.description.robots import copy_meshes, export_robot, read_robot

    if embed:
        with writing(str(path)):
            scenario = scenario.replaced(machine=copy_meshes(scenario.machine, path)[0])
    written = export_robot(scenario, path, to, without)
    with writing(str(path)):
        write_file(path, written.text)
    try:
        # Meshes lie where they lay: nothing is read from them.
        again = read_robot(path, keep_massless=True, search=[Path(path.absolute().anchor)])
        difference = compare_mechanics(scenario.machine, again)
        return ExportedRobot(written.sheet, path, difference, "", whole)
    except ModelError as error:
        reason = "; ".join(str(flaw) for flaw in error.flaws[:2])
        return ExportedRobot(written.sheet, path, None, reason, whole)


def _export_actuators(scenario: Scenario, path: Path) -> Written:
    """Two files: all numbers as JSON, the curves as a table."""
    from robodyn.analysis.commissioning.actuator_table import actuator_tables, table_rows
    from robodyn.base import write_file

    refuse_ending("--out", path, ".json")
    table = path.with_suffix(".csv")
    refuse_unwritable("--out", table)
    tables = actuator_tables(scenario.machine)
    with writing(str(path)):
        write_file(path, json.dumps({"robot": scenario.machine.name, "drives": to_plain(tables)}, indent=1))
    with writing(str(table)):
        write_file(table, "".join(f"{','.join(map(str, row))}\n" for row in table_rows(tables)))
    peaks = []
    for one in tables:
        torque = f"torque up to {max(one.torques):.4g}, {one.torques[-1]:.4g} at speed {one.speeds[-1]:.4g}"
        rest = f"efficiency up to {max(one.efficiencies):.3g}, delay {1e3 * one.delay:.3g} ms"
        peaks.append("; ".join([f"{one.drive}: {torque}", rest, *one.notes]))
    return Written([path, table], [*peaks, f"wrote {path} and {table}"])


@shows
def show_exported_robot(export: ExportedRobot) -> Display:
    """How the machine's parts add up, what the format does not hold, and what reading it back gives."""
    sheet = export.sheet
    counts = sheet.counts
    lines = [
        f"{sheet.source}: {len(sheet.entries)} parts and fields: {counts['read']} as they are, "
        f"{counts['converted']} converted, {counts['choice']} need a choice, {counts['not used']} not held; "
        "--report lists them",
        *(f"choice: {choice}" for choice in sheet.choices),
        *(f"not held: {sentence}" for sentence in sheet.lost),
    ]
    if export.difference is None:
        check = f"not compared with what is read back: {export.checked}"
    else:
        check = f"read back, its mass matrix and bias differ by {export.difference:.2g} of the largest entry"
    sentences = [check, f"wrote {export.file}"]
    warnings = []
    if export.difference is not None and export.difference > SAME:
        warnings = [f"{export.file} does not move like the machine: what it cannot hold matters"]
    return Display(
        "Robot file", [*(sheet.text().splitlines() if export.whole else lines), *sentences], warnings=warnings
    )


def _near(scenario: Scenario, solver: Solver, method: str | None) -> Exported:
    """The scenario itself, or near its nominal motion."""
    if method != "perturbation":
        return scenario
    from robodyn.computation.perturbation import Perturbed

    return Perturbed(scenario, solver=solver, propagators=False)


def _export_linear_model(scenario: Scenario, path: Path) -> list[str]:
    from robodyn.computation.assembly import assemble
    from robodyn.computation.perturbation import compute_nominal, save_linear_model

    nominal = compute_nominal(assemble(scenario))
    with writing(f"--to ltv: {path}"):
        save_linear_model(nominal, path)
    n, rows = len(nominal.joints), len(nominal.times)
    sizes = f"{2 * n} states, {n} inputs, {len(nominal.signals)} outputs"
    return [f"{path}: A, B, C, D at {rows} times, {sizes}"]


def _refuse_options(to: str, options: dict[str, Any]) -> None:
    without_effect = [
        name for name, value in options.items() if value not in (None, (), []) and name not in OPTIONS.get(to, ())
    ]
    if without_effect:
        fitting = (
            " or ".join(key for key, names in OPTIONS.items() if set(without_effect) <= set(names)) or "another format"
        )
        raise fail(
            f"{', '.join(f'--{name}' for name in without_effect)}: no effect on --to {to}; only for --to {fitting}"
        )


def _export_run(run: str, to: str, out: Path | None) -> Path:
    from robodyn.computation.results import to_csv, to_mcap, to_netcdf, to_parquet

    saved_run = load_run(run)
    path = out or Path(run).with_suffix(SUFFIXES[to])
    write = {"csv": to_csv, "parquet": to_parquet, "nc": to_netcdf, "mcap": to_mcap}[to]
    with writing(f"--to {to}: {path}", "logs" if to == "mcap" else "export"):
        write(saved_run, path)
    return path


def _load(what: str, to: str) -> Scenario:
    from robodyn.description.model import Scenario

    if what.endswith(".run"):
        raise fail(f"{what}: --to {to} computes a run and takes its scenario, not a run")
    scenario = load_scenario(what)
    if not isinstance(scenario, Scenario):
        raise fail(f"{what}: is a sequence of scenarios, whose phases end at events; --to {to} takes one scenario")
    return scenario


def _change(scenario: Scenario, numbers: dict[str, float], duration: float | None, tunable: Sequence[str]) -> Scenario:
    if duration is not None:
        numbers["duration"] = duration
    if tunable:
        machine = scenario.machine
        scenario = replace(scenario, machine=replace(machine, tunable=(*machine.tunable, *tunable)))
    return scenario.with_numbers(numbers)


def _export_workbook(scenario: Scenario, solver: Any, rows: int | None, path: Path) -> list[str]:
    with writing(f"--to xlsx: {path}", "spreadsheet"):
        from robodyn.exchange.workbook import write_workbook

        plan = write_workbook(scenario, path, solver, rows=rows)
    n_columns = len(plan.columns.columns)
    step = "first step" if solver.adaptive else "step"
    return [f"{path}: {plan.n_rows} rows of {n_columns} columns, {step} {plan.step:g} s"]


# FMUs.

USES = {"cs": "run", "me": "guided along its run", "both": "run and guided along its run"}
"""Actions of the check on an FMU, by its kind."""


def export_unit(
    scenario: Exported, solver: Solver, path: Path, fmi: int, kind: str, inputs: Sequence[str], platforms: Sequence[str]
) -> list[str]:
    """Write the FMU; lines that say what it is."""
    from robodyn.exchange.fmi import write_fmu
    from robodyn.exchange.fmi.writing import TOLERANCE

    start_values = read_inputs(inputs)
    with writing(f"--to fmu: {path}", "fmi"):
        unit = write_fmu(scenario, path, solver, fmi=fmi, kind=kind, inputs=start_values, platforms=list(platforms))
    counts = f"{len(unit.inputs)} inputs, {unit.n_outputs} outputs, {unit.n_parameters} parameters"
    lines = [
        f"{path}: FMI {fmi}.0 for {', '.join(unit.platforms)}; {counts}",
        f"{USES[kind]} by FMPy it differs from the simulation by {unit.agreement.error:.2g}",
    ]
    if unit.motion is not None:
        lines.append(f"solved by CVode with a tolerance of {TOLERANCE:g}, by {unit.motion.error:.2g}")
    return [*lines, *describe_fixed(unit.fixed)]


def describe_fixed(names: Sequence[str]) -> list[str]:
    """A line on numbers that cannot be changed in what was exported, if there are any."""
    what = "fixed, because references jump with them or the nominal motion was computed for them"
    return [f"{what}: {', '.join(names)}"] if names else []


def read_inputs(texts: Sequence[str]) -> dict[str, float | None]:
    """Names with their start values: name or name=value."""
    assignments = [text for text in texts if "=" in text]
    started = read_pairs("input", assignments, lambda _, text: float(text), "name=number, its start value")
    return {name: started.get(name) for name in (text.partition("=")[0].strip() for text in texts)}


# Code.

RUN_BY = {"c": "a C compiler", "wasm": "node"}


def export_code(scenario: Exported, solver: Solver, folder: Path, to: str, inputs: Sequence[str]) -> list[str]:
    """Write the folder; lines that say what is in it."""
    from robodyn.exchange.codegen import write_c, write_wasm

    with writing(str(folder)):
        code = (write_c if to == "c" else write_wasm)(scenario, folder, solver, inputs=read_inputs(inputs))
    counts = f"{len(code.inputs)} inputs, {code.n_outputs} outputs, {code.n_parameters} parameters"
    lines = [f"{folder}: {len(code.files)} files; {counts}", _describe_check(code, to)]
    return [*lines, *describe_fixed(code.fixed)]


def _describe_check(code: WrittenCode, to: str) -> str:
    if code.agreement is None:
        return f"not checked: this needs {RUN_BY[to]}"
    if code.agreement.equal:
        return "its run equals the simulation to the last bit"
    agreement = code.agreement
    where = f"in '{agreement.signal}' at {agreement.time:g} s"
    message = f"its run differs from the simulation by {agreement.error:.2g} ({where})"
    if not agreement.rounding:
        return message
    return f"{message}; rounding differences alone account for {agreement.rounding:.2g} here"


# Published studies.

NOT_REPRODUCED = 1


@command("reproduce")
def reproduce(study: str, part: Texts = (), page: Path | None = None, as_json: bool = False) -> list[PublishedValue]:
    """Run a study and print its published figures beside ours; exit code 1 if one is out.

    study: Name of a study, for example scara.
    part: Only the figures under this heading, or a part of its words; repeatable.
    page: Write the study's page and pictures into this folder.
    as_json (--json): Print JSON.
    """
    from robodyn.base import WaitingLine
    from robodyn.presentation.studies import find_study, write_overview, write_page

    chosen = find_study(study)
    if part and page is not None:
        raise fail("--page writes the whole study: leave out --part")
    headings = _choose_parts(chosen, part) if part else None
    figures: list[PublishedValue] = []
    with WaitingLine(f"reproducing {chosen.title}") as line:
        for figure in chosen.figures(headings):
            figures.append(figure)
            # Some take minutes: each is printed as soon as it is known.
            if not as_json:
                tell(Display("", _figure_lines(figure)))
            line.update(f"{len(figures)} figures, last: {figure.name}")
    if page is not None:
        with writing(f"--page {page}"):
            path = write_page(chosen, figures, page)
            write_overview(page)
        messages.print(f"page: {path}")
    return figures


def _choose_parts(study: Study, words: Sequence[str]) -> list[str]:
    headings = list(study.parts())
    unknown = [word for word in words if not any(word.lower() in heading.lower() for heading in headings)]
    if unknown:
        raise fail(f"--part {unknown[0]}: no such part of {study.name}; there are: {'; '.join(headings)}")
    return [heading for heading in headings if any(word.lower() in heading.lower() for word in words)]


def _figure_lines(figure: PublishedValue) -> list[str]:
    value = "-" if figure.value is None else f"{figure.value:.6g} {figure.unit}".rstrip()
    apart = "" if figure.deviation is None else f", deviation {figure.deviation:+.3g}"
    measurement = "" if figure.measured is None else f", measured {figure.measured:.6g}"
    comparison = f"ours {value}, expected {figure.expectation}{apart}{measurement}"
    why = f"{figure.reason} [{figure.source}]" if figure.source else figure.reason
    return [f"{figure.verdict:<17} {figure.name} ({figure.kind}): {comparison}", f"{'':<17} {why}"]


@shows
def show_figures(figures: list[PublishedValue]) -> Display:
    from robodyn.presentation.studies import describe_counts

    lines = [line for figure in figures for line in _figure_lines(figure)]
    counts = list(describe_counts(figures))
    missed = any(figure.ok is False for figure in figures)
    code = NOT_REPRODUCED if missed else 0
    return Display("Published figures", [*lines, *counts], text="\n".join(counts), code=code)


# The guide, and what is installed.


@command("guide", page=False, json=False)
def guide() -> None:
    """Print a short tour of all commands, each with an example that runs; made for assistants too."""
    output.print(read_guide().rstrip())


PACKAGES = ("robodyn", "numpy", "casadi", "llvmlite", "matplotlib", "pyarrow", "xarray", "netCDF4")


@frozen
class Facts:
    """Versions and sizes by name."""

    JSON = "*facts"
    facts: dict[str, Any]


@command("info", page=False)
def info(clear: bool = False) -> Facts:
    """Print versions and the cache of native code, or empty it.

    clear: Empty the cache.
    """
    from robodyn.computation.native.cache import cache_folder, clear_files, list_files

    folder = cache_folder()
    facts: dict[str, Any] = {}
    if not clear:
        facts = {"python": platform.python_version(), "platform": platform.platform()}
        facts |= {package: _version(package) for package in PACKAGES}
    what, sizes = ("freed", clear_files(folder)) if clear else ("cache", list_files(folder))
    return Facts(facts | {"cache": folder, f"{what}_files": len(sizes), f"{what}_bytes": sum(sizes.values())})


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


@shows
def show_facts(facts: Facts) -> Display:
    return Display("Installed", [f"{key:<12} {value}" for key, value in facts.facts.items()])
