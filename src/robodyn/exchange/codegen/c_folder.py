"""C export: how does a scenario become a folder of C? Trace, generate, build a program, compare its run, write."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template

import numpy as np

from robodyn.base import ModelError, frozen, replacing
from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.description.model import Solver

from .comparison import Agreement, compare_run, require_agreement
from .compilers import compile_program, find_compiler, host_platform
from .model import Exported, ExportedModel, prepare_model
from .source import engine_files, generate_files, shown_parameters, unit_files, write_names

UNIT_FILES = ("unit.h", "unit.c", "exchange.c", "start.c", "shortest.c", "text.c")
"""Of a model at work, what needs no interface of units."""


@frozen
class WrittenCode:
    """The folder that was written.

    Attributes:
        agreement: the code's run against the simulation's; None where nothing could run it here.
        fixed: parameters that cannot be set, because they decide where references jump, or a nominal motion.
    """

    folder: Path
    files: tuple[str, ...]
    inputs: tuple[str, ...]
    n_outputs: int
    n_parameters: int
    fixed: tuple[str, ...]
    agreement: Agreement | None


def write_c(
    what: Exported,
    folder: str | Path,
    solver: Solver | None = None,
    *,
    inputs: Mapping[str, float | None] | None = None,
) -> WrittenCode:
    """Write a scenario as C99 that gives the rows and events of its run: engine, model, header, program, Makefile.

    Args:
        what: the scenario; made ready as `Perturbed`, it moves near its nominal motion.
        solver: method and step; the scenario's own by default.
        inputs: outputs of blocks that come from outside, with their start values; None is 0.

    Raises:
        ModelError: with every reason why it cannot be exported; or where the program, built and run here, does not give
            the numbers of the simulation.
    """
    model, compiled = prepare_model(what, solver, inputs or {}, plain=False)
    contents = program_files(model)
    try:
        find_compiler(host_platform())
    except ModelError:
        return write_folder(model, folder, contents, None)
    agreement = require_agreement(_compare_program(contents, simulate(compiled, model.solver)), model)
    return write_folder(model, folder, contents, agreement)


def program_files(model: ExportedModel) -> dict[str, str]:
    """All files of the folder by their names."""
    program, unit = files("robodyn.exchange.codegen") / "program", unit_files()
    texts = {
        name: (program / name).read_text(encoding="utf-8")
        for name in ("simulation.h", "main.c", "Makefile", "README.md", "names.h", "simulation.c")
    }
    # Engine and model stand in a folder of their own.
    sources = generate_files(model)[0] | engine_files() | {name: unit[name] for name in UNIT_FILES}
    sources |= {"names.c": write_names(model)} | {name: texts.pop(name) for name in ("names.h", "simulation.c")}
    texts["README.md"] = Template(texts["README.md"]).substitute(describe_model(model))
    return texts | {f"source/{name}": text for name, text in sorted(sources.items())}


def describe_model(model: ExportedModel) -> dict[str, object]:
    """Words for people."""
    delays = "After the start only the past of delayed signals takes more memory, as far back as it is needed."
    return {
        "name": model.system.scenario.name,
        "method": model.solver.method,
        "operations": sum(program.n_operations for program in model.programs.values()),
        "memory": delays if model.system.delays else "After the start, steps take no more memory.",
        "inputs": len(model.inputs),
        "outputs": len(model.outputs),
        "parameters": len(shown_parameters(model)),
    }


def write_folder(
    model: ExportedModel, folder: str | Path, contents: Mapping[str, str | bytes], agreement: Agreement | None
) -> WrittenCode:
    """Write files into a folder and say what they are."""
    put_files(Path(folder), contents)
    return WrittenCode(
        folder=Path(folder),
        files=tuple(contents),
        inputs=model.inputs,
        n_outputs=len(model.outputs),
        n_parameters=len(shown_parameters(model)),
        fixed=tuple(sorted(model.fixed)),
        agreement=agreement,
    )


def put_files(folder: Path, contents: Mapping[str, str | bytes]) -> None:
    """Files by their names, each whole or not at all."""
    for name, content in contents.items():
        with replacing(folder / name) as draft:
            draft.write_bytes(content if isinstance(content, bytes) else content.encode())


def _compare_program(contents: Mapping[str, str], run: Run) -> Agreement:
    """Build the program in a folder of its own, run it, and compare all rows and events."""
    with tempfile.TemporaryDirectory() as place:
        put_files(Path(place), contents)
        program = compile_program(Path(place), [name for name in contents if name.endswith(".c")])
        rows, events = Path(place, "rows.csv"), Path(place, "events.csv")
        with rows.open("w") as file:
            process = subprocess.run([program, "--events", events], stdout=file, stderr=subprocess.DEVNULL, check=False)
        _, _, numbers = rows.read_text(encoding="utf-8").partition("\n")
        values = np.fromstring(numbers.replace("\n", ","), sep=",")
        return compare_run(run, values, events.read_text(encoding="utf-8"), ok=process.returncode == 0)
