"""WebAssembly export: how does a scenario become a module? C compiled for the web, with a loader; compared in node."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from string import Template

import numpy as np

from robodyn.computation.engine.trajectory import Status
from robodyn.computation.simulation import simulate
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.computation.simulation.run_functions import compile_system
from robodyn.description.model import Scenario, Solver
from robodyn.exchange.codegen.c_folder import (
    Written,
    check_agreement,
    describe_model,
    program_files,
    put_files,
    write_folder,
)
from robodyn.exchange.codegen.comparison import (
    TOLERANCE,
    Agreement,
    Points,
    choose_times,
    compare_points,
    simulate_points,
)
from robodyn.exchange.codegen.compilers import check_module_compiler, compile_module
from robodyn.exchange.codegen.model import Model, prepare_model

MODULE = "simulation.wasm"
LIBRARY = ("library.c", "math.h", "stdlib.h", "string.h")
LOADER = ("simulation.mjs", "index.html")


def write_wasm(
    scenario: Scenario,
    folder: str | Path,
    solver: Solver | None = None,
    *,
    inputs: Mapping[str, float | None] | None = None,
) -> Written:
    """Write a scenario as a WebAssembly module with its loader; arguments and errors are those of `write_c`.

    Every operation is rounded by itself: WebAssembly has no fused multiply-add. The run of the module is compared in
    node, where it is installed, with the native run of the same rounding, to whose last bit it is equal.
    """
    check_module_compiler()
    model, compiled = prepare_model(scenario, solver, inputs or {}, plain=True)
    contents = _web_files(model)
    agreement = None
    if shutil.which("node"):
        agreement = check_agreement(model, _compare_module(contents, model, compiled))
    return write_folder(model, folder, contents, agreement)


def _web_files(model: Model) -> dict[str, str | bytes]:
    readme = Template(_read("README.md")).substitute(describe_model(model))
    return {MODULE: compile_web(model), **{name: _read(name) for name in LOADER}, "README.md": readme}


def read_loader() -> str:
    """The JavaScript that loads a module."""
    return _read(LOADER[0])


def compile_web(model: Model) -> bytes:
    """The module: everything in the header is exported."""
    texts = program_files(model) | {f"library/{name}": _read(f"library/{name}") for name in LIBRARY}
    sources = [name for name in texts if name.startswith(("source/", "library/")) and name.endswith(".c")]
    declared = re.findall(r"^[a-zA-Z].*?\b(simulation_\w+)\(", texts["simulation.h"], re.MULTILINE)
    with tempfile.TemporaryDirectory() as place:
        put_files(Path(place), texts)
        return compile_module(Path(place), sources, [*declared, "malloc", "free"], MODULE)


def _compare_module(contents: Mapping[str, str | bytes], model: Model, compiled: CompiledSystem) -> Agreement:
    """Signals at communication points, and which events the whole run has."""
    times = choose_times(model.system)
    with tempfile.TemporaryDirectory() as place:
        put_files(Path(place), {**contents, "check.mjs": _read("check.mjs"), "times.json": json.dumps(times.tolist())})
        done = subprocess.run(["node", "check.mjs"], cwd=place, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"node cannot run the module: {done.stderr}")
        message = json.loads(done.stdout)
        rows = np.fromfile(Path(place, "rows.bin")).reshape(-1, len(model.outputs))
    names = [info.name for info in model.outputs]
    expected = simulate_points(model, compiled, times)
    found = compare_points(expected, rows, names, times, len(rows) < len(times))
    run = simulate(compiled, model.solver)
    alike = message["events"] == [event.name for event in run.events] and message["ok"] == run.outcome.carried_through
    rounding = 0.0 if found.error <= TOLERANCE else _measure_rounding(model, expected, times)
    return replace(found, ends=found.ends and alike, equal=found.equal and alike, rounding=rounding)


def _measure_rounding(model: Model, expected: Points, times: np.ndarray) -> float:
    """How far the native run with fused multiply-adds is from the one without."""
    fused = simulate_points(model, compile_system(model.system, model.solver), times)
    rows, ended = fused.trajectory.y, fused.trajectory.status != Status.FINISHED
    return compare_points(expected, rows, fused.names, times, ended).error


def _read(name: str) -> str:
    return (files("robodyn.exchange.codegen") / "web" / name).read_text(encoding="utf-8")
