"""How are units of both versions of the interface called alike? FMPy's classes behind one set of names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from robodyn.errors import Flaw, ModelError

LAST_SUCCESSFUL_TIME, TERMINATED = 2, 3
"""Kinds of status of version 2: how far a step came, and whether the unit wants to end the simulation."""


class Slave(Protocol):
    """An instance of a unit.

    Attributes:
        messages: what it has said. set_slopes(references, orders, values): derivatives of inputs by time, where its
            version of the interface has them.
    """

    messages: list[str]
    set_slopes: Callable[[Sequence[int], Sequence[int], Sequence[float]], Any] | None

    def instantiate(self) -> None:
        """Make the instance."""

    def open(self, time: float, stop: float | None, tolerance: float | None) -> None:
        """Enter the initialisation."""

    def begin(self) -> None:
        """Leave the initialisation."""

    def get(self, references: Sequence[int]) -> list[float]: ...

    def set(self, references: Sequence[int], values: Sequence[float]) -> None: ...

    def step(self, time: float, length: float) -> tuple[bool, float]:
        """Go on; whether the unit wants to end the simulation, and the time that it came to [s]."""

    def slopes(self, unknowns: Sequence[int], knowns: Sequence[int], seed: Sequence[float]) -> list[float]: ...

    def save(self) -> Any: ...

    def restore(self, state: Any) -> None: ...

    def release(self, state: Any) -> None: ...

    def reset(self) -> None: ...

    def close(self) -> None: ...


def open_slave(description: Any, folder: str | Path, name: str) -> Slave:
    """An instance of an unpacked co-simulation unit.

    Raises:
        ModelError: where there is no binary for this platform, or the unit refuses.
    """
    messages: list[str] = []
    settings = {
        "guid": description.guid,
        "unzipDirectory": str(folder),
        "modelIdentifier": description.coSimulation.modelIdentifier,
        "instanceName": name,
    }
    try:
        slave: Any = Slave2(settings) if str(description.fmiVersion).startswith("2.") else Slave3(settings)
        messages = slave.messages
        slave.instantiate()
    except Exception as error:  # FMPy raises Exception itself
        said = "; ".join([str(error), *messages])
        raise ModelError([Flaw(name, f"the unit does not open: {said}")]) from error
    return slave


class Slave2:
    """A unit of version 2.0."""

    def __init__(self, settings: dict[str, Any]) -> None:
        from fmpy import calloc, fmi2, free

        self.messages: list[str] = []
        self._slave = fmi2.FMU2Slave(**settings)
        self._callbacks = fmi2.fmi2CallbackFunctions()
        self._callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(self._note)
        self._callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
        self._callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(free)
        self.get, self.set = self._slave.getReal, self._slave.setReal
        self.begin, self.reset = self._slave.exitInitializationMode, self._slave.reset
        self.set_slopes, self.slopes = self._slave.setRealInputDerivatives, self._slave.getDirectionalDerivative
        self.save, self.restore = self._slave.getFMUstate, self._slave.setFMUstate
        self.release = self._slave.freeFMUstate

    def _note(self, environment: Any, name: bytes, status: int, category: bytes, message: bytes) -> None:
        self.messages.append(message.decode("utf-8", "replace"))

    def instantiate(self) -> None:
        self._slave.instantiate(callbacks=self._callbacks)

    def open(self, time: float, stop: float | None, tolerance: float | None) -> None:
        self._slave.setupExperiment(tolerance=tolerance, startTime=time, stopTime=stop)
        self._slave.enterInitializationMode()

    def step(self, time: float, length: float) -> tuple[bool, float]:
        from fmpy import fmi1

        try:
            self._slave.doStep(time, length)
        except fmi1.FMICallException as error:
            if error.status == fmi1.fmi1Discard and self._slave.getBooleanStatus(TERMINATED):
                return True, self._reached(time)
            raise
        return False, time + length

    def _reached(self, time: float) -> float:
        """The time that a step came to, or its beginning where the unit does not say."""
        from fmpy import fmi1

        try:
            return float(self._slave.getRealStatus(LAST_SUCCESSFUL_TIME))
        except fmi1.FMICallException:
            return time

    def close(self) -> None:
        self._slave.freeInstance()


class Slave3:
    """A unit of version 3.0."""

    def __init__(self, settings: dict[str, Any]) -> None:
        from fmpy import fmi3

        self.messages: list[str] = []
        self._slave = fmi3.FMU3Slave(**settings)
        self.get, self.set = self._slave.getFloat64, self._slave.setFloat64
        self.begin, self.reset = self._slave.exitInitializationMode, self._slave.reset
        self.set_slopes, self.slopes = None, self._slave.getDirectionalDerivative
        self.save, self.restore = self._slave.getFMUState, self._slave.setFMUState
        self.release = self._slave.freeFMUState

    def _note(self, environment: Any, status: int, category: bytes, message: bytes) -> None:
        self.messages.append(message.decode("utf-8", "replace"))

    def instantiate(self) -> None:
        self._slave.instantiate(logMessage=self._note)

    def open(self, time: float, stop: float | None, tolerance: float | None) -> None:
        self._slave.enterInitializationMode(tolerance=tolerance, startTime=time, stopTime=stop)

    def step(self, time: float, length: float) -> tuple[bool, float]:
        _, terminate, early, last = self._slave.doStep(time, length)
        return bool(terminate), float(last) if terminate or early else time + length

    def close(self) -> None:
        self._slave.freeInstance()
