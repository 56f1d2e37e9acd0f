"""robodyn check: is this file a usable scenario?"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from robodyn.cli.application import BAD_INPUT, app, messages, output
from robodyn.cli.targets import load_scenario
from robodyn.errors import ModelError


@app.command("check")
def check_file(
    file: Annotated[str, typer.Argument(help="A TOML file, or a name in the catalogue.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Read and assemble a scenario without simulating it, and tell every problem."""
    from robodyn.assembly import assemble
    from robodyn.simulation import make_solver

    try:
        system = assemble(load_scenario(file))
        make_solver(system.scenario.solver)
    except ModelError as error:
        if as_json:
            flaws = [{"path": flaw.path, "what": flaw.what, "remedy": flaw.remedy} for flaw in error.flaws]
            print(json.dumps({"ok": False, "problems": flaws}, indent=2))
        messages.print(f"robodyn: {error}", markup=False)
        raise typer.Exit(BAD_INPUT) from error
    counts = {
        "states": len(system.states),
        "memory": len(system.memory),
        "signals": len(system.signals),
        "tunable_parameters": len(system.parameters),
        "sampled_tasks": len(system.tasks),
        "events": len(system.guards),
        "delays": len(system.delays),
    }
    if as_json:
        print(json.dumps({"ok": True, "name": system.scenario.name, **counts}, indent=2))
        return
    described = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
    output.print(f"{file}: usable; {described}", markup=False)
