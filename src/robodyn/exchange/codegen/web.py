"""WebAssembly: how does a scenario become a module, and what does a page need to simulate it by itself?

C compiled for the web, with a loader; compared in node. The native run beside it is rounded as WebAssembly rounds, and
its digest tells a page whether the browser computes the same bits.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from string import Template

import numpy as np

from robodyn.base import Array, FlawList, ModelError, find_unmatched, fits, frozen, nearest, report_progress
from robodyn.computation.engine.trajectory import Status
from robodyn.computation.results import Run
from robodyn.computation.simulation import simulate
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.computation.simulation.run_functions import compile_system
from robodyn.description.model import Number, Scenario, Solver

from .c_folder import (
    WrittenCode,
    describe_model,
    program_files,
    put_files,
    write_folder,
)
from .comparison import (
    TOLERANCE,
    Agreement,
    Points,
    choose_times,
    compare_points,
    require_agreement,
    simulate_points,
)
from .compilers import check_module_compiler, compile_module
from .model import Exported, ExportedModel, prepare_model
from .source import shown_parameters

MODULE = "simulation.wasm"
LIBRARY = ("library.c", "math.h", "stdlib.h", "string.h")
LOADER = ("simulation.mjs", "index.html")


def write_wasm(
    what: Exported,
    folder: str | Path,
    solver: Solver | None = None,
    *,
    inputs: Mapping[str, float | None] | None = None,
) -> WrittenCode:
    """Write a scenario as a WebAssembly module with its loader; arguments and errors are those of `write_c`.

    Every operation is rounded by itself: WebAssembly has no fused multiply-add. The run of the module is compared in
    node, where it is installed, with the native run of the same rounding, to whose last bit it is equal.
    """
    check_module_compiler()
    model, compiled = prepare_model(what, solver, inputs or {}, plain=True)
    readme = Template(_read("README.md")).substitute(describe_model(model))
    contents: dict[str, str | bytes] = {MODULE: compile_web(model), "README.md": readme}
    contents |= {name: _read(name) for name in LOADER}
    agreement = None
    if shutil.which("node"):
        agreement = require_agreement(_compare_module(contents, model, compiled), model)
    return write_folder(model, folder, contents, agreement)


def compile_web(model: ExportedModel) -> bytes:
    """The module: everything in the header is exported."""
    texts = program_files(model) | {f"library/{name}": _read(f"library/{name}") for name in LIBRARY}
    sources = [name for name in texts if name.startswith(("source/", "library/")) and name.endswith(".c")]
    declared = re.findall(r"^[a-zA-Z].*?\b(simulation_\w+)\(", texts["simulation.h"], re.MULTILINE)
    with tempfile.TemporaryDirectory() as place:
        put_files(Path(place), texts)
        return compile_module(Path(place), sources, [*declared, "malloc", "free"], MODULE)


def _compare_module(contents: Mapping[str, str | bytes], model: ExportedModel, compiled: CompiledSystem) -> Agreement:
    """Signals at communication points, and which events the whole run has."""
    times = choose_times(model.system)
    with tempfile.TemporaryDirectory() as place:
        put_files(Path(place), {**contents, "check.mjs": _read("check.mjs"), "times.json": json.dumps(times.tolist())})
        process = subprocess.run(["node", "check.mjs"], cwd=place, capture_output=True, text=True, check=False)
        if process.returncode != 0:
            raise RuntimeError(f"node cannot run the module: {process.stderr}")
        summary = json.loads(process.stdout)
        rows = np.fromfile(Path(place, "rows.bin")).reshape(-1, len(model.outputs))
    names = [info.name for info in model.outputs]
    expected = simulate_points(model, compiled, times)
    agreement = compare_points(expected, rows, names, times, len(rows) < len(times))
    run = simulate(compiled, model.solver)
    alike = summary["events"] == [event.name for event in run.events] and summary["ok"] == run.outcome.carried_through
    rounding = 0.0 if agreement.error <= TOLERANCE else _measure_rounding(model, expected, times)
    return replace(agreement, ends=agreement.ends and alike, equal=agreement.equal and alike, rounding=rounding)


def _measure_rounding(model: ExportedModel, expected: Points, times: Array) -> float:
    """How far the native run with fused multiply-adds is from the one without."""
    fused = simulate_points(model, compile_system(model.system, model.solver), times)
    rows, ended = fused.trajectory.y, fused.trajectory.status != Status.FINISHED
    return compare_points(expected, rows, fused.names, times, ended).error


def _read(name: str) -> str:
    return (files("robodyn.exchange.codegen") / "web" / name).read_text(encoding="utf-8")


INITIAL = "initial."
LEAST, MOST = 0.1, 2.0
"""Ends of a slider, as parts of the number as it is described."""


@frozen
class Slider:
    """A number that a page may change.

    Attributes:
        ends: where its slider ends.
        sign: which numbers are allowed at all: "any", "not negative" or "positive".
    """

    name: str
    value: float
    unit: str
    ends: tuple[float, float]
    sign: str


@frozen
class LiveModel:
    """A scenario that a page can simulate.

    Attributes:
        run: the native run, rounded alike.
        module: WebAssembly; loader: JavaScript, a module that exports `load`.
        digest: of time and all signals of the run, see `digest_rows`.
    """

    run: Run
    module: bytes
    loader: str
    sliders: tuple[Slider, ...]
    digest: int


@report_progress("compiling for browsers")
def make_live(scenario: Scenario, *, sliders: Sequence[str] = ()) -> LiveModel:
    """A scenario with its engine for a page.

    Args:
        sliders: patterns of the numbers that may be changed (`"*.mass"`, `"initial.elbow.position"`); all tunable ones
            by default.

    Raises:
        ModelError: with every reason why it cannot be WebAssembly, or where nothing compiles it here.
    """
    check_module_compiler()
    if isinstance(scenario, Scenario):
        # The scenario with numbers of its mechanism that may change without compiling again.
        flaws = FlawList()
        known = [*scenario.numbers(), *(f"{INITIAL}{name}" for name in scenario.state_units())]
        for pattern in find_unmatched(sliders, known):
            flaws.add("slider", f"'{pattern}' matches no number", nearest(pattern, known))
        flaws.raise_if_any(f"page of '{scenario.name}'")
        machine = scenario.machine
        parts = [*([machine.mechanism] if machine.mechanism else []), *machine.coordinates]
        names = [number.name for part in parts for number in part.numbers() if fits(number.name, sliders)]
        scenario = (
            replace(scenario, machine=replace(machine, tunable=(*machine.tunable, *names))) if names else scenario
        )
    model, compiled = prepare_model(scenario, None, {}, plain=True)
    chosen = _choose_numbers(model, sliders)
    run = simulate(compiled, model.solver)
    names = [info.name for info in model.outputs]
    rows = np.column_stack([run.time, *(run[name].values for name in names)])
    controls = tuple(_make_slider(scenario, number) for number in chosen)
    return LiveModel(run, compile_web(model), _read(LOADER[0]), controls, digest_rows(rows))


def digest_rows(rows: Array) -> int:
    """Sum of all 32-bit words, each times its odd number, modulo 2^32: quick in any language."""
    words = np.ascontiguousarray(rows, "<f8").view("<u4").ravel()
    weights = np.arange(1, 2 * words.size, 2, dtype=np.uint64).astype(np.uint32)
    return int(np.sum(words * weights, dtype=np.uint64) & 0xFFFFFFFF)


def _choose_numbers(model: ExportedModel, patterns: Sequence[str]) -> list[Number]:
    """Parameters, and start values that are asked for where starts are given."""
    system = model.system
    numbers = [system.parameters[k] for k in shown_parameters(model)]
    candidates = [Number(number.name, number.value, number.unit) for number in numbers]
    if not patterns:
        return candidates
    if system.scenario.initialisation == "given":
        candidates += [Number(f"{INITIAL}{state.name}", state.start, state.unit) for state in system.states]
    chosen = [number for number in candidates if fits(number.name, patterns)]
    flaws = FlawList()
    for pattern in find_unmatched(patterns, (number.name for number in chosen)):
        what = f"'{pattern}' matches no number that can change without compiling again"
        flaws.add("slider", what, "numbers of blocks, loads and the mechanism, and given start values, can")
    flaws.raise_if_any(f"page of '{system.scenario.name}'")
    return chosen


def _make_slider(scenario: Scenario, number: Number) -> Slider:
    """Ends and sign as the scenario allows them, tried one number at a time."""
    value = number.value
    sign = "any" if _allows(scenario, number.name, -abs(value) or -1.0) else "not negative"
    if sign != "any" and not _allows(scenario, number.name, 0.0):
        sign = "positive"
    ends = sorted((LEAST * value, MOST * value)) if value else [0.0 if sign != "any" else -1.0, 1.0]
    low, high = (end if _allows(scenario, number.name, end) else value for end in ends)
    return Slider(number.name, value, number.unit, (low, high), sign)


def _allows(scenario: Scenario, name: str, value: float) -> bool:
    try:
        scenario.with_numbers({name: value})
    except ModelError:
        return False
    return True
