"""FMU export: how does a scenario become one? Trace, generate C, compile, describe, pack, check."""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.base import Array, frozen, nearest, refuse, replacing, report_progress
from robodyn.computation.engine import EngineRecording
from robodyn.computation.engine.binding import functions
from robodyn.computation.engine.integrate import Integration
from robodyn.computation.engine.trajectory import Status
from robodyn.computation.simulation import simulate
from robodyn.computation.simulation.batch import BatchRunner, RunInputs
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.description.model import Solver
from robodyn.exchange.codegen.comparison import (
    Agreement,
    choose_times,
    compare_points,
    compare_rows,
    require_agreement,
    simulate_points,
)
from robodyn.exchange.codegen.compilers import (
    PLATFORMS,
    choose_platforms,
    compile_library,
    find_compiler,
    host_platform,
)
from robodyn.exchange.codegen.model import Exported, ExportedModel, prepare_model
from robodyn.exchange.codegen.source import engine_files, generate_files, unit_files

from .archive import Archive
from .description import KINDS, UnitHeader, describe_unit, list_variables, write_build_description
from .fmpy_adapter import EventSteps, ModelExchange, step_between
from .unit import FmuUnit

# --------------------------------------------------------------------------------------------------
# Acceptance test of an FMU: it is written only if it gives the simulation's numbers, in every use of it.
#
# A unit for co-simulation is run by FMPy, from communication point to communication point.
#
# The solver of a unit for model exchange is the user's, so two things are compared. Along the native run, step by step
# and with its states, the unit must have the same rates, outputs, guards and, after each instant, the same states: bit
# for bit but for a compiler's choice of elementary functions. And FMPy's CVode moves the unit by itself: that motion
# differs by the tolerances of both solvers.


MOTION_TIME = 10.0
"""Longest time that the motion of a model-exchange unit is followed by another solver [s]."""
ROWS, STRIDE = 1000, 20
"""Every step is compared up to this number of rows, then one in this many and those at instants up to twice as many."""
GOING = 0
"""Status of a run that has not ended, as in engine.h."""
INTERVALS = 200
"""Points at which motions are compared."""
TOLERANCE = 1e-9
"""Relative tolerance of CVode."""


def check_unit(
    path: Path, uses: Sequence[str], model: ExportedModel, compiled: CompiledSystem
) -> tuple[Agreement, Agreement | None]:
    """The larger difference of all uses, and that of the motion by another solver, where there is one.

    Raises:
        ModelError: where a difference is too large.
    """
    compare = {"CoSimulation": compare_unit, "ModelExchange": compare_exchange}
    agreements = [compare[use](path, model, compiled) for use in uses]
    for agreement in agreements:
        require_agreement(agreement, model, "unit", "ends at another time than the simulation")
    motion = compare_motion(path, model, compiled, MOTION_TIME) if model.exchange else None
    return max(agreements, key=lambda agreement: agreement.error), motion


def compare_unit(path: str | Path, model: ExportedModel, compiled: CompiledSystem) -> Agreement:
    """Run a co-simulation unit and the simulation it was made from over the scenario's duration."""
    times = choose_times(model.system)
    ended = False
    with FmuUnit(path, stop=times[-1]) as unit:
        unit.start(float(times[0]))
        rows = [list(unit.read().values())]
        for before, after in pairwise(times.tolist()):
            ended = unit.advance(before, step_between(before, after)) is not None
            if ended:
                break
            rows.append(list(unit.read().values()))
    return compare_points(simulate_points(model, compiled, times), np.array(rows), list(unit.outputs), times, ended)


