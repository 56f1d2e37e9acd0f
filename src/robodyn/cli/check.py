"""robodyn check: is this file a usable scenario?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from robodyn.cli.application import app, fail, messages, output, print_json
from robodyn.cli.targets import load_scenario
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
        system = _prepare(file)
    except ModelError as error:
        if as_json:
            print_json({"ok": False, "problems": [asdict(flaw) for flaw in error.flaws]})
        raise fail(error) from error
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
        print_json({"ok": True, "name": system.scenario.name, **counts, "warnings": list(system.warnings)})
        return
    for sentence in system.warnings:
        messages.print(f"robodyn: warning: {sentence}", markup=False)
    described = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
    output.print(f"{file}: usable; {described}", markup=False)


def _prepare(file: str) -> System:
    """The assembled system; flaws of the solver's settings are told together with those of the machine."""
    from robodyn.assembly import assemble
    from robodyn.simulation import make_solver

    scenario = load_scenario(file)
    flaws = FlawList()
    try:
        make_solver(scenario.solver)
    except ModelError as error:
        flaws.extend(error.flaws)
    try:
        system = assemble(scenario)
    except ModelError as error:
        flaws.extend(error.flaws)
    flaws.raise_if_any(file)
    return system
