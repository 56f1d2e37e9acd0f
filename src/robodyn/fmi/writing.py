"""How does a scenario become a file that other programs simulate? Trace, generate C, compile, describe, pack, check."""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from robodyn.assembly import System, assemble
from robodyn.codegen.comparison import TOLERANCE, Agreement
from robodyn.codegen.compilers import PLATFORMS, choose_platforms, compile_library, find_compiler, host_platform
from robodyn.codegen.files import engine_files, generate_files, unit_files
from robodyn.codegen.model import Model, build_model, check_parts
from robodyn.engine import Solver
from robodyn.errors import Flaw, FlawList, ModelError
from robodyn.fmi.checking import compare_unit
from robodyn.fmi.description import describe_unit, write_build_description
from robodyn.fmi.variables import list_variables
from robodyn.model import Scenario
from robodyn.results.atomic import replacing
from robodyn.simulation.compiled import CompiledSystem, compile_system
from robodyn.simulation.problem import find_start
from robodyn.simulation.settings import make_solver
from robodyn.waiting import told_if_slow

VERSIONS = (2, 3)
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""Date of all files in a unit: the same scenario gives the same bytes."""


@dataclass(frozen=True)
class Export:
    """What was written.

    Attributes:
        agreement: the unit's run against the simulation's.
        fixed: parameters that the unit does not show, because they decide where references jump.
    """

    path: Path
    fmi: int
    platforms: tuple[str, ...]
    inputs: tuple[str, ...]
    n_outputs: int
    n_parameters: int
    fixed: tuple[str, ...]
    agreement: Agreement


@told_if_slow("writing a unit of")
def write_fmu(
    scenario: Scenario,
    path: str | Path,
    solver: Solver | None = None,
    *,
    fmi: int = 2,
    inputs: Mapping[str, float | None] | None = None,
    platforms: Sequence[str] = (),
) -> Export:
    """Write a scenario as a co-simulation unit: native code, no Python where it runs.

    Args:
        solver: method and step of the unit; the scenario's own by default.
        fmi: version of the interface, 2 or 3.
        inputs: outputs of blocks, and tunable numbers, that become inputs of the unit, with their start values; None
            for a number is its own value, for an output 0.
        platforms: names of `robodyn.fmi.PLATFORMS`, or "all"; by default the one this runs on.

    Raises:
        ModelError: with every reason why it cannot be one; or where the unit, run by FMPy, does not give the numbers
            of the simulation.
    """
    if fmi not in VERSIONS:
        raise ModelError([Flaw("fmi", f"must be 2 or 3, is {fmi!r}")])
    names = choose_platforms(platforms)
    for name in (*names, host_platform()):
        find_compiler(name)
    model, compiled = _prepare(scenario, solver, inputs or {})
    with tempfile.TemporaryDirectory() as folder:
        draft = _generate(model, fmi, Path(folder))
        binaries = {name: _compile(draft, name) for name in dict.fromkeys((*names, host_platform()))}
        agreement = _check(draft, model, compiled, binaries[host_platform()])
    contents = draft.contents | {draft.place(name): binaries[name] for name in names}
    with replacing(path) as file:
        _pack(file, contents)
    hidden = model.fixed | set(model.numbers)
    shown = [number.name for number in model.system.parameters if number.name not in hidden]
    return Export(
        path=Path(path),
        fmi=fmi,
        platforms=names,
        inputs=(*model.inputs, *model.numbers),
        n_outputs=len(model.outputs),
        n_parameters=len(shown),
        fixed=tuple(sorted(model.fixed)),
        agreement=agreement,
    )


def _prepare(
    scenario: Scenario, solver: Solver | None, inputs: Mapping[str, float | None]
) -> tuple[Model, CompiledSystem]:
    """The model, and the simulation it is compared with."""
    numbers = [name for name in inputs if name in scenario.numbers()]
    scenario = scenario.with_numbers({name: value for name in numbers if (value := inputs[name]) is not None})
    signals = {name: value or 0.0 for name, value in inputs.items() if name not in numbers}
    system = assemble(scenario, inputs=signals)
    _check_tunable(system, numbers)
    solver = solver or make_solver(scenario.solver)
    check_parts(system, solver)
    recorded = (*scenario.recording.signals, *(state.name for state in system.states))
    # Both round every operation by itself: what differs is then not rounding.
    compiled = compile_system(system, solver, signals=recorded, plain=True)
    start = find_start(compiled, compiled.parameter_values({}))
    return build_model(system, solver, tuple(signals), tuple(numbers), start), compiled


def _check_tunable(system: System, numbers: Sequence[str]) -> None:
    known = [number.name for number in system.parameters]
    flaws = FlawList()
    for name in numbers:
        if name not in known:
            flaws.add(f"inputs.{name}", "is built into the code", "declare it tunable in the machine")
    flaws.raise_if_any(f"unit of '{system.scenario.name}'")


@dataclass(frozen=True)
class _Draft:
    """A unit without its binaries: files by their names, and a folder with the sources."""

    fmi: int
    identifier: str
    folder: Path
    contents: dict[str, bytes]
    sources: tuple[str, ...]

    def place(self, platform: str) -> str:
        """Where the binary for a platform belongs."""
        there = PLATFORMS[platform]
        return f"{there.folder(self.fmi)}/{self.identifier}{there.suffix}"


def _generate(model: Model, fmi: int, folder: Path) -> _Draft:
    identifier = re.sub(r"\W", "_", f"robodyn_{model.system.scenario.name}", flags=re.ASCII)
    written, token = generate_files(model)
    interface = f"fmi{fmi}.c"
    written |= {**engine_files(), **unit_files(), interface: _read_interface(interface)}
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")
    sources = tuple(name for name in written if name.endswith(".c"))
    described = describe_unit(model, list_variables(model), fmi, identifier, token, sources)
    contents = {"modelDescription.xml": described}
    contents |= {f"sources/{name}": text.encode() for name, text in sorted(written.items())}
    if fmi == 3:
        contents["sources/buildDescription.xml"] = write_build_description(identifier, sources)
    return _Draft(fmi, identifier, folder, contents, sources)


def _read_interface(name: str) -> str:
    return (files("robodyn.fmi") / "runtime" / name).read_text(encoding="utf-8")


def _compile(draft: _Draft, platform: str) -> bytes:
    library = f"{draft.identifier}{PLATFORMS[platform].suffix}"
    return compile_library(platform, draft.folder, draft.sources, library)


def _check(draft: _Draft, model: Model, compiled: CompiledSystem, binary: bytes) -> Agreement:
    """Refuse a unit that does not give the simulation's numbers."""
    path = draft.folder / "unit.fmu"
    _pack(path, draft.contents | {draft.place(host_platform()): binary})
    found = compare_unit(path, model, compiled)
    if not found.good:
        what = f"differs from the simulation by {found.error:.3g} in '{found.signal}' at {found.time:g} s"
        what = what if found.ends else "ends at another time than the simulation"
        remedy = f"allowed is {TOLERANCE:g}: a chaotic motion, or a step at the edge of stability?"
        raise ModelError([Flaw("", f"the unit {what}", remedy)], f"unit of '{model.system.scenario.name}'")
    return found


def _pack(path: Path, contents: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
