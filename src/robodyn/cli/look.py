"""Looking at runs and machines: summaries, pictures, comparisons, pages and the browser."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robodyn import analysis
from robodyn.analysis.key_result import KeyResult, Verdict, key_results
from robodyn.base import Flaw, FlawList, ModelError, end_line, frozen, nearest, show_quantity
from robodyn.presentation.reporting.displays import Display, Part, display, shows, to_section
from robodyn.presentation.reporting.summaries import judge_outcome, result_table, summarise

from .application import fail, output
from .command import Paths, Texts, Written, command, drawing, writing
from .sweep import read_varied, trace_varied
from .targets import (
    ROBOTS,
    load_run,
    load_scenario,
    load_single,
    phases_of,
    read_data,
    read_limit,
    read_settings,
    split_names,
)

if TYPE_CHECKING:
    from robodyn.computation.assembly import System
    from robodyn.computation.results import Comparison, Run
    from robodyn.description.model import Scenario
    from robodyn.presentation.pages import PageServer
    from robodyn.presentation.studio import StudioServer


@frozen
class ShownRun:
    """A run, and what is asked of it."""

    JSON = "*run"
    run: Run
    signals: bool
    picture: Path | None


@command("show")
def show(run: str, signal: Texts = (), png: Path | None = None, signals: bool = False) -> ShownRun:
    """Print the summary of a run, and plot its signals to a PNG file.

    run: A run file.
    signal: Signals to plot; default: the main ones.
    png: Write a picture of the signals here.
    signals: List the ranges of all signals, too.
    """
    saved_run = load_run(run)
    if signal and png is None:
        raise fail("--signal chooses what is plotted: give --png FILE as well")
    if png is not None:
        from robodyn.presentation.reporting import plot_signals

        with drawing(f"--png {png}"):
            plot_signals(saved_run, list(signal) or None, png)
    return ShownRun(saved_run, signals, png)


@shows
def show_shown(shown: ShownRun) -> Display:
    summary = summarise(shown.run, key_results(shown.run), signals=shown.signals, statistics=True)
    return replace(summary, parts=[*summary.parts, f"picture: {shown.picture}"]) if shown.picture else summary


@command("compare")
def compare(first: str, second: str) -> Comparison:
    """Print the largest difference of each signal over the time both runs cover.

    first: A run file.
    second: Another run file.
    """
    from robodyn.computation.results import compare

    try:
        return compare(load_run(first), load_run(second))
    except ValueError as error:
        raise fail(error) from error


Drawing = tuple[str, Callable[[Path], None]]
"""A word for the file's name, and the call that writes the picture."""


@command("plot")
def plot(
    runs: Texts,
    signal: Texts = (),
    against: str | None = None,
    path: str | None = None,
    out: Path | None = None,
    start: float | None = None,
    end: float | None = None,
    label: Texts = (),
    unit: Texts = (),
    exaggerate: float | None = None,
    dark: bool = False,
) -> Written:
    """Draw signals over time or against each other, and the path of a point through space.

    runs: Run files or measured data, drawn over each other.
    signal: Signals to draw (patterns); default: the main.
    against: Draw the signals over this one instead of time.
    path: Draw the path of this point through space.
    out: File (.png, .svg, .pdf) or folder; default: the run's.
    start (--from): Draw from this time on [s].
    end (--to): Draw up to this time [s].
    label: Name of each run in the picture, in their order.
    unit: Unit of the axes over time: um, mm, deg ...
    exaggerate: With --path: factor by which the deviation from the path is drawn; default: by size.
    dark: Draw for a dark page.
    """
    if against is not None and not signal:
        raise fail(f"--against {against}: give what to draw over it with --signal")
    if unit and (against is not None or path is not None):
        raise fail(
            f"--unit {unit[0]}: only applies to signals over time; --against and --path choose their units by size"
        )
    if exaggerate is not None and path is None:
        raise fail("--exaggerate: only applies to the path of a point; use it with --path")
    if len(runs) == 1 and not Path(runs[0]).exists():
        if dark:
            raise fail("--dark: pictures of studies are always drawn as published")
        return _plot_study(runs[0], out)
    saved_runs = [read_data(Path(run)) for run in runs]
    window = None if start is None and end is None else (start, end)
    options = {"labels": list(label) or None, "window": window, "dark": dark}
    with drawing():
        pictures = _pictures(saved_runs, list(signal) or None, against, path, options, unit, exaggerate)
        files = _files(pictures, Path(runs[0]), out)
        for file, (_, write) in zip(files, pictures, strict=True):
            write(file)
    return Written(files)


