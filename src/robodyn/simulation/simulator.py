"""What happens? A scenario or system, a solver, and out comes a run."""

from __future__ import annotations

import dataclasses
import platform
import traceback
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from robodyn.assembly import System, assemble
from robodyn.engine import Recording as EngineRecording
from robodyn.engine import Solver, Trajectory, integrate
from robodyn.errors import Flaw, ModelError, nearest
from robodyn.model import Recording, Scenario, describe
from robodyn.results import EventRecord, Outcome, Provenance, Run, SignalInfo, Statistics
from robodyn.simulation.compiled import CompiledSystem, compile_system
from robodyn.simulation.outcomes import tell_failure, tell_outcome
from robodyn.simulation.problem import build_problem, start_state
from robodyn.simulation.python_calls import PythonCalls

Progress = Callable[[float, float, int], None]
# Interior points kept of each long step, so that interpolated signals are as smooth as the solution.
ADAPTIVE_REFINEMENT = 4


def make_solver(settings: Mapping[str, Any]) -> Solver:
    """Solver settings from plain data; a wrong key or value is a ModelError."""
    known = [field.name for field in dataclasses.fields(Solver)]
    flaws = [Flaw(f"solver.{key}", "is unknown", nearest(key, known)) for key in settings if key not in known]
    if flaws:
        raise ModelError(flaws)
    try:
        return Solver(**settings)
    except (TypeError, ValueError) as error:
        field, _, what = str(error).partition(": ")
        raise ModelError([Flaw(f"solver.{field}", what or str(error))]) from error


def simulate(
    what: Scenario | System | CompiledSystem,
    solver: Solver | None = None,
    *,
    parameters: Mapping[str, float] | None = None,
    recording: Recording | None = None,
    progress: Progress | None = None,
    on_compile: Callable[[str], None] | None = None,
) -> Run:
    """Simulate a scenario from its start to its end.

    Args:
        what: a scenario (traced and compiled here), or one made ready before, for many runs.
        solver: settings; the scenario's own by default.
        parameters: tunable numbers to change for this run only, without compiling again.
        recording: what to keep; the scenario's own by default.
        progress: called now and then with (time, step, steps).

    Returns:
        The run, also where the simulation could not go on: see its outcome.
    """
    system = what.system if isinstance(what, CompiledSystem) else what if isinstance(what, System) else assemble(what)
    scenario = system.scenario
    solver = solver or make_solver(scenario.solver)
    recording = recording or scenario.recording
    compiled = (
        what
        if isinstance(what, CompiledSystem)
        else compile_system(system, solver, signals=recording.signals, on_compile=on_compile)
    )
    values = compiled.parameter_values(dict(parameters or {}))
    calls = PythonCalls(compiled, compiled.module.prepare(values))
    try:
        trajectory = _integrate(compiled, solver, recording, values, calls, progress)
    except Exception as error:
        if not hasattr(error, "trajectory"):
            raise
        # A Python block or action failed: its error is the outcome, the motion so far is kept.
        outcome = tell_failure(error.trajectory, calls.running, error)
        warnings = ("".join(traceback.format_exception(error)),)
        return _make_run(compiled, solver, values, error.trajectory, outcome, warnings)
    return _make_run(compiled, solver, values, trajectory, tell_outcome(compiled, solver, trajectory))


def _integrate(
    compiled: CompiledSystem,
    solver: Solver,
    recording: Recording,
    values: np.ndarray,
    calls: PythonCalls,
    progress: Progress | None,
) -> Trajectory:
    system = compiled.system
    numbers: dict[str, Any] = {name: number.value for name, number in system.scenario.numbers().items()}
    numbers |= {number.name: value for number, value in zip(system.parameters, values.tolist(), strict=True)}
    x0, m0 = start_state(system)
    duration = system.scenario.duration
    return integrate(
        build_problem(compiled, calls.p, numbers),
        solver,
        0.0,
        duration,
        x0,
        m0,
        calls.p,
        _engine_recording(recording, solver, duration),
        python_task=calls.run_task,
        python_action=calls.run_action,
        progress=progress,
    )


def _engine_recording(recording: Recording, solver: Solver, duration: float) -> EngineRecording:
    if recording.times is not None:
        return EngineRecording(kind="times", times=np.array(recording.times, float))
    if recording.rate is not None:
        count = int(np.floor(duration * recording.rate * (1 + 1e-12))) + 1
        times = np.minimum(np.arange(count) / recording.rate, duration)
        return EngineRecording(kind="times", times=times)
    refine = recording.refine or (ADAPTIVE_REFINEMENT if solver.adaptive else 1)
    return EngineRecording(kind="steps", refine=refine)


def _make_run(
    compiled: CompiledSystem,
    solver: Solver,
    values: np.ndarray,
    trajectory: Trajectory,
    outcome: Outcome,
    warnings: tuple[str, ...] = (),
) -> Run:
    system = compiled.system
    events = tuple(
        EventRecord(system.guards[guard].name, time, system.guards[guard].terminal) for time, guard in trajectory.events
    )
    infos = tuple(SignalInfo(info.name, info.unit, info.kind, info.rate) for info in compiled.recorded)  # type: ignore[arg-type]
    return Run(
        time=trajectory.time,
        values=trajectory.y,
        infos=infos,
        outcome=outcome,
        provenance=_provenance(system, solver, values),
        statistics=_statistics(compiled, trajectory),
        events=events,
        warnings=warnings,
    )


def _statistics(compiled: CompiledSystem, trajectory: Trajectory) -> Statistics:
    counted = ("steps", "rejected", "evaluations", "jacobians", "factorisations", "ticks", "wall_time")
    return Statistics(
        **{name: getattr(trajectory.counters, name) for name in counted},
        events=len(trajectory.events),
        simulated_time=trajectory.at_time,
        energy_error=_energy_error(compiled, trajectory),
        extra={
            "smallest_step": trajectory.counters.smallest_step,
            "largest_step": trajectory.counters.largest_step,
        },
    )


def _energy_error(compiled: CompiledSystem, trajectory: Trajectory) -> float | None:
    """Largest change of `E - W` relative to the energies that moved, None where an event's action changed the state."""
    column = {info.name: k for k, info in enumerate(compiled.recorded)}
    acted = any(guard.action or guard.call for guard in compiled.system.guards) and trajectory.events
    if acted or not {"energy.balance", "energy.kinetic", "energy.potential"} <= column.keys():
        return None
    balance, kinetic, potential = (
        trajectory.y[:, column[f"energy.{part}"]] for part in ("balance", "kinetic", "potential")
    )
    moved = np.max(np.abs(kinetic)) + np.max(np.abs(potential - potential[0]))
    change = float(np.max(np.abs(balance - balance[0])))
    return change / float(moved) if moved > 0 else change


def _provenance(system: System, solver: Solver, values: np.ndarray) -> Provenance:
    used = {name: {"value": number.value, "unit": number.unit} for name, number in system.scenario.numbers().items()}
    for number, value in zip(system.parameters, values.tolist(), strict=True):
        used[number.name] = {"value": value, "unit": number.unit}
    return Provenance(
        scenario=system.scenario.name,
        description=describe(system.scenario),
        parameters=used,
        solver=dataclasses.asdict(solver),
        versions=dict(_versions()),
    )


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    found = [("python", platform.python_version()), ("platform", platform.platform())]
    for package in ("robodyn", "numpy", "casadi", "llvmlite", "numba"):
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            found.append((package, "not installed"))
    return tuple(found)