class LedUnit:
    """A model-exchange unit that is led: its caller carries the states; closed by `with`.

    Attributes:
        steps: what happens at its instants, and whether it has asked to end the simulation.
        references: of all variables by their names.
    """

    def __init__(self, path: str | Path) -> None:
        self._archive = Archive(path, exchange=True)
        instance = self._archive.instantiate("led")
        assert isinstance(instance, ModelExchange)
        self.instance = instance
        self.steps = EventSteps(instance, "led", dict)
        variables = self._archive.description.modelVariables
        self.references = {variable.name: variable.valueReference for variable in variables}
        self._kind = "Real" if instance.version == 2 else "Float64"

    def __enter__(self) -> LedUnit:
        return self

    def __exit__(self, *_: object) -> None:
        self.instance.close()
        self._archive.remove()

    def start(self, time: float, stop: float | None = None) -> None:
        """Initialise the unit and settle its first instant."""
        self.instance.open(time, stop, None)
        self.instance.begin()
        self.steps.settle()

    def update(self) -> None:
        """Be at an event here."""
        self.instance.enter_event_mode()
        self.steps.settle()

    def get(self, names: Sequence[str]) -> list[float]:
        references = [self.references[name] for name in names]
        return self.instance.get(self._kind, references, len(references)) if references else []

    def set(self, values: Mapping[str, float]) -> None:
        """Give variables values, in a mode in which they may be set."""
        references = [self.references[name] for name in values]
        self.instance.set(self._kind, references, list(values.values()))


def compare_exchange(path: str | Path, model: ExportedModel, compiled: CompiledSystem) -> Agreement:
    """Lead a unit along the native run over the scenario's duration."""
    states = [state.name for state in model.system.states]
    outputs = [info.name for info in model.outputs]
    names = [*states, *(f"der({name})" for name in states), *outputs]
    names += [f"event({guard.name})" for guard in model.guards]
    times: list[float] = []
    native_rows, unit_rows = [], []
    with LedUnit(path) as led:
        unit = led.instance
        system = compiled.system
        runner = BatchRunner(compiled, model.solver, EngineRecording(kind="none"), 0.0, system.scenario.duration)
        run = runner.begin(RunInputs(system.described_values, system.number_values, model.start))[0]
        led.start(0.0, model.system.scenario.duration)
        for count, at_instant in enumerate(_step(run)):
            if count:
                # Bring the unit to where the native run is, as that arrived there, and through the instant if there was
                # one.
                arrival = run.engine.view(run.run.x + 8 * len(run.x), len(run.x))
                led.instance.move(run.run.t, arrival)
                due, _ = led.instance.complete()
                if due or at_instant:
                    led.update()
                # Leaving a limit, or a second projection, is an event of the unit alone.
                if due and not at_instant:
                    led.instance.move(run.run.t, arrival)
            if len(times) < ROWS or count % STRIDE == 0 or (at_instant and len(times) < 2 * ROWS):
                times.append(run.run.t)
                native_rows.append(_row(model, compiled, run))
                guards = unit.indicators[: len(model.guards)]
                unit_rows.append(np.concatenate([unit.x, unit.rates, led.get(outputs), guards]))
        ends = (led.steps.ended is not None) == (run.run.status == Status.TERMINAL)
    return compare_rows(np.array(native_rows), np.array(unit_rows), names, np.array(times), ends)


def _step(run: Integration) -> Iterator[bool]:
    """The first instant, then one step at a time: whether an instant has been settled where it ended."""
    engine, state = functions(), run.run
    state.budget = 0
    engine.run_advance(run.address)
    yield True
    while state.status == GOING:
        state.budget = 1
        engine.run_advance(run.address)
        yield state.k == 0 or state.status != GOING


def _row(model: ExportedModel, compiled: CompiledSystem, run: Integration) -> Array:
    """States, rates, outputs and guards where the native run stands."""
    kernels = compiled.module.kernels
    at = (np.array([run.run.t]), run.x, run.d, run.m, run.p)
    recorded = [info.name for info in compiled.recorded]
    y = np.ravel(kernels["outputs"](*at))[[recorded.index(info.name) for info in model.outputs]]
    places = [compiled.system.discrete.guards.index(guard) for guard in model.guards]
    guards = np.ravel(kernels["guards"](*at))[places] if places else np.zeros(0)
    return np.concatenate([run.x, np.ravel(kernels["rhs"](*at)), y, guards])