def _plot_study(name: str, out: Path | None) -> Written:
    """Draw the pictures and pages of a study into a folder."""
    from robodyn.presentation.studies import INSTALL, list_studies

    studies = list_studies()
    if name not in studies:
        remedy = nearest(name, studies) if studies else f"no studies are installed: {INSTALL}"
        raise fail(f"there is neither a run file nor a study '{name}' ({remedy})")
    folder = out or Path("out") / name
    with drawing():
        folder.mkdir(parents=True, exist_ok=True)
        study = studies[name].thing
        files = [(folder / f"{picture.name}.png", picture.draw) for picture in study.pictures()]
        files += [(folder / f"{page.name}.html", page.draw) for page in study.pages()]
        for file, draw in files:
            draw(file)
    return Written([file for file, _ in files])


def _pictures(
    runs: list[Any],
    signals: list[str] | None,
    against: str | None,
    point: str | None,
    options: dict[str, Any],
    units: Sequence[str],
    exaggerate: float | None,
) -> list[Drawing]:
    """The pictures that the options ask for."""
    from robodyn.presentation.reporting import plot_path, plot_phase, plot_signals

    pictures: list[Drawing] = []
    if against is not None:
        pictures.append(("against", lambda file: plot_phase(runs, against, signals or [], file, **options)))
    elif signals or point is None:
        pictures.append(("", lambda file: plot_signals(runs, signals, file, units=units, **options)))
    if point is not None:
        pictures.append(("path", lambda file: plot_path(runs, point, file, exaggerate=exaggerate, **options)))
    return pictures


def _files(pictures: list[Drawing], run: Path, out: Path | None) -> list[Path]:
    """A file for each picture: the one that was named, or one named after the first run in the folder."""
    if out is not None and out.suffix and not out.is_dir():
        if len(pictures) > 1:
            raise fail(f"--out {out}: {len(pictures)} pictures do not fit into one file; give a folder")
        return [out]
    folder = run.parent if out is None else out
    return [folder / f"{'-'.join(part for part in (run.stem, word) if part)}.png" for word, _ in pictures]


# Report pages.

FIRST = ("budget", "loops")
"""Analyses of which key results are made."""
PARTS = ("loops", "modes", "sweep", "budget", "forces", "sheet")


