"""FMPy adapter: how are FMUs of both versions of FMI called alike?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

LAST_SUCCESSFUL_TIME, TERMINATED = 2, 3
"""Kinds of status of version 2: how far a step came, and whether the unit wants to end the simulation."""


class Step(NamedTuple):
    """How a step ended: where [s], and whether the unit wants event mode, or to end the simulation."""

    time: float
    event: bool = False
    terminate: bool = False
    early: bool = False


class EventUpdate(NamedTuple):
    """What an update of the discrete states returns.

    Attributes:
        again: whether another one is needed. next_time: of the next time event, infinite where there is none [s].
    """

    again: bool
    terminate: bool
    nominals_changed: bool
    states_changed: bool
    next_time: float


def read_update(text: Sequence[Any]) -> EventUpdate:
    """From four flags, whether there is a next time event, and its time, as FMPy gives them."""
    again, terminate, nominals, states, defined, time = text
    return EventUpdate(bool(again), bool(terminate), bool(nominals), bool(states), time if defined else math.inf)


class Instance(Protocol):
    """An instance of a unit.

    Attributes:
        messages: what it has said. set_slopes(references, orders, values): derivatives of inputs by time, where its
            version of the interface has them. event_mode: whether it is asked to stop at its events.
    """

    messages: list[str]
    set_slopes: Callable[[Sequence[int], Sequence[int], Sequence[float]], Any] | None
    event_mode: bool

    def enter_configuration_mode(self) -> None:
        """Between this and the next, structural parameters may be set."""

    def exit_configuration_mode(self) -> None: ...

    def open(self, time: float, stop: float | None, tolerance: float | None) -> None:
        """Enter the initialisation."""

    def begin(self) -> None:
        """Leave the initialisation, for event mode where it is used."""

    def get(self, kind: str, references: Sequence[int], size: int) -> list[Any]:
        """Values of variables of one type, arrays row by row; size: of all together."""

    def set(self, kind: str, references: Sequence[int], values: Sequence[Any]) -> None: ...

    def step(self, time: float, length: float, forget: bool) -> Step:
        """Go on; forget: whether nobody will go back to before `time`."""

    def enter_event_mode(self) -> None: ...

    def update_discrete_states(self) -> EventUpdate: ...

    def enter_step_mode(self) -> None: ...

    def slopes(
        self, unknowns: Sequence[int], knowns: Sequence[int], seed: Sequence[float], size: int
    ) -> list[float]: ...

    def save(self) -> Any: ...

    def restore(self, state: Any) -> None: ...

    def release(self, state: Any) -> None: ...

    def reset(self) -> None: ...

    def close(self) -> None: ...


def _split(calls: Mapping[str, tuple[Any, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Functions that get, and those that set."""
    return {kind: get for kind, (get, _) in calls.items()}, {kind: set_ for kind, (_, set_) in calls.items()}


class Calls:
    """What co-simulation and model exchange have in common in both versions."""

    getters: Mapping[str, Callable[..., list[Any]]]
    """Type of a variable -> the unit's function; an enumeration is got and set as an integer."""
    setters: Mapping[str, Callable[[Sequence[int], Sequence[Any]], Any]]

    def __init__(self, unit: Any) -> None:
        self.messages: list[str] = []
        self.event_mode = False
        self.set_slopes: Callable[[Sequence[int], Sequence[int], Sequence[float]], Any] | None = None
        self._unit = unit
        self.begin, self.reset = unit.exitInitializationMode, unit.reset
        self.save, self.restore, self.release = unit.getFMUState, unit.setFMUState, unit.freeFMUState

    def set(self, kind: str, references: Sequence[int], values: Sequence[Any]) -> None:
        self.setters[kind](references, values)

    def enter_configuration_mode(self) -> None:
        """Version 2 has no structural parameters."""

    def exit_configuration_mode(self) -> None:
        """Version 2 has no structural parameters."""

    def enter_event_mode(self) -> None:
        self._unit.enterEventMode()

    def close(self) -> None:
        self._unit.freeInstance()


