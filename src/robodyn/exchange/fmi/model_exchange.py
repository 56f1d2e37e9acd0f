"""Model exchange import: how is a unit run that gives only its equations? With a solver of scipy and event mode.

    x' = f(t, x),    an event where an indicator z(t, x) changes between z > 0 and z <= 0

A step goes on to the first event in it. Between two steps of the solver its interpolation is bisected until the event
lies between two neighbouring floats; the unit is left on the later one, where the sign has changed. The solver begins
anew at each communication point and event: it is a one-step method, and one that takes stiff equations too.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn.base.numerics import bisect
from robodyn.exchange.fmi.fmpy_adapter import Calls2, Calls3, EventUpdate, Step, read_update

TOLERANCE = 1e-8
"""Relative, where none is asked for; absolute by each state's nominal value."""
SOON = 1e-6
"""Part of the first step of the solver after which indicators have left zero, if they leave it."""
DOUBLES = ctypes.POINTER(ctypes.c_double)


class Integrated:
    """Steps of a unit with a solver; the classes below say how it is called."""

    def __init__(self, unit: Any, n_states: int, n_indicators: int) -> None:
        self._unit, self._tolerance = unit, TOLERANCE
        self.sizes = n_states, n_indicators
        self._pace = 0.0

    @property
    def _n(self) -> int:
        return self.sizes[0]

    def use_tolerance(self, tolerance: float | None) -> None:
        self._tolerance = TOLERANCE if tolerance is None else tolerance

    def step(self, time: float, length: float, complete: Callable[[], tuple[bool, bool]]) -> Step:
        """To the end, or to the first event."""
        solver, self._pace = self._make_solver(time, time + length), 0.0
        begin, signs = time, None
        while solver.status == "running":
            failed = solver.step()
            if solver.status == "failed":
                raise ArithmeticError(f"the solver stops at {solver.t:g} s: {failed}")
            self._pace = max(self._pace, solver.step_size)
            if signs is None:
                # A ball that has just bounced begins at zero: its sign is that of where it goes.
                begin = float(time + SOON * (solver.t - time))
                signs = self._signs(begin, solver.dense_output()(begin))
            event = not np.array_equal(self._signs(solver.t, solver.y), signs)
            reached = self._locate(solver, signs, begin) if event else float(solver.t)
            begin = float(solver.t)
            enter, terminate = complete()
            if event or enter or terminate:
                return Step(reached, event or enter, terminate, early=reached < time + length)
        return Step(time + length)

    def _make_solver(self, time: float, end: float) -> Any:
        from scipy.integrate import Radau

        x = self._get(self._unit.getContinuousStates, self._n)
        nominals = self._get(self._unit.getNominalsOfContinuousStates, self._n)
        # A unit without states has one that rests, so that its indicators are still watched.
        start, scale = (x, np.abs(nominals)) if self._n else (np.zeros(1), np.ones(1))
        pace = min(self._pace, end - time) or None
        settings = {"rtol": self._tolerance, "atol": self._tolerance * np.where(scale > 0, scale, 1.0)}
        return Radau(self._rates, time, start, end, first_step=pace, **settings)

    def _rates(self, time: float, x: np.ndarray) -> np.ndarray:
        self._move(time, x)
        return self._get(self._get_derivatives, self._n) if self._n else np.zeros(1)

    def _signs(self, time: float, x: np.ndarray) -> np.ndarray:
        self._move(time, x)
        return self._get(self._unit.getEventIndicators, self.sizes[1]) > 0

    def _move(self, time: float, x: np.ndarray) -> None:
        self._unit.setTime(float(time))
        if self._n:
            states = np.ascontiguousarray(x, float)
            self._unit.setContinuousStates(states.ctypes.data_as(DOUBLES), self._n)

    @property
    def _get_derivatives(self) -> Callable[[Any, int], Any]:
        return self._unit.getDerivatives

    def _get(self, fill: Callable[[Any, int], Any], size: int) -> np.ndarray:
        values = np.zeros(size)
        if size:
            fill(values.ctypes.data_as(DOUBLES), size)
        return values

    def _locate(self, solver: Any, signs: np.ndarray, before: float) -> float:
        """The first float after a time at which a sign has changed."""
        states, after = solver.dense_output(), float(solver.t)
        _, after = bisect(lambda t: not np.array_equal(self._signs(t, states(t)), signs), before, after)
        self._move(after, states(after))
        return after


class ModelExchange2(Calls2):
    """A model exchange unit of version 2.0."""

    def __init__(self, settings: dict[str, Any], description: Any) -> None:
        from fmpy import fmi2

        super().__init__(fmi2.FMU2Model(**settings))
        sizes = description.numberOfContinuousStates, description.numberOfEventIndicators
        self.event_mode, self._solver = True, Integrated(self._unit, *sizes)
        self.enter_step_mode = self._unit.enterContinuousTimeMode

    def open(self, time: float, stop: float | None, tolerance: float | None) -> None:
        self._solver.use_tolerance(tolerance)
        super().open(time, stop, tolerance)

    def update_discrete_states(self) -> EventUpdate:
        return read_update(self._unit.newDiscreteStates())

    def step(self, time: float, length: float, forget: bool) -> Step:
        return self._solver.step(time, length, lambda: self._unit.completedIntegratorStep(int(forget)))


class Integrated3(Integrated):
    """The same with the words of version 3.0."""

    @property
    def _get_derivatives(self) -> Callable[[Any, int], Any]:
        return self._unit.getContinuousStateDerivatives


class ModelExchange3(Calls3):
    """A model exchange unit of version 3.0."""

    def __init__(self, settings: dict[str, Any], description: Any) -> None:
        from fmpy import fmi3

        super().__init__(fmi3.FMU3Model(**settings))
        sizes = description.numberOfContinuousStates, description.numberOfEventIndicators
        self.event_mode, self._solver = True, Integrated3(self._unit, *sizes)
        self.enter_step_mode = self._unit.enterContinuousTimeMode

    def open(self, time: float, stop: float | None, tolerance: float | None) -> None:
        self._solver.use_tolerance(tolerance)
        super().open(time, stop, tolerance)
        # Structural parameters may have changed them.
        self._solver.sizes = self._unit.getNumberOfContinuousStates(), self._unit.getNumberOfEventIndicators()

    def step(self, time: float, length: float, forget: bool) -> Step:
        return self._solver.step(time, length, lambda: self._unit.completedIntegratorStep(forget))