@command("report")
def report(
    runs: Texts,
    out: Path = Path("report.html"),
    parts: str = "",
    vary: Texts = (),
    random: Texts = (),
    note: Paths = (),
    signal: Texts = (),
    live: bool = False,
    slider: Texts = (),
    measured: Path | None = None,
    mapping: Path | None = None,
    entry: Texts = (),
    setting: Texts = (),
    limit: str = "",
    fast: bool = False,
    exaggerate: float = 1.0,
    mesh_budget: float = 2.0,
) -> Reported:
    """Write one self-contained HTML page: key results, 3-D replay, deviation and its causes, plots, all numbers.

    Of a scenario with a path the causes of its misses and the margins of its loops are computed as well.

    runs: Run files, or scenarios to be simulated; several are compared.
    out: Page to write.
    parts (--with): Analyses to put into the page, with commas: loops, modes, sweep, budget, forces, sheet.
    vary: Parameter that --with sweep varies: name=first:last:count.
    random: Parameter drawn at random for --with sweep and sheet: name=scale:0.9:1.1, as in sweep.
    note: Text to put into the page; a little Markdown.
    signal: Signals plotted at first (patterns).
    live: Let the page simulate by itself, with sliders for numbers: one scenario, not a run.
    slider: Numbers that get sliders (patterns); by default all tunable ones.
    measured: Log of the machine, drawn beside the scenario that it drives, with residuals and errors of predictions.
    mapping (--map): TOML: which of its columns is which signal.
    entry (--input): Measured signal that takes the place of the computed one, instead of those found; or none.
    setting (--set): Change a scenario's number: name=value.
    limit: Largest allowed deviation from the path, such as 0.2mm; path_limit of the scenario if not given.
    fast: Leave out what takes longest: causes and margins that --with does not ask for.
    exaggerate: How many times too large deformations are drawn at first.
    mesh_budget: Megabytes that meshes may take in the page; they are made coarser until they fit.
    """
    from robodyn.presentation.pages import write_report

    if out.is_dir():
        raise fail(f"--out {out}: is a folder, name a file in it")
    if out.resolve() in [Path(run).resolve() for run in runs]:
        raise fail(f"--out {out}: this is one of the input runs and would be overwritten")
    analyses = _read_parts(parts, vary, random)
    options: dict[str, Any] = {"exaggerate": exaggerate, "mesh_budget": mesh_budget, "signals": signal}
    options["sections"] = [_read_note(path) for path in note]
    options["limit"] = read_limit(limit)
    # A tile and the bars show them: what a path's engineer asks first.
    first = [] if fast or not _has_path(runs[0]) else [part for part in FIRST if part not in analyses]
    analyses = [*first, *analyses]
    system = trace_varied(_find_scenario(runs, setting), [*vary, *random]) if analyses else None
    labels = None
    if measured is None and (mapping is not None or entry):
        raise fail("--map and --input: have no effect without --measured")
    if measured is not None:
        if live or len(runs) > 1 or runs[0].endswith(".run"):
            raise fail("--measured: needs a single scenario, without --live")
        found, labels, options["sections"] = _beside(runs[0], setting, measured, mapping, entry, options)
    elif live:
        options["live"] = _make_live(runs, slider, setting)
        found = [options["live"].run]
    elif slider:
        raise fail("--slider: only a page that simulates by itself has sliders; add --live")
    else:
        # What is analysed is what is simulated: the first scenario, traced once.
        analysed = next((run for run in runs if not run.endswith(".run")), None) if system else None
        found = [_find_run(run, setting, system if run == analysed else None) for run in runs]
    for part in analyses:
        assert system is not None
        try:
            result = _analyse(system, part, vary, random)
        except ModelError as error:
            if part not in first:
                raise
            # The page is made all the same, and says why this is missing.
            reasons = [f"{flaw.path}: {flaw.what}".removeprefix(": ") for flaw in error.flaws]
            section = {"title": f"{part.capitalize()}: could not be computed", "sentences": reasons}
            options["sections"].append(section | {"name": part.capitalize(), "tables": [], "images": []})
            if part == "budget":
                options["no_causes"] = f"The causes could not be computed: {'; '.join(reasons)}."
            continue
        shown = result if isinstance(result, Display) else display(result)
        options["sections"].append(to_section(shown) | {"name": part.capitalize()})
        # Key results are those of the first run.
        if part in FIRST and not runs[0].endswith(".run"):
            options[part] = result
    try:
        with writing(f"--out {out}"):
            write_report(found, out, labels=labels or name_runs(runs), **options)
    except ValueError as error:
        raise fail(error) from error
    # What was simulated for the page is told at once; a run has been told when it was made.
    if runs[0].endswith(".run"):
        return Reported(Written([out]))
    causes = {name: options.get(name) for name in ("limit", *FIRST)}
    return Reported(Written([out]), found[0], key_results(found[0], **causes))


@frozen
class Reported:
    """A page that was written, and the run that was simulated for it with its key results."""

    JSON = "*written"
    written: Written
    run: Run | None = None
    results: Sequence[KeyResult] = ()


@shows
def show_reported(reported: Reported) -> Display:
    shown = display(reported.written)
    if reported.run is None:
        return shown
    summary: list[Part] = [
        f"{reported.run.provenance.scenario}: {reported.run.outcome.sentence}",
        "",
        result_table(reported.results),
    ]
    return replace(shown, parts=[*summary, "", *shown.parts], verdict=judge_outcome(reported.run.outcome))


def _beside(
    scenario: str, setting: Texts, log: Path, mapping: Path | None, entry: Texts, options: dict[str, Any]
) -> tuple[list[Run], list[str], list[dict[str, Any]]]:
    """The simulated and the measured run with their labels, and the page's sections with the errors of predictions."""
    from robodyn.analysis.validation import runs_beside

    inputs = None if not entry else [] if list(entry) == ["none"] else entry
    validation = analysis.validate(load_single(scenario, setting), read_data(log, mapping), inputs, method="simulation")
    pair = runs_beside(validation)
    if not options["signals"]:
        assert validation.measured is not None
        names = validation.measured.names[:BESIDE]
        options["signals"] = [name for signal in names for name in (signal, f"{signal}.residual")]
    options["results"] = {"measured": _prediction_results(validation)}
    section = to_section(display(validation)) | {"name": "Predictions"}
    return list(pair), ["simulated", "measured"], [*options["sections"], section]


