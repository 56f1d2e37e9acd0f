"""robodyn view: look at a machine, or at runs, in the browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from robodyn.base.errors import ModelError
from robodyn.cli.answers import writing
from robodyn.cli.application import app, fail, output, report_files
from robodyn.cli.report import EXAGGERATE, MESH_BUDGET, name_runs
from robodyn.cli.targets import ROBOTS, load_run, load_scenario, phases_of

if TYPE_CHECKING:
    from robodyn.description.model import Scenario
    from robodyn.presentation.pages import PageServer
    from robodyn.presentation.studio import StudioServer


@app.command("view")
def view(
    what: Annotated[list[str], typer.Argument(help="A robot file, a scenario or its name; or run files to compare.")],
    out: Annotated[
        Path | None, typer.Option(help="Write the page of a machine to a file instead of serving it.")
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    exaggerate: Annotated[float, typer.Option(help=EXAGGERATE)] = 1.0,
    mesh_budget: Annotated[float, typer.Option(help=MESH_BUDGET)] = 2.0,
    base: Annotated[str | None, typer.Option(help="How a robot file's root stands: fixed, free or planar.")] = None,
    search: Annotated[
        list[Path] | None, typer.Option(help="Folder in which a robot file's packages and meshes are looked for.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="With --out: print JSON.")] = False,
) -> None:
    """Show a machine with a slider for every joint, or the report page of runs, on this computer only; Ctrl-C ends."""
    machine = not all(Path(name).suffix == ".run" for name in what)
    if as_json and out is None:
        raise fail("--json: a page that is served has none; --out FILE writes it")
    _check_options(what, machine, out, exaggerate, base, search)
    try:
        page = (
            _machine_page(what[0], base, search or [], mesh_budget)
            if machine
            else _run_page(what, exaggerate, mesh_budget)
        )
    except ValueError as error:
        raise fail(error) from error
    if out is not None:
        from robodyn.presentation.pages.page import write_page

        with writing(f"--out {out}"):
            write_page(page, out)
        if browser:
            webbrowser.open(out.resolve().as_uri())
        report_files([out], as_json)
    else:
        from robodyn.presentation.pages import PageServer

        with PageServer(page) as server:
            serve_until_interrupted(server, browser)


def _check_options(
    what: list[str], machine: bool, out: Path | None, exaggerate: float, base: str | None, search: list[Path] | None
) -> None:
    robot = machine and Path(what[0]).suffix.lower() in ROBOTS
    if machine and len(what) > 1:
        raise fail(f"one machine is shown at a time, not {' and '.join(what)}; several runs (.run) are compared")
    if machine and exaggerate != 1:
        raise fail("--exaggerate: is for runs, a machine at rest is not deformed")
    if not machine and out is not None:
        raise fail(f"--out {out}: `robodyn report` writes the page of runs")
    if out is not None and (out.is_dir() or out.resolve() == Path(what[0]).resolve()):
        raise fail(f"--out {out}: is a folder, or the machine's own file; name another file")
    if not robot and (base is not None or search):
        raise fail("--base, --search: are for robot files (URDF, SDF, MJCF, xacro); a scenario says them itself")


def _run_page(files: list[str], exaggerate: float, mesh_budget: float) -> str:
    from robodyn.presentation.pages import make_page

    runs = [load_run(file) for file in files]
    return make_page(runs, labels=name_runs(files), exaggerate=exaggerate, mesh_budget=mesh_budget)


def _machine_page(what: str, base: str | None, search: list[Path], mesh_budget: float) -> str:
    from robodyn.description.model.describe import describe
    from robodyn.presentation.pages import make_view

    notes: list[str] = []
    if Path(what).suffix.lower() in ROBOTS and Path(what).is_file():
        from robodyn.description.robots import import_robot

        # Joints that move nothing with inertia are joints to look at, too.
        robot = import_robot(what, base, search, keep_massless=True)
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
    output.print(f"{server.address} (Ctrl-C ends)")
    if browser and not webbrowser.open(server.address):
        output.print("no browser could be opened: open the address yourself")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        output.print("ended")
