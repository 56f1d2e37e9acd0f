"""robodyn check: is this file a usable scenario?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robodyn.cli.application import app, fail, output, print_json
from robodyn.cli.loops import find_loop_warnings, warn
from robodyn.cli.targets import load_scenario, phases_of
from robodyn.errors import FlawList, ModelError

if TYPE_CHECKING:
    from robodyn.assembly import System


@app.command("check")
def check_file(
    file: Annotated[str, typer.Argument(help="A TOML file, or a name in the catalogue.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Read and assemble a scenario without simulating it, and tell every problem."""
    try:
        systems = _prepare(file)
    except ModelError as error:
        if as_json:
            print_json({"ok": False, "problems": [asdict(flaw) for flaw in error.flaws]})
        raise fail(error) from error
    if as_json:
        print_json(
            {"ok": True, **_describe(systems[0])} | ({"phases": list(map(_describe, systems))} if systems[1:] else {})
        )
        return
    for system in systems:
        warn(_warnings(system))
        counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in _counts(system).items())
        name = f"{file}, phase {system.scenario.name}" if systems[1:] else file
        output.print(f"{name}: usable; {counts}", markup=False)


def _counts(system: System) -> dict[str, int]:
    return {
        "states": len(system.states),
        "memory": len(system.memory),
        "signals": len(system.signals),
        "tunable_parameters": len(system.parameters),
        "sampled_tasks": len(system.tasks),
        "events": len(system.guards),
        "delays": len(system.delays),
    }


def _describe(system: System) -> dict[str, Any]:
    return {"name": system.scenario.name, **_counts(system), "warnings": _warnings(system)}


def _warnings(system: System) -> list[str]:
    return [*system.warnings, *find_loop_warnings([system], unknown=True)]


def _prepare(file: str) -> list[System]:
    """The assembled systems; flaws of the solver's settings are told together with those of the machine."""
    phases = phases_of(load_scenario(file))

    from robodyn.assembly import assemble
    from robodyn.simulation import check_operations, make_solver

    flaws = FlawList()
    systems = []
    for scenario in phases:
        try:
            make_solver(scenario.solver)
        except ModelError as error:
            flaws.extend(error.flaws)
        try:
            systems.append(assemble(scenario))
            check_operations(systems[-1])
        except ModelError as error:
            flaws.extend(error.flaws)
    flaws.raise_if_any(file)
    return systems
