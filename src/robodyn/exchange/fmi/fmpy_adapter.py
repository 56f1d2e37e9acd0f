"""FMPy adapter: how are FMUs of both versions of FMI, and of both kinds, called alike?

A unit for model exchange gives only its equations, and is moved here by a solver of scipy:

    x' = f(t, x),    an event where an indicator z(t, x) changes between z > 0 and z <= 0

A step goes on to the first event in it. Between two steps of the solver its interpolation is bisected until the event
lies between two neighbouring floats; the unit is left on the later one, where the sign has changed. The solver begins
anew at each communication point and event: it is a one-step method, and one that takes stiff equations too.
"""

from __future__ import annotations

import ctypes
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from robodyn.base import Array, ModelError, bisect
from robodyn.computation.cosimulation import UnitEvent
from robodyn.computation.results import Outcome, OutcomeKind

LAST_SUCCESSFUL_TIME, TERMINATED = 2, 3
"""Kinds of status of version 2: how far a step came, and whether the unit wants to end the simulation."""
TOLERANCE = 1e-8
"""Relative tolerance of the solver, where none is asked for; absolute by each state's nominal value."""
SOON = 1e-6
"""Part of the first step of the solver after which indicators have left zero, if they leave it."""
DOUBLES = ctypes.POINTER(ctypes.c_double)


class StepEnd(NamedTuple):
    """How a step ended: where [s], and whether the unit wants event mode, or to end the simulation."""

    time: float
    event: bool = False
    terminate: bool = False
    early: bool = False


class EventUpdate(NamedTuple):
    """The result of an update of the discrete states.

    Attributes:
        again: whether another one is needed. next_time: of the next time event, infinite where there is none [s].
    """

    again: bool
    terminate: bool
    next_time: float


class Instance(ABC):
    """An instance of a unit: what both kinds have in common.

    Attributes:
        unit: of FMPy. messages: what the unit has logged. event_mode: whether it is asked to stop at its events.
        set_slopes(references, orders, values): derivatives of inputs by time, where its version of FMI has them.
    """

    def __init__(self, unit: Any, version: int, *, event_mode: bool) -> None:
        self.unit, self.version, self.event_mode = unit, version, event_mode
        self.messages: list[str] = []
        self.set_slopes: Callable[[Sequence[int], Sequence[int], Sequence[float]], Any] | None = None
        self.begin, self.reset, self.close = unit.exitInitializationMode, unit.reset, unit.freeInstance
        self.save, self.restore, self.release = unit.getFMUState, unit.setFMUState, unit.freeFMUState

    def instantiate(self, **settings: bool) -> None:
        if self.version == 3:
            self.unit.instantiate(logMessage=self._log, **settings)
            return
        from fmpy import calloc, fmi2, free

        # The unit calls them as long as it lives.
        self._callbacks = fmi2.fmi2CallbackFunctions()
        self._callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(self._log)
        self._callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
        self._callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(free)
        self.unit.instantiate(callbacks=self._callbacks)

    def _log(self, *details: Any) -> None:
        self.messages.append(details[-1].decode("utf-8", "replace"))

    def configure(self, set_parameters: Callable[[], None]) -> None:
        """Set structural parameters, for which version 3 has a mode of its own."""
        if self.version == 3:
            self.unit.enterConfigurationMode()
        set_parameters()
        if self.version == 3:
            self.unit.exitConfigurationMode()

    def open(self, time: float, stop: float | None, tolerance: float | None) -> None:
        """Enter the initialisation."""
        experiment = {"tolerance": tolerance, "startTime": time, "stopTime": stop}
        if self.version == 2:
            self.unit.setupExperiment(**experiment)
            self.unit.enterInitializationMode()
        else:
            self.unit.enterInitializationMode(**experiment)

    def get(self, kind: str, references: Sequence[int], size: int) -> list[Any]:
        """Values of variables of one type, arrays row by row; size: of all together, which version 3 wants to know."""
        return self._function("get", kind)(references, *self._only_3(size))

    def set(self, kind: str, references: Sequence[int], values: Sequence[Any]) -> None:
        self._function("set", kind)(references, values)

    def slopes(self, unknowns: Sequence[int], knowns: Sequence[int], seed: Sequence[float], size: int) -> list[float]:
        return self.unit.getDirectionalDerivative(unknowns, knowns, seed, *self._only_3(size))

    def _function(self, verb: str, kind: str) -> Callable[..., list[Any]]:
        """The unit's function for a type; an enumeration is an integer."""
        integer = "Integer" if self.version == 2 else "Int64"
        return getattr(self.unit, f"{verb}{integer if kind == 'Enumeration' else kind}")

    def _only_3(self, size: int) -> tuple[int, ...]:
        return (size,) if self.version == 3 else ()

    @abstractmethod
    def step(self, time: float, length: float, forget: bool) -> StepEnd:
        """Go on; forget: whether nobody will go back to before `time`."""

    def enter_event_mode(self) -> None:
        self.unit.enterEventMode()

    def update_discrete_states(self) -> EventUpdate:
        update = self.unit.newDiscreteStates if self.version == 2 else self.unit.updateDiscreteStates
        again, terminate, _, _, planned, time = update()
        return EventUpdate(bool(again), bool(terminate), time if planned else math.inf)

    @abstractmethod
    def enter_step_mode(self) -> None:
        """Leave event mode."""