def _prediction_results(validation: analysis.Validation) -> list[KeyResult]:
    """How well the measured signals are predicted, and whether a straight line would do as well."""
    from robodyn.analysis.validation import BETTER, SAME

    last = {row.signal: row for row in validation.predictions if row.ahead is not None}
    rows = list((last or {row.signal: row for row in validation.predictions}).values())[:BESIDE]
    results = []
    for row in rows:
        verdict: Verdict = "good" if row.than_line == BETTER else "fair" if row.than_line == SAME else "bad"
        note = f"rms; {show_quantity(row.line, row.unit, 3)} by a straight line"
        label = f"{row.signal}, {row.kind}"
        results.append(KeyResult(label, row.rms, row.unit, note=note, verdict=verdict))
    return results


BESIDE = 4
"""Measured signals that are plotted at first, each with what is left of it."""


def _has_path(what: str) -> bool:
    """Whether it is a scenario that measures how far it misses its path."""
    from robodyn.description.model import Scenario

    if what.endswith(".run"):
        return False
    scenario = load_scenario(what)
    return isinstance(scenario, Scenario) and any(block.name == "deviation" for block in scenario.machine.blocks)


def _read_parts(text: str, vary: Sequence[str], random: Sequence[str]) -> list[str]:
    """Names of analyses; numbers that are varied where no part of the page varies them are refused."""
    parts = split_names(text)
    remedy = f"choose among {', '.join(PARTS)}"
    flaws = [Flaw(f"--with {part}", "is unknown", remedy) for part in parts if part not in PARTS]
    if flaws:
        raise ModelError(flaws)
    for option, texts, users in (("vary", vary, ("sweep",)), ("random", random, ("sweep", "sheet"))):
        if texts and not set(users) & set(parts):
            raise fail(f"--{option} has no effect without --with {' or '.join(users)}")
    return parts


def _analyse(system: System, part: str, vary: Sequence[str], random: Sequence[str]) -> Any:
    """The result of one analysis, or its display where there is more to say of it."""
    flaws, name = FlawList(), system.scenario.name
    grid, drawn = read_varied(flaws, system, name, vary, (), random)
    flaws.raise_if_any(f"report of '{name}'")
    match part:
        case "loops":
            return analysis.loop_table(system)
        case "modes":
            try:
                return analysis.find_modes(system, at="equilibrium")
            except ModelError:
                shown = display(analysis.find_modes(system, at="start"))
                note = "linearised at the start, because no equilibrium was found"
                return replace(shown, notes=(note, *shown.notes))
        case "budget":
            return analysis.split_deviation(system)
        case "forces":
            return analysis.split_forces(system.scenario)
        case "sheet":
            return analysis.make_sheet(system, drawn)

    if not grid and not drawn:
        raise fail("--with sweep: name what to vary: --vary NAME=FIRST:LAST:COUNT or --random NAME=scale:0.9:1.1")
    return analysis.run_sweep(analysis.plan_sweep(system, vary=grid, random=drawn))


