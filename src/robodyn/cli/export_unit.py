"""robodyn export --to fmu: a scenario as a unit of the Functional Mock-up Interface (FMU)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from robodyn.cli.answers import writing
from robodyn.cli.targets import read_pairs

if TYPE_CHECKING:
    from robodyn.description.model import Scenario, Solver


USES = {"cs": "run", "me": "led along its run", "both": "run and led along its run"}
"""What the check did with an FMU, by its kind."""


def export_unit(
    scenario: Scenario, solver: Solver, path: Path, fmi: int, kind: str, inputs: list[str], platforms: list[str]
) -> list[str]:
    """Write the FMU; lines that say what it is."""
    from robodyn.exchange.fmi import write_fmu
    from robodyn.exchange.fmi.exchange_checking import TOLERANCE

    given = read_inputs(inputs)
    with writing(f"--to fmu: {path}", "fmi"):
        made = write_fmu(scenario, path, solver, fmi=fmi, kind=kind, inputs=given, platforms=platforms)
    counts = f"{len(made.inputs)} inputs, {made.n_outputs} outputs, {made.n_parameters} parameters"
    lines = [
        f"{path}: FMI {fmi}.0 for {', '.join(made.platforms)}; {counts}",
        f"{USES[kind]} by FMPy it differs from the simulation by {made.agreement.error:.2g}",
    ]
    if made.motion is not None:
        lines.append(f"moved by CVode, whose tolerance is {TOLERANCE:g}, by {made.motion.error:.2g}")
    return [*lines, *describe_fixed(made.fixed)]


def describe_fixed(names: Sequence[str]) -> list[str]:
    """A line on numbers that cannot be changed in what was exported, if there are any."""
    return [f"fixed, since references jump by them: {', '.join(names)}"] if names else []


def read_inputs(texts: list[str]) -> dict[str, float | None]:
    """Names with their start values: name or name=value."""
    given = [text for text in texts if "=" in text]
    started = read_pairs("input", given, lambda _, text: float(text), "name=number, its start value")
    return {name: started.get(name) for name in (text.partition("=")[0].strip() for text in texts)}
