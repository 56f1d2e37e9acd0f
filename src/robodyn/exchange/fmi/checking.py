"""Acceptance test of an FMU: it is written only if it gives the simulation's numbers, in every use of it.

A unit for co-simulation is run by FMPy, from communication point to communication point.

The solver of a unit for model exchange is the user's, so two things are compared. Along the native run, step by step
and with its states, the unit must have the same rates, outputs, guards and, after each instant, the same states: bit
for bit but for a compiler's choice of elementary functions. And FMPy's CVode moves the unit by itself: that motion
differs by the tolerances of both solvers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.computation.engine import Recording, integrate
from robodyn.computation.engine.binding import functions
from robodyn.computation.engine.integrate import Integration, set_up
from robodyn.computation.engine.trajectory import Status
from robodyn.computation.simulation.compiled import CompiledSystem
from robodyn.exchange.codegen.comparison import (
    Agreement,
    choose_times,
    compare_points,
    compare_rows,
    native_problem,
    require_agreement,
    simulate_points,
)
from robodyn.exchange.codegen.model import Model
from robodyn.exchange.fmi.archive import Archive
from robodyn.exchange.fmi.events import EventSteps, step_between
from robodyn.exchange.fmi.fmpy_adapter import ModelExchange
from robodyn.exchange.fmi.unit import FmuUnit

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
    path: Path, uses: Sequence[str], model: Model, compiled: CompiledSystem
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


def compare_unit(path: str | Path, model: Model, compiled: CompiledSystem) -> Agreement:
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


def compare_exchange(path: str | Path, model: Model, compiled: CompiledSystem) -> Agreement:
    """Lead a unit along the native run over the scenario's duration."""
    states = [state.name for state in model.system.states]
    outputs = [info.name for info in model.outputs]
    names = [*states, *(f"der({name})" for name in states), *outputs]
    names += [f"event({guard.name})" for guard in model.guards]
    times: list[float] = []
    native_rows, unit_rows = [], []
    with LedUnit(path) as led:
        unit = led.instance
        run = _make_run(model, compiled)
        led.start(0.0, model.system.scenario.duration)
        for count, at_instant in enumerate(_step(run)):
            if count:
                _lead(led, run, at_instant)
            if len(times) < ROWS or count % STRIDE == 0 or (at_instant and len(times) < 2 * ROWS):
                times.append(run.run.t)
                native_rows.append(_row(model, compiled, run))
                guards = unit.indicators[: len(model.guards)]
                unit_rows.append(np.concatenate([unit.x, unit.rates, led.get(outputs), guards]))
        ends = (led.steps.ended is not None) == (run.run.status == Status.TERMINAL)
    return compare_rows(np.array(native_rows), np.array(unit_rows), names, np.array(times), ends)


def _lead(led: LedUnit, run: Integration, at_instant: bool) -> None:
    """Bring the unit to where the native run is, as that arrived there, and through the instant if there was one."""
    arrival = run.engine.view(run.run.x + 8 * len(run.x), len(run.x))
    led.instance.move(run.run.t, arrival)
    due, _ = led.instance.complete()
    if due or at_instant:
        led.update()
    # Leaving a limit, or a second projection, is an event of the unit alone.
    if due and not at_instant:
        led.instance.move(run.run.t, arrival)


def _make_run(model: Model, compiled: CompiledSystem) -> Integration:
    problem, p = native_problem(model, compiled)
    setup = set_up(problem, model.solver, Recording(kind="none"))
    return Integration(setup, 0.0, compiled.system.scenario.duration, model.start.x, model.start.m, p)


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
    settings["logger"] = lambda *_: None  # nobody listens to what the unit says
    try:
        motion = fmpy.simulate_fmu(str(path), stop_time=end, **settings)
    except Exception:  # noqa: BLE001 - FMPy raises Exception itself, for CVode's failures too
        return None
    times = np.minimum(motion["time"], end)
    problem, p = native_problem(model, compiled)
    recording = Recording(kind="times", times=times)
    native = integrate(problem, model.solver, 0.0, times[-1], model.start.x, model.start.m, p, recording)
    recorded = [info.name for info in compiled.recorded]
    expected = native.y[:, [recorded.index(name) for name in names]]
    n = len(expected)
    values = np.column_stack([motion[name] for name in names])[:n] if names else np.zeros((n, 0))
    return compare_rows(expected, values, names, times[:n], n == len(times) or n + 1 == len(times))
