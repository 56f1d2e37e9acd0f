"""robodyn export --to c and --to wasm: a scenario as C or WebAssembly with the engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from robodyn.cli.answers import writing
from robodyn.cli.export_unit import describe_fixed, read_inputs

if TYPE_CHECKING:
    from robodyn.description.model import Scenario, Solver
    from robodyn.exchange.codegen import Written

RUN_BY = {"c": "a C compiler", "wasm": "node"}


def export_code(scenario: Scenario, solver: Solver, folder: Path, to: str, inputs: list[str]) -> list[str]:
    """Write the folder; lines that say what is in it."""
    from robodyn.exchange.codegen import write_c, write_wasm

    with writing(str(folder)):
        made = (write_c if to == "c" else write_wasm)(scenario, folder, solver, inputs=read_inputs(inputs))
    counts = f"{len(made.inputs)} inputs, {made.n_outputs} outputs, {made.n_parameters} parameters"
    lines = [f"{folder}: {len(made.files)} files; {counts}", _describe_check(made, to)]
    return [*lines, *describe_fixed(made.fixed)]


def _describe_check(made: Written, to: str) -> str:
    if made.agreement is None:
        return f"not checked: that takes {RUN_BY[to]}"
    if made.agreement.equal:
        return "its run is the simulation's, to the last bit"
    found = made.agreement
    message = f"its run differs from the simulation's by {found.error:.2g} (in '{found.signal}' at {found.time:g} s)"
    return message if not found.rounding else f"{message}; other rounding alone makes {found.rounding:.2g} here"
