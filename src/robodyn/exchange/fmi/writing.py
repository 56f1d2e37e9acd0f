"""FMU export: how does a scenario become one? Trace, generate C, compile, describe, pack, check."""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from robodyn.base.atomic import replacing
from robodyn.base.errors import Flaw, FlawList, ModelError, nearest
from robodyn.base.waiting import report_progress
from robodyn.computation.assembly import System
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.computation.simulation.run_functions import compile_system
from robodyn.computation.simulation.starting import find_start
from robodyn.description.model import Scenario, Solver
from robodyn.exchange.codegen.comparison import Agreement
from robodyn.exchange.codegen.compilers import (
    PLATFORMS,
    choose_platforms,
    compile_library,
    find_compiler,
    host_platform,
)
from robodyn.exchange.codegen.model import Exported, Model, assemble_exported, build_model, check_parts, scenario_of
from robodyn.exchange.codegen.source import engine_files, generate_files, unit_files
from robodyn.exchange.fmi.checking import check_unit
from robodyn.exchange.fmi.description import KINDS, UnitHeader, describe_unit, list_variables, write_build_description

VERSIONS = (2, 3)
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""Date of all files in a unit: the same scenario gives the same bytes."""


@dataclass(frozen=True)
class Export:
    """What was written.

    Attributes:
        kind: cs (co-simulation), me (model exchange) or both.
        agreement: the unit's run against the simulation's; for model exchange, the unit led along the simulation.
        motion: a model-exchange unit moved by FMPy's CVode against the simulation, which differ by the tolerances of
            both; None for others, and where CVode cannot move it.
        fixed: parameters that the unit does not show, because they decide where references jump.
    """

    path: Path
    fmi: int
    kind: str
    platforms: tuple[str, ...]
    inputs: tuple[str, ...]
    n_outputs: int
    n_parameters: int
    fixed: tuple[str, ...]
    agreement: Agreement
    motion: Agreement | None


@report_progress("writing a unit of")
def write_fmu(
    what: Exported,
    path: str | Path,
    solver: Solver | None = None,
    *,
    fmi: int = 2,
    kind: str = "cs",
    inputs: Mapping[str, float | None] | None = None,
    platforms: Sequence[str] = (),
) -> Export:
    """Write a scenario as a unit: native code, no Python where it runs.

    Args:
        what: the scenario; made ready as `Perturbed`, it moves near its nominal motion.
        solver: method and step of the unit; the scenario's own by default.
        fmi: version of the interface, 2 or 3.
        kind: "cs" for co-simulation, where the unit has its own solver; "me" for model exchange, where its user has;
            "both" for one file with both.
        inputs: outputs of blocks, and tunable numbers, that become inputs of the unit, with their start values; None
            for a number is its own value, for an output 0.
        platforms: names of `robodyn.exchange.fmi.PLATFORMS`, or "all"; by default the one this runs on.

    Raises:
        ModelError: with every reason why it cannot be one; or where the unit, run by FMPy, does not give the numbers
            of the simulation.
    """
    if fmi not in VERSIONS:
        raise ModelError([Flaw("fmi", f"must be 2 or 3, is {fmi!r}")])
    if kind not in KINDS:
        raise ModelError([Flaw("kind", f"must be {', '.join(KINDS)}, is {kind!r}", nearest(str(kind), KINDS))])
    names = choose_platforms(platforms)
    for name in (*names, host_platform()):
        find_compiler(name)
    model, compiled = _prepare(what, solver, inputs or {}, exchange=kind != "cs")
    with tempfile.TemporaryDirectory() as folder:
        draft = _generate(model, fmi, kind, Path(folder))
        binaries = {name: _compile(draft, name) for name in dict.fromkeys((*names, host_platform()))}
        agreement, motion = _check(draft, model, compiled, binaries[host_platform()])
    contents = draft.contents | {draft.place(name): binaries[name] for name in names}
    with replacing(path) as file:
        _pack(file, contents)
    hidden = model.fixed | set(model.numbers)
    shown = [number.name for number in model.system.parameters if number.name not in hidden]
    return Export(
        path=Path(path),
        fmi=fmi,
        kind=kind,
        platforms=names,
        inputs=(*model.inputs, *model.numbers),
        n_outputs=len(model.outputs),
        n_parameters=len(shown),
        fixed=tuple(sorted(model.fixed)),
        agreement=agreement,
        motion=motion,
    )


def _prepare(
    what: Exported, solver: Solver | None, inputs: Mapping[str, float | None], *, exchange: bool
) -> tuple[Model, CompiledSystem]:
    """The model, and the simulation it is compared with."""
    numbers = [name for name in inputs if name in scenario_of(what).numbers()]
    if isinstance(what, Scenario):
        what = what.with_numbers({name: value for name in numbers if (value := inputs[name]) is not None})
    elif numbers:
        raise ModelError([Flaw(f"inputs.{numbers[0]}", "is fixed near a nominal motion", "export the scenario itself")])
    signals = {name: value or 0.0 for name, value in inputs.items() if name not in numbers}
    system, fixed = assemble_exported(what, signals)
    scenario = system.scenario
    _check_tunable(system, numbers)
    solver = solver or scenario.solver
    check_parts(system, solver, exchange=exchange)
    recorded = (*scenario.recording.signals, *(state.name for state in system.states))
    # Both round every operation by itself: what differs is then not rounding.
    compiled = compile_system(system, solver, signals=recorded, plain=True)
    start = find_start(compiled, compiled.parameter_values({}))
    given = tuple(signals), tuple(numbers)
    return build_model(system, solver, *given, start, exchange=exchange, fixed=fixed), compiled


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

    unit: UnitHeader
    folder: Path
    contents: dict[str, bytes]

    def place(self, platform: str) -> str:
        """Where the binary for a platform belongs."""
        there = PLATFORMS[platform]
        return f"{there.folder(self.unit.fmi)}/{self.unit.identifier}{there.suffix}"


def _generate(model: Model, fmi: int, kind: str, folder: Path) -> _Draft:
    identifier = re.sub(r"\W", "_", f"robodyn_{model.system.scenario.name}", flags=re.ASCII)
    written, token = generate_files(model)
    interface = (f"fmi{fmi}.c", f"fmi{fmi}_exchange.c")
    written |= {**engine_files(), **unit_files(), **{name: _read_interface(name) for name in interface}}
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")
    sources = tuple(name for name in written if name.endswith(".c"))
    unit = UnitHeader(fmi, kind, identifier, token, sources)
    contents = {"modelDescription.xml": describe_unit(model, list_variables(model), unit)}
    contents |= {f"sources/{name}": text.encode() for name, text in sorted(written.items())}
    if fmi == 3:
        contents["sources/buildDescription.xml"] = write_build_description(identifier, sources)
    return _Draft(unit, folder, contents)


def _read_interface(name: str) -> str:
    return (files("robodyn.exchange.fmi") / "runtime" / name).read_text(encoding="utf-8")


def _compile(draft: _Draft, platform: str) -> bytes:
    library = f"{draft.unit.identifier}{PLATFORMS[platform].suffix}"
    return compile_library(platform, draft.folder, draft.unit.sources, library)


def _check(draft: _Draft, model: Model, compiled: CompiledSystem, binary: bytes) -> tuple[Agreement, Agreement | None]:
    path = draft.folder / "unit.fmu"
    _pack(path, draft.contents | {draft.place(host_platform()): binary})
    return check_unit(path, KINDS[draft.unit.kind], model, compiled)


def _pack(path: Path, contents: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