class CoSimulation(Instance):
    """A unit with its own solver; one of version 3.0 with event mode is asked to return at its events."""

    def __init__(self, settings: dict[str, Any], version: int, *, event_mode: bool) -> None:
        from fmpy import fmi2, fmi3

        make: Any = fmi2.FMU2Slave if version == 2 else fmi3.FMU3Slave
        super().__init__(make(**settings), version, event_mode=event_mode)
        self.set_slopes = self.unit.setRealInputDerivatives if version == 2 else None

    def instantiate(self, **settings: bool) -> None:
        super().instantiate(eventModeUsed=self.event_mode, earlyReturnAllowed=self.event_mode)

    def enter_step_mode(self) -> None:
        self.unit.enterStepMode()

    def step(self, time: float, length: float, forget: bool) -> StepEnd:
        if self.version == 3:
            event, terminate, early, last = self.unit.doStep(time, length, forget)
            return StepEnd(last if early or terminate else time + length, bool(event), bool(terminate), bool(early))
        from fmpy import fmi1

        try:
            self.unit.doStep(time, length, forget)
        except fmi1.FMICallException as error:
            if error.status != fmi1.fmi1Discard or not self.unit.getBooleanStatus(TERMINATED):
                raise
            try:
                reached = float(self.unit.getRealStatus(LAST_SUCCESSFUL_TIME))
            except fmi1.FMICallException:
                # A unit that does not say how far it came is still where the step began.
                reached = time
            return StepEnd(reached, terminate=True)
        return StepEnd(time + length)