class Calls2(Calls):
    """Version 2.0."""

    def __init__(self, unit: Any) -> None:
        from fmpy import calloc, fmi2, free

        super().__init__(unit)
        reals, whole = (unit.getReal, unit.setReal), (unit.getInteger, unit.setInteger)
        logical = unit.getBoolean, unit.setBoolean
        calls = {"Real": reals, "Integer": whole, "Enumeration": whole, "Boolean": logical}
        self.getters, self.setters = _split(calls)
        self._callbacks = fmi2.fmi2CallbackFunctions()
        self._callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(self._note)
        self._callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
        self._callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(free)

    def _note(self, environment: Any, name: bytes, status: int, category: bytes, message: bytes) -> None:
        self.messages.append(message.decode("utf-8", "replace"))

    def instantiate(self) -> None:
        self._unit.instantiate(callbacks=self._callbacks)

    def open(self, time: float, stop: float | None, tolerance: float | None) -> None:
        self._unit.setupExperiment(tolerance=tolerance, startTime=time, stopTime=stop)
        self._unit.enterInitializationMode()

    def get(self, kind: str, references: Sequence[int], size: int) -> list[Any]:
        return self.getters[kind](references)

    def slopes(self, unknowns: Sequence[int], knowns: Sequence[int], seed: Sequence[float], size: int) -> list[float]:
        return self._unit.getDirectionalDerivative(unknowns, knowns, seed)


class Calls3(Calls):
    """Version 3.0."""

    def __init__(self, unit: Any) -> None:
        super().__init__(unit)
        calls = {
            "Float64": (unit.getFloat64, unit.setFloat64),
            "Float32": (unit.getFloat32, unit.setFloat32),
            "Int8": (unit.getInt8, unit.setInt8),
            "Int16": (unit.getInt16, unit.setInt16),
            "Int32": (unit.getInt32, unit.setInt32),
            "Int64": (unit.getInt64, unit.setInt64),
            "UInt8": (unit.getUInt8, unit.setUInt8),
            "UInt16": (unit.getUInt16, unit.setUInt16),
            "UInt32": (unit.getUInt32, unit.setUInt32),
            "UInt64": (unit.getUInt64, unit.setUInt64),
            "Boolean": (unit.getBoolean, unit.setBoolean),
            "Enumeration": (unit.getInt64, unit.setInt64),
        }
        self.getters, self.setters = _split(calls)

    def _note(self, environment: Any, status: int, category: bytes, message: bytes) -> None:
        self.messages.append(message.decode("utf-8", "replace"))

    def instantiate(self) -> None:
        self._unit.instantiate(logMessage=self._note)

    def enter_configuration_mode(self) -> None:
        self._unit.enterConfigurationMode()

    def exit_configuration_mode(self) -> None:
        self._unit.exitConfigurationMode()

    def open(self, time: float, stop: float | None, tolerance: float | None) -> None:
        self._unit.enterInitializationMode(tolerance=tolerance, startTime=time, stopTime=stop)

    def get(self, kind: str, references: Sequence[int], size: int) -> list[Any]:
        return self.getters[kind](references, size)

    def update_discrete_states(self) -> EventUpdate:
        return read_update(self._unit.updateDiscreteStates())

    def slopes(self, unknowns: Sequence[int], knowns: Sequence[int], seed: Sequence[float], size: int) -> list[float]:
        return self._unit.getDirectionalDerivative(unknowns, knowns, seed, size)


class CoSimulation2(Calls2):
    """A co-simulation unit of version 2.0, which knows no events."""

    def __init__(self, settings: dict[str, Any]) -> None:
        from fmpy import fmi2

        super().__init__(fmi2.FMU2Slave(**settings))
        self.set_slopes = self._unit.setRealInputDerivatives

    def step(self, time: float, length: float, forget: bool) -> Step:
        from fmpy import fmi1

        try:
            self._unit.doStep(time, length, int(forget))
        except fmi1.FMICallException as error:
            if error.status == fmi1.fmi1Discard and self._unit.getBooleanStatus(TERMINATED):
                return Step(self._reached(time), terminate=True)
            raise
        return Step(time + length)

    def _reached(self, time: float) -> float:
        """The time that a step came to, or its beginning where the unit does not say."""
        from fmpy import fmi1

        try:
            return float(self._unit.getRealStatus(LAST_SUCCESSFUL_TIME))
        except fmi1.FMICallException:
            return time

    def update_discrete_states(self) -> EventUpdate:
        return EventUpdate(False, False, False, False, math.inf)

    def enter_step_mode(self) -> None:
        """It is never in event mode."""


class CoSimulation3(Calls3):
    """A co-simulation unit of version 3.0; one that has event mode is asked to return at its events."""

    def __init__(self, settings: dict[str, Any], event_mode: bool) -> None:
        from fmpy import fmi3

        super().__init__(fmi3.FMU3Slave(**settings))
        self.event_mode = event_mode
        self.enter_step_mode = self._unit.enterStepMode

    def instantiate(self) -> None:
        used = {"eventModeUsed": self.event_mode, "earlyReturnAllowed": self.event_mode}
        self._unit.instantiate(logMessage=self._note, **used)

    def step(self, time: float, length: float, forget: bool) -> Step:
        event, terminate, early, last = self._unit.doStep(time, length, forget)
        return Step(last if early or terminate else time + length, bool(event), bool(terminate), bool(early))