def _read_note(path: Path) -> dict[str, Any]:
    """A text as a section of the page."""
    from robodyn.presentation.pages import read_note

    try:
        return read_note(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise fail(f"--note {path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise fail(f"--note {path}: is not UTF-8 text") from error


def _make_live(runs: Sequence[str], sliders: Sequence[str], setting: Sequence[str]) -> Any:
    """The only scenario as a model that the page simulates."""
    from robodyn.exchange.codegen import make_live

    if len(runs) > 1:
        raise fail(f"--live: a page simulates a single scenario, not {len(runs)}")
    if runs[0].endswith(".run"):
        raise fail(f"--live: {runs[0]} is a run, which holds no equations to compile; name its scenario")
    return make_live(_find_scenario(runs, setting), sliders=sliders)


def _find_scenario(runs: Sequence[str], setting: Sequence[str]) -> Scenario:
    """The first scenario among what is reported."""
    named = [run for run in runs if not run.endswith(".run")]
    if not named:
        raise fail("--with: runs hold no equations to analyse; name a scenario")
    return load_single(named[0], setting)


def _find_run(what: str, setting: Sequence[str], system: System | None) -> Run:
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


def name_runs(paths: Sequence[str]) -> list[str]:
    """Name each run: its file's name, its whole path where two files have the same, numbered if need be."""
    stems = [Path(path).stem for path in paths]
    names = [path if stems.count(stem) > 1 else stem for path, stem in zip(paths, stems, strict=True)]
    return [f"{name} ({k + 1})" if names.count(name) > 1 else name for k, name in enumerate(names)]


# In the browser.


@command("view")
def view(
    what: Texts,
    out: Path | None = None,
    browser: bool = True,
    exaggerate: float = 1.0,
    mesh_budget: float = 2.0,
    base: str | None = None,
    search: Paths = (),
    as_json: bool = False,
) -> Written | None:
    """Show a machine with a slider for every joint, or the report page of runs, on this computer only; Ctrl-C ends.

    what: A robot file, a scenario or its name; or run files to compare.
    out: Write the page of a machine to a file instead of serving it.
    browser: Open the page in the browser.
    exaggerate: How many times too large deformations are drawn at first.
    mesh_budget: Megabytes that meshes may take in the page; they are made coarser until they fit.
    base: How a robot file's root stands: fixed, free or planar.
    search: Folder in which a robot file's packages and meshes are looked for.
    as_json (--json): With --out: print JSON.
    """
    from robodyn.presentation.pages import PageServer, make_page

    if as_json and out is None:
        raise fail("--json: a served page has no JSON; --out FILE writes the page")

    machine = not all(Path(name).suffix == ".run" for name in what)
    _check_view(what, machine, out, exaggerate, base, search)
    try:
        if machine:
            page = _machine_page(what[0], base, search, mesh_budget)
        else:
            runs = [load_run(file) for file in what]
            page = make_page(runs, labels=name_runs(what), exaggerate=exaggerate, mesh_budget=mesh_budget)
    except ValueError as error:
        raise fail(error) from error
    if out is not None:
        from robodyn.presentation.pages.page import write_page

        with writing(f"--out {out}"):
            write_page(page, out)
        if browser:
            webbrowser.open(out.resolve().as_uri())
        return Written([out])
    with PageServer(page) as server:
        serve_until_interrupted(server, browser)
    return None


def _check_view(
    what: Sequence[str], machine: bool, out: Path | None, exaggerate: float, base: str | None, search: Sequence[Path]
) -> None:
    robot = machine and Path(what[0]).suffix.lower() in ROBOTS
    if machine and len(what) > 1:
        raise fail(
            f"only one machine can be shown at a time, not {' and '.join(what)}; several runs (.run) can be compared"
        )
    if machine and exaggerate != 1:
        raise fail("--exaggerate: is only for runs: a machine at rest is not deformed")
    if not machine and out is not None:
        raise fail(f"--out {out}: `robodyn report` writes the page of runs")
    if out is not None and (out.is_dir() or out.resolve() == Path(what[0]).resolve()):
        raise fail(f"--out {out}: is a folder, or the machine's own file; name another file")
    if not robot and (base is not None or search):
        raise fail("--base, --search: are only for robot files (URDF, SDF, MJCF, xacro); a scenario states them itself")


def _machine_page(what: str, base: str | None, search: Sequence[Path], mesh_budget: float) -> str:
    from robodyn.description.model.description import describe
    from robodyn.presentation.pages import make_view

    notes: list[str] = []
    if Path(what).suffix.lower() in ROBOTS and Path(what).is_file():
        from robodyn.description.robots import import_robot

        # Joints that move nothing with inertia are joints to look at, too.
        robot = import_robot(what, base, list(search), keep_massless=True)
        scenario, notes = robot.scenario(), list(robot.sheet.not_drawn)
    else:
        scenario = phases_of(load_scenario(what))[0]
    start, more = _find_start(scenario)
    return make_view(describe(scenario), start, notes=[*notes, *more], mesh_budget=mesh_budget)


def _find_start(scenario: Scenario) -> tuple[dict[str, float], list[str]]:
    """Start positions as a run has them; where they cannot be found, those described and a sentence."""
    if scenario.initialisation == "given":
        return dict(scenario.start_values), []
    import numpy as np

    from robodyn.computation.assembly import assemble
    from robodyn.computation.simulation.starting import search_start

    try:
        system = assemble(scenario)
        found = search_start(system, np.array([number.value for number in system.parameters], float))
    except ModelError as error:
        return dict(scenario.start_values), [f"The start of a run cannot be found: {error}"]
    return dict(zip((state.name for state in system.states), found.x.tolist(), strict=True)), []


def serve_until_interrupted(server: PageServer | StudioServer, browser: bool) -> None:
    """Print the address, open it in a browser if wished, and serve until Ctrl-C."""
    end_line()
    output.print(f"{server.address} (Ctrl-C ends)")
    if browser and not webbrowser.open(server.address):
        output.print("no browser could be opened: open the address yourself")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        output.print("ended")
