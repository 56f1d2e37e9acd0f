"""Checks of exported units against our own run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.computation.engine import Recording, integrate
from robodyn.computation.engine.binding import functions
from robodyn.computation.engine.integrate import Integration, set_up
from robodyn.computation.engine.trajectory import Status
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.computation.simulation.problem import build_problem
from robodyn.exchange.codegen.comparison import Agreement, choose_times, compare_points, compare_rows, simulate_points
from robodyn.exchange.codegen.model import Model
from robodyn.exchange.fmi.carried import CarriedUnit
from robodyn.exchange.fmi.unit import FmuUnit

# --------------------------------------------------------------------------------------------------
# Verification of a co-simulation FMU: does it compute what the simulation does, at the same communication points?


def compare_unit(path: str | Path, model: Model, compiled: CompiledSystem) -> Agreement:
    """Run a unit and the simulation it was made from over the scenario's duration."""
    times = choose_times(model.system)
    with FmuUnit(path, stop=times[-1]) as unit:
        found, ended = _run_unit(unit, times)
    return compare_points(simulate_points(model, compiled, times), found, list(unit.outputs), times, ended)


def _run_unit(unit: FmuUnit, times: np.ndarray) -> tuple[np.ndarray, bool]:
    """Outputs at the communication points, and whether the unit ended before the last."""
    unit.start(float(times[0]))
    rows = [list(unit.read().values())]
    for before, after in pairwise(times.tolist()):
        if unit.advance(before, _step_between(before, after)) is not None:
            return np.array(rows), True
        rows.append(list(unit.read().values()))
    return np.array(rows), False


def _step_between(before: float, after: float) -> float:
    """The step with which `before + step` is `after` to the last digit."""
    step = after - before
    near = (step, np.nextafter(step, np.inf), np.nextafter(step, -np.inf))
    return next((float(h) for h in near if before + h == after), step)


# --------------------------------------------------------------------------------------------------
# Verification of a model-exchange FMU: does it compute what the simulation computes?
#
# Its solver is the user's, so two things are compared. Along the native run, step by step and with its states, the
# unit
# must have the same rates, outputs, guards and, after each instant, the same states: bit for bit but for a compiler's
# choice of elementary functions. And FMPy's CVode moves the unit by itself: that motion differs by the tolerances
# of both
# solvers.


ROWS, STRIDE = 1000, 20
"""Every step is compared up to this number of rows, then one in this many and those at instants up to twice as many."""
GOING = 0
"""Status of a run that has not ended, as in engine.h."""
INTERVALS = 200
"""Points at which motions are compared."""
TOLERANCE = 1e-9
"""Relative tolerance of CVode."""


def compare_exchange(path: str | Path, model: Model, compiled: CompiledSystem) -> Agreement:
    """Lead a unit along the native run over the scenario's duration."""
    names = list(_row_names(model))
    times: list[float] = []
    native, found = [], []
    with CarriedUnit(path) as unit:
        outputs = [unit.references[info.name] for info in model.outputs]
        run = _make_run(model, compiled)
        unit.start(0.0, model.system.scenario.duration)
        for count, at_instant in enumerate(_step(run)):
            if count:
                _lead(unit, run, at_instant)
            if len(times) < ROWS or count % STRIDE == 0 or (at_instant and len(times) < 2 * ROWS):
                times.append(run.run.t)
                native.append(_row(model, compiled, run))
                guards = unit.indicators[: len(model.guards)]
                found.append(np.concatenate([unit.x, unit.rates, unit.get(outputs), guards]))
        ends = unit.terminated == (run.run.status == Status.TERMINAL)
    return compare_rows(np.array(native), np.array(found), names, np.array(times), ends)


def _lead(unit: CarriedUnit, run: Integration, at_instant: bool) -> None:
    """Bring the unit to where the native run is, as that arrived there, and through the instant if there was one."""
    arrived = run.engine.view(run.run.x + 8 * len(run.x), len(run.x))
    unit.place(run.run.t, arrived)
    due = unit.complete()
    if due or at_instant:
        unit.update()
    # Leaving a limit, or a second projection, is an event of the unit alone.
    if due and not at_instant:
        unit.place(run.run.t, arrived)


def _make_run(model: Model, compiled: CompiledSystem) -> Integration:
    system, start = compiled.system, model.start
    numbers: dict[str, Any] = {name: number.value for name, number in system.numbers.items()}
    p = compiled.module.prepare(compiled.parameter_values({}))
    problem = build_problem(compiled, p, numbers, start)
    end = system.scenario.duration
    setup = set_up(problem, model.solver, Recording(kind="none"))
    return Integration(setup, 0.0, end, start.x, start.m, p)


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


def _row_names(model: Model) -> Iterator[str]:
    states = [state.name for state in model.system.states]
    yield from states
    yield from (f"der({name})" for name in states)
    yield from (info.name for info in model.outputs)
    yield from (f"event({guard.name})" for guard in model.guards)


def _row(model: Model, compiled: CompiledSystem, run: Integration) -> np.ndarray:
    """States, rates, outputs and guards where the native run stands."""
    kernels = compiled.module.kernels
    at = (np.array([run.run.t]), run.x, run.d, run.m, run.p)
    recorded = [info.name for info in compiled.recorded]
    y = np.ravel(kernels["outputs"](*at))[[recorded.index(info.name) for info in model.outputs]]
    places = [compiled.system.discrete.guards.index(guard) for guard in model.guards]
    guards = np.ravel(kernels["guards"](*at))[places] if places else np.zeros(0)
    return np.concatenate([run.x, np.ravel(kernels["rhs"](*at)), y, guards])


def compare_motion(path: str | Path, model: Model, compiled: CompiledSystem, timeout: float) -> Agreement | None:
    """Let CVode move the unit, for at most so long [s], and compare its states; None where it cannot."""
    import fmpy

    names, end = [state.name for state in model.system.states], model.system.scenario.duration
    settings: dict[str, Any] = {"fmi_type": "ModelExchange", "record_events": False, "output": names}
    settings |= {"relative_tolerance": TOLERANCE, "output_interval": end / INTERVALS, "timeout": timeout}
    settings["logger"] = _ignore
    try:
        found = fmpy.simulate_fmu(str(path), stop_time=end, **settings)
    except Exception:  # noqa: BLE001 - FMPy raises Exception itself, for CVode's failures too
        return None
    times = np.minimum(found["time"], end)
    expected = _simulate(model, compiled, times)
    n = len(expected)
    values = np.column_stack([found[name] for name in names])[:n] if names else np.zeros((n, 0))
    return compare_rows(expected, values, names, times[:n], n == len(times) or n + 1 == len(times))


def _ignore(*_: object) -> None:
    """What the unit says where nobody listens."""


def _simulate(model: Model, compiled: CompiledSystem, times: np.ndarray) -> np.ndarray:
    run = _make_run(model, compiled)
    recording = Recording(kind="times", times=times)
    found = integrate(run.problem, model.solver, 0.0, times[-1], model.start.x, model.start.m, run.p, recording)
    recorded = [info.name for info in compiled.recorded]
    return found.y[:, [recorded.index(state.name) for state in model.system.states]]
