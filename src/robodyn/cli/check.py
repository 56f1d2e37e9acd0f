"""robodyn check: is this file a usable scenario?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.base.errors import FlawList, ModelError
from robodyn.cli.application import app, output, print_json
from robodyn.cli.loops import tell_notes, warn
from robodyn.cli.targets import load_scenario, phases_of

if TYPE_CHECKING:
    from robodyn.computation.assembly import System
    from robodyn.computation.simulation.readiness import Found


@app.command("check")
def check_file(
    file: Annotated[str, typer.Argument(help="A TOML file, or a name in the catalogue.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Read and assemble a scenario without simulating it, and report every problem."""
    checked = _prepare(file)
    if as_json:
        print_json(
            {"ok": True, **_describe(*checked[0])}
            | ({"phases": [_describe(*one) for one in checked]} if checked[1:] else {})
        )
        return
    from robodyn.computation.results.summary import list_found

    for system, found in checked:
        warn(_warnings(system, found))
        tell_notes(_notes(system))
        counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in _counts(system).items())
        name = f"{file}, phase {system.scenario.name}" if checked[1:] else file
        output.print("\n".join([f"{name}: usable; {counts}", *list_found(found or {})]))


def _counts(system: System) -> dict[str, int]:
    return {
        "states": len(system.states),
        "memory": len(system.memory),
        "signals": len(system.signals),
        "tunable_parameters": len(system.parameters),
        "sampled_tasks": len(system.discrete.tasks),
        "events": len(system.discrete.guards),
        "delays": len(system.delays),
    }


def _describe(system: System, found: Found | None) -> dict[str, Any]:
    starts = {name: {"described": given, "found": new} for name, (given, new) in (found or {}).items()}
    said = {"warnings": _warnings(system, found), "notes": _notes(system)}
    return {"name": system.scenario.name, **_counts(system), **said, "found": starts}


def _notes(system: System) -> list[str]:
    """Sampled blocks that read a value of the sample before."""
    return [str(read) for read in system.discrete.late_reads]


def _warnings(system: System, found: Found | None) -> list[str]:
    from robodyn.analysis.linear.loop_check import find_loop_warnings
    from robodyn.computation.simulation.reference_limits import find_reference_warnings
    from robodyn.computation.simulation.start_fit import check_starts

    states = None if found is None else {name: new for name, (_, new) in found.items()}
    references = find_reference_warnings(system, states=states)
    starts = check_starts(system) if found is not None else []
    return [*system.warnings, *references, *starts, *find_loop_warnings([system], unknown=True)]


def _prepare(file: str) -> list[tuple[System, Found | None]]:
    """The assembled systems, each with the start values that were found, where the start is known."""
    phases = phases_of(load_scenario(file))

    from robodyn.computation.simulation.readiness import make_ready

    flaws = FlawList()
    checked = []
    for k, scenario in enumerate(phases):
        try:
            checked.append(make_ready(scenario, begins=k == 0))
        except ModelError as error:
            flaws.extend(error.flaws)
    flaws.raise_if_any(file)
    return checked