def compare_motion(
    path: str | Path, model: ExportedModel, compiled: CompiledSystem, timeout: float
) -> Agreement | None:
    """Let CVode move the unit, for at most so long [s], and compare its states; None where it cannot."""
    import fmpy

    names, end = [state.name for state in model.system.states], model.system.scenario.duration
    settings: dict[str, Any] = {"fmi_type": "ModelExchange", "record_events": False, "output": names}
    settings |= {"relative_tolerance": TOLERANCE, "output_interval": end / INTERVALS, "timeout": timeout}
    settings["logger"] = lambda *_: None  # nobody listens to what the unit says
    try:
        motion = fmpy.simulate_fmu(str(path), stop_time=end, **settings)
    except Exception:  # noqa: BLE001 - FMPy raises Exception itself, for CVode's failures too
        return None
    times = np.minimum(motion["time"], end)
    native = simulate(compiled, model.solver, recording=replace(compiled.recording, rate=None, times=tuple(times)))
    expected = np.array([native[name].values for name in names]).T
    n = len(native.time)
    values = np.column_stack([motion[name] for name in names])[:n] if names else np.zeros((n, 0))
    return compare_rows(expected, values, names, times[:n], n == len(times) or n + 1 == len(times))


# --------------------------------------------------------------------------------------------------
# FMU export: how does a scenario become one? Trace, generate C, compile, describe, pack, check.


VERSIONS = (2, 3)
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""Date of all files in a unit: the same scenario gives the same bytes."""


@frozen
class Export:
    """The unit that was written.

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
        refuse("fmi", f"must be 2 or 3, is {fmi!r}")
    if kind not in KINDS:
        refuse("kind", f"must be {', '.join(KINDS)}, is {kind!r}", nearest(str(kind), KINDS))
    names = choose_platforms(platforms)
    for name in (*names, host_platform()):
        find_compiler(name)
    model, compiled = prepare_model(what, solver, inputs or {}, unit=True, exchange=kind != "cs")
    with tempfile.TemporaryDirectory() as folder:
        draft = _generate(model, fmi, kind, Path(folder))
        binaries = {}
        for name in dict.fromkeys((*names, host_platform())):
            library = Path(draft.place(name)).name
            binaries[name] = compile_library(name, draft.folder, draft.unit.sources, library)
        # It is written only if it gives the simulation's numbers here.
        trial = draft.folder / "unit.fmu"
        _pack(trial, draft.contents | {draft.place(host_platform()): binaries[host_platform()]})
        agreement, motion = check_unit(trial, KINDS[kind], model, compiled)
    contents = draft.contents | {draft.place(name): binaries[name] for name in names}
    with replacing(path) as file:
        _pack(file, contents)
    hidden = model.fixed | set(model.numbers)
    shown = model.system.places.keys() - hidden
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


@frozen
class _Draft:
    """A unit without its binaries: files by their names, and a folder with the sources."""

    unit: UnitHeader
    folder: Path
    contents: dict[str, bytes]

    def place(self, platform: str) -> str:
        """Where the binary for a platform belongs."""
        there = PLATFORMS[platform]
        return f"{there.folder(self.unit.fmi)}/{self.unit.identifier}{there.suffix}"


def _generate(model: ExportedModel, fmi: int, kind: str, folder: Path) -> _Draft:
    identifier = re.sub(r"\W", "_", f"robodyn_{model.system.scenario.name}", flags=re.ASCII)
    written, token = generate_files(model)
    runtime, interface = files("robodyn.exchange.fmi") / "runtime", (f"fmi{fmi}.c", f"fmi{fmi}_exchange.c")
    written |= {
        **engine_files(),
        **unit_files(),
        **{name: (runtime / name).read_text(encoding="utf-8") for name in interface},
    }
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")
    sources = tuple(name for name in written if name.endswith(".c"))
    unit = UnitHeader(fmi, kind, identifier, token, sources)
    contents = {"modelDescription.xml": describe_unit(model, list_variables(model), unit)}
    contents |= {f"sources/{name}": text.encode() for name, text in sorted(written.items())}
    if fmi == 3:
        contents["sources/buildDescription.xml"] = write_build_description(identifier, sources)
    return _Draft(unit, folder, contents)


def _pack(path: Path, contents: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