class ModelExchange(Instance):
    """A unit whose states another integrator carries: scipy's, by `step`, or that of the caller."""

    def __init__(self, settings: dict[str, Any], version: int, description: Any) -> None:
        from fmpy import fmi2, fmi3

        make: Any = fmi2.FMU2Model if version == 2 else fmi3.FMU3Model
        super().__init__(make(**settings), version, event_mode=True)
        self._n, self._n_indicators = description.numberOfContinuousStates, description.numberOfEventIndicators
        self._tolerance, self._last_step = TOLERANCE, 0.0

    def open(self, time: float, stop: float | None, tolerance: float | None) -> None:
        self._tolerance = TOLERANCE if tolerance is None else tolerance
        super().open(time, stop, tolerance)
        if self.version == 3:
            # Structural parameters may have changed them.
            self._n = self.unit.getNumberOfContinuousStates()
            self._n_indicators = self.unit.getNumberOfEventIndicators()

    def enter_step_mode(self) -> None:
        self.unit.enterContinuousTimeMode()

    @property
    def x(self) -> Array:
        return self._read(self.unit.getContinuousStates, self._n)

    @property
    def rates(self) -> Array:
        if self.version == 2:
            return self._read(self.unit.getDerivatives, self._n)
        return self._read(self.unit.getContinuousStateDerivatives, self._n)

    @property
    def indicators(self) -> Array:
        return self._read(self.unit.getEventIndicators, self._n_indicators)

    def _read(self, fill: Callable[[Any, int], Any], size: int) -> Array:
        values = np.zeros(size)
        if size:
            fill(values.ctypes.data_as(DOUBLES), size)
        return values

    def move(self, time: float, x: Array) -> None:
        """Stand at a time with these states; nothing happens."""
        self.unit.setTime(float(time))
        if self._n:
            states = np.ascontiguousarray(x, float)
            self.unit.setContinuousStates(states.ctypes.data_as(DOUBLES), self._n)

    def complete(self, forget: bool = True) -> tuple[bool, bool]:
        """Say that a step has been completed; returned: whether the unit wants event mode, or to end the simulation."""
        return self.unit.completedIntegratorStep(forget)

    def step(self, time: float, length: float, forget: bool) -> StepEnd:
        """To the end, or to the first event."""
        from scipy.integrate import Radau

        end = time + length
        nominals = self._read(self.unit.getNominalsOfContinuousStates, self._n)
        # A unit without states has one that rests, so that its indicators are still watched.
        start, scale = (self.x, np.abs(nominals)) if self._n else (np.zeros(1), np.ones(1))
        first_step = min(self._last_step, end - time) or None
        settings = {"rtol": self._tolerance, "atol": self._tolerance * np.where(scale > 0, scale, 1.0)}
        solver: Any = Radau(self._rates_at, time, start, end, first_step=first_step, **settings)
        self._last_step, begin, signs = 0.0, time, None
        while solver.status == "running":
            failure = solver.step()
            if solver.status == "failed":
                raise ArithmeticError(f"the solver stops at {solver.t:g} s: {failure}")
            self._last_step = max(self._last_step, solver.step_size)
            states = solver.dense_output()
            if signs is None:
                # A ball that has just bounced begins at zero: its sign is that of where it goes.
                begin = float(time + SOON * (solver.t - time))
                signs = self._signs(begin, states(begin))
            reached = float(solver.t)
            event = not np.array_equal(self._signs(reached, solver.y), signs)
            if event:
                reached = self._locate(states, signs, begin, reached)
            begin = float(solver.t)
            enter, terminate = self.complete(forget)
            if event or enter or terminate:
                return StepEnd(reached, event or enter, terminate, early=reached < end)
        return StepEnd(end)

    def _locate(self, states: Any, signs: Array, before: float, after: float) -> float:
        """The first float between two times at which a sign has changed; the unit is left there."""
        _, after = bisect(lambda t: not np.array_equal(self._signs(t, states(t)), signs), before, after)
        self.move(after, states(after))
        return after

    def _rates_at(self, time: float, x: Array) -> Array:
        self.move(time, x)
        return self.rates if self._n else np.zeros(1)

    def _signs(self, time: float, x: Array) -> Array:
        self.move(time, x)
        return self.indicators > 0


# --------------------------------------------------------------------------------------------------
# Event mode: how does a unit get from one communication point to the next, with its events on the way?
#
# From t to the end of a step of a unit with event mode:
#
# 1. Step. To the end, or to the time event that the unit has announced, whichever comes first; it may return early.
# 2. Event. Where it returned early, asks for event mode or a time event is due: its outputs are read, event mode is
#    entered, discrete states are updated until they stay as they are, step mode is entered, its outputs are read again.
# 3. From there, until the end is reached.


UPDATES = 1000
"""Updates of the discrete states at one event, at most."""
CROWD, INSTANT = 50, 1e-9
"""So many events in so little time [s] have no end, as in a simulation."""
LATE = 1e-9
"""Part of a step by which a unit may say it went too far: its own rounding."""


class EventSteps:
    """Where a unit is, and what happened on the way.

    Attributes:
        time: that it has reached; due: the time event that it has announced [s]. ended: once it wants no more steps.
    """

    def __init__(self, instance: Instance, name: str, read: Callable[[], dict[str, float]]) -> None:
        self.instance, self.name, self.read = instance, name, read
        self.begin(0.0)

    def begin(self, time: float) -> None:
        """At a time, before anything has happened."""
        self.time, self.due = time, math.inf
        self.ended: Outcome | None = None
        self.instants: tuple[float, ...] = ()
        self.events: list[UnitEvent] = []

    def go(self, end: float) -> Outcome | None:
        """Steps and events to the end; an outcome where the unit does not get there."""
        before, begin = len(self.instance.messages), self.time
        while self.time < end and self.ended is None:
            target = min(end, max(self.due, self.time))
            asked = False
            if target > self.time:
                done = self.instance.step(self.time, step_between(self.time, target), self.time == begin)
                if done.terminate:
                    return self._end(done.time, self.logged(before) or f"in the step from {self.time:g} s")
                in_time = self.time <= done.time <= target + LATE * (end - begin)
                if done.early and not (self.instance.event_mode and in_time):
                    return self.fail(f"it returned early, at {done.time:g} s, which it was not allowed to do")
                asked = done.event or done.early
                self.time = min(done.time, target) if done.early else target
            if self.instance.event_mode and (asked or self.time >= self.due):
                outcome = self._meet("time_event" if self.time >= self.due else "state_event")
                if outcome is not None:
                    return outcome
        return self.ended

    def _meet(self, name: str) -> Outcome | None:
        """An event, with the outputs on both sides of it."""
        outputs = self.read()
        self.instance.enter_event_mode()
        self.settle()
        self.events.append(UnitEvent(name, self.time, outputs, self.read(), self.ended is not None))
        self.instants = (*self.instants, self.time)[-CROWD:]
        if self.ended is None and len(self.instants) == CROWD and self.time - self.instants[0] <= INSTANT:
            sentence = f"unit '{self.name}' had {CROWD} events within {INSTANT:g} s at {self.time:.9g} s"
            return Outcome(OutcomeKind.CHATTERING, sentence, self.time)
        return self.ended

    def change(self, set_values: Callable[[], None], recorded: bool) -> None:
        """Set, at a communication point, what can be set in event mode only; recorded: whether that is an event."""
        self.instance.enter_event_mode()
        set_values()
        self.settle()
        if recorded:
            self.events.append(UnitEvent("input_event", self.time, terminal=self.ended is not None))

    def settle(self) -> None:
        """Update the discrete states until they stay as they are, and leave event mode."""
        for _ in range(UPDATES):
            update = self.instance.update_discrete_states()
            if update.terminate or not update.again:
                break
        else:
            raise ArithmeticError(f"its discrete states do not settle in {UPDATES} updates at {self.time:.9g} s")
        self.due = update.next_time
        if update.terminate:
            sentence = f"unit '{self.name}' ended the run: at its event at {self.time:.9g} s"
            self.ended = Outcome(OutcomeKind.STOPPED, sentence, self.time)
        else:
            self.instance.enter_step_mode()

    def _end(self, time: float, reason: str) -> Outcome:
        """The unit wants to end the simulation; its last outputs are kept where it came anywhere and gives them."""
        outputs: dict[str, float] | None = None
        if time > self.time:
            with suppress(ModelError):
                outputs = self.read()
        self.time = time
        self.events.append(UnitEvent("end", time, outputs, outputs, terminal=True))
        return Outcome(OutcomeKind.STOPPED, f"unit '{self.name}' ended the run: {reason}", time)

    def fail(self, reason: str) -> Outcome:
        """The unit cannot go on from where it is."""
        sentence = f"unit '{self.name}' cannot go on from {self.time:g} s: {reason}"
        return Outcome(OutcomeKind.FAILED, sentence, self.time)

    def logged(self, before: int) -> str:
        """Messages of the unit since there were so many."""
        return "; ".join(self.instance.messages[before:])

    def save(self) -> tuple[Any, ...]:
        return self.time, self.due, self.ended, self.instants

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Back to where `save` was called; what happened since has not."""
        self.time, self.due, self.ended, self.instants = saved
        self.events = []


def step_between(before: float, after: float) -> float:
    """The step with which `before + step` is `after` to the last digit, where there is one."""
    step = after - before
    near = (step, math.nextafter(step, math.inf), math.nextafter(step, -math.inf))
    return next((h for h in near if before + h == after), step)
